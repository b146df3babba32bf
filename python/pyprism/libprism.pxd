# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# <infiniband/prismdv.h>: structures and functions.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from pyverbs.verbs cimport ibv_comp_channel, ibv_context, ibv_device, ibv_gid, ibv_qp, ibv_qp_ex, ibv_qp_init_attr_ex
from pyverbs.verbs cimport ibv_send_wr, ibv_sge, ibv_srq, ibv_srq_init_attr_ex

cdef extern from '<infiniband/prismdv.h>' nogil:
    struct prismdv_context_attr:
        uint64_t comp_mask
        uint32_t progress
        uint32_t path
    struct prismdv_device_attr:
        uint64_t comp_mask
        uint64_t features
        uint32_t protocol_version
        uint32_t flags
        uint32_t max_indirect_read
        uint32_t max_cas_size
        uint32_t max_outstanding
        uint32_t max_free_list_tries
    struct prismdv_counter:
        char name[40]
        uint64_t value
    struct prismdv_capability:
        uint8_t bytes[16]
    struct prismdv_qp_init_attr:
        uint64_t comp_mask
    struct prismdv_srq_init_attr:
        uint64_t comp_mask
        uint32_t flags
    struct prismdv_free_list_attr:
        uint64_t comp_mask
        uint64_t posted
        uint64_t popped
        uint64_t rejected
        uint64_t reclaimed
        uint32_t available
        uint32_t allocatable
    struct prismdv_rejected_entry:
        uint64_t wr_id
        uint64_t addr
        uint32_t length
        uint32_t lkey
        uint32_t error
    struct prismdv_cas:
        uint8_t mode
        uint8_t flags
        uint16_t length
        const void *compare
        const void *swap
        const void *compare_mask
        const void *swap_mask
    struct prismdv_aux:
        uint64_t addr
        uint32_t rkey
        uint32_t length
    struct prismdv_allocate:
        uint32_t free_list
        uint32_t tag
        ibv_sge result
    struct prismdv_send_wr:
        ibv_send_wr wr
        uint32_t comp_mask
        uint32_t flags
        prismdv_aux aux
        prismdv_cas cas
        prismdv_allocate allocate
    struct prismdv_qp_ex:
        pass

    ibv_device **prismdv_get_device_list(int *num_devices)
    void prismdv_free_device_list(ibv_device **list)
    bint prismdv_is_supported(ibv_device *device)
    ibv_context *prismdv_open_device(ibv_device *device, const prismdv_context_attr *attr)
    int prismdv_progress(ibv_context *context)
    int prismdv_query_gid(ibv_context *context, uint8_t port_num, int index, ibv_gid *gid)
    ibv_comp_channel *prismdv_create_comp_channel(ibv_context *context)
    int prismdv_query_device(ibv_context *context, prismdv_device_attr *attr)
    ssize_t prismdv_query_counters(ibv_context *context, prismdv_counter *counters, size_t max)
    int prismdv_query_capability(ibv_context *context, prismdv_capability *capability)
    int prismdv_set_peer_capability(ibv_qp *qp, const prismdv_capability *capability)
    ibv_qp *prismdv_create_qp(ibv_context *context, ibv_qp_init_attr_ex *attr, const prismdv_qp_init_attr *prism_attr)
    ibv_srq *prismdv_create_srq(ibv_context *context, ibv_srq_init_attr_ex *attr,
                                const prismdv_srq_init_attr *prism_attr)
    int prismdv_query_free_list(ibv_srq *srq, prismdv_free_list_attr *attr)
    ssize_t prismdv_poll_rejected(ibv_srq *srq, prismdv_rejected_entry *entries, size_t max)
    const char *prismdv_status_str(uint32_t status)

    prismdv_qp_ex *prismdv_qp_ex_from_ibv_qp_ex(ibv_qp_ex *qp)
    void prismdv_wr_read(prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr)
    void prismdv_wr_write(prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr)
    void prismdv_wr_cas(prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr, const prismdv_cas *cas)
    void prismdv_wr_allocate(prismdv_qp_ex *qp, uint32_t free_list, uint32_t tag)
    void prismdv_wr_set_indirect(prismdv_qp_ex *qp)
    void prismdv_wr_set_indirect_bounded(prismdv_qp_ex *qp)
    void prismdv_wr_set_conditional(prismdv_qp_ex *qp)
    void prismdv_wr_set_redirect(prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t length)
    void prismdv_wr_set_redirect_bounded(prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr)
    void prismdv_wr_set_data_indirect(prismdv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t length)
    void prismdv_wr_set_result(prismdv_qp_ex *qp, uint32_t lkey, uint64_t addr)
