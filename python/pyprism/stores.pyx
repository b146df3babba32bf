# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Common part of pyprism.kv and pyprism.tx: their exceptions, and opening, using and closing a store."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport free, malloc
from posix.unistd cimport getpid
cimport pyprism.libstores as c

import errno
import os

DEF USUAL_SIZE = 4096


class StoreError(OSError):
    """A call of a store has failed: errno has the reason for programs, strerror for people, with the next step.

    In all of its kinds except OutcomeUnknown, nothing was changed.
    """


class InvalidArgument(StoreError, ValueError):
    """EINVAL: a key or a value is empty or too long, or an option is out of range."""


class NoSuchKey(StoreError, KeyError):
    """ENOENT: the key is not there."""


class OtherVersion(StoreError):
    """ESTALE, EEXIST: the key has another version than the one that the call should change."""


class Conflict(StoreError):
    """EAGAIN: the transaction met others and cannot commit. Begin again."""


class OutcomeUnknown(StoreError):
    """EINPROGRESS: either all changes of the call are made, or will be, or none. Only reading again can tell."""


_KINDS = {errno.EINVAL: InvalidArgument, errno.ENOENT: NoSuchKey, errno.ESTALE: OtherVersion,
          errno.EEXIST: OtherVersion, errno.EAGAIN: Conflict, errno.EINPROGRESS: OutcomeUnknown}


def error_of(result, message):
    """Returns the exception for the result of a function of <prism/kv.h> or <prism/tx.h>, and prism_store_message().

    :param result: a negative errno value
    :param message: bytes; may be empty
    :return: StoreError
    """
    return _KINDS.get(-result, StoreError)(-result, message.decode(errors='replace') or os.strerror(-result))


def milliseconds(seconds, name):
    """Converts an option in seconds for the C interface; None is its default.

    :raises InvalidArgument: it is no valid time
    """
    if seconds is None:
        return 0
    if not 0 < seconds <= 4e6:
        raise InvalidArgument(errno.EINVAL, f'{name} is {seconds} seconds: a time is above 0, and at most 4,000,000')
    return max(1, round(seconds * 1000))


def encoded(text, name):
    """Encodes a name for the C interface.

    :raises TypeError: it is no str
    :raises InvalidArgument: C would read only its beginning
    """
    if not isinstance(text, str):
        raise TypeError(f'{name} is a str, not {type(text).__name__}')
    names = text.encode()
    if b'\0' in names:
        raise InvalidArgument(errno.EINVAL, f'{name} has a character that is zero')
    return names


cdef class Bytes:
    """Bytes of an object with a buffer, held as long as this exists."""
    def __cinit__(self, data):
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
        self.data, self.size = self.view.buf, self.view.len

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef class Handle:
    """
    A store of either kind: from open to close, for several threads. A copy in a forked child belongs to the parent: not
    even the garbage collector may close it there, as the store's threads are not in the child.
    """
    def __dealloc__(self):
        if self.is_ours():
            self.close_store(self.store)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()

    cdef void close_store(self, void *store) noexcept nogil:
        """Closes the store, by its kind. NULL is none."""
        pass

    cdef claim(self):
        """Prepares for opening the store, which happens once: transactions have pointers into it."""
        if self.process:
            raise StoreError(errno.EBUSY, 'the store has been opened before; open() makes another')
        self.process = getpid()

    cdef opened(self, int result):
        """Takes the result of opening the store."""
        if result:
            self.process = 0
        self.check(result)

    cdef bint is_ours(self):
        return self.process == getpid()

    cdef check(self, int result):
        if result < 0:
            raise error_of(result, c.prism_store_message())

    cdef void *begin(self) except NULL:
        """Begins a call into C; end() follows it."""
        if self.store == NULL:
            raise StoreError(errno.EBADF, 'the store is closed')
        if not self.is_ours():
            raise StoreError(errno.EBADF, 'the store is of the process that this one was forked from: open another')
        self.calls += 1
        return self.store

    cdef end(self, int result):
        self.calls -= 1
        self.check(result)

    cdef bytes read(self, read_value function, Read *read):
        """Returns a value of any size."""
        cdef size_t room = USUAL_SIZE, size = 0
        cdef char *value
        cdef int result
        while True:
            value = <char *>malloc(room)
            if value == NULL:
                raise MemoryError()
            try:
                self.begin()
                size = room
                with nogil:
                    result = function(read, value, &size)
                if result == -errno.EMSGSIZE and size > room:
                    self.end(0)
                    room = size
                    continue
                self.end(result)
                return value[:size]
            finally:
                free(value)

    def close(self):
        """Close the store; closing it again is no error. Transactions that have not ended are aborted.
        In a child after os.fork(), only forgets the copy.

        :raises StoreError: EBUSY: another thread is in a call
        """
        cdef void *store = self.store
        if not self.is_ours():
            self.store = NULL
            return
        if self.calls:
            raise StoreError(errno.EBUSY, 'another thread uses the store')
        self.store = NULL
        with nogil:
            self.close_store(store)

    @property
    def closed(self):
        return self.store == NULL
