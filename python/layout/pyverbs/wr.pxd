# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsCM
cimport pyverbs.verbs as v

cdef class SGE(PyverbsCM):
    cdef v.ibv_sge *sge
    cpdef read(self, length, offset)

cdef class SendWR(PyverbsCM):
    cdef v.ibv_send_wr send_wr
    cdef object ah
