# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsObject, PyverbsCM
cimport pyverbs.verbs as v

cdef class SrqInitAttrEx(PyverbsObject):
    cdef v.ibv_srq_init_attr_ex attr
    cdef object _cq
    cdef object _pd
    cdef object _xrcd

cdef class SRQ(PyverbsCM):
    cdef v.ibv_srq *srq
    cdef object cq
    cdef object qps
    cdef add_ref(self, obj)
    cpdef close(self)
