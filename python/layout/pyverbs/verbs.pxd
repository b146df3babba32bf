# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Parts of libibverbs that pyverbs objects hold.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from '<infiniband/verbs.h>' nogil:
    struct ibv_device:
        char name[64]
    struct ibv_context:
        ibv_device *device
    struct ibv_pd:
        ibv_context *context
    struct ibv_cq:
        ibv_context *context
    struct ibv_cq_ex:
        pass
    struct ibv_comp_channel:
        int fd
    struct ibv_mw:
        pass
    struct ibv_mw_bind_info:
        pass
    struct ibv_mw_bind:
        pass
    union ibv_gid:
        uint8_t raw[16]
    struct ibv_qp:
        pass
    struct ibv_srq:
        ibv_context *context
    struct ibv_qp_cap:
        pass
    struct ibv_qp_attr:
        pass
    struct ibv_qp_init_attr:
        pass
    struct ibv_qp_init_attr_ex:
        ibv_cq *send_cq
        ibv_cq *recv_cq
        ibv_srq *srq
        ibv_pd *pd
        uint32_t comp_mask
    struct ibv_srq_attr:
        pass
    struct ibv_srq_init_attr:
        pass
    struct ibv_srq_init_attr_ex:
        ibv_pd *pd
    struct ibv_recv_wr:
        pass
    struct ibv_sge:
        uint64_t addr
        uint32_t length
        uint32_t lkey
    struct ibv_data_buf:
        void *addr
        size_t length
    struct ibv_send_rdma: # unnamed in C
        uint64_t remote_addr
        uint32_t rkey
    union ibv_send_target: # unnamed in C
        ibv_send_rdma rdma
    enum ibv_wr_opcode:
        pass
    struct ibv_send_wr:
        uint64_t wr_id
        ibv_send_wr *next
        ibv_sge *sg_list
        int num_sge
        ibv_wr_opcode opcode
        unsigned int send_flags
        ibv_send_target wr
    struct ibv_qp_ex:
        uint64_t comp_mask
        uint64_t wr_id
        unsigned int wr_flags
        void *wr_atomic_cmp_swp
        void *wr_atomic_fetch_add
        void *wr_atomic_write
        void *wr_bind_mw
        void *wr_local_inv
        void *wr_rdma_read
        void *wr_rdma_write
        void *wr_rdma_write_imm
        void *wr_send
        void *wr_send_imm
        void *wr_send_inv
        void *wr_send_tso
        void *wr_set_ud_addr
        void *wr_set_xrc_srqn

    enum:
        IBV_QP_INIT_ATTR_SEND_OPS_FLAGS

    int ibv_post_send(ibv_qp *qp, ibv_send_wr *wr, ibv_send_wr **bad_wr)
    void ibv_wr_start(ibv_qp_ex *qp)
    int ibv_wr_complete(ibv_qp_ex *qp)
    void ibv_wr_atomic_cmp_swp(ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
    void ibv_wr_atomic_fetch_add(ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
    void ibv_wr_atomic_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *word)
    void ibv_wr_bind_mw(ibv_qp_ex *qp, ibv_mw *mw, uint32_t rkey, const ibv_mw_bind_info *info)
    void ibv_wr_local_inv(ibv_qp_ex *qp, uint32_t rkey)
    void ibv_wr_rdma_read(ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
    void ibv_wr_rdma_write(ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
    void ibv_wr_rdma_write_imm(ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint32_t imm)
    void ibv_wr_send(ibv_qp_ex *qp)
    void ibv_wr_send_imm(ibv_qp_ex *qp, uint32_t imm)
    void ibv_wr_send_inv(ibv_qp_ex *qp, uint32_t rkey)
    void ibv_wr_set_sge_list(ibv_qp_ex *qp, size_t count, const ibv_sge *list)
    void ibv_wr_set_inline_data(ibv_qp_ex *qp, void *addr, size_t length)

cdef extern from '<endian.h>' nogil:
    uint32_t htobe32(uint32_t value)
