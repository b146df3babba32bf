# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Queue pairs."""
cimport cython
from libc.errno cimport errno
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
import errno as errors

from pyverbs.pyverbs_error import PyverbsRDMAError, PyverbsUserError

from pyverbs.cq cimport CQ, CQEX
from pyverbs.device cimport Context
from pyverbs.mr cimport MW, MWBindInfo
from pyverbs.pd cimport PD
from pyverbs.qp cimport DataBuffer, QPAttr, QPInitAttrEx
from pyverbs.srq cimport SRQ
from pyverbs.wr cimport SGE, SendWR
from pyprism.guard cimport closed_error, get_attribute, require_open, require_pd, require_same_context
from pyprism.wr cimport PrismCas, PrismSendWR
cimport pyprism.enums as e
cimport pyverbs.verbs as v


# Parts of a queue pair -----------------------------------------------------------------------------------------------

cdef int require_cq(Context context, cq, v.ibv_cq *given) except -1:
    cdef v.ibv_cq *its
    if cq is None:
        return 0
    if type(cq) is not CQ and not isinstance(cq, CQEX):
        raise TypeError(f'Expected CQ or CQEX, got {type(cq).__name__}')
    its = (<CQ>cq).cq if type(cq) is CQ else (<CQEX>cq).ibv_cq
    require_open(cq, its != NULL and its == given)
    return require_same_context(context, cq, its.context)


cdef int require_srq(Context context, SRQ srq, v.ibv_srq *given) except -1:
    if srq is None:
        return 0
    require_open(srq, srq.srq != NULL and srq.srq == given)
    return require_same_context(context, srq, srq.srq.context)


cdef int require_parts(Context context, QPInitAttrEx attr) except -1:
    """Check the parts: an object closed after it was put into @attr has left its pointer there."""
    require_open(context, context.context != NULL)
    require_pd(context, attr._pd, attr.attr.pd)
    require_cq(context, attr.scq, attr.attr.send_cq)
    require_cq(context, attr.rcq, attr.attr.recv_cq)
    return require_srq(context, attr.srq, attr.attr.srq)


# Lists of work requests ----------------------------------------------------------------------------------------------

cdef int append_standard(vector[dv.prismdv_send_wr] &requests, SendWR wr) except -1:
    """Append @wr and the requests after it, which pyverbs links by address."""
    cdef dv.prismdv_send_wr copy
    cdef v.ibv_send_wr *at = &wr.send_wr
    memset(&copy, 0, sizeof(copy))
    while at != NULL:
        if e.PRISMDV_WR_READ <= <int>at.opcode <= e.PRISMDV_WR_ALLOCATE:
            raise PyverbsUserError('A SendWR has a PRISM opcode: PrismSendWR is for those')
        copy.wr = at[0]
        requests.push_back(copy)
        at = at.next
    return 0


cdef int copy_request(SendWR to, v.ibv_send_wr *request) except -1:
    """Copy with a list that @to owns: newer pyverbs frees the list of each SendWR with it."""
    cdef size_t size = request.num_sge * sizeof(v.ibv_sge)
    cdef v.ibv_sge *sges = <v.ibv_sge *>malloc(size)
    if sges == NULL and size:
        raise MemoryError()
    memcpy(sges, request.sg_list, size)
    free(to.send_wr.sg_list)
    to.send_wr = request[0]
    to.send_wr.sg_list = sges
    to.send_wr.next = NULL
    return 0


cdef int append(vector[dv.prismdv_send_wr] &requests, wr) except -1:
    while isinstance(wr, PrismSendWR):
        (<PrismSendWR>wr).append_to(requests)
        wr = (<PrismSendWR>wr).following
    if wr is None:
        return 0
    if not isinstance(wr, SendWR):
        raise TypeError(f'Expected PrismSendWR or SendWR, got {type(wr).__name__}')
    return append_standard(requests, wr)


cdef size_t link(vector[dv.prismdv_send_wr] &requests):
    cdef size_t i
    for i in range(requests.size()):
        requests[i].wr.next = &requests[i + 1].wr if i + 1 < requests.size() else NULL
    return requests.size()


# Batches -------------------------------------------------------------------------------------------------------------

cdef void replay_standard(v.ibv_qp_ex *qp, Step *step, uint8_t *bytes) noexcept:
    if step.call == CALL_ATOMIC_CMP_SWP:
        v.ibv_wr_atomic_cmp_swp(qp, step.key, step.addr, step.operand, step.swap)
    elif step.call == CALL_ATOMIC_FETCH_ADD:
        v.ibv_wr_atomic_fetch_add(qp, step.key, step.addr, step.operand)
    elif step.call == CALL_ATOMIC_WRITE:
        v.ibv_wr_atomic_write(qp, step.key, step.addr, bytes)
    elif step.call == CALL_BIND_MW:
        v.ibv_wr_bind_mw(qp, <v.ibv_mw *><uintptr_t>step.operand, step.key, <v.ibv_mw_bind_info *>bytes)
    elif step.call == CALL_LOCAL_INV:
        v.ibv_wr_local_inv(qp, step.key)
    elif step.call == CALL_RDMA_READ:
        v.ibv_wr_rdma_read(qp, step.key, step.addr)
    elif step.call == CALL_RDMA_WRITE:
        v.ibv_wr_rdma_write(qp, step.key, step.addr)
    elif step.call == CALL_RDMA_WRITE_IMM:
        v.ibv_wr_rdma_write_imm(qp, step.key, step.addr, step.value)
    elif step.call == CALL_SEND:
        v.ibv_wr_send(qp)
    elif step.call == CALL_SEND_IMM:
        v.ibv_wr_send_imm(qp, step.value)
    elif step.call == CALL_SEND_INV:
        v.ibv_wr_send_inv(qp, step.key)
    elif step.call == CALL_SGES:
        v.ibv_wr_set_sge_list(qp, step.count // sizeof(v.ibv_sge), <v.ibv_sge *>bytes)
    elif step.call == CALL_INLINE:
        v.ibv_wr_set_inline_data(qp, bytes, step.count)


cdef void replay_prism(dv.prismdv_qp_ex *qp, Step *step, uint8_t *bytes) noexcept:
    if step.call == CALL_READ:
        dv.prismdv_wr_read(qp, step.key, step.addr)
    elif step.call == CALL_WRITE:
        dv.prismdv_wr_write(qp, step.key, step.addr)
    elif step.call == CALL_CAS:
        replay_cas(qp, step, bytes)
    elif step.call == CALL_ALLOCATE:
        dv.prismdv_wr_allocate(qp, step.key, step.value)
    elif step.call == CALL_INDIRECT:
        dv.prismdv_wr_set_indirect(qp)
    elif step.call == CALL_INDIRECT_BOUNDED:
        dv.prismdv_wr_set_indirect_bounded(qp)
    elif step.call == CALL_CONDITIONAL:
        dv.prismdv_wr_set_conditional(qp)
    elif step.call == CALL_REDIRECT:
        dv.prismdv_wr_set_redirect(qp, step.key, step.addr, step.value)
    elif step.call == CALL_REDIRECT_BOUNDED:
        dv.prismdv_wr_set_redirect_bounded(qp, step.key, step.addr)
    elif step.call == CALL_DATA_INDIRECT:
        dv.prismdv_wr_set_data_indirect(qp, step.key, step.addr, step.value)
    elif step.call == CALL_RESULT:
        dv.prismdv_wr_set_result(qp, step.key, step.addr)


cdef void replay_cas(dv.prismdv_qp_ex *qp, Step *step, uint8_t *bytes) noexcept:
    """@bytes: the structure, then its four operands of 32 bytes each. The batch's data has moved since they were
    stored."""
    cdef dv.prismdv_cas *cas = <dv.prismdv_cas *>bytes
    cdef uint8_t *operands = bytes + sizeof(dv.prismdv_cas)
    cas.compare = operands if cas.compare != NULL else NULL
    cas.swap = operands + 32 if cas.swap != NULL else NULL
    cas.compare_mask = operands + 64 if cas.compare_mask != NULL else NULL
    cas.swap_mask = operands + 96 if cas.swap_mask != NULL else NULL
    dv.prismdv_wr_cas(qp, step.key, step.addr, cas)


cdef int replay(v.ibv_qp_ex *qp, dv.prismdv_qp_ex *prism, vector[Step] &steps, uint8_t *data) noexcept:
    """Post the recorded steps. The device is locked meanwhile, so this runs no Python."""
    cdef size_t i
    v.ibv_wr_start(qp)
    for i in range(steps.size()):
        qp.wr_id = steps[i].wr_id
        qp.wr_flags = steps[i].wr_flags
        replay_standard(qp, &steps[i], data + steps[i].at)
        replay_prism(prism, &steps[i], data + steps[i].at)
    return v.ibv_wr_complete(qp)


# The queue pair ------------------------------------------------------------------------------------------------------

cdef class PrismQPInitAttr(PyverbsObject):
    """struct prismdv_qp_init_attr."""
    @property
    def comp_mask(self):
        """Reserved for growth, 0."""
        return self.attr.comp_mask
    @comp_mask.setter
    def comp_mask(self, val):
        self.attr.comp_mask = val


@cython.no_gc_clear  # when it is collected, the objects below it are still needed to destroy it
cdef class PrismQP(QPEx):
    """An RC queue pair that posts and accepts PRISM requests: prismdv_create_qp(3).

    Requests are posted by post_send(), or with IBV_QP_INIT_ATTR_SEND_OPS_FLAGS by builders: wr_start(), then for each
    request wr_id, wr_flags, one builder and its setters, then wr_complete(). The builders of QPEx may be mixed with
    those of PRISM.

    Other than C, nothing is handed to the device before wr_complete(): no lock is held in between, an exception in the
    midst of a batch needs no more than wr_abort(), and a builder that the device lacks raises EOPNOTSUPP at once.

    A request that ended without an error completes with IBV_WC_SUCCESS, and its enum prismdv_status is in the
    vendor_err of the completion.
    """
    def __init__(self, Context context not None, QPInitAttrEx attr not None, PrismQPInitAttr prism_attr=None,
                 QPAttr qp_attr=None):
        """
        :param context: an open PrismContext, or pyverbs Context of a device that speaks PRISM
        :param attr: qp_type IBV_QPT_RC, pd, both CQs, IBV_QP_INIT_ATTR_PD in comp_mask; IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
                     for builders. Its caps become those granted
        :param prism_attr: None for the defaults
        :param qp_attr: if given, the queue pair is brought to INIT with it
        :raises PyverbsRDMAError: EINVAL: an attribute is out of range or missing, or the SRQ is a free list;
                EOPNOTSUPP: the device does not speak PRISM, or not this type or attribute; ENOMEM
        :raises PyverbsUserError: context, or something in attr, is closed, or is of another context
        """
        cdef PD pd
        require_parts(context, attr)
        if self.qp != NULL:
            raise PyverbsUserError('PrismQP is open')
        self.qp = dv.prismdv_create_qp(context.context, &attr.attr,
                                       &prism_attr.attr if prism_attr is not None else NULL)
        if self.qp == NULL:
            raise PyverbsRDMAError('Failed to create a queue pair', errno)
        self.context = context
        context.add_ref(self)
        pd = attr._pd
        self.pd = pd
        pd.add_ref(self)
        super().__init__(context, attr, qp_attr)
        if self.qp_ex != NULL:
            self.prism = dv.prismdv_qp_ex_from_ibv_qp_ex(self.qp_ex)

    cpdef close(self):
        """Destroy the queue pair; its requests are dropped. Does nothing if it is closed."""
        if self.qp == NULL:
            return
        context = self.context  # stays until the queue pair and what it stands on are gone
        try:
            QPEx.close(self)
        except AttributeError:  # the garbage collector has cleared the sets already
            self.mws = self.flows = self.dr_actions = None
            QPEx.close(self)

    def __getattribute__(self, str name):
        return get_attribute(self, name, self.qp != NULL)

    @property
    def closed(self):
        return self.qp == NULL

    def set_peer_capability(self, capability not None):
        """Declare the peer's capability, as prismdv_set_peer_capability(3); before, posting PRISM requests fails. Lasts
        until the queue pair is reset.

        :param capability: the 16 bytes of the peer's PrismContext.query_capability()
        :raises PyverbsRDMAError: EINVAL: not a capability record; EPROTONOSUPPORT: no common version of the protocol
        """
        cdef dv.prismdv_capability record
        require_open(self, self.qp != NULL)
        data = bytes(capability)
        if len(data) != sizeof(record.bytes):
            raise PyverbsRDMAError('Failed to set the capability of the peer', errors.EINVAL)
        memcpy(record.bytes, <const char *>data, sizeof(record.bytes))
        rc = dv.prismdv_set_peer_capability(self.qp, &record)
        if rc:
            raise PyverbsRDMAError('Failed to set the capability of the peer', rc)

    def post_send(self, wr not None, SendWR bad_wr=None):
        """Post work requests with ibv_post_send(3), with one doorbell.

        :param wr: a PrismSendWR or SendWR with those that follow it, or a list or tuple of such
        :param bad_wr: filled with the first request that was not posted if that is a SendWR
        :raises PyverbsRDMAError: EINVAL: modifiers, operands, lengths or addresses that do not fit; EOPNOTSUPP: the
                peer's capability is not set, or lacks a feature; ENOMEM: the send queue is full. Its attribute
                bad_index counts the requests that were posted nonetheless
        """
        cdef vector[dv.prismdv_send_wr] requests
        cdef v.ibv_send_wr *bad = NULL
        require_open(self, self.qp != NULL)
        heads = wr if isinstance(wr, (list, tuple)) else (wr,)
        if not heads:
            raise PyverbsUserError('No work request to post')
        for head in heads:
            append(requests, head)
        link(requests)
        rc = v.ibv_post_send(self.qp, &requests[0].wr, &bad)
        if rc == 0:
            return
        if bad_wr is not None and not e.PRISMDV_WR_READ <= <int>bad.opcode <= e.PRISMDV_WR_ALLOCATE:
            copy_request(bad_wr, bad)
        error = PyverbsRDMAError('Failed to post send', rc)
        error.bad_index = <dv.prismdv_send_wr *>bad - requests.data()
        raise error

    # Batches

    @property
    def comp_mask(self):
        """comp_mask of ibv_qp_ex.

        :raises PyverbsRDMAError: EOPNOTSUPP: created without IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
        """
        require_open(self, self.qp != NULL)
        if self.qp_ex == NULL:
            raise PyverbsRDMAError('The queue pair has no builders', errors.EOPNOTSUPP)
        return self.qp_ex.comp_mask

    @property
    def wr_id(self):
        """wr_id of the next builder. Comes back in the completion."""
        return self.next_wr_id
    @wr_id.setter
    def wr_id(self, val):
        self.next_wr_id = val

    @property
    def wr_flags(self):
        """Flags of the next builder: bits of ibv_send_flags."""
        return self.next_wr_flags
    @wr_flags.setter
    def wr_flags(self, val):
        self.next_wr_flags = val

    def wr_start(self):
        """Begin a batch.

        :raises PyverbsRDMAError: EOPNOTSUPP: created without IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
        :raises PyverbsUserError: one is begun already
        """
        require_open(self, self.qp != NULL)
        if self.prism == NULL:
            raise PyverbsRDMAError('The queue pair has no builders', errors.EOPNOTSUPP)
        if self.in_batch:
            raise PyverbsUserError('A batch is begun already: wr_complete() or wr_abort() ends it')
        self.in_batch = True

    def wr_complete(self):
        """Post the batch, all of it or nothing. It is ended in either case.

        :raises PyverbsRDMAError: the errno value of the first request that was wrong, see post_send()
        :raises PyverbsUserError: no batch is begun
        """
        self.require_batch()
        rc = replay(self.qp_ex, self.prism, self.steps, self.data.data())
        self.end_batch()
        if rc:
            raise PyverbsRDMAError('Failed to post the batch', rc)

    def wr_abort(self):
        """End the batch and post nothing. Does nothing if none is begun."""
        self.end_batch()

    cdef end_batch(self):
        self.in_batch = False
        self.steps.clear()
        self.data.clear()

    cdef int require_batch(self) except -1:
        require_open(self, self.qp != NULL)
        if not self.in_batch:
            raise PyverbsUserError('No batch is begun: wr_start() begins one')
        return 0

    cdef v.ibv_qp_ex *builders(self) except NULL:
        """Returns the device's builders, for a batch that is begun."""
        self.require_batch()
        return self.qp_ex

    cdef Step *build(self, Call call, bint supported) except NULL:
        """Record a builder."""
        cdef Step step
        self.require_batch()
        if not supported:
            raise PyverbsRDMAError('The device does not have this operation', errors.EOPNOTSUPP)
        memset(&step, 0, sizeof(step))
        step.call = call
        step.wr_id = self.next_wr_id
        step.wr_flags = self.next_wr_flags
        self.steps.push_back(step)
        return &self.steps.back()

    cdef Step *set(self, Call call) except NULL:
        """Record a setter of the last builder."""
        cdef Step step
        self.require_batch()
        if self.steps.empty():
            raise PyverbsUserError('No work request is begun in this batch')
        memset(&step, 0, sizeof(step))
        step.call = call
        self.steps.push_back(step)
        return &self.steps.back()

    cdef int keep(self, Step *step, const void *bytes, size_t size) except -1:
        """Append @bytes to the data of the step just recorded, at an address aligned for any structure."""
        cdef size_t end = self.data.size()
        if step.count == 0:
            end = (end + 15) & ~<size_t>15
            step.at = end
        self.data.resize(end + size)
        if size:
            memcpy(self.data.data() + end, bytes, size)
        step.count += size
        return 0

    # Builders of libibverbs

    def wr_atomic_cmp_swp(self, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap):
        step = self.build(CALL_ATOMIC_CMP_SWP, self.builders().wr_atomic_cmp_swp != NULL)
        step.key = rkey
        step.addr = remote_addr
        step.operand = compare
        step.swap = swap

    def wr_atomic_fetch_add(self, uint32_t rkey, uint64_t remote_addr, uint64_t add):
        step = self.build(CALL_ATOMIC_FETCH_ADD, self.builders().wr_atomic_fetch_add != NULL)
        step.key = rkey
        step.addr = remote_addr
        step.operand = add

    def wr_atomic_write(self, uint32_t rkey, uint64_t remote_addr, bytes atomic_wr not None):
        if len(atomic_wr) < 8:
            raise PyverbsUserError('An atomic write needs 8 bytes')
        step = self.build(CALL_ATOMIC_WRITE, self.builders().wr_atomic_write != NULL)
        step.key = rkey
        step.addr = remote_addr
        self.keep(step, <const char *>atomic_wr, 8)

    def wr_bind_mw(self, MW mw not None, uint32_t rkey, MWBindInfo bind_info not None):
        if mw.mw == NULL:
            raise closed_error(mw)
        step = self.build(CALL_BIND_MW, self.builders().wr_bind_mw != NULL)
        step.key = rkey
        step.operand = <uintptr_t>mw.mw
        self.keep(step, &bind_info.info, sizeof(bind_info.info))
        self.add_ref(mw)

    def wr_local_inv(self, uint32_t invalidate_rkey):
        step = self.build(CALL_LOCAL_INV, self.builders().wr_local_inv != NULL)
        step.key = invalidate_rkey

    def wr_rdma_read(self, uint32_t rkey, uint64_t remote_addr):
        step = self.build(CALL_RDMA_READ, self.builders().wr_rdma_read != NULL)
        step.key = rkey
        step.addr = remote_addr

    def wr_rdma_write(self, uint32_t rkey, uint64_t remote_addr):
        step = self.build(CALL_RDMA_WRITE, self.builders().wr_rdma_write != NULL)
        step.key = rkey
        step.addr = remote_addr

    def wr_rdma_write_imm(self, uint32_t rkey, uint64_t remote_addr, uint32_t data):
        step = self.build(CALL_RDMA_WRITE_IMM, self.builders().wr_rdma_write_imm != NULL)
        step.key = rkey
        step.addr = remote_addr
        step.value = v.htobe32(data)

    def wr_send(self):
        self.build(CALL_SEND, self.builders().wr_send != NULL)

    def wr_send_imm(self, uint32_t data):
        step = self.build(CALL_SEND_IMM, self.builders().wr_send_imm != NULL)
        step.value = v.htobe32(data)

    def wr_send_inv(self, uint32_t invalidate_rkey):
        step = self.build(CALL_SEND_INV, self.builders().wr_send_inv != NULL)
        step.key = invalidate_rkey

    def wr_send_tso(self, hdr, hdr_sz, mss):
        """:raises PyverbsRDMAError: EOPNOTSUPP: not on an RC queue pair"""
        raise PyverbsRDMAError('An RC queue pair does not segment', errors.EOPNOTSUPP)

    def wr_set_ud_addr(self, ah, remote_qpn, remote_rkey):
        """:raises PyverbsRDMAError: EOPNOTSUPP: not on an RC queue pair"""
        raise PyverbsRDMAError('An RC queue pair has one peer', errors.EOPNOTSUPP)

    def wr_set_xrc_srqn(self, remote_srqn):
        """:raises PyverbsRDMAError: EOPNOTSUPP: not on an RC queue pair"""
        raise PyverbsRDMAError('An RC queue pair has one receive queue', errors.EOPNOTSUPP)

    # Builders of PRISM

    def wr_read(self, uint32_t rkey, uint64_t remote_addr):
        """READ into the SGEs; with wr_set_redirect() there are none.

        :param rkey: of the target, and of the pointer to it
        :param remote_addr: of the target, or with wr_set_indirect() of the pointer to it
        """
        step = self.build(CALL_READ, True)
        step.key = rkey
        step.addr = remote_addr

    def wr_write(self, uint32_t rkey, uint64_t remote_addr):
        """WRITE the SGEs or the inline data; with wr_set_data_indirect() there are none.

        :param rkey: of the target, and of the pointer to it
        :param remote_addr: of the target, or with wr_set_indirect() of the pointer to it
        """
        step = self.build(CALL_WRITE, True)
        step.key = rkey
        step.addr = remote_addr

    def wr_cas(self, uint32_t rkey, uint64_t remote_addr, PrismCas cas not None):
        """Compare and swap. The old bytes go to the SGEs, as many as the operands have, or there are none.

        :param rkey: of the target, and of the pointer to it
        :param remote_addr: of the target, a multiple of the operands' length; with wr_set_indirect() of the pointer to
                            it
        :param cas: the operands; copied
        """
        step = self.build(CALL_CAS, True)
        step.key = rkey
        step.addr = remote_addr
        self.keep(step, &cas.cas, sizeof(cas.cas))
        self.keep(step, cas.operands, sizeof(cas.operands))

    def wr_allocate(self, uint32_t free_list, uint32_t tag=0):
        """ALLOCATE a buffer, and write the SGEs or the inline data to its start.

        :param free_list: PrismSRQ.get_srq_num() of the peer's list
        :param tag: of the pointer that wr_set_redirect_bounded() stores
        """
        step = self.build(CALL_ALLOCATE, True)
        step.key = free_list
        step.value = tag

    # Setters

    def wr_set_sge(self, SGE sge not None):
        """Set the request's data: this SGE."""
        step = self.set(CALL_SGES)
        self.keep(step, sge.sge, sizeof(sge.sge[0]))

    def wr_set_sge_list(self, size_t num_sge, sg_list not None):
        """Set the request's data: the first @num_sge of these SGEs, in order."""
        cdef vector[v.ibv_sge] sges
        for i in range(num_sge):
            if not isinstance(sg_list[i], SGE):
                raise TypeError(f'Expected SGE, got {type(sg_list[i]).__name__}')
            sges.push_back((<SGE>sg_list[i]).sge[0])
        step = self.set(CALL_SGES)
        self.keep(step, sges.data(), sges.size() * sizeof(v.ibv_sge))

    def wr_set_inline_data(self, uintptr_t addr, size_t length):
        """Set the request's data, copied from this address now."""
        step = self.set(CALL_INLINE)
        self.keep(step, <const void *>addr, length)

    def wr_set_inline_data_list(self, size_t num_buf, buf_list not None):
        """Set the request's data, copied from the first @num_buf of these DataBuffers, in order, now."""
        buffers = [buf_list[i] for i in range(num_buf)]
        for buffer in buffers:
            if not isinstance(buffer, DataBuffer):
                raise TypeError(f'Expected DataBuffer, got {type(buffer).__name__}')
        step = self.set(CALL_INLINE)
        for buffer in buffers:
            self.keep(step, (<DataBuffer>buffer).data.addr, (<DataBuffer>buffer).data.length)

    def wr_set_indirect(self):
        """For READ, WRITE and CAS: the 8 bytes at remote_addr, a multiple of 8, point at the target."""
        self.set(CALL_INDIRECT)

    def wr_set_indirect_bounded(self):
        """For READ and WRITE: the PrismBoundedPtr at remote_addr, a multiple of 16, points at the target."""
        self.set(CALL_INDIRECT_BOUNDED)

    def wr_set_conditional(self):
        """For all: run only if the previous request on this queue pair succeeded; else the status is SKIPPED."""
        self.set(CALL_CONDITIONAL)

    def wr_set_redirect(self, uint32_t rkey, uint64_t addr, uint32_t length=0):
        """For READ and ALLOCATE: store the bytes read, or the address allocated, at @addr under @rkey.

        :param length: of READ: the bytes to read; of ALLOCATE 0
        """
        step = self.set(CALL_REDIRECT)
        step.key = rkey
        step.addr = addr
        step.value = length

    def wr_set_redirect_bounded(self, uint32_t rkey, uint64_t addr):
        """For ALLOCATE: store the PrismBoundedPtr of address, payload length and tag at @addr under @rkey.

        :param addr: a multiple of 16
        """
        step = self.set(CALL_REDIRECT_BOUNDED)
        step.key = rkey
        step.addr = addr

    def wr_set_data_indirect(self, uint32_t rkey, uint64_t addr, uint32_t length=0):
        """For WRITE and CAS: load the data from @addr under @rkey.

        :param length: of WRITE: the bytes to write; of CAS 0
        """
        step = self.set(CALL_DATA_INDIRECT)
        step.key = rkey
        step.addr = addr
        step.value = length

    def wr_set_result(self, uint32_t lkey, uint64_t addr):
        """For ALLOCATE: store the buffer's address in the 8 local bytes at @addr, in host order; 0 if there is none."""
        step = self.set(CALL_RESULT)
        step.key = lkey
        step.addr = addr
