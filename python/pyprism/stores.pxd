# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
cdef class Bytes:
    cdef Py_buffer view
    cdef const void *data
    cdef size_t size
