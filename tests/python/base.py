# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Base of pyprism's tests: a context, two connected queue pairs, and one way to describe requests.

Set by run_tests.py: device and progress of Config.
"""
import errno
import time
import unittest

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx
from pyverbs.srq import SrqInitAttrEx
from pyverbs.wr import RecvWR, SGE

import pyprism
import pyprism.enums as pe
import pyprism.verbs_enums as e
from pyprism import PrismCas, PrismContext, PrismContextAttr, PrismQP, PrismSendWR, PrismSRQ

ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_ATOMIC)
ALL_OPS = (e.IBV_QP_EX_WITH_SEND | e.IBV_QP_EX_WITH_RDMA_READ | e.IBV_QP_EX_WITH_RDMA_WRITE |
           e.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
SECONDS = 10
T, B, C = pe.PRISMDV_WR_INDIRECT, pe.PRISMDV_WR_BOUNDED, pe.PRISMDV_WR_CONDITIONAL
R, D = pe.PRISMDV_WR_REDIRECT, pe.PRISMDV_WR_DATA_INDIRECT


class Config:
    device = 'prism_lo'
    progress = pe.PRISMDV_PROGRESS_INLINE


def u64(value):
    return value.to_bytes(8, 'little')


def open_device():
    return PrismContext(Config.device, PrismContextAttr(progress=Config.progress))


def qp_init_attr(pd, cq, builders=True, max_send_wr=16, **more):
    mask = e.IBV_QP_INIT_ATTR_PD | (e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS if builders else 0)
    cap = QPCap(max_send_wr=max_send_wr, max_recv_wr=4, max_send_sge=2, max_recv_sge=1, max_inline_data=64)
    return QPInitAttrEx(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap, pd=pd, comp_mask=mask,
                        send_ops_flags=ALL_OPS if builders else 0, **more)


def free_list_attr(pd, max_wr=8):
    attr = SrqInitAttrEx(max_wr=max_wr, max_sge=1)
    attr.pd = pd
    attr.comp_mask = e.IBV_SRQ_INIT_ATTR_PD
    return attr


def connect(qp, gid, peer_num, capability):
    """Brings @qp to RTS, towards the queue pair @peer_num at @gid."""
    attr = QPAttr(port_num=1)
    attr.qp_access_flags = ACCESS
    attr.dest_qp_num = peer_num
    attr.path_mtu = e.IBV_MTU_1024
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 16
    attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer = 14, 7, 7, 1
    route = GlobalRoute(dgid=gid, sgid_index=0)
    attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
    qp.to_rts(attr)
    if capability is not None:
        qp.set_peer_capability(capability)


class Op:
    """One PRISM request, posted by builders or as a PrismSendWR."""
    def __init__(self, kind, addr=0, rkey=0, flags=0, sg=(), aux=(0, 0, 0), cas=None, free_list=0, tag=0, result=None,
                 wr_id=0, signaled=True):
        self.kind, self.addr, self.rkey, self.flags, self.sg, self.aux = kind, addr, rkey, flags, sg, aux
        self.cas, self.free_list, self.tag, self.result = cas, free_list, tag, result
        self.wr_id, self.send_flags = wr_id, e.IBV_SEND_SIGNALED if signaled else 0

    def wr(self):
        wr = PrismSendWR(self.kind, wr_id=self.wr_id, sg=self.sg, send_flags=self.send_flags, rkey=self.rkey,
                         remote_addr=self.addr, flags=self.flags, cas=self.cas, free_list=self.free_list, tag=self.tag,
                         result=self.result)
        if self.flags & (R | D):
            wr.set_aux(self.flags & (R | D), *self.aux)
        return wr

    def _begin(self, qp):
        if self.kind == pe.PRISMDV_WR_READ:
            qp.wr_read(self.rkey, self.addr)
        elif self.kind == pe.PRISMDV_WR_WRITE:
            qp.wr_write(self.rkey, self.addr)
        elif self.kind == pe.PRISMDV_WR_CAS:
            qp.wr_cas(self.rkey, self.addr, self.cas)
        else:
            qp.wr_allocate(self.free_list, self.tag)

    def _modify(self, qp):
        bounded_target = self.flags & B and self.flags & T
        if self.flags & T and not bounded_target:
            qp.wr_set_indirect()
        if bounded_target:
            qp.wr_set_indirect_bounded()
        if self.flags & C:
            qp.wr_set_conditional()
        if self.flags & R and self.flags & B and not bounded_target:
            qp.wr_set_redirect_bounded(*self.aux[:2])
        elif self.flags & R:
            qp.wr_set_redirect(*self.aux)
        if self.flags & D:
            qp.wr_set_data_indirect(*self.aux)

    def build(self, qp):
        qp.wr_id, qp.wr_flags = self.wr_id, self.send_flags
        self._begin(qp)
        self._modify(qp)
        if len(self.sg) == 1:
            qp.wr_set_sge(self.sg[0])
        elif self.sg:
            qp.wr_set_sge_list(len(self.sg), self.sg)
        if self.result is not None:
            qp.wr_set_result(self.result.lkey, self.result.addr)


def post_builders(qp, ops):
    qp.wr_start()
    for op in ops:
        op.build(qp)
    qp.wr_complete()


def post_list(qp, ops):
    qp.post_send([op.wr() for op in ops])


def post_linked(qp, ops):
    wrs = [op.wr() for op in ops]
    for wr, following in zip(wrs, wrs[1:]):
        wr.next_wr = following
    qp.post_send(wrs[0])


WAYS = (post_builders, post_list, post_linked)


class PrismAPITestCase(unittest.TestCase):
    """A context."""
    def setUp(self):
        super().setUp()
        self.ctx = open_device()
        self.addCleanup(self.ctx.close)

    def assert_errno(self, number, function, *args, **kwargs):
        with self.assertRaises(PyverbsRDMAError) as raised:
            function(*args, **kwargs)
        self.assertEqual(errno.errorcode[raised.exception.error_code], errno.errorcode[number])
        return raised.exception


class PrismTrafficTestCase(PrismAPITestCase):
    """Two queue pairs of one context: client and server, each with a protection domain and memory of its own, and a
    free list of the server.

    The server's memory: POINTER, BOUNDED, NULL hold pointers; DATA is what they point at; AUX is for D and R.
    """
    SIZE = 4096
    POINTER, BOUNDED, NULL, DATA, AUX, BUFFERS = 0, 16, 32, 64, 512, 1024
    BUFFER_SIZE = 64
    BOUND = 20

    def setUp(self):
        super().setUp()
        self.cq = CQ(self.ctx, 64)
        self.pd, self.server_pd = PD(self.ctx), PD(self.ctx)
        self.mr, self.server_mr = MR(self.pd, self.SIZE, ACCESS), MR(self.server_pd, self.SIZE, ACCESS)
        self.free_list = PrismSRQ(self.ctx, free_list_attr(self.server_pd))
        self.qp = PrismQP(self.ctx, qp_init_attr(self.pd, self.cq))
        self.server_qp = PrismQP(self.ctx, qp_init_attr(self.server_pd, self.cq, builders=False))
        self.gid, self.capability = self.ctx.query_gid(1, 0), self.ctx.query_capability()
        connect(self.server_qp, self.gid, self.qp.qp_num, self.capability)
        connect(self.qp, self.gid, self.server_qp.qp_num, self.capability)
        self.prepare()

    def prepare(self):
        """Fresh contents of both memories."""
        self.data = bytes(range(1, 129))
        self.mr.write(bytes(self.SIZE), self.SIZE)
        self.put(0, bytes(self.BUFFERS))
        self.put(self.POINTER, u64(self.at(self.DATA)))
        self.put(self.BOUNDED, pyprism.PrismBoundedPtr(self.at(self.DATA), self.BOUND, 7).to_bytes())
        self.put(self.DATA, self.data)

    def at(self, offset):
        return self.server_mr.buf + offset

    def put(self, offset, data):
        self.server_mr.write(data, len(data), offset)

    def get(self, offset, length):
        return self.server_mr.read(length, offset)

    def local(self, offset, length):
        return SGE(self.mr.buf + offset, length, self.mr.lkey)

    def post_buffers(self, count, first=0):
        for i in range(first, first + count):
            sge = SGE(self.at(self.buffer(i)), self.BUFFER_SIZE, self.server_mr.lkey)
            self.free_list.post_recv(RecvWR(wr_id=i, num_sge=1, sg=[sge]))

    def buffer(self, i):
        return self.BUFFERS + i * self.BUFFER_SIZE

    def poll(self, count=1):
        """Returns @count completions, in order; fails after some seconds without."""
        wcs, deadline = [], time.monotonic() + SECONDS
        while len(wcs) < count:
            wcs += self.cq.poll(count - len(wcs))[1]
            self.assertLess(time.monotonic(), deadline, f'{len(wcs)} completions of {count} in {SECONDS} s')
        self.assertEqual(self.cq.poll(1)[0], 0, 'more completions than requests')
        return wcs

    def run_ops(self, ops, way=post_list):
        """Posts @ops, and returns the names of their statuses; all of them complete without an error."""
        way(self.qp, ops)
        wcs = self.poll(sum(bool(op.send_flags) for op in ops))
        for wc in wcs:
            self.assertEqual(wc.status, e.IBV_WC_SUCCESS, f'completion of {wc.wr_id}')
        return [pyprism.status_str(wc.vendor_err) for wc in wcs]

    # Requests that succeed, fail, are skipped

    def read(self, addr=None, sg=None, **more):
        more.setdefault('rkey', self.server_mr.rkey)
        return Op(pe.PRISMDV_WR_READ, self.at(self.DATA) if addr is None else addr,
                  sg=[self.local(0, 32)] if sg is None else sg, **more)

    def write(self, addr=None, sg=None, **more):
        more.setdefault('rkey', self.server_mr.rkey)
        return Op(pe.PRISMDV_WR_WRITE, self.at(self.DATA) if addr is None else addr,
                  sg=[self.local(0, 32)] if sg is None else sg, **more)

    def cas(self, compare=None, swap=None, addr=None, sg=None, mask=(None, None), mode=pe.PRISMDV_CAS_EQ, cas_flags=0,
            length=None, **more):
        more.setdefault('rkey', self.server_mr.rkey)
        operands = PrismCas(compare, swap, *mask, length=length, mode=mode, flags=cas_flags)
        return Op(pe.PRISMDV_WR_CAS, self.at(self.DATA) if addr is None else addr,
                  sg=[self.local(0, operands.length)] if sg is None else sg, cas=operands, **more)

    def allocate(self, sg=None, **more):
        more.setdefault('free_list', self.free_list.get_srq_num())
        more.setdefault('result', self.local(256, 8))
        return Op(pe.PRISMDV_WR_ALLOCATE, sg=[self.local(0, 32)] if sg is None else sg, **more)

    def null_read(self, **more):
        return self.read(self.at(self.NULL), flags=T, **more)
