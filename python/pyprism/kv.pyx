# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""PRISM-KV, a key-value store: <prism/kv.h> in Python.

    with pyprism.kv.open('localhost') as store:
        store.put(b'greeting', b'hello')
        value, version = store.get(b'greeting')

docs/prism-kv.md says what the store guarantees, and what it does not: it is volatile and not replicated, and it trusts
its clients. Keys and values are bytes, or what has the buffer of bytes. Errors are those of pyprism.stores. Threads may
share a store; calls release the interpreter's lock while they wait.
"""
from libc.stdint cimport uint64_t
cimport pyprism.libstores as c
from pyprism.stores cimport Bytes, Handle, Read

import errno
from operator import index

from pyprism.stores import (InvalidArgument, NoSuchKey, OtherVersion, OutcomeUnknown, StoreError, encoded,
                            milliseconds)

__all__ = ['InvalidArgument', 'NoSuchKey', 'OtherVersion', 'OutcomeUnknown', 'Store', 'StoreError', 'open']


cdef int get_value(Read *read, void *value, size_t *size) noexcept nogil:
    return c.prism_kv_get(<c.prism_kv *>read.source, read.key, read.key_size, value, size, &read.version)


cdef class Store(Handle):
    """A client of one store, for several threads. Close it, or use it with `with`."""
    def __init__(self, servers, *, device=None, timeout=None, patience=None, depth=0, max_value_size=0):
        """Open a store as prism_kv_open(3).

        :param servers: str: 'HOST' or 'HOST:PORT'; several, separated by commas, are shards of one store in the order of
                        their numbers
        :param device: str: name of the RDMA device; None: the first userspace device
        :param timeout: seconds that opening, and each call that waits, may take; None: 5
        :param patience: seconds that operations wait for a lost connection; None: 1
        :param depth: operations under way at once on each server, of put_many() and get_many(); 0: 16
        :param max_value_size: bytes of the longest value that is put and got; 0: the servers' limit
        :raises StoreError: see prism_kv_open(3)
        """
        cdef c.prism_kv_options options
        cdef bytes names = encoded(servers, 'servers')
        cdef const char *text = names
        cdef bytes device_name
        cdef int result
        options.size = sizeof(options)
        options.device = NULL
        if device is not None:
            device_name = encoded(device, 'device')
            options.device = device_name
        options.timeout_ms = milliseconds(timeout, 'timeout')
        options.patience_ms = milliseconds(patience, 'patience')
        options.depth = index(depth)
        options.max_value_size = index(max_value_size)
        self.claim()
        with nogil:
            result = c.prism_kv_open(<c.prism_kv **>&self.store, text, &options)
        self.opened(result)

    cdef void close_store(self, void *store) noexcept nogil:
        c.prism_kv_close(<c.prism_kv *>store)

    @property
    def max_key_size(self):
        """Bytes of the longest key."""
        cdef c.prism_kv *store = <c.prism_kv *>self.begin()
        size = c.prism_kv_max_key_size(store)
        self.end(0)
        return size

    @property
    def max_value_size(self):
        """Bytes of the longest value."""
        cdef c.prism_kv *store = <c.prism_kv *>self.begin()
        size = c.prism_kv_max_value_size(store)
        self.end(0)
        return size

    def get(self, key):
        """Get the value of a key, and its version for put_if() and remove_if().

        :param key: bytes
        :return: tuple of bytes and int
        :raises NoSuchKey: the key is not there
        :raises StoreError: see prism_kv_get(3)
        """
        cdef Bytes name = Bytes(key)
        cdef Read read
        read.source, read.key, read.key_size, read.version = self.store, name.data, name.size, 0
        value = self.read(get_value, &read)
        return value, read.version

    def put(self, key, value):
        """Put a value, whether the key is there or not.

        :param key: bytes
        :param value: bytes
        :raises OutcomeUnknown: the connection was lost, or the time was up
        :raises StoreError: see prism_kv_put(3)
        """
        cdef Bytes name = Bytes(key), data = Bytes(value)
        cdef c.prism_kv *store = <c.prism_kv *>self.begin()
        cdef int result
        with nogil:
            result = c.prism_kv_put(store, name.data, name.size, data.data, data.size)
        self.end(result)

    def put_if(self, key, value, version):
        """Put a value if the key's version is still this one.

        :param key: bytes
        :param value: bytes
        :param version: of get(); 0: if there is no such key
        :raises OtherVersion: the version is another
        :raises NoSuchKey: the key is not there any more
        :raises OutcomeUnknown: the connection was lost, or the time was up
        :raises StoreError: see prism_kv_put_if(3)
        """
        cdef Bytes name = Bytes(key), data = Bytes(value)
        cdef uint64_t wanted = index(version)
        cdef c.prism_kv *store = <c.prism_kv *>self.begin()
        cdef int result
        with nogil:
            result = c.prism_kv_put_if(store, name.data, name.size, data.data, data.size, wanted)
        self.end(result)

    def remove(self, key):
        """Remove a key.

        :param key: bytes
        :raises NoSuchKey: the key is not there
        :raises OutcomeUnknown: the connection was lost, or the time was up
        :raises StoreError: see prism_kv_remove(3)
        """
        cdef Bytes name = Bytes(key)
        cdef c.prism_kv *store = <c.prism_kv *>self.begin()
        cdef int result
        with nogil:
            result = c.prism_kv_remove(store, name.data, name.size)
        self.end(result)

    def remove_if(self, key, version):
        """Remove a key if its version is still this one.

        :param key: bytes
        :param version: of get()
        :raises OtherVersion: the version is another
        :raises NoSuchKey: the key is not there any more
        :raises OutcomeUnknown: the connection was lost, or the time was up
        :raises StoreError: see prism_kv_remove_if(3)
        """
        cdef Bytes name = Bytes(key)
        cdef uint64_t wanted = index(version)
        cdef c.prism_kv *store = <c.prism_kv *>self.begin()
        cdef int result
        with nogil:
            result = c.prism_kv_remove_if(store, name.data, name.size, wanted)
        self.end(result)


def open(servers, **options):
    """Open a store: Store(servers, ...), whose options these are.

    :param servers: str: 'HOST' or 'HOST:PORT'; several, separated by commas
    :return: Store
    """
    return Store(servers, **options)
