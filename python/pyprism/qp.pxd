# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from pyverbs.base cimport PyverbsObject
from pyverbs.qp cimport QPEx
from pyverbs.verbs cimport ibv_qp_ex
cimport pyprism.libprism as dv

# A call between wr_start() and wr_complete()
cdef enum Call:
    # builders of libibverbs
    CALL_ATOMIC_CMP_SWP, CALL_ATOMIC_FETCH_ADD, CALL_ATOMIC_WRITE, CALL_BIND_MW, CALL_LOCAL_INV, CALL_RDMA_READ
    CALL_RDMA_WRITE, CALL_RDMA_WRITE_IMM, CALL_SEND, CALL_SEND_IMM, CALL_SEND_INV
    # builders of prismdv
    CALL_READ, CALL_WRITE, CALL_CAS, CALL_ALLOCATE
    # setters
    CALL_SGES, CALL_INLINE, CALL_INDIRECT, CALL_INDIRECT_BOUNDED, CALL_CONDITIONAL, CALL_REDIRECT
    CALL_REDIRECT_BOUNDED, CALL_DATA_INDIRECT, CALL_RESULT

cdef struct Step:
    Call call
    uint64_t wr_id          # of builders
    unsigned int wr_flags
    uint32_t key            # rkey, lkey, or the number of a free list
    uint32_t value          # length, tag, or immediate data
    uint64_t addr
    uint64_t operand        # of atomics; the address of a memory window
    uint64_t swap
    size_t at               # offset of the given bytes in the batch's data
    size_t count            # number of bytes

cdef class PrismQPInitAttr(PyverbsObject):
    cdef dv.prismdv_qp_init_attr attr

cdef class PrismQP(QPEx):
    cdef dv.prismdv_qp_ex *prism
    cdef bint in_batch
    cdef vector[Step] steps
    cdef vector[uint8_t] data
    cdef uint64_t next_wr_id
    cdef unsigned int next_wr_flags
    cpdef close(self)
    cdef int require_batch(self) except -1
    cdef ibv_qp_ex *builders(self) except NULL
    cdef Step *build(self, Call call, bint supported) except NULL
    cdef Step *set(self, Call call) except NULL
    cdef int keep(self, Step *step, const void *bytes, size_t size) except -1
    cdef end_batch(self)
