# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB

cdef class PyverbsObject(object):
    cdef object __weakref__
    cdef object logger

cdef class PyverbsCM(PyverbsObject):
    cpdef close(self)
