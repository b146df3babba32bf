#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# $ ninja -C build programs
# $ PYTHONPATH=build/python /usr/bin/python3 examples/indirect_read.py
"""A lookup through a pointer with pyprism, between two queue pairs of this process: indirect_read.py [DEVICE]"""
import sys
import pyprism.verbs_enums as e
from pyprism import PrismContext, PrismQP, status_str
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx
from pyverbs.wr import SGE

READABLE = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ
with PrismContext(sys.argv[1] if len(sys.argv) > 1 else 'prism_lo') as ctx, PD(ctx) as pd, CQ(ctx, 8) as cq:
    memory, answer = MR(pd, 64, READABLE), MR(pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
    memory.write((memory.buf + 16).to_bytes(8, 'little') + bytes(8) + b'the object', 26)  # a pointer, and the object
    init = QPInitAttrEx(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, pd=pd, cap=QPCap(max_send_wr=4, max_recv_wr=1),
                        comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
    server, client = PrismQP(ctx, init), PrismQP(ctx, init)
    for qp, peer in ((server, client), (client, server)):
        attr = QPAttr()
        attr.qp_access_flags, attr.dest_qp_num = READABLE, peer.qp_num
        attr.max_rd_atomic, attr.max_dest_rd_atomic, attr.timeout, attr.retry_cnt = 16, 16, 14, 7
        attr.ah_attr = AHAttr(gr=GlobalRoute(dgid=ctx.query_gid(1, 0), sgid_index=0), is_global=1, port_num=1)
        qp.to_rts(attr)
        qp.set_peer_capability(ctx.query_capability())  # a peer elsewhere sends its 16 bytes

    client.wr_start()
    client.wr_id, client.wr_flags = 1, e.IBV_SEND_SIGNALED
    client.wr_read(memory.rkey, memory.buf)  # the address of the pointer ...
    client.wr_set_indirect()  # ... not of the object
    client.wr_set_sge(SGE(answer.buf, 10, answer.lkey))
    client.wr_complete()
    while not (completion := cq.poll()[1]):
        pass
    print(status_str(completion[0].vendor_err), answer.read(10, 0).decode())  # OK the object
