# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsCM
from pyverbs.device cimport Context
cimport pyverbs.verbs as v

cdef class PD(PyverbsCM):
    cdef v.ibv_pd *pd
    cdef Context ctx
    cdef add_ref(self, obj)
    cdef remove_ref(self, obj)
    cdef object srqs
    cdef object mrs
    cdef object bufs # from rdma-core 64
    cdef object mws
    cdef object ahs
    cdef object qps
    cdef object parent_domains
    cdef object wqs
    cdef object mkeys
    cdef object deks
    cdef object _is_imported
