# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Bad arguments, faults, objects closed in the wrong order, batches that go wrong."""
import errno
import gc
import os
import threading
import time
import unittest

from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsUserError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqInitAttr, SrqAttr
from pyverbs.wr import RecvWR, SendWR, SGE

import pyprism.enums as pe
import pyprism.verbs_enums as e
from base import (ACCESS, SECONDS, B, Config, Op, R, T, PrismAPITestCase, PrismTrafficTestCase, connect,
                  free_list_attr, open_device, post_builders, post_list, qp_init_attr)
from pyprism import (PrismCas, PrismCompChannel, PrismContext, PrismContextAttr, PrismQP, PrismQPInitAttr,
                     PrismSendWR, PrismSRQ, PrismSrqInitAttr)


class PrismCreateTest(PrismAPITestCase):
    def setUp(self):
        super().setUp()
        self.pd, self.cq = PD(self.ctx), CQ(self.ctx, 8)

    def test_qp(self):
        no_pd = qp_init_attr(self.pd, self.cq)
        no_pd.comp_mask &= ~e.IBV_QP_INIT_ATTR_PD
        self.assert_errno(errno.EINVAL, PrismQP, self.ctx, no_pd)
        too_long = qp_init_attr(self.pd, self.cq, max_send_wr=1 << 30)
        self.assert_errno(errno.EINVAL, PrismQP, self.ctx, too_long)
        datagrams = qp_init_attr(self.pd, self.cq)
        datagrams.qp_type = e.IBV_QPT_UD
        self.assert_errno(errno.EOPNOTSUPP, PrismQP, self.ctx, datagrams)
        reserved = PrismQPInitAttr()
        reserved.comp_mask = 1
        self.assert_errno(errno.EINVAL, PrismQP, self.ctx, qp_init_attr(self.pd, self.cq), reserved)
        for context, attr in ((None, no_pd), (self.ctx, None), (self.pd, no_pd)):
            with self.assertRaises(TypeError):
                PrismQP(context, attr)

    def test_parts_of_another_context(self):
        with open_device() as other, PD(other) as pd, CQ(other, 8) as cq:
            wrong = (lambda: PrismQP(self.ctx, qp_init_attr(pd, self.cq)),
                     lambda: PrismQP(self.ctx, qp_init_attr(self.pd, cq)),
                     lambda: PrismQP(self.ctx, qp_init_attr(self.pd, self.cq, srq=SRQ(pd, SrqInitAttr(SrqAttr())))),
                     lambda: PrismSRQ(self.ctx, free_list_attr(pd)))
            for create in wrong:
                with self.assertRaisesRegex(PyverbsUserError, 'belongs to another context'):
                    create()

    def test_cq_of_another_class(self):
        attr = qp_init_attr(self.pd, self.cq)
        attr.send_cq = self.pd
        with self.assertRaises(TypeError):
            PrismQP(self.ctx, attr)

    def test_granted(self):
        attr = qp_init_attr(self.pd, self.cq, max_send_wr=16)
        PrismQP(self.ctx, attr)
        self.assertGreaterEqual(attr.cap.max_send_wr, 16)

    def test_qp_attr(self):
        qp_attr = QPAttr(port_num=1)
        qp_attr.qp_access_flags = ACCESS
        qp = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq), None, qp_attr)
        self.assertEqual(qp.query(e.IBV_QP_STATE)[0].qp_state, e.IBV_QPS_INIT)

    def test_srq(self):
        attr = free_list_attr(self.pd)
        attr.comp_mask = 0
        self.assert_errno(errno.EINVAL, PrismSRQ, self.ctx, attr)
        self.assert_errno(errno.EINVAL, PrismSRQ, self.ctx, free_list_attr(self.pd, max_wr=0))
        self.assert_errno(errno.EINVAL, PrismSRQ, self.ctx, free_list_attr(self.pd), PrismSrqInitAttr(flags=8))
        reserved = PrismSrqInitAttr()
        reserved.comp_mask = 1
        self.assert_errno(errno.EINVAL, PrismSRQ, self.ctx, free_list_attr(self.pd), reserved)

    def test_ordinary_srq(self):
        srq = PrismSRQ(self.ctx, free_list_attr(self.pd), PrismSrqInitAttr(flags=0))
        self.assert_errno(errno.EINVAL, srq.query_free_list)
        self.assert_errno(errno.EINVAL, srq.poll_rejected)
        qp = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq, srq=srq))
        srq.close()
        self.assertTrue(qp.closed, 'an SRQ closes its queue pairs first')

    def test_free_list_is_no_srq(self):
        free_list = PrismSRQ(self.ctx, free_list_attr(self.pd))
        self.assert_errno(errno.EINVAL, PrismQP, self.ctx, qp_init_attr(self.pd, self.cq, srq=free_list))
        self.assertEqual(free_list.query().max_wr, 8)
        mr = MR(self.pd, 256, ACCESS)
        two = RecvWR(num_sge=2, sg=[SGE(mr.buf, 64, mr.lkey), SGE(mr.buf + 64, 64, mr.lkey)])
        self.assert_errno(errno.EINVAL, free_list.post_recv, two)

    def test_capability(self):
        qp = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq))
        capability = self.ctx.query_capability()
        self.assert_errno(errno.EINVAL, qp.set_peer_capability, bytes(16))
        self.assert_errno(errno.EINVAL, qp.set_peer_capability, capability[:15])
        other_version = capability[:4] + bytes([9, 9]) + capability[6:]
        self.assert_errno(errno.EPROTONOSUPPORT, qp.set_peer_capability, other_version)
        with self.assertRaises(TypeError):
            qp.set_peer_capability(None)


class PrismCasArgumentsTest(unittest.TestCase):
    def test_operands(self):
        with self.assertRaises(PyverbsUserError):
            PrismCas(bytes(8), bytes(16))
        with self.assertRaises(PyverbsUserError):
            PrismCas(bytes(33), bytes(33))
        with self.assertRaises(OverflowError):
            PrismCas(1 << 64, 0)
        with self.assertRaises(OverflowError):
            PrismCas(-1, 0)
        with self.assertRaises(OverflowError):
            PrismCas(0, 0, mode=256)
        self.assertEqual(PrismCas(1, bytes(16)).length, 16)
        self.assertEqual(PrismCas(1, 2).length, 8)


class PrismPostTest(PrismTrafficTestCase):
    def refused(self, number, *ops):
        for way in (post_builders, post_list):
            with self.subTest(way=way.__name__):
                self.assert_errno(number, way, self.qp, ops)

    def test_operands(self):
        address = self.at(self.DATA)
        self.refused(errno.EINVAL, self.cas(bytes(12), bytes(12)))
        self.refused(errno.EINVAL, self.cas(1, 2, mode=3))
        self.refused(errno.EINVAL, self.cas(1, 2, address + 4))
        self.refused(errno.EINVAL, self.cas(1, 2, cas_flags=pe.PRISMDV_CAS_COMPARE_DATA))
        self.refused(errno.EINVAL, self.cas(1, None))
        self.refused(errno.EINVAL, self.cas(None, 1))
        self.refused(errno.EINVAL, self.cas(1, 2, sg=[self.local(0, 7)]))
        self.refused(errno.EINVAL, self.read(address + 4, flags=T))
        self.refused(errno.EINVAL, self.read(self.at(8), flags=T | B))
        self.refused(errno.EINVAL, self.read(sg=[self.local(0, 1)] * 3))
        self.refused(errno.EINVAL, self.read(flags=R, aux=(1, 2, 3)), self.read())
        self.refused(errno.EINVAL, self.write(sg=[self.local(0, 2000)], addr=self.at(0), flags=T))
        self.assertEqual(self.run_ops([self.read()]), ['OK'])

    def test_result_length(self):
        self.assert_errno(errno.EINVAL, post_list, self.qp, [self.allocate(result=self.local(0, 4))])

    def test_comp_mask(self):
        wr = self.read().wr()
        wr.comp_mask = 1
        self.assert_errno(errno.EINVAL, self.qp.post_send, wr)

    def test_send_queue_full(self):
        depth = self.qp.query(e.IBV_QP_CAP)[1].cap.max_send_wr
        error = self.assert_errno(errno.ENOMEM, post_list, self.qp, [self.read(wr_id=i) for i in range(depth + 3)])
        self.assertEqual(error.bad_index, depth)
        self.assertEqual([wc.wr_id for wc in self.poll(depth)], list(range(depth)))
        self.assert_errno(errno.ENOMEM, post_builders, self.qp, [self.read()] * (depth + 1))
        self.assertEqual(self.cq.poll()[0], 0, 'of a batch nothing is posted')

    def test_bad_index(self):
        ops = [self.read(wr_id=1), self.read(wr_id=2), self.cas(1, 2, mode=3), self.read(wr_id=4)]
        error = self.assert_errno(errno.EINVAL, post_list, self.qp, ops)
        self.assertEqual(error.bad_index, 2)
        self.assertEqual([wc.wr_id for wc in self.poll(2)], [1, 2])

    def test_bad_wr(self):
        bad = SendWR(wr_id=1, num_sge=1, sg=[self.local(0, 8)])
        long_list = SendWR(wr_id=5, opcode=e.IBV_WR_SEND, num_sge=3, sg=[self.local(0, 8)] * 3)
        self.assert_errno(errno.EINVAL, self.qp.post_send, long_list, bad)
        self.assertEqual(bad.wr_id, 5)

    def test_opcode_of_another_class(self):
        wr = SendWR(opcode=pe.PRISMDV_WR_READ, num_sge=1, sg=[self.local(0, 8)])
        with self.assertRaises(PyverbsUserError):
            self.qp.post_send(wr)
        standard = self.read().wr()
        for wrong in ('text', 7, [standard, 7]):
            with self.assertRaises(TypeError):
                self.qp.post_send(wrong)
        with self.assertRaises(PyverbsUserError):
            self.qp.post_send([])
        with self.assertRaises(TypeError):
            standard.next_wr = 7
        with self.assertRaises(TypeError):
            PrismSendWR(pe.PRISMDV_WR_READ, sg=[7])
        self.assertEqual(self.cq.poll()[0], 0, 'nothing was posted')

    def test_overflow(self):
        for arguments in ({'rkey': 1 << 32}, {'remote_addr': 1 << 64}, {'flags': -1}, {'wr_id': 1 << 64}):
            with self.subTest(arguments), self.assertRaises(OverflowError):
                PrismSendWR(pe.PRISMDV_WR_READ, **arguments)
        self.qp.wr_start()
        self.addCleanup(self.qp.wr_abort)
        with self.assertRaises(OverflowError):
            self.qp.wr_read(1 << 32, 0)
        with self.assertRaises(TypeError):
            self.qp.wr_cas(1, 2, None)

    def test_peer_without_prism(self):
        """Before the peer's capability is set, and with one that lacks a feature."""
        qp, peer = (PrismQP(self.ctx, qp_init_attr(pd, self.cq)) for pd in (self.pd, self.server_pd))
        connect(peer, self.gid, qp.qp_num, None)
        connect(qp, self.gid, peer.qp_num, None)
        for way in (post_builders, post_list):
            self.assert_errno(errno.EOPNOTSUPP, way, qp, [self.read()])
        features = self.capability[-1] & ~pe.PRISMDV_FEATURE_REDIRECT
        qp.set_peer_capability(self.capability[:-1] + bytes([features]))
        redirected = self.read(sg=(), flags=R, aux=(self.server_mr.rkey, self.at(self.AUX), 8))
        for way in (post_builders, post_list):
            self.assert_errno(errno.EOPNOTSUPP, way, qp, [redirected])
            way(qp, [self.read()])
            self.assertEqual(self.poll()[0].status, e.IBV_WC_SUCCESS)

    def test_without_builders(self):
        self.assert_errno(errno.EOPNOTSUPP, self.server_qp.wr_start)
        self.assert_errno(errno.EOPNOTSUPP, getattr, self.server_qp, 'comp_mask')
        with self.assertRaises(PyverbsUserError):
            self.server_qp.wr_read(1, 2)

    def test_not_of_rc(self):
        self.qp.wr_start()
        self.assert_errno(errno.EOPNOTSUPP, self.qp.wr_send_tso, 0, 0, 0)
        self.assert_errno(errno.EOPNOTSUPP, self.qp.wr_set_ud_addr, None, 0, 0)
        self.assert_errno(errno.EOPNOTSUPP, self.qp.wr_set_xrc_srqn, 0)
        self.qp.wr_abort()

    def test_not_ready(self):
        qp = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq))
        qp.set_peer_capability(self.capability)
        for way in (post_builders, post_list):
            self.assert_errno(errno.EINVAL, way, qp, [self.read()])

    def faults(self, op, status):
        """The request fails, and takes the queue pair to ERROR."""
        post_list(self.qp, [op, self.read()])
        self.assertEqual([wc.status for wc in self.poll(2)], [status, e.IBV_WC_WR_FLUSH_ERR])
        self.assertEqual(self.qp.query(e.IBV_QP_STATE)[0].qp_state, e.IBV_QPS_ERR)

    def test_wrong_key(self):
        self.faults(self.read(rkey=self.server_mr.rkey ^ 1), e.IBV_WC_REM_ACCESS_ERR)

    def test_wild_pointer(self):
        self.put(self.POINTER, b'\x01' * 8)
        self.faults(self.read(self.at(self.POINTER), flags=T), e.IBV_WC_REM_ACCESS_ERR)

    def test_wrong_free_list(self):
        self.faults(self.allocate(free_list=self.free_list.get_srq_num() ^ 0x8000), e.IBV_WC_REM_ACCESS_ERR)

    def test_free_list_closed(self):
        number = self.free_list.get_srq_num()
        self.post_buffers(1)
        self.free_list.close()
        op = Op(pe.PRISMDV_WR_ALLOCATE, sg=[self.local(0, 32)], free_list=number, result=self.local(256, 8))
        self.faults(op, e.IBV_WC_REM_ACCESS_ERR)


class PrismBatchTest(PrismTrafficTestCase):
    def test_order(self):
        for call in (self.qp.wr_complete, lambda: self.qp.wr_read(1, 2), self.qp.wr_set_indirect):
            with self.assertRaises(PyverbsUserError):
                call()
        self.qp.wr_abort()
        self.qp.wr_start()
        with self.assertRaises(PyverbsUserError):
            self.qp.wr_start()
        with self.assertRaises(PyverbsUserError):
            self.qp.wr_set_indirect()
        self.qp.wr_complete()
        self.assertEqual(self.cq.poll()[0], 0)

    def test_setter_of_prism_on_another(self):
        self.qp.wr_start()
        self.qp.wr_rdma_read(self.server_mr.rkey, self.at(self.DATA))
        self.qp.wr_set_indirect()
        self.assert_errno(errno.EINVAL, self.qp.wr_complete)

    def test_abort(self):
        self.qp.wr_start()
        self.read().build(self.qp)
        self.qp.wr_abort()
        self.assertEqual(self.cq.poll()[0], 0)
        self.assertEqual(self.run_ops([self.read(wr_id=2)], post_builders), ['OK'])

    def test_exception(self):
        """An exception between the calls leaves nothing locked."""
        self.qp.wr_start()
        self.read().build(self.qp)
        with self.assertRaises(TypeError):
            self.qp.wr_set_sge(None)
        with self.assertRaises(TypeError):
            self.qp.wr_set_sge_list(1, [7])
        with self.assertRaises(IndexError):
            self.qp.wr_set_sge_list(2, [self.local(0, 8)])
        self.assertEqual(self.run_ops([self.read()]), ['OK'], 'posted by post_send() meanwhile')
        self.qp.wr_complete()
        self.poll()

    def test_collector(self):
        """Queue pairs may be destroyed at any time, which takes the lock of the context."""
        self.qp.wr_start()
        self.read().build(self.qp)
        unreachable = [PrismQP(self.ctx, qp_init_attr(self.pd, self.cq))]
        unreachable.append(unreachable)
        del unreachable
        self.assertGreater(gc.collect(), 0)
        self.qp.wr_complete()
        self.poll()

    def test_threads(self):
        """Polling and batches in threads of one context."""
        failed = []

        def post(qp, offset):
            try:
                for i in range(200):
                    qp.wr_start()
                    self.read(sg=[self.local(offset, 32)], wr_id=i).build(qp)
                    qp.wr_complete()
                    self.assertTrue(turns[qp.qp_num].acquire(timeout=SECONDS))
            except Exception as error:  # the main thread fails the test
                failed.append(error)

        other = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq))
        peer = PrismQP(self.ctx, qp_init_attr(self.server_pd, self.cq))
        connect(peer, self.gid, other.qp_num, self.capability)
        connect(other, self.gid, peer.qp_num, self.capability)
        turns = {qp.qp_num: threading.Semaphore(0) for qp in (self.qp, other)}
        threads = [threading.Thread(target=post, args=(qp, 64 * i)) for i, qp in enumerate((self.qp, other))]
        for thread in threads:
            thread.start()
        done = 0
        while any(thread.is_alive() for thread in threads):
            for wc in self.cq.poll(4)[1]:
                self.assertEqual(wc.status, e.IBV_WC_SUCCESS)
                done += 1
                turns[wc.qp_num].release()
        for thread in threads:
            thread.join()
        self.assertEqual((failed, done), ([], 400))


class PrismCloseTest(PrismTrafficTestCase):
    def check_closed(self, thing, *calls):
        self.assertTrue(thing.closed)
        for call in calls:
            with self.assertRaisesRegex(PyverbsUserError, 'is closed'):
                call()
        thing.close()  # a second time has no effect

    def all_closed(self):
        self.check_closed(self.qp, self.qp_calls()[0], lambda: setattr(self.qp, 'wr_id', 1) or self.qp.wr_id,
                          lambda: self.qp.qp_num, lambda: str(self.qp))
        self.check_closed(self.free_list, lambda: self.free_list.query_free_list(),
                          lambda: self.free_list.get_srq_num(), lambda: self.free_list.post_recv(None))

    def qp_calls(self):
        return [lambda: self.qp.post_send(self.op.wr()), lambda: self.qp.wr_start(), lambda: self.qp.query(1)]

    def setUp(self):
        super().setUp()
        self.op = self.read()

    def test_context_first(self):
        self.ctx.close()
        self.check_closed(self.ctx, lambda: self.ctx.query_prism_device(), lambda: self.ctx.query_counters(),
                          lambda: self.ctx.query_device(), lambda: self.ctx.progress(), lambda: str(self.ctx.context))
        self.all_closed()
        for create in (lambda: PrismQP(self.ctx, qp_init_attr(self.pd, self.cq)),
                       lambda: PrismSRQ(self.ctx, free_list_attr(self.pd)), lambda: PrismCompChannel(self.ctx)):
            with self.assertRaisesRegex(PyverbsUserError, 'is closed'):
                create()

    def test_pd_first(self):
        attr, list_attr = qp_init_attr(self.server_pd, self.cq), free_list_attr(self.server_pd)
        self.server_pd.close()
        self.assertTrue(self.server_qp.closed)
        for create in (lambda: PrismQP(self.ctx, attr), lambda: PrismSRQ(self.ctx, list_attr)):
            with self.assertRaisesRegex(PyverbsUserError, 'PD is closed'):
                create()
        self.check_closed(self.free_list, lambda: self.free_list.query_free_list())
        self.pd.close()
        self.all_closed()

    def test_cq_first(self):
        attr = qp_init_attr(self.pd, self.cq)
        self.cq.close()
        for call in self.qp_calls():
            self.check_closed(self.qp, call)
        with self.assertRaisesRegex(PyverbsUserError, 'CQ is closed'):
            PrismQP(self.ctx, attr)

    def test_in_a_batch(self):
        self.qp.wr_start()
        self.op.build(self.qp)
        complete, abort, read = self.qp.wr_complete, self.qp.wr_abort, self.qp.wr_read
        self.qp.close()
        for call in (complete, lambda: read(1, 2)):
            with self.assertRaisesRegex(PyverbsUserError, 'is closed'):
                call()
        abort()

    def test_methods_taken_before(self):
        """A bound method outlives the object that it was taken from."""
        start, post, capability = self.qp.wr_start, self.qp.post_send, self.qp.set_peer_capability
        free_list, context = self.free_list, self.ctx
        calls = (start, lambda p=post: p(self.op.wr()), lambda: capability(self.capability))
        later = (free_list.query_free_list, free_list.poll_rejected, context.query_counters, context.progress,
                 context.query_capability, context.query_prism_device, lambda q=context.query_gid: q(1, 0))
        self.ctx.close()
        for call in (*calls, *later):
            with self.assertRaisesRegex(PyverbsUserError, 'is closed'):
                call()

    def test_peer_gone(self):
        self.server_qp.close()
        post_list(self.qp, [self.op])
        self.qp.close()  # with a request under way
        self.assertEqual(self.cq.poll()[0], 0)

    def test_region_gone(self):
        self.server_mr.close()
        post_list(self.qp, [self.op])
        self.assertEqual(self.poll()[0].status, e.IBV_WC_REM_ACCESS_ERR)

    def test_constructed_twice(self):
        for thing, arguments in ((self.ctx, (Config.device,)), (self.qp, (self.ctx, qp_init_attr(self.pd, self.cq))),
                                 (self.free_list, (self.ctx, free_list_attr(self.pd)))):
            with self.assertRaises(PyverbsUserError):
                thing.__init__(*arguments)
        self.assertEqual(self.run_ops([self.read()]), ['OK'])

    def test_never_opened(self):
        for kind in (PrismContext, PrismQP, PrismSRQ, PrismCompChannel):
            thing = kind.__new__(kind)
            self.assertTrue(thing.closed)
            with self.assertRaises(PyverbsUserError):
                thing.query()
            thing.close()

    def test_collected(self):
        """Without close(): by the collector, and when the last reference is dropped, the context's first."""
        gc.collect()  # what earlier tests have left
        for _ in range(3):
            before = len(os.listdir('/proc/self/fd'))
            kept = [PrismSRQ(self.ctx, free_list_attr(self.pd)), PrismQP(self.ctx, qp_init_attr(self.pd, self.cq)),
                    PrismCompChannel(self.ctx)]
            kept.append(kept)
            del kept
            self.assertGreater(gc.collect(), 0)
            self.assertEqual(len(os.listdir('/proc/self/fd')), before)
            ctx = open_device()
            pd, cq = PD(ctx), CQ(ctx, 8)
            free_list, qp = PrismSRQ(ctx, free_list_attr(pd)), PrismQP(ctx, qp_init_attr(pd, cq))
            del ctx, pd, cq
            self.assertFalse(free_list.closed or qp.closed)
            del free_list, qp
        self.assertEqual(self.run_ops([self.read()]), ['OK'])
        self.pd.close()  # EBUSY if any object had been left

    def test_context_collected(self):
        gc.collect()
        before = len(os.listdir('/proc/self/fd'))
        kept = [open_device()]
        self.assertGreater(len(os.listdir('/proc/self/fd')), before)
        kept.append(kept)
        del kept
        gc.collect()
        self.assertEqual(len(os.listdir('/proc/self/fd')), before)

class PrismProgressTest(PrismTrafficTestCase):
    """The device of this process's server; the client has a context of its own, and polls that alone."""
    def setUp(self):
        super().setUp()
        self.client = PrismContext(Config.device, PrismContextAttr(progress=pe.PRISMDV_PROGRESS_INLINE))
        self.addCleanup(self.client.close)
        self.client_pd, self.client_cq = PD(self.client), CQ(self.client, 8)
        self.client_mr = MR(self.client_pd, 64, ACCESS)
        self.peer = PrismQP(self.ctx, qp_init_attr(self.server_pd, self.cq))
        self.client_qp = PrismQP(self.client, qp_init_attr(self.client_pd, self.client_cq))
        connect(self.peer, self.client.query_gid(1, 0), self.client_qp.qp_num, self.client.query_capability())
        connect(self.client_qp, self.gid, self.peer.qp_num, self.capability)

    def poll_client(self, seconds, meanwhile):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            meanwhile()
            polled, wcs = self.client_cq.poll()
            if polled:
                return wcs[0]
        return None

    def test_who_makes_progress(self):
        """In thread mode a server answers that makes no calls; in inline mode it may need progress()."""
        sge = SGE(self.client_mr.buf, 32, self.client_mr.lkey)
        post_builders(self.client_qp, [self.read(self.at(self.BOUNDED), [sge], flags=T | B)])
        inline = Config.progress == pe.PRISMDV_PROGRESS_INLINE
        wc = self.poll_client(SECONDS, self.ctx.progress if inline else lambda: None)
        self.assertIsNotNone(wc, 'no answer')
        self.assertEqual((wc.status, wc.byte_len), (e.IBV_WC_SUCCESS, self.BOUND))
        self.assertEqual(self.client_mr.read(32, 0), self.data[:self.BOUND] + bytes(32 - self.BOUND))


class PrismAndOrdinaryTest(PrismTrafficTestCase):
    def test_ordinary_qp(self):
        """A queue pair of pyverbs does not know PRISM requests, and drops them silently."""
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=QPCap(max_send_wr=4, max_recv_wr=4))
        ordinary = QP(self.server_pd, init)
        qp = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq))
        connect(ordinary, self.gid, qp.qp_num, None)
        connect(qp, self.gid, ordinary.qp_num, self.capability)
        before, deadline = self.ctx.query_counters()['rx_unknown_opcode'], time.monotonic() + SECONDS
        post_list(qp, [self.read()])
        while self.ctx.query_counters()['rx_unknown_opcode'] == before:
            self.ctx.progress()
            self.assertLess(time.monotonic(), deadline, 'the request was not dropped')
        self.assertEqual(self.cq.poll()[0], 0)

    def test_ordinary_srq(self):
        """An SRQ of pyverbs is no free list."""
        srq = SRQ(self.server_pd, SrqInitAttr(SrqAttr(max_wr=4)))
        post_list(self.qp, [self.allocate(free_list=srq.get_srq_num())])
        self.assertEqual(self.poll()[0].status, e.IBV_WC_REM_ACCESS_ERR)
