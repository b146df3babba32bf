# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from pyverbs.base cimport PyverbsObject
cimport pyverbs.verbs as v

cdef class GID(PyverbsObject):
    cdef v.ibv_gid gid
