// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The module and its devices. */
#include "rxe.h"
#include "rxe_loc.h"

u16 prism_udp_port = ROCE_V2_UDP_DPORT;
module_param_named(udp_port, prism_udp_port, ushort, 0444);
MODULE_PARM_DESC(udp_port, "UDP port of RoCEv2, for all peers alike (default 4791)");

/*
 * Adds an opcode. To rxe a PRISM packet is a BTH and bytes; core/prism_wire.c knows the headers behind it. The mask
 * tells its side of the protocol and its place in the message.
 */
static void prism_add_opcode(u8 opcode, char *name, u32 mask)
{
	struct rxe_opcode_info *info = &rxe_opcode[opcode];

	info->name = name;
	info->mask = mask;
	info->length = RXE_BTH_BYTES;
	info->offset[RXE_BTH] = 0;
	info->offset[RXE_PAYLOAD] = RXE_BTH_BYTES;
}

void prism_init(void)
{
	const u32 req = RXE_REQ_MASK, ack = RXE_ACK_MASK;
	const u32 only = RXE_START_MASK | RXE_END_MASK;

	prism_add_opcode(PRISM_OP_READ_REQUEST, "PRISM_READ", req | only);
	prism_add_opcode(PRISM_OP_WRITE_FIRST, "PRISM_WRITE_FIRST", req | RXE_START_MASK);
	prism_add_opcode(PRISM_OP_WRITE_MIDDLE, "PRISM_WRITE_MIDDLE", req | RXE_MIDDLE_MASK);
	prism_add_opcode(PRISM_OP_WRITE_LAST, "PRISM_WRITE_LAST", req | RXE_END_MASK);
	prism_add_opcode(PRISM_OP_WRITE_ONLY, "PRISM_WRITE_ONLY", req | only);
	prism_add_opcode(PRISM_OP_CAS, "PRISM_CAS", req | only);
	prism_add_opcode(PRISM_OP_ALLOCATE_FIRST, "PRISM_ALLOCATE_FIRST", req | RXE_START_MASK);
	prism_add_opcode(PRISM_OP_ALLOCATE_MIDDLE, "PRISM_ALLOCATE_MIDDLE", req | RXE_MIDDLE_MASK);
	prism_add_opcode(PRISM_OP_ALLOCATE_LAST, "PRISM_ALLOCATE_LAST", req | RXE_END_MASK);
	prism_add_opcode(PRISM_OP_ALLOCATE_ONLY, "PRISM_ALLOCATE_ONLY", req | only);
	prism_add_opcode(PRISM_OP_BUNDLE, "PRISM_BUNDLE", req | only);
	prism_add_opcode(PRISM_OP_READ_RESPONSE_FIRST, "PRISM_READ_RESPONSE_FIRST", ack | RXE_START_MASK);
	prism_add_opcode(PRISM_OP_READ_RESPONSE_MIDDLE, "PRISM_READ_RESPONSE_MIDDLE", ack | RXE_MIDDLE_MASK);
	prism_add_opcode(PRISM_OP_READ_RESPONSE_LAST, "PRISM_READ_RESPONSE_LAST", ack | RXE_END_MASK);
	prism_add_opcode(PRISM_OP_READ_RESPONSE_ONLY, "PRISM_READ_RESPONSE_ONLY", ack | only);
	prism_add_opcode(PRISM_OP_RESPONSE, "PRISM_RESPONSE", ack | only);
	prism_add_opcode(PRISM_OP_BUNDLE_RESPONSE, "PRISM_BUNDLE_RESPONSE", ack | only);
	if (!prism_udp_port) {
		pr_warn("udp_port=0 is no port: using %u\n", ROCE_V2_UDP_DPORT);
		prism_udp_port = ROCE_V2_UDP_DPORT;
	}
}

void prism_port_taken(int err)
{
	if (err == -EADDRINUSE)
		pr_err("UDP port %u is taken, perhaps by rdma_rxe: unload that (modprobe -r rdma_rxe), or load this module with another udp_port on all peers\n",
		       prism_udp_port);
}

/* Requests under way -------------------------------------------------------------------------------------------- */

/* Returns the requests under way, without that of the queue pair @except, which must not wait for itself. */
u64 prism_look(struct rxe_dev *rxe, const struct rxe_qp *except, u64 *begun)
{
	u64 oldest;

	spin_lock_bh(&rxe->prism.lock);
	oldest = prism_generations_look(&rxe->prism.requests, except ? except->prism.begun : 0, begun);
	spin_unlock_bh(&rxe->prism.lock);
	return oldest;
}

/* Devices ------------------------------------------------------------------------------------------------------- */

/*
 * Checks that a command is 0 behind the @size bytes that we know: else it asks for something unknown. Kernel users have
 * no @udata.
 */
int prism_check_rest(struct ib_udata *udata, size_t size)
{
	if (udata && udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	return 0;
}

/* Copies our part of a command, and checks that nothing follows it */
int prism_copy_command(struct ib_udata *udata, void *cmd, size_t size)
{
	int err;

	if (udata->inlen < size)
		return -EINVAL;
	err = prism_check_rest(udata, size);
	return err ? err : ib_copy_from_udata(cmd, udata, size);
}

int prism_ucontext_resp(struct ib_udata *udata)
{
	struct prism_abi_alloc_ucontext_resp resp = {
		.abi_version = PRISM_ABI_VERSION,
		.protocol_version = PRISM_PROTOCOL_VERSION,
		.max_indirect_read = PRISM_MAX_INDIRECT_READ,
		.max_outstanding = PRISM_MAX_OUTSTANDING,
		.max_free_list_tries = PRISM_FREE_LIST_TRIES,
		.send_opcodes = prism_user_opcodes(),
		.features = PRISM_ABI_FEATURE_RESUME,
	};
	int err = prism_check_rest(udata, 0);

	if (err)
		return err;
	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

void prism_dev_init(struct rxe_dev *rxe)
{
	struct prism_dev *dev = &rxe->prism;

	prism_generations_init(&dev->requests);
	spin_lock_init(&dev->lock);
	xa_init_flags(&dev->free_lists, XA_FLAGS_LOCK_BH);
	INIT_DELAYED_WORK(&dev->grace, prism_grace);
	prism_hand_outs_init(&dev->hand_outs);
}

void prism_dev_cleanup(struct rxe_dev *rxe)
{
	cancel_delayed_work_sync(&rxe->prism.grace);
	xa_destroy(&rxe->prism.free_lists);
	prism_hand_outs_cleanup(&rxe->prism.hand_outs);
}
