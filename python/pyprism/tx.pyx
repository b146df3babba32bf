# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""PRISM-TX, a store with transactions: <prism/tx.h> in Python.

    with pyprism.tx.open('localhost:18620,localhost:18621') as store:
        with store.transaction() as t:  # commits at the end, aborts on an exception
            t.write(b'alice', b'100')

        def spend(t):
            t.write(b'alice', b'%d' % (int(t.read(b'alice')) - 30))
        store.run(spend)  # again after each conflict

docs/prism-tx.md says what transactions guarantee, and what the store does not: it is volatile and not replicated, and
it trusts its clients. Keys and values are bytes, or what has the buffer of bytes. Errors are those of pyprism.stores.
Threads may share a store; a transaction belongs to one thread. Calls release the interpreter's lock while they wait.
"""
cimport cython
from libc.stdlib cimport free, malloc
cimport pyprism.libstores as c
from pyprism.stores cimport Bytes, Handle, Read

import errno
from operator import index

from pyprism.stores import (Conflict, InvalidArgument, NoSuchKey, OutcomeUnknown, StoreError, encoded, error_of,
                            milliseconds)

__all__ = ['Conflict', 'InvalidArgument', 'NoSuchKey', 'OutcomeUnknown', 'Store', 'StoreError', 'Transaction', 'open']


cdef int read_of_transaction(Read *read, void *value, size_t *size) noexcept nogil:
    return c.prism_tx_read(<c.prism_tx_transaction *>read.source, read.key, read.key_size, value, size)


cdef class Store(Handle):
    """A client of one store, for several threads. Close it, or use it with `with`."""
    def __init__(self, shards, *, device=None, timeout=None, depth=0):
        """Open a store as prism_tx_open(3).

        :param shards: str: 'HOST:PORT' of all servers, separated by commas, in the order of their numbers
        :param device: str: name of the RDMA device; None: the first userspace device
        :param timeout: seconds that opening, and each call that waits, may take; None: 5
        :param depth: transactions under way at once, fewer than the servers' --lanes; 0: 16
        :raises StoreError: see prism_tx_open(3)
        """
        cdef c.prism_tx_options options
        cdef bytes names = encoded(shards, 'shards')
        cdef const char *text = names
        cdef bytes device_name
        cdef int result
        options.size = sizeof(options)
        options.device = NULL
        if device is not None:
            device_name = encoded(device, 'device')
            options.device = device_name
        options.timeout_ms = milliseconds(timeout, 'timeout')
        options.depth = index(depth)
        self.claim()
        with nogil:
            result = c.prism_tx_open(<c.prism_tx **>&self.store, text, &options)
        self.opened(result)

    cdef void close_store(self, void *store) noexcept nogil:
        c.prism_tx_close(<c.prism_tx *>store)

    @property
    def max_key_size(self):
        """Bytes of the longest key; 8 in a numbered store, whose keys are numbers, the lowest byte first."""
        cdef c.prism_tx *store = <c.prism_tx *>self.begin()
        size = c.prism_tx_max_key_size(store)
        self.end(0)
        return size

    @property
    def max_value_size(self):
        """Bytes of the longest value."""
        cdef c.prism_tx *store = <c.prism_tx *>self.begin()
        size = c.prism_tx_max_value_size(store)
        self.end(0)
        return size

    def transaction(self):
        """Begin a transaction. With `with`, it commits at the end of the block, and aborts if that raises.

        :return: Transaction
        :raises StoreError: EBUSY: as many as depth have not ended; see prism_tx_begin(3)
        """
        cdef c.prism_tx *store = <c.prism_tx *>self.begin()
        cdef c.prism_tx_transaction *transaction = NULL
        cdef int result
        with nogil:
            result = c.prism_tx_begin(store, &transaction)
        self.end(result)
        return make(self, transaction)

    def run(self, function, *, attempts=0):
        """Run a function as a transaction, again after each conflict, as prism_tx_run(3).

        The function may run several times, so it must change nothing but the transaction; and it may see values that do
        not belong together. If it raises, the transaction is aborted. Conflict runs it again, and so does what the
        transaction's own calls raise when a connection is lost, once that has come back.

        :param function: called with a Transaction, which it neither commits nor aborts
        :param attempts: at most so many; 0: as the timeout has room for
        :return: what the function has returned in the attempt that was committed
        :raises Conflict: the attempts or the time were used up
        :raises OutcomeUnknown: the connection was lost, or the time was up
        :raises StoreError: see prism_tx_run(3)
        """
        cdef unsigned int limit = index(attempts)
        cdef Body body = Body(self, function)
        cdef void *argument = <void *>body
        cdef c.prism_tx *store = <c.prism_tx *>self.begin()
        cdef int result
        with nogil:
            result = c.prism_tx_run(store, run_body, argument, limit)
        message = c.prism_store_message()
        self.calls -= 1
        if body.error is not None:
            raise body.error
        if result:
            raise error_of(result, message)
        return body.value


cdef class Body:
    """The function that Store.run() runs, and its result."""
    cdef Store store
    cdef object function, value, error

    def __init__(self, store, function):
        self.store, self.function = store, function


cdef int run_body(c.prism_tx_transaction *given, void *argument) noexcept nogil:
    with gil:
        return attempt(given, <Body>argument)


cdef int attempt(c.prism_tx_transaction *given, Body body) noexcept:
    cdef Transaction transaction = make(body.store, given)
    transaction.of_run = True
    body.error = None
    try:
        body.value = body.function(transaction)
        return 0
    except Conflict:
        return -errno.EAGAIN
    except BaseException as error:
        body.error = error
        # The library judges failures of the transaction's own calls: a lost connection may come back.
        if transaction.failed and isinstance(error, StoreError) and error.errno == -transaction.failed:
            return transaction.failed
        return -errno.ECANCELED
    finally:
        transaction.transaction = NULL


cdef Transaction make(Store store, c.prism_tx_transaction *given):
    cdef Transaction transaction = Transaction.__new__(Transaction)
    transaction.store, transaction.transaction = store, given
    return transaction


@cython.no_gc_clear  # when it is collected, its store is still needed to abort it
cdef class Transaction:
    """A transaction that has begun: see Store.transaction() and Store.run(). One thread at a time."""
    cdef Store store
    cdef c.prism_tx_transaction *transaction  # NULL: it has ended
    cdef bint of_run
    cdef int failed  # result of the last call that has failed, or 0

    def __init__(self):
        raise TypeError('transactions begin with Store.transaction()')

    def __dealloc__(self):
        if self.store is not None and not self.of_run and not self.ended:
            c.prism_tx_abort(self.transaction)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.ended:
            return
        if kind is None:
            self.commit()
        else:
            self.abort()

    @property
    def ended(self):
        """True if it was committed or aborted, or its store is closed, or belongs to another process."""
        return self.transaction == NULL or self.store.store == NULL or not self.store.is_ours()

    cdef require_begun(self):
        if self.transaction == NULL:
            raise StoreError(errno.EBADF, 'the transaction has ended')

    cdef c.prism_tx_transaction *begin(self) except NULL:
        """Begins a call into C; end() follows it."""
        self.require_begun()
        self.store.begin()
        return self.transaction

    cdef end(self, int result):
        if result < 0:
            self.failed = result
        self.store.end(result)

    def fetch(self, *keys):
        """Read several keys at once, in the time of one: read() of these then does not wait.

        :param keys: bytes
        :raises Conflict: the transaction cannot commit any more
        :raises StoreError: see prism_tx_fetch(3)
        """
        cdef list names = [Bytes(key) for key in keys]
        cdef size_t count = len(names), i
        cdef c.prism_tx_transaction *transaction
        cdef c.prism_tx_key *given = <c.prism_tx_key *>malloc((count + 1) * sizeof(c.prism_tx_key))
        cdef int result
        if given == NULL:
            raise MemoryError()
        try:
            for i in range(count):
                given[i].data, given[i].size = (<Bytes>names[i]).data, (<Bytes>names[i]).size
            transaction = self.begin()
            with nogil:
                result = c.prism_tx_fetch(transaction, given, count)
            self.end(result)
        finally:
            free(given)

    def read(self, key):
        """Read the value of a key as this transaction sees it.

        Only a commit that succeeds proves that the values of several keys belong together.

        :param key: bytes
        :return: bytes
        :raises NoSuchKey: the key is not there; the transaction goes on
        :raises Conflict: the transaction cannot commit any more
        :raises StoreError: see prism_tx_read(3)
        """
        cdef Bytes name = Bytes(key)
        cdef Read read
        self.require_begun()
        read.source, read.key, read.key_size = self.transaction, name.data, name.size
        try:
            return self.store.read(read_of_transaction, &read)
        except StoreError as error:
            self.failed = -error.errno
            raise

    def write(self, key, value):
        """Write a value, at the commit.

        :param key: bytes
        :param value: bytes
        :raises StoreError: see prism_tx_write(3)
        """
        cdef Bytes name = Bytes(key), data = Bytes(value)
        cdef c.prism_tx_transaction *transaction = self.begin()
        cdef int result
        with nogil:
            result = c.prism_tx_write(transaction, name.data, name.size, data.data, data.size)
        self.end(result)

    def remove(self, key):
        """Remove a key, at the commit, whether it is there or not.

        :param key: bytes
        :raises StoreError: see prism_tx_remove(3)
        """
        cdef Bytes name = Bytes(key)
        cdef c.prism_tx_transaction *transaction = self.begin()
        cdef int result
        with nogil:
            result = c.prism_tx_remove(transaction, name.data, name.size)
        self.end(result)

    cdef require_own(self):
        if self.of_run:
            raise InvalidArgument(errno.EINVAL, 'run() ends its transaction itself')

    def commit(self):
        """Make all changes, or none. The transaction ends in either case, also if this raises.

        :raises Conflict: nothing was changed, because of another transaction: begin again
        :raises OutcomeUnknown: the connection was lost, or the time was up
        :raises StoreError: see prism_tx_commit(3)
        """
        cdef c.prism_tx_transaction *transaction
        cdef int result
        self.require_own()
        transaction = self.begin()
        self.transaction = NULL
        with nogil:
            result = c.prism_tx_commit(transaction)
        self.store.end(result)

    def abort(self):
        """End without a change. No error if it has ended already."""
        cdef c.prism_tx_transaction *transaction
        self.require_own()
        if self.ended:
            return
        transaction = self.begin()
        self.transaction = NULL
        with nogil:
            c.prism_tx_abort(transaction)
        self.store.end(0)


def open(shards, **options):
    """Open a store: Store(shards, ...), whose options these are.

    :param shards: str: 'HOST:PORT' of all servers, separated by commas, in the order of their numbers
    :return: Store
    """
    return Store(shards, **options)
