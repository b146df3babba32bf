# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from libc.stdint cimport uint8_t
from libcpp.vector cimport vector

from pyverbs.base cimport PyverbsCM, PyverbsObject
from pyverbs.verbs cimport ibv_sge
cimport pyprism.libprism as dv

cdef class PrismCas(PyverbsObject):
    cdef uint8_t operands[4][32]
    cdef dv.prismdv_cas cas
    cdef const void *put(self, int which, value) except? NULL

cdef class PrismSendWR(PyverbsCM):
    cdef dv.prismdv_send_wr wr
    cdef vector[ibv_sge] sges
    cdef PrismCas operands
    cdef object following
    cdef int append_to(self, vector[dv.prismdv_send_wr] &requests) except -1
