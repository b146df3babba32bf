# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Effects of the operations: each with each of its modifiers, in every way of posting."""
import errno
import itertools

from pyverbs.cq import CqInitAttrEx, CQEX, PollCqAttr
from pyverbs.qp import DataBuffer
from pyverbs.wr import RecvWR, SendWR, SGE

import pyprism.enums as pe
import pyprism.verbs_enums as e
from base import B, C, D, R, T, WAYS, PrismTrafficTestCase, connect, post_builders, post_list, qp_init_attr, u64
from pyprism import PrismBoundedPtr, PrismQP

LEGAL = {pe.PRISMDV_WR_READ: T | B | C | R, pe.PRISMDV_WR_WRITE: T | B | C | D, pe.PRISMDV_WR_CAS: T | C | D,
         pe.PRISMDV_WR_ALLOCATE: B | C | R}


def is_legal(kind, flags):
    bounded_by = R if kind == pe.PRISMDV_WR_ALLOCATE else T
    return not flags & ~LEGAL[kind] and (not flags & B or bool(flags & bounded_by))


def combinations():
    for kind, bits in itertools.product(LEGAL, range(32)):
        flags = sum(flag for i, flag in enumerate((T, B, C, R, D)) if bits >> i & 1)
        yield kind, flags


class PrismModifiersTest(PrismTrafficTestCase):
    """Every combination of modifiers: legal ones are executed, or skipped with C after a failure; others refused."""
    MINE = b'm' * 32

    def target(self, flags):
        if not flags & T:
            return self.at(self.DATA)
        return self.at(self.BOUNDED if flags & B else self.POINTER)

    def op(self, kind, flags):
        sg = () if flags & R and kind == pe.PRISMDV_WR_READ or flags & D else [self.local(0, 32)]
        length = 32 if kind in (pe.PRISMDV_WR_READ, pe.PRISMDV_WR_WRITE) else 0
        more = {'flags': flags, 'aux': (self.server_mr.rkey, self.at(self.AUX), length)}
        if kind == pe.PRISMDV_WR_READ:
            return self.read(self.target(flags), sg, **more)
        if kind == pe.PRISMDV_WR_WRITE:
            return self.write(self.target(flags), sg, **more)
        if kind == pe.PRISMDV_WR_CAS:
            swap = None if flags & D else b's' * 32
            return self.cas(self.data[:32], swap, self.target(flags), [self.local(0, 32)], **more)
        return self.allocate(sg or [self.local(0, 32)], tag=9, **more)

    def check_read(self, flags):
        length = self.BOUND if flags & B else 32
        expected = self.data[:length] + (b'a' * (32 - length) if flags & R else self.MINE[length:])
        got = self.get(self.AUX, 32) if flags & R else self.mr.read(32, 0)
        self.assertEqual(got, expected)

    def check_write(self, flags):
        length = self.BOUND if flags & B else 32
        source = b'a' if flags & D else b'm'
        self.assertEqual(self.get(self.DATA, 128), source * length + self.data[length:])

    def check_cas(self, flags):
        self.assertEqual(self.mr.read(32, 0), self.data[:32], 'the old bytes')
        self.assertEqual(self.get(self.DATA, 128), (b'a' if flags & D else b's') * 32 + self.data[32:])

    def check_allocate(self, flags):
        address = int.from_bytes(self.mr.read(8, 256), 'little')
        self.assertIn(address, [self.at(self.buffer(i)) for i in range(8)])
        self.assertEqual(self.get(address - self.at(0), 32), self.MINE)
        stored = b'a' * 16
        if flags & R:
            stored = PrismBoundedPtr(address, 32, 9).to_bytes() if flags & B else u64(address) + b'a' * 8
        self.assertEqual(self.get(self.AUX, 16), stored)

    def check_done(self, kind, flags):
        check = {pe.PRISMDV_WR_READ: self.check_read, pe.PRISMDV_WR_WRITE: self.check_write,
                 pe.PRISMDV_WR_CAS: self.check_cas, pe.PRISMDV_WR_ALLOCATE: self.check_allocate}
        check[kind](flags)

    def fresh(self):
        self.prepare()
        self.put(self.AUX, b'a' * 64)
        self.mr.write(self.MINE, 32)
        if self.free_list.query_free_list().available == 0:
            self.post_buffers(8)

    def test_legal(self):
        legal = [combination for combination in combinations() if is_legal(*combination)]
        self.assertEqual(len(legal), 12 + 12 + 8 + 6)
        for (kind, flags), way in itertools.product(legal, WAYS):
            with self.subTest(kind=pe.prismdv_wr_opcode(kind).name, flags=flags, way=way.__name__):
                self.fresh()
                self.assertEqual(self.run_ops([self.op(kind, flags)], way), ['OK'])
                self.check_done(kind, flags)

    def test_skipped(self):
        """A request with C runs after a success, and is skipped after a failure."""
        for kind, flags in combinations():
            if not is_legal(kind, flags) or not flags & C:
                continue
            with self.subTest(kind=pe.prismdv_wr_opcode(kind).name, flags=flags):
                self.fresh()
                before, list_before = self.get(0, self.SIZE), self.free_list.query_free_list().popped
                statuses = self.run_ops([self.null_read(sg=[self.local(512, 8)]), self.op(kind, flags)])
                self.assertEqual(statuses, ['NULL_POINTER', 'SKIPPED'])
                self.assertEqual(self.get(0, self.SIZE), before)
                self.assertEqual(self.free_list.query_free_list().popped, list_before)
                self.assertEqual(self.run_ops([self.read(sg=[self.local(512, 8)]), self.op(kind, flags)]), ['OK', 'OK'])
                self.check_done(kind, flags)

    def test_illegal(self):
        refused = 0
        for kind, flags in combinations():
            if is_legal(kind, flags):
                continue
            refused += 1
            with self.subTest(kind=pe.prismdv_wr_opcode(kind).name, flags=flags):
                self.assert_errno(errno.EINVAL, post_list, self.qp, [self.op(kind, flags)])
        self.assertEqual(refused, 128 - 38)
        self.assertEqual(self.run_ops([self.read()]), ['OK'], 'the queue pair still works')


class PrismReadWriteTest(PrismTrafficTestCase):
    def test_null_pointer(self):
        for op in (self.read, self.write):
            for flags in (T, T | B):
                self.assertEqual(self.run_ops([op(self.at(self.NULL), flags=flags)]), ['NULL_POINTER'])
        self.assertEqual(self.run_ops([self.cas(0, 1, self.at(self.NULL), flags=T)]), ['NULL_POINTER'])

    def test_byte_len(self):
        post_list(self.qp, [self.read(self.at(self.BOUNDED), flags=T | B)])
        wc, = self.poll()
        self.assertEqual((wc.opcode, wc.byte_len), (e.IBV_WC_RDMA_READ, self.BOUND))

    def test_scatter(self):
        post_builders(self.qp, [self.read(sg=[self.local(0, 8), self.local(64, 8)])])
        self.poll()
        self.assertEqual((self.mr.read(8, 0), self.mr.read(8, 64)), (self.data[:8], self.data[8:16]))

    def test_inline(self):
        self.qp.wr_start()
        self.qp.wr_id, self.qp.wr_flags = 1, e.IBV_SEND_SIGNALED
        self.qp.wr_write(self.server_mr.rkey, self.at(self.DATA))
        self.mr.write(b'inline', 6, 128)
        self.qp.wr_set_inline_data(self.mr.buf + 128, 6)
        self.qp.wr_write(self.server_mr.rkey, self.at(self.DATA + 8))
        self.qp.wr_set_inline_data_list(2, [DataBuffer(self.mr.buf + 128, 2), DataBuffer(self.mr.buf + 132, 2)])
        self.mr.write(b'?' * 8, 8, 128)  # the bytes were copied by then
        self.qp.wr_complete()
        self.poll(2)
        self.assertEqual(self.get(self.DATA, 14), b'inline' + self.data[6:8] + b'inne' + self.data[12:14])

    def test_inline_list(self):
        self.mr.write(b'inline', 6)
        wr = self.write(sg=[self.local(0, 6)]).wr()
        wr.send_flags |= e.IBV_SEND_INLINE
        self.qp.post_send(wr)
        self.mr.write(b'?' * 8, 8)
        self.poll()
        self.assertEqual(self.get(self.DATA, 8), b'inline' + self.data[6:8])


class PrismCasTest(PrismTrafficTestCase):
    def swap(self, target, *args, way=post_list, **kwargs):
        """Runs a CAS; returns the status and the target's bytes afterwards; checks that the old bytes were returned."""
        self.put(self.DATA, target)
        op = self.cas(*args, **kwargs)
        status, = self.run_ops([op], way)
        self.assertEqual(self.mr.read(op.cas.length, 0), target[:op.cas.length])
        return status, self.get(self.DATA, op.cas.length)

    def test_modes(self):
        """The operand is equal to, greater than, less than the target, as little-endian integers."""
        held = {pe.PRISMDV_CAS_EQ: (False, True, False), pe.PRISMDV_CAS_GT: (False, False, True),
                pe.PRISMDV_CAS_LT: (True, False, False)}
        for n, mode, way in itertools.product((8, 16, 32), held, WAYS):
            high = 1 << (8 * n - 8)  # the last byte is the most significant
            target = (5 * high + 200).to_bytes(n, 'little')
            for holds, compare in zip(held[mode], (4 * high + 255, 5 * high + 200, 6 * high)):
                with self.subTest(n=n, mode=mode, compare=compare, way=way.__name__):
                    status, after = self.swap(target, compare.to_bytes(n, 'little'), b's' * n, mode=mode, way=way)
                    self.assertEqual((status, after), ('OK', b's' * n) if holds else ('CAS_MISS', target))

    def test_masks(self):
        target = bytes(range(16))
        for way in WAYS:
            with self.subTest(way=way.__name__):
                low = b'\xff' * 8 + bytes(8)
                compare = target[:8] + b'?' * 8
                self.assertEqual(self.swap(target, compare, b's' * 16, mask=(low, None), way=way), ('OK', b's' * 16))
                self.assertEqual(self.swap(target, target, b's' * 16, mask=(None, low), way=way),
                                 ('OK', b's' * 8 + target[8:]))
                self.assertEqual(self.swap(target, compare, b's' * 16, mask=(None, low), way=way), ('CAS_MISS', target))
                self.assertEqual(self.swap(target, b'?' * 16, b's' * 16, mask=(bytes(16), bytes(16)), way=way),
                                 ('OK', target))

    def test_integers(self):
        self.assertEqual(self.swap(u64(7), 7, 8), ('OK', u64(8)))
        self.assertEqual(self.swap(u64(7) + u64(1), 7 + (1 << 64), 2, length=16), ('OK', u64(2) + u64(0)))

    def test_compare_data(self):
        """With COMPARE_DATA the bytes from aux are compared and swapped."""
        aux = {'flags': D, 'aux': (self.server_mr.rkey, self.at(self.AUX), 0),
               'cas_flags': pe.PRISMDV_CAS_COMPARE_DATA}
        for way in WAYS:
            self.put(self.AUX, u64(0x1207))
            got = self.swap(u64(0x3407), mask=(u64(0xff), u64(0xff00)), way=way, **aux)
            self.assertEqual(got, ('OK', u64(0x1207)))
            got = self.swap(u64(0x3408), mask=(u64(0xff), None), way=way, **aux)
            self.assertEqual(got, ('CAS_MISS', u64(0x3408)))

    def test_without_result(self):
        self.assertEqual(self.run_ops([self.cas(self.data[:8], 1, sg=())]), ['OK'])
        self.assertEqual(self.get(self.DATA, 8), u64(1))


class PrismAllocateTest(PrismTrafficTestCase):
    def test_buffer_too_short(self):
        self.post_buffers(1)
        self.assertEqual(self.run_ops([self.allocate(sg=[self.local(0, self.BUFFER_SIZE + 1)])]), ['NO_BUFFER'])

    def test_exhaustion(self):
        self.post_buffers(2)
        statuses = self.run_ops([self.allocate(result=self.local(256 + 8 * i, 8)) for i in range(3)])
        self.assertEqual(statuses, ['OK', 'OK', 'NO_BUFFER'])
        expected = [self.at(self.buffer(0)), self.at(self.buffer(1)), 0]
        self.assertEqual(self.mr.read(24, 256), b''.join(map(u64, expected)))
        attr = self.free_list.query_free_list()
        self.assertEqual((attr.posted, attr.popped, attr.available, attr.allocatable, attr.rejected, attr.reclaimed),
                         (2, 2, 0, 0, 0, 0))
        self.post_buffers(1, first=2)
        self.assertEqual(self.free_list.query_free_list().available, 1)
        self.assertEqual(self.run_ops([self.allocate()]), ['OK'])

    def test_rejected(self):
        """Bad entries are removed and reported, and the next good one is handed out."""
        read_only = RecvWR(wr_id=77, num_sge=1, sg=[SGE(self.mr.buf, 64, self.mr.lkey)])  # another PD
        self.free_list.post_recv(read_only)
        self.post_buffers(1)
        self.assertEqual(self.run_ops([self.allocate()]), ['OK'])
        entry, = self.free_list.poll_rejected()
        self.assertEqual(entry, (77, self.mr.buf, 64, self.mr.lkey, errno.EINVAL))
        self.assertEqual(self.free_list.poll_rejected(), [])
        self.assertEqual(self.free_list.query_free_list().rejected, 1)

    def test_no_result(self):
        self.post_buffers(1)
        self.assertEqual(self.run_ops([self.allocate(result=None)]), ['OK'])
        self.assertEqual(self.mr.read(8, 256), bytes(8))

    def test_list_full(self):
        self.post_buffers(8)
        self.assert_errno(errno.ENOMEM, self.post_buffers, 1, 8)

    def test_out_of_place_update(self):
        """The chain of PRISM-KV: write the new version, then swap the pointer to it, if no other client was faster."""
        self.post_buffers(2)
        key, aux = self.server_mr.rkey, self.at(self.AUX)

        def chain(expected):
            return [self.allocate(flags=R, aux=(key, aux, 0), signaled=False),
                    self.cas(expected, None, self.at(self.POINTER), [self.local(0, 8)], flags=C | D, aux=(key, aux, 0))]

        for way in WAYS[:2]:
            old = int.from_bytes(self.get(self.POINTER, 8), 'little')
            self.mr.write(way.__name__.encode().ljust(32), 32)
            ops = chain(old)
            ops[0].sg = [self.local(0, 32)]
            ops[1].sg = [self.local(64, 8)]
            self.assertEqual(self.run_ops(ops, way), ['OK'])
            self.assertEqual(self.run_ops([self.read(self.at(self.POINTER), [self.local(128, 32)], flags=T)]), ['OK'])
            self.assertEqual(self.mr.read(32, 128), way.__name__.encode().ljust(32))
        self.assertEqual(self.run_ops(chain(old)), ['SKIPPED'], 'no buffer is left')


class PrismChainTest(PrismTrafficTestCase):
    def test_chain_state(self):
        """A skipped request is a failure too; one without C begins a new chain; standard requests succeed."""
        missed = self.cas(b'?' * 8, b's' * 8)
        read = self.read
        ops = [missed, read(flags=C), read(flags=C), read(), read(flags=C), missed]
        for way in WAYS:
            self.prepare()
            self.assertEqual(self.run_ops(ops, way), ['CAS_MISS', 'SKIPPED', 'SKIPPED', 'OK', 'OK', 'CAS_MISS'])

    def standard_read(self, wr_id):
        wr = SendWR(wr_id=wr_id, opcode=e.IBV_WR_RDMA_READ, num_sge=1, sg=[self.local(64, 16)])
        wr.set_wr_rdma(self.server_mr.rkey, self.at(self.DATA + 16))
        return wr

    def check_mixed(self):
        wcs = self.poll(3)
        self.assertEqual([(wc.wr_id, wc.vendor_err) for wc in wcs],
                         [(1, pe.PRISMDV_STATUS_NULL_POINTER), (2, 0), (3, pe.PRISMDV_STATUS_OK)])
        self.assertEqual(self.mr.read(16, 64), self.data[16:32])
        self.assertEqual(self.mr.read(32, 0), self.data[:32])

    def test_mixed_list(self):
        self.qp.post_send([self.null_read(wr_id=1).wr(), self.standard_read(2), self.read(flags=C, wr_id=3).wr()])
        self.check_mixed()

    def test_mixed_linked(self):
        head = self.null_read(wr_id=1).wr()
        head.next_wr = self.standard_read(2)
        self.qp.post_send((head, self.read(flags=C, wr_id=3).wr()))
        self.check_mixed()

    def test_linked_by_pyverbs(self):
        second = self.standard_read(2)
        first = self.standard_read(1)
        first.next_wr = second
        self.qp.post_send([first, self.read(flags=C, wr_id=3).wr()])
        self.assertEqual([wc.wr_id for wc in self.poll(3)], [1, 2, 3])

    def test_mixed_builders(self):
        self.qp.wr_start()
        self.null_read(wr_id=1).build(self.qp)
        self.qp.wr_id = 2
        self.qp.wr_rdma_read(self.server_mr.rkey, self.at(self.DATA + 16))
        self.qp.wr_set_sge_list(2, [self.local(64, 8), self.local(72, 8)])
        self.read(flags=C, wr_id=3).build(self.qp)
        self.qp.wr_complete()
        self.check_mixed()

    def test_standard_builders(self):
        """The builders of QPEx work as before."""
        self.put(self.AUX, u64(40))
        self.mr.write(b'w' * 8, 8, 128)
        self.server_qp.post_recv(RecvWR(wr_id=9, num_sge=1, sg=[SGE(self.at(self.AUX + 64), 8, self.server_mr.lkey)]))
        key, qp = self.server_mr.rkey, self.qp
        qp.wr_start()
        qp.wr_flags = 0
        qp.wr_rdma_write(key, self.at(self.DATA))
        qp.wr_set_sge(self.local(128, 8))
        qp.wr_atomic_cmp_swp(key, self.at(self.AUX), 40, 41)
        qp.wr_set_sge(self.local(0, 8))
        qp.wr_flags = e.IBV_SEND_SIGNALED
        qp.wr_send()
        qp.wr_set_sge(self.local(128, 8))
        qp.wr_complete()
        self.assertEqual({wc.opcode for wc in self.poll(2)}, {e.IBV_WC_SEND, e.IBV_WC_RECV})
        written = [self.get(offset, 8) for offset in (self.DATA, self.AUX, self.AUX + 64)]
        self.assertEqual((written, self.mr.read(8, 0)), ([b'w' * 8, u64(41), b'w' * 8], u64(40)))

    def test_extended_cq(self):
        cq = CQEX(self.ctx, CqInitAttrEx(cqe=8, wc_flags=e.IBV_WC_EX_WITH_BYTE_LEN))
        qp, peer = (PrismQP(self.ctx, qp_init_attr(pd, cq)) for pd in (self.pd, self.server_pd))
        connect(peer, self.gid, qp.qp_num, self.capability)
        connect(qp, self.gid, peer.qp_num, self.capability)
        post_builders(qp, [self.cas(b'?' * 8, 0, wr_id=4)])
        for _ in range(1000000):
            if cq.start_poll(PollCqAttr()) != 2:  # ENOENT: nothing yet
                break
        self.assertEqual((cq.wr_id, cq.status, cq.read_opcode(), cq.read_vendor_err(), cq.read_byte_len()),
                         (4, e.IBV_WC_SUCCESS, e.IBV_WC_COMP_SWAP, pe.PRISMDV_STATUS_CAS_MISS, 8))
        cq.end_poll()
