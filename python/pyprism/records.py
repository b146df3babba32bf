# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Values that calls return, and pointers in their form in memory."""
import struct
from typing import NamedTuple


class PrismDevice(NamedTuple):
    """A device that can be opened.

    :param name: for PrismContext, or for pyverbs' Context
    :param supported: true if it speaks PRISM; other devices are for pyverbs alone
    """
    name: str
    supported: bool


class PrismRejectedEntry(NamedTuple):
    """A bad entry that the device removed from a free list: struct prismdv_rejected_entry.

    :param wr_id: of the work request that posted it
    :param addr: of the buffer
    :param length: of the buffer, in bytes
    :param lkey: of the buffer
    :param error: errno. EINVAL: no region of the list's PD covers the buffer; EACCES: the region lacks rights
    """
    wr_id: int
    addr: int
    length: int
    lkey: int
    error: int


class PrismBoundedPtr(NamedTuple):
    """A bounded pointer, struct prismdv_bounded_ptr: 16 bytes, little-endian, at an address that is a multiple of 16.

    :param ptr: address, 0 is the null pointer
    :param bound: length in bytes that it permits
    :param tag: the application's; devices ignore it
    """
    ptr: int
    bound: int
    tag: int = 0

    def to_bytes(self):
        """Returns the 16 bytes to store. Raises struct.error if a field does not fit."""
        return struct.pack('<QII', *self)

    @classmethod
    def from_bytes(cls, data):
        """Returns the pointer in 16 bytes of memory. Raises struct.error for another number of bytes."""
        return cls(*struct.unpack('<QII', data))
