# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
from libc.stdint cimport uint64_t


cdef class Bytes:
    cdef Py_buffer view
    cdef const void *data
    cdef size_t size


cdef struct Read:
    void *source  # reader: of the store's interface
    const void *key
    size_t key_size
    uint64_t version  # of the value, where values have one


# Reads into a value of *size bytes; sets *size. Returns 0 or a negative errno value; -EMSGSIZE: *size is needed.
ctypedef int (*read_value)(Read *read, void *value, size_t *size) noexcept nogil


cdef class Handle:
    cdef void *store  # NULL: closed
    cdef int calls  # of other threads, under way
    cdef int process  # the process that has opened the store; 0: none

    cdef void close_store(self, void *store) noexcept nogil
    cdef claim(self)
    cdef opened(self, int result)
    cdef bint is_ours(self)
    cdef check(self, int result)
    cdef void *begin(self) except NULL
    cdef end(self, int result)
    cdef bytes read(self, read_value function, Read *read)
