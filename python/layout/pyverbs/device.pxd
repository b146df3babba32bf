# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsCM
cimport pyverbs.verbs as v

cdef class Context(PyverbsCM):
    cdef v.ibv_context *context
    cdef v.ibv_device *device
    cdef object name
    cdef add_ref(self, obj)
    cdef object pds
    cdef object dms
    cdef object ccs
    cdef object cqs
    cdef object qps
    cdef object xrcds
    cdef object vars
    cdef object uars
    cdef object pps
    cdef object sched_nodes
    cdef object sched_leafs
    cdef object comp_cntrs # from rdma-core 65
    cdef object dr_domains
    cdef object wqs
    cdef object rwq_ind_tbls
    cdef object crypto_logins
    cdef object event_channels # from rdma-core 60
    cdef object dmahs # from rdma-core 60
    cdef object devx_umems # from rdma-core 64
    cdef object devx_objs # from rdma-core 64
