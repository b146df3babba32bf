# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What pyprism.kv and pyprism.tx have in common: their exceptions."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

import errno
import os


class StoreError(OSError):
    """A call of a store has failed: errno says why to programs, strerror to people, with the next step.

    After all of its kinds but OutcomeUnknown, nothing was changed.
    """


class InvalidArgument(StoreError, ValueError):
    """EINVAL: a key or a value is empty or too long, or an option is out of range."""


class NoSuchKey(StoreError, KeyError):
    """ENOENT: the key is not there."""


class OtherVersion(StoreError):
    """ESTALE, EEXIST: the key's version is not the one that the call was to change."""


class Conflict(StoreError):
    """EAGAIN: the transaction met others and cannot commit. Begin again."""


class OutcomeUnknown(StoreError):
    """EINPROGRESS: all that the call was to change is changed, or will be, or nothing. Only reading again can tell."""


_KINDS = {errno.EINVAL: InvalidArgument, errno.ENOENT: NoSuchKey, errno.ESTALE: OtherVersion,
          errno.EEXIST: OtherVersion, errno.EAGAIN: Conflict, errno.EINPROGRESS: OutcomeUnknown}


def error_of(result, message):
    """The exception for what a function of <prism/kv.h> or <prism/tx.h> has returned, and prism_store_message().

    :param result: a negative errno value
    :param message: bytes; may be empty
    :return: StoreError
    """
    return _KINDS.get(-result, StoreError)(-result, message.decode(errors='replace') or os.strerror(-result))


def milliseconds(seconds, name):
    """What an option in seconds is in the C interface; None is its default.

    :raises InvalidArgument: it is no time
    """
    if seconds is None:
        return 0
    if not 0 < seconds <= 4e6:
        raise InvalidArgument(errno.EINVAL, f'{name} is {seconds} seconds: a time is above 0, and at most 4,000,000')
    return max(1, round(seconds * 1000))


cdef class Bytes:
    """Bytes of an object that has some, for as long as this lives."""
    def __cinit__(self, data):
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
        self.data, self.size = self.view.buf, self.view.len

    def __dealloc__(self):
        PyBuffer_Release(&self.view)
