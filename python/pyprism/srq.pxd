# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsObject
from pyverbs.srq cimport SRQ
cimport pyprism.libprism as dv

cdef class PrismSrqInitAttr(PyverbsObject):
    cdef dv.prismdv_srq_init_attr attr

cdef class PrismFreeListAttr(PyverbsObject):
    cdef dv.prismdv_free_list_attr attr

cdef class PrismSRQ(SRQ):
    cdef object pd
    cdef object context
    cpdef close(self)
