# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Work requests."""
from libc.string cimport memcpy

from pyverbs.pyverbs_error import PyverbsUserError

from pyverbs.verbs cimport ibv_wr_opcode
from pyverbs.wr cimport SGE, SendWR
cimport pyprism.enums as e

cdef extern from '<infiniband/verbs.h>':
    enum:
        IBV_SEND_SIGNALED


def status_str(unsigned int status):
    """Returns the name of a status, such as 'CAS_MISS': prismdv_status_str(3).

    :param status: enum prismdv_status, from vendor_err of a completion
    """
    return dv.prismdv_status_str(status).decode()


cdef class PrismCas(PyverbsObject):
    """The operands of a CAS, struct prismdv_cas: see prismdv_wr_post(3).

    Operands are bytes in memory order, compared as one unsigned little-endian integer; an int is converted to that.
    They are copied here, and again when a request is posted.
    """
    def __init__(self, compare=None, swap=None, compare_mask=None, swap_mask=None, length=None, mode=e.PRISMDV_CAS_EQ,
                 flags=0):
        """
        :param compare: operand compared with the target; None only with PRISMDV_CAS_COMPARE_DATA
        :param swap: operand that replaces the target; None only with indirect data
        :param compare_mask: the bits that are compared; None for all
        :param swap_mask: the bits that are replaced; None for all
        :param length: bytes of each operand: 8, 16 or 32; None for those of the first operand given as bytes, else 8
        :param mode: enum prismdv_cas_mode: the operand is equal to, greater than or less than the target
        :param flags: bits of enum prismdv_cas_flags
        :raises PyverbsUserError: an operand has not `length` bytes, or that is more than 32
        :raises OverflowError: an int does not fit into `length` bytes
        """
        super().__init__()
        given = (compare, swap, compare_mask, swap_mask)
        if length is None:
            length = next((len(value) for value in given if value is not None and not isinstance(value, int)), 8)
        if not 0 <= length <= sizeof(self.operands[0]):
            raise PyverbsUserError(f'Operands of {length} bytes')
        self.cas.length = length
        self.cas.mode = mode
        self.cas.flags = flags
        self.cas.compare = self.put(0, compare)
        self.cas.swap = self.put(1, swap)
        self.cas.compare_mask = self.put(2, compare_mask)
        self.cas.swap_mask = self.put(3, swap_mask)

    cdef const void *put(self, int which, value) except? NULL:
        if value is None:
            return NULL
        data = value.to_bytes(self.cas.length, 'little') if isinstance(value, int) else bytes(value)
        if len(data) != self.cas.length:
            raise PyverbsUserError(f'An operand of {len(data)} bytes in a CAS of {self.cas.length}')
        memcpy(self.operands[which], <const char *>data, self.cas.length)
        return self.operands[which]

    @property
    def length(self):
        return self.cas.length
    @property
    def mode(self):
        return self.cas.mode
    @property
    def flags(self):
        return self.cas.flags


cdef class PrismSendWR(PyverbsCM):
    """An extended work request, struct prismdv_send_wr, for PrismQP.post_send(): see prismdv_send_wr(3)."""
    def __init__(self, opcode, wr_id=0, sg=None, send_flags=IBV_SEND_SIGNALED, rkey=0, remote_addr=0, flags=0,
                 PrismCas cas=None, free_list=0, tag=0, SGE result=None, next_wr=None):
        """
        :param opcode: enum prismdv_wr_opcode
        :param wr_id: comes back in the completion
        :param sg: list of SGE, copied: the data of WRITE and ALLOCATE, the memory for the result of READ and CAS;
                   none for a READ with redirect and a WRITE with indirect data
        :param send_flags: bits of ibv_send_flags
        :param rkey: of the target; not of ALLOCATE
        :param remote_addr: of the target; not of ALLOCATE
        :param flags: modifiers, bits of enum prismdv_wr_flags; those with an address need set_aux() too
        :param cas: operands, of CAS alone
        :param free_list: of ALLOCATE: number of the peer's free list
        :param tag: of ALLOCATE with redirect and bound: goes into the stored pointer
        :param result: of ALLOCATE: where the buffer's address goes, 8 bytes in host order, 0 if there is none
        :param next_wr: the next request in the list: PrismSendWR or pyverbs SendWR, which this object then keeps alive
        """
        super().__init__()
        self.wr.wr.opcode = <ibv_wr_opcode><int>opcode
        self.wr.wr.wr_id = wr_id
        self.wr.wr.send_flags = send_flags
        self.wr.flags = flags
        self.set_wr_rdma(rkey, remote_addr)
        self.set_sges(sg or ())
        if cas is not None:
            self.set_cas(cas)
        if opcode == e.PRISMDV_WR_ALLOCATE:
            self.set_allocate(free_list, tag, result)
        self.next_wr = next_wr

    def set_sges(self, sg):
        """Replace the list of SGE."""
        cdef vector[ibv_sge] sges
        for sge in sg:
            if not isinstance(sge, SGE):
                raise TypeError(f'Expected SGE, got {type(sge).__name__}')
            sges.push_back((<SGE>sge).sge[0])
        self.sges.swap(sges)

    def set_wr_rdma(self, rkey, addr):
        """Set the target of READ, WRITE and CAS."""
        self.wr.wr.wr.rdma.rkey = rkey
        self.wr.wr.wr.rdma.remote_addr = addr

    def set_aux(self, flags, rkey, addr, length=0):
        """Set the address at which redirect stores and from which indirect data is loaded.

        :param flags: PRISMDV_WR_REDIRECT or PRISMDV_WR_DATA_INDIRECT, with PRISMDV_WR_BOUNDED where that is legal;
                      added to the modifiers
        :param length: bytes to move, of a READ with redirect and a WRITE with indirect data; else 0
        """
        self.wr.flags |= <unsigned int>flags
        self.wr.aux.rkey = rkey
        self.wr.aux.addr = addr
        self.wr.aux.length = length

    def set_cas(self, PrismCas cas not None):
        """Set the operands of a CAS. Replaces the parameters of ALLOCATE."""
        self.operands = cas
        self.wr.cas = cas.cas

    def set_allocate(self, free_list, tag=0, SGE result=None):
        """Set the parameters of ALLOCATE: see the constructor. Replaces the operands of a CAS."""
        self.operands = None
        self.wr.allocate.free_list = free_list
        self.wr.allocate.tag = tag
        self.wr.allocate.result.addr = result.sge.addr if result is not None else 0
        self.wr.allocate.result.length = result.sge.length if result is not None else 0
        self.wr.allocate.result.lkey = result.sge.lkey if result is not None else 0

    cdef int append_to(self, vector[dv.prismdv_send_wr] &requests) except -1:
        """Append to the requests of a list. The copy points at this object's memory."""
        self.wr.wr.sg_list = self.sges.data()
        self.wr.wr.num_sge = self.sges.size()
        requests.push_back(self.wr)
        return 0

    @property
    def wr_id(self):
        return self.wr.wr.wr_id
    @wr_id.setter
    def wr_id(self, val):
        self.wr.wr.wr_id = val

    @property
    def opcode(self):
        return <int>self.wr.wr.opcode

    @property
    def send_flags(self):
        return self.wr.wr.send_flags
    @send_flags.setter
    def send_flags(self, val):
        self.wr.wr.send_flags = val

    @property
    def flags(self):
        """Modifiers: bits of enum prismdv_wr_flags."""
        return self.wr.flags
    @flags.setter
    def flags(self, val):
        self.wr.flags = val

    @property
    def comp_mask(self):
        """Reserved for growth, 0."""
        return self.wr.comp_mask
    @comp_mask.setter
    def comp_mask(self, val):
        self.wr.comp_mask = val

    @property
    def next_wr(self):
        return self.following
    @next_wr.setter
    def next_wr(self, val):
        if val is not None and not isinstance(val, (PrismSendWR, SendWR)):
            raise TypeError(f'Expected PrismSendWR or SendWR, got {type(val).__name__}')
        self.following = val
