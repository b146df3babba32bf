#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""pyprism.kv and pyprism.tx against servers of their own. PRISM_BUILD names the build tree.

usage: stores_test.py [unittest's options and names of tests]
Ends with 77 if pyverbs is not installed.
"""
import errno
import gc
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

if importlib.util.find_spec('pyverbs') is None:
    print(f'SKIP: pyverbs is not installed for {sys.executable} (Debian: python3-pyverbs)')
    sys.exit(77)

import pyprism.kv
import pyprism.stores
import pyprism.tx

PROGRAMS = os.path.join(os.environ['PRISM_BUILD'], 'bin')
SECONDS = 20


def start(name, *options):
    """Starts a server; returns it and its port."""
    server = subprocess.Popen([os.path.join(PROGRAMS, name), *options], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    port = None
    while port is None:
        line = server.stdout.readline()
        if not line:
            raise RuntimeError(f'{name} has ended: {server.wait()}')
        port = re.search(r'port (\d+)', line)
    return server, int(port[1])


def stop(server):
    server.kill()
    server.wait()
    server.stdout.close()


def free_ports(count):
    """Returns free ports, for servers that must know each other's."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def cut_connections_to(ports):
    """Shuts down the connections of this process to the ports."""
    for fd in os.listdir('/proc/self/fd'):
        try:
            with socket.socket(fileno=os.dup(int(fd))) as one:
                if one.family == socket.AF_INET and one.getpeername()[1] in ports:
                    one.shutdown(socket.SHUT_RDWR)
        except (OSError, ValueError):  # no socket, or not connected
            pass


class StoreTestCase(unittest.TestCase):
    def assert_error(self, kind, number, function, *args, **kwargs):
        with self.assertRaises(kind) as raised:
            function(*args, **kwargs)
        self.assertIsInstance(raised.exception, pyprism.stores.StoreError)
        self.assertEqual(errno.errorcode[raised.exception.errno], errno.errorcode[number])
        self.assertTrue(raised.exception.strerror)
        return raised.exception


    def assert_child(self, function):
        """Runs `function` in a child; expects that it raises nothing, and that the child then ends as by sys.exit()."""
        child = os.fork()
        if not child:
            try:
                function()
                os._exit(0)
            finally:
                os._exit(1)
        deadline = time.monotonic() + SECONDS
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                self.fail('the child hangs')
            time.sleep(0.01)
        self.assertEqual(status, 0)


class KvTest(StoreTestCase):
    def setUp(self):
        self.server, port = start('prism-kv-server', '--records', '1000', '--value-size', '20000', '--port', '0')
        self.addCleanup(lambda: stop(self.server))
        self.address = f'127.0.0.1:{port}'
        self.store = pyprism.kv.open(self.address, timeout=SECONDS, patience=SECONDS)
        self.addCleanup(lambda: self.store.close())

    def test_put_get_remove(self):
        store = self.store
        store.put(b'k', b'value')
        value, version = store.get(b'k')
        self.assertEqual((value, type(value), type(version)), (b'value', bytes, int))
        store.put(b'k', b'')
        self.assertEqual(store.get(b'k')[0], b'')
        store.remove(b'k')
        self.assert_error(KeyError, errno.ENOENT, store.get, b'k')
        self.assert_error(pyprism.kv.NoSuchKey, errno.ENOENT, store.remove, b'k')

    def test_values_longer_than_usual(self):
        for size in (4095, 4096, 4097, 20000):
            value = os.urandom(size)
            self.store.put(b'k', value)
            self.assertEqual(self.store.get(b'k')[0], value)
        self.assertEqual(self.store.max_value_size, 20000)
        self.assert_error(ValueError, errno.EINVAL, self.store.put, b'k', bytes(20001))

    def test_whatever_has_bytes(self):
        self.store.put(bytearray(b'k'), memoryview(b'xvx')[1:2])
        self.assertEqual(self.store.get(memoryview(b'k'))[0], b'v')
        for wrong in ('k', None, 7, [b'k'], memoryview(b'abcd')[::2]):
            with self.assertRaises((TypeError, BufferError)):
                self.store.get(wrong)
        with self.assertRaises(TypeError):
            self.store.put(b'k', 'v')
        self.assert_error(pyprism.kv.InvalidArgument, errno.EINVAL, self.store.get, b'')
        self.assert_error(ValueError, errno.EINVAL, self.store.get, bytes(self.store.max_key_size + 1))

    def test_conditions(self):
        store = self.store
        store.put_if(b'k', b'1', 0)
        self.assert_error(pyprism.kv.OtherVersion, errno.EEXIST, store.put_if, b'k', b'2', 0)
        _, version = store.get(b'k')
        store.put_if(b'k', b'2', version)
        self.assert_error(pyprism.kv.OtherVersion, errno.ESTALE, store.put_if, b'k', b'3', version)
        self.assert_error(pyprism.kv.OtherVersion, errno.ESTALE, store.remove_if, b'k', version)
        store.remove_if(b'k', store.get(b'k')[1])
        self.assert_error(pyprism.kv.NoSuchKey, errno.ENOENT, store.put_if, b'k', b'3', version)
        with self.assertRaises(OverflowError):
            store.put_if(b'k', b'3', -1)

    def test_open_and_close(self):
        with pyprism.kv.open(self.address) as store:
            self.assertFalse(store.closed)
            store.put(b'k', b'v')
        self.assertTrue(store.closed)
        store.close()
        for call in (lambda: store.get(b'k'), lambda: store.put(b'k', b'v'), lambda: store.remove(b'k'),
                     lambda: store.put_if(b'k', b'v', 1), lambda: store.remove_if(b'k', 1),
                     lambda: store.max_key_size, lambda: store.max_value_size):
            self.assert_error(pyprism.kv.StoreError, errno.EBADF, call)
        self.assert_error(pyprism.kv.StoreError, errno.EBUSY, self.store.__init__, self.address)
        self.assert_error(pyprism.kv.StoreError, errno.EBUSY, store.__init__, self.address)
        never = pyprism.kv.Store.__new__(pyprism.kv.Store)
        self.assert_error(pyprism.kv.StoreError, errno.EBADF, never.get, b'k')

    def test_bad_options(self):
        self.assert_error(ValueError, errno.EINVAL, pyprism.kv.open, 'host:0')
        self.assert_error(ValueError, errno.EINVAL, pyprism.kv.open, self.address + '\0and more')
        self.assert_error(ValueError, errno.EINVAL, pyprism.kv.open, self.address, device='prism_lo\0and more')
        self.assert_error(ValueError, errno.EINVAL, pyprism.kv.open, self.address, depth=4097)
        for wrong in (0, -1, float('nan'), float('inf'), 1e9):
            self.assert_error(ValueError, errno.EINVAL, pyprism.kv.open, self.address, timeout=wrong)
        error = self.assert_error(OSError, errno.ENODEV, pyprism.kv.open, self.address, device='none')
        self.assertIn('none', str(error))
        with self.assertRaises(TypeError):
            pyprism.kv.open(self.address, patienc=1)
        with self.assertRaisesRegex(TypeError, 'servers is a str, not NoneType'):
            pyprism.kv.open(None)
        for call in (lambda: pyprism.kv.open(self.address, depth=1.5), lambda: self.store.put_if(b'k', b'v', 0.5),
                     lambda: self.store.remove_if(b'k', 1.0)):
            with self.assertRaises(TypeError):  # not a number that it does not say
                call()

    def test_a_server_that_is_not_there(self):
        stop(self.server)
        self.assert_error(OSError, errno.ECONNREFUSED, pyprism.kv.open, self.address, timeout=0.1)

    def test_others_run_while_a_call_waits(self):
        """Another thread finds that the store cannot be closed, and lets the server answer."""
        def get(store, begins):
            begins.set()
            found.append(store.get(b'k')[0])
        self.store.put(b'k', b'v')
        for _ in range(20):  # until the other thread is in its call, not just before it
            found, begins = [], threading.Event()
            store = pyprism.kv.open(self.address, timeout=SECONDS, patience=SECONDS)
            waiting = threading.Thread(target=get, args=(store, begins))
            self.server.send_signal(signal.SIGSTOP)
            waiting.start()
            begins.wait()
            time.sleep(0.05)
            try:
                store.close()
                refused = None
            except pyprism.kv.StoreError as error:
                refused = error.errno
            self.server.send_signal(signal.SIGCONT)
            waiting.join()
            if refused is not None:
                break
        self.assertEqual(refused, errno.EBUSY)
        self.assertEqual(found, [b'v'])
        store.close()

    def test_threads_share_a_store(self):
        def count():
            for _ in range(50):
                while True:
                    value, version = self.store.get(b'sum')
                    try:
                        self.store.put_if(b'sum', b'%d' % (int(value) + 1), version)
                        break
                    except pyprism.kv.OtherVersion:
                        pass
        self.store.put(b'sum', b'0')
        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.store.get(b'sum')[0], b'200')

    def test_a_program_that_does_not_close(self):
        """Expects neither a crash nor a wait when the interpreter ends."""
        done = subprocess.run([sys.executable, '-c', 'import pyprism.kv, sys\nstore = pyprism.kv.open(sys.argv[1])\n'
                               'store.put(b"k", b"v")\nprint(store.get(b"k")[0])', self.address], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "b'v'\n", ''))


    def test_longer_values_than_the_options_allow(self):
        self.store.put(b'k', b'x' * 10000)
        with pyprism.kv.open(self.address, max_value_size=64) as store:
            self.assert_error(OSError, errno.EMSGSIZE, store.get, b'k')

    def test_a_child_closes_nothing(self):
        def child():
            self.assert_error(pyprism.kv.StoreError, errno.EBADF, self.store.get, b'k')
            with self.store:
                pass
            self.store = None
        self.store.put(b'k', b'v')
        self.assert_child(child)
        self.assertEqual(self.store.get(b'k')[0], b'v')


class TxTest(StoreTestCase):
    def setUp(self):
        self.ports = free_ports(2)
        self.servers = []
        secret = tempfile.NamedTemporaryFile()
        self.addCleanup(secret.close)
        secret.write(os.urandom(32))
        secret.flush()
        for shard, port in enumerate(self.ports):
            server, _ = start('prism-tx-server', '--keys', '1000', '--value-size', '5000', '--shard', str(shard), '--shards',
                              '2', '--port', str(port), '--secret', secret.name)
            self.servers.append(server)
            self.addCleanup(lambda server=server: stop(server))
        self.address = ','.join(f'127.0.0.1:{port}' for port in self.ports)
        self.store = pyprism.tx.open(self.address, timeout=SECONDS)
        self.addCleanup(lambda: self.store.close())

    def read(self, key):
        with self.store.transaction() as t:
            return t.read(key)

    def test_a_block_commits(self):
        with self.store.transaction() as t:
            self.assert_error(KeyError, errno.ENOENT, t.read, b'a')
            t.write(b'a', b'1')
            t.write(bytearray(b'b'), memoryview(b'2'))
            self.assertEqual(t.read(b'a'), b'1')
        self.assertTrue(t.ended)
        with self.store.transaction() as t:
            t.fetch(b'a', b'b', b'c')
            self.assertEqual((t.read(b'a'), t.read(b'b')), (b'1', b'2'))
            t.remove(b'a')
        self.assert_error(pyprism.tx.NoSuchKey, errno.ENOENT, self.read, b'a')

    def test_a_block_that_raises_aborts(self):
        with self.assertRaises(ZeroDivisionError):
            with self.store.transaction() as t:
                t.write(b'a', b'1')
                1 // 0
        self.assertTrue(t.ended)
        with self.store.transaction() as t:
            t.write(b'a', b'1')
            t.abort()
            t.abort()
        self.assert_error(KeyError, errno.ENOENT, self.read, b'a')

    def test_a_conflict(self):
        with self.store.transaction() as t:
            t.write(b'a', b'0')
        one, other = self.store.transaction(), self.store.transaction()
        for t, value in ((one, b'1'), (other, b'2')):
            t.read(b'a')
            t.write(b'a', value)
        one.commit()
        self.assert_error(pyprism.tx.Conflict, errno.EAGAIN, other.commit)
        self.assertTrue(other.ended)
        self.assertEqual(self.read(b'a'), b'1')

    def test_values_longer_than_usual(self):
        value = os.urandom(5000)
        with self.store.transaction() as t:
            t.write(b'a', value)
            self.assert_error(ValueError, errno.EINVAL, t.write, b'a', bytes(5001))
            self.assert_error(ValueError, errno.EINVAL, t.write, b'', b'')
            self.assert_error(ValueError, errno.EINVAL, t.fetch, b'a', bytes(self.store.max_key_size + 1))
            for wrong in ('k', None, 7):
                with self.assertRaises(TypeError):
                    t.read(wrong)
                with self.assertRaises(TypeError):
                    t.fetch(b'a', wrong)
        self.assertEqual(self.read(b'a'), value)

    def test_forgotten_transactions_leave_their_places(self):
        def forget():
            t = self.store.transaction()
            try:
                t.read(b'')
            except pyprism.tx.StoreError as error:
                cycle = error  # to its traceback, this frame, and back
                return cycle is None

        for _ in range(100):
            forget()
            gc.collect()

    def test_an_ended_transaction(self):
        t = self.store.transaction()
        t.commit()
        for call in (lambda: t.read(b'k'), lambda: t.write(b'k', b'v'), lambda: t.remove(b'k'), lambda: t.fetch(b'k'),
                     t.commit):
            self.assert_error(pyprism.tx.StoreError, errno.EBADF, call)
        t.abort()
        with self.assertRaises(TypeError):
            pyprism.tx.Transaction()

    def test_a_store_that_is_closed_under_a_transaction(self):
        t = self.store.transaction()
        t.write(b'a', b'1')
        self.store.close()
        self.assertTrue(t.ended)
        self.assert_error(pyprism.tx.StoreError, errno.EBADF, t.commit)
        t.abort()
        del t
        self.assert_error(pyprism.tx.StoreError, errno.EBADF, self.store.transaction)
        self.assert_error(pyprism.tx.StoreError, errno.EBADF, self.store.run, lambda t: None)
        with pyprism.tx.open(self.address) as self.store:
            self.assert_error(KeyError, errno.ENOENT, self.read, b'a')

    def test_transactions_that_nobody_has_any_more(self):
        for _ in range(50):  # more than may be under way at once
            self.store.transaction().write(b'a', b'1')
        held = [self.store.transaction() for _ in range(16)]
        self.assert_error(pyprism.tx.StoreError, errno.EBUSY, self.store.transaction)
        held.clear()
        self.assert_error(KeyError, errno.ENOENT, self.read, b'a')

    def test_a_child_ends_nothing(self):
        def child():
            nonlocal t
            self.assert_error(pyprism.tx.StoreError, errno.EBADF, t.read, b'a')
            self.assert_error(pyprism.tx.StoreError, errno.EBADF, self.store.transaction)
            with t:
                pass
            t = None
            self.store.close()
        t = self.store.transaction()
        t.write(b'a', b'1')
        self.assert_child(child)
        t.commit()
        self.assertEqual(self.read(b'a'), b'1')

    def test_a_transaction_outlives_no_store(self):
        t = self.store.transaction()
        self.store.close()
        self.assert_error(pyprism.tx.StoreError, errno.EBUSY, self.store.__init__, self.address)
        self.assert_error(pyprism.tx.StoreError, errno.EBADF, t.read, b'a')

    def test_run_repeats_after_conflicts(self):
        attempts = []

        def add(t):
            attempts.append(t)
            value = int(t.read(b'a'))
            if len(attempts) <= 2:
                with self.store.transaction() as other:
                    other.write(b'a', b'%d' % (value + 10))
            t.write(b'a', b'%d' % (value + 1))
            return value + 1
        with self.store.transaction() as t:
            t.write(b'a', b'0')
        self.assertEqual(self.store.run(add), 21)
        self.assertEqual(len(attempts), 3)
        self.assertEqual(self.read(b'a'), b'21')
        self.assertTrue(all(t.ended for t in attempts))
        self.assert_error(pyprism.tx.StoreError, errno.EBADF, attempts[-1].read, b'a')

    def test_run_repeats_after_a_lost_connection(self):
        """Its function passes on the error of its read."""
        raised = []

        def function(t):
            first.append(None)
            t.fetch(b'k')
            if len(first) == 1:
                cut_connections_to(self.ports)
            try:
                for key in range(20):
                    t.fetch(b'key %d' % key)
            except pyprism.tx.StoreError as error:
                raised.append(error.errno)
                raise
            t.write(b'done', b'%d' % number)
        for number in range(50):  # until a read notices it first
            first = []
            self.store.run(function)
            if raised:
                break
        self.assertIn(errno.EHOSTUNREACH, raised)
        self.assertEqual(self.read(b'done'), b'%d' % number)

    def test_run_ends_as_its_function_says(self):
        def raises(t):
            t.write(b'a', b'1')
            raise LookupError('it is not what it should be')

        def meets(t):
            attempts.append(t)
            raise pyprism.tx.Conflict(errno.EAGAIN, 'so it says')

        def ends(t):
            for call in (t.commit, t.abort):
                self.assert_error(ValueError, errno.EINVAL, call)
            t.write(b'b', b'1')
        attempts = []

        def raises_one_of_the_stores(t):
            t.write(b'a', b'1')
            raise pyprism.stores.StoreError(0, 'its own')
        with self.assertRaisesRegex(LookupError, 'should be'):
            self.store.run(raises)
        with self.assertRaisesRegex(pyprism.stores.StoreError, 'its own'):
            self.store.run(raises_one_of_the_stores)
        self.assert_error(KeyError, errno.ENOENT, self.read, b'a')
        self.assert_error(pyprism.tx.Conflict, errno.EAGAIN, self.store.run, meets, attempts=3)
        self.assertEqual(len(attempts), 3)
        self.assertIsNone(self.store.run(ends))
        self.assertEqual(self.read(b'b'), b'1')
        with self.assertRaises(TypeError):
            self.store.run(7)
        with self.assertRaises(TypeError):
            self.store.run(ends, attempts=1.5)

    def test_threads_share_a_store(self):
        def move(t):
            a, b = int(t.read(b'a')), int(t.read(b'b'))
            t.write(b'a', b'%d' % (a - 1))
            t.write(b'b', b'%d' % (b + 1))
        with self.store.transaction() as t:
            t.write(b'a', b'100')
            t.write(b'b', b'0')
        threads = [threading.Thread(target=lambda: [self.store.run(move) for _ in range(25)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((self.read(b'a'), self.read(b'b')), (b'0', b'100'))

    def test_a_server_that_is_gone(self):
        stop(self.servers[0])
        stop(self.servers[1])
        with self.assertRaises(pyprism.tx.StoreError):
            for i in range(100):
                self.read(b'%d' % i)
        self.assert_error(OSError, errno.ECONNREFUSED, pyprism.tx.open, self.address, timeout=0.1)

    def test_bad_options(self):
        self.assert_error(ValueError, errno.EINVAL, pyprism.tx.open, '')
        self.assert_error(ValueError, errno.EINVAL, pyprism.tx.open, self.address, depth=4000)
        self.assert_error(ValueError, errno.EINVAL, pyprism.tx.open, self.address, timeout=0)
        self.assert_error(OSError, errno.EPROTONOSUPPORT, pyprism.tx.open, self.address.split(',')[0])


if __name__ == '__main__':
    unittest.main()
