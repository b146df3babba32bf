# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Devices: list, open, queries, counters; and pyprism's own import."""
import errno
import os
import select
import subprocess
import sys
import tempfile
import unittest

from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD

import pyprism
import pyprism.enums as pe
from base import SECONDS, Config, PrismAPITestCase, PrismTrafficTestCase, T, connect, qp_init_attr
from pyprism import PrismBoundedPtr, PrismCompChannel, PrismContext, PrismContextAttr, PrismQP


class PrismDeviceTest(PrismAPITestCase):
    def test_device_list(self):
        supported = {device.name: device.supported for device in pyprism.get_device_list()}
        self.assertIs(supported[Config.device], True)

    def test_open_errors(self):
        self.assert_errno(errno.ENODEV, PrismContext, 'prism_nowhere')
        self.assert_errno(errno.EINVAL, PrismContext, Config.device, PrismContextAttr(progress=9))
        attr = PrismContextAttr()
        attr.comp_mask = 1
        self.assert_errno(errno.EINVAL, PrismContext, Config.device, attr)
        with self.assertRaises(TypeError):
            PrismContext(None)

    def test_query_device(self):
        attr = self.ctx.query_prism_device()
        self.assertEqual(attr.protocol_version, 2)
        self.assertEqual(attr.features & ~pe.PRISMDV_FEATURE_RESUME, pe.PRISMDV_FEATURE_INDIRECT | pe.PRISMDV_FEATURE_BOUNDED |
                         pe.PRISMDV_FEATURE_DATA_INDIRECT | pe.PRISMDV_FEATURE_CONDITIONAL |
                         pe.PRISMDV_FEATURE_REDIRECT | pe.PRISMDV_FEATURE_CAS | pe.PRISMDV_FEATURE_ALLOCATE)
        self.assertGreaterEqual(attr.max_indirect_read, 1 << 20)
        self.assertEqual(attr.max_cas_size, 32)
        self.assertGreaterEqual(attr.max_outstanding, 128)
        self.assertEqual(attr.max_free_list_tries, 8)
        self.assertIn('max_cas_size          : 32\n', str(attr))

    def test_query_gid(self):
        self.assertRegex(str(self.ctx.query_gid(1, 0)), '^([0-9a-f]{4}:){7}[0-9a-f]{4}$')
        self.assertNotEqual(str(self.ctx.query_gid(1, 0)), ':'.join(['0000'] * 8))
        self.assert_errno(errno.ENODATA, self.ctx.query_gid, 1, 200)
        self.assert_errno(errno.EINVAL, self.ctx.query_gid, 2, 0)
        self.assert_errno(errno.EINVAL, self.ctx.query_gid, 257, 0)

    def test_capability(self):
        capability = self.ctx.query_capability()
        self.assertIsInstance(capability, bytes)
        self.assertEqual(len(capability), 16)
        self.assertEqual(capability[-1], self.ctx.query_prism_device().features)

    def test_pyverbs_objects(self):
        """Makes the same objects by pyverbs' own means, which prism-run lets find the device."""
        with Context(name=Config.device) as ctx, PD(ctx) as pd, CQ(ctx, 8) as cq:
            gid = self.ctx.query_gid(1, 0)
            self.assertEqual(ctx.query_device().max_qp, self.ctx.query_device().max_qp)
            with PrismQP(ctx, qp_init_attr(pd, cq)) as qp:
                self.assertGreater(qp.qp_num, 0)
            with AH(pd, attr=AHAttr(gr=GlobalRoute(dgid=gid, sgid_index=0), is_global=1, port_num=1)):
                pass

    def test_bounded_pointer(self):
        pointer = PrismBoundedPtr(0x1122334455667788, 20, 7)
        self.assertEqual(pointer.to_bytes().hex(), '88776655443322111400000007000000')
        self.assertEqual(PrismBoundedPtr.from_bytes(pointer.to_bytes()), pointer)

    def test_status_names(self):
        self.assertEqual([pyprism.status_str(status) for status in pe.prismdv_status],
                         ['OK', 'CAS_MISS', 'NULL_POINTER', 'NO_BUFFER', 'SKIPPED'])


class PrismCountersTest(PrismTrafficTestCase):
    def test_counters(self):
        before = self.ctx.query_counters()
        self.post_buffers(1)
        self.run_ops([self.read(), self.write(), self.cas(1, 0), self.allocate(), self.allocate(), self.null_read(),
                      self.read(flags=pe.PRISMDV_WR_CONDITIONAL)])
        after = self.ctx.query_counters()
        grown = {name: after[name] - before[name] for name in after if name.startswith('prism_')}
        self.assertEqual(grown, {'prism_reads': 3, 'prism_writes': 1, 'prism_cas': 1, 'prism_allocates': 2,
                                 'prism_cas_misses': 1, 'prism_null_pointers': 1, 'prism_no_buffers': 1,
                                 'prism_skipped': 1, 'prism_replays': 0})

    def test_completion_channel(self):
        channel = PrismCompChannel(self.ctx)
        cq = CQ(self.ctx, 8, channel=channel)
        qp, peer = (PrismQP(self.ctx, qp_init_attr(pd, cq)) for pd in (self.pd, self.server_pd))
        connect(peer, self.gid, qp.qp_num, self.capability)
        connect(qp, self.gid, peer.qp_num, self.capability)
        cq.req_notify()
        qp.post_send(self.read(self.at(self.POINTER), flags=T, wr_id=5).wr())
        for _ in range(SECONDS * 100):
            self.ctx.progress()
            if select.select([channel.fd], [], [], 0.01)[0]:
                break
        else:
            self.fail('no completion event')
        channel.get_cq_event(cq)
        polled, wcs = cq.poll(2)
        self.assertEqual((polled, wcs[0].wr_id, wcs[0].vendor_err), (1, 5, pe.PRISMDV_STATUS_OK))
        self.assertEqual(self.mr.read(32, 0), self.data[:32])
        cq.ack_events(1)
        channel.close()
        self.assertTrue(qp.closed)


VERSION = pyprism.SUPPORTED_PYVERBS


class PrismImportTest(unittest.TestCase):
    """pyprism beside another pyverbs, or none."""
    def import_error(self, before, folder='', use='from pyprism import PrismQP'):
        paths = [folder, os.path.dirname(os.path.dirname(pyprism.__file__))]
        done = subprocess.run([sys.executable, '-c', before + use], capture_output=True, text=True,
                              timeout=60, env=dict(os.environ, PYTHONPATH=':'.join(filter(None, paths))), check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr.splitlines()[-1]

    def test_none(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'pyverbs.py'), 'w', encoding='ascii') as file:
                file.write('raise ImportError("none here")')
            text = self.import_error('', folder)
            self.assertRegex(text, f'^ImportError: pyprism needs pyverbs of rdma-core {VERSION} .*not installed: none here')
            # The stores need no pyverbs.
            text = self.import_error('', folder, 'import pyprism.kv, pyprism.tx\nraise ImportError("and works")')
        self.assertEqual(text, 'ImportError: and works')

    def test_smaller(self):
        text = self.import_error('import pyverbs.qp, pyverbs.srq as s, pyverbs.base\n'
                                 's.SRQ = pyverbs.base.PyverbsObject\n')
        self.assertRegex(text, f'^ImportError: pyprism was built for pyverbs of rdma-core {VERSION}; .*SRQ size changed')

    def test_larger(self):
        text = self.import_error('import pyverbs.qp, pyverbs.srq as s\n'
                                 'class Larger(s.SRQ):\n    __slots__ = ["member"]\n'
                                 's.SRQ = Larger\n')
        self.assertRegex(text, f'^ImportError: pyprism was built for pyverbs of rdma-core {VERSION}; .*SRQ size changed')
