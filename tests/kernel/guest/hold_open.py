#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Hold a device open, with one object of each kind, until killed.  usage: hold_open.py DEVICE"""
import signal
import sys

import pyverbs.enums as e
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr

context = Context(name=sys.argv[1])
pd = PD(context)
region = MR(pd, 1 << 20, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
channel = CompChannel(context)
cq = CQ(context, 64, None, channel)
srq = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=16, max_sge=1)))
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, srq=srq, cap=QPCap(max_send_wr=16)))
print('open', flush=True)
signal.pause()
