/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reserved values of prism_abi.h are refused, so that they can get a meaning later. */
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "commands.hpp"
#include "rings.hpp"
#include "wire_peer.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

/** Puts entries into a send queue behind the provider's back. */
class Poster
{
public:
	explicit Poster(const Device &device) : device_(device), cq_(create_cq(device))
	{
		Finder finder;
		qp_ = create_qp(device, device.pd(), cq_.get());
		ring_ = finder.take_queue(Kind::prism_sends, Kind::prism_sends);
	}

	/** Posts an entry on a queue pair that is connected to itself; returns its status. */
	ibv_wc_status post(const prism_abi_send &send)
	{
		Path path;
		path.source = path.destination = device_.some_gid(false);
		path.qpn = qp_->qp_num;
		connect(device_, qp_.get(), path);
		const std::atomic_ref<std::uint32_t> producer(ring_.header()->producer_index);
		std::memcpy(ring_.entry(producer), &send, sizeof(send));
		producer = (producer + 1) & ring_.mask;
		ring_doorbell(qp_.get());
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		if (!wc)
			throw std::runtime_error("an entry does not complete");
		return wc->status;
	}

private:
	const Device &device_;
	Owned<ibv_cq> cq_;
	Owned<ibv_qp> qp_;
	Ring ring_;
};

/** Expects that @p plain is accepted, and refused after @p spoil has changed it. */
void expect_refused(Poster &poster, const prism_abi_send &plain, const std::string &what,
	const std::function<void(prism_abi_send &)> &spoil)
{
	if (poster.post(plain) == IBV_WC_LOC_QP_OP_ERR)
		throw std::runtime_error("refused without " + what);
	prism_abi_send spoilt = plain;
	spoil(spoilt);
	if (poster.post(spoilt) != IBV_WC_LOC_QP_OP_ERR)
		throw std::runtime_error("taken with " + what);
}

prism_abi_send request(std::uint32_t opcode)
{
	prism_abi_send send{};
	send.opcode = opcode;
	send.flags = IBV_SEND_SIGNALED;
	return send;
}

void expect_sends_refused(const Device &device)
{
	Poster poster(device);
	const prism_abi_send write = request(IB_UVERBS_WR_RDMA_WRITE), read = request(PRISM_ABI_WR_READ);
	expect_refused(poster, write, "a reserved field", [](prism_abi_send &send) { send.reserved = 1; });
	expect_refused(poster, write, "flags of a flush", [](prism_abi_send &send) { send.rdma.flush = 1; });
	expect_refused(poster, write, "an unknown flag", [](prism_abi_send &send) { send.flags |= 1u << 5; });
	expect_refused(poster, write, "a flag of PRISM requests",
		[](prism_abi_send &send) { send.flags |= PRISM_ABI_SEND_RESUME; });
	expect_refused(poster, request(IB_UVERBS_WR_BIND_MW), "unknown access of a window",
		[](prism_abi_send &send) { send.mw.access = 1u << 30; });
	expect_refused(poster, read, "an unknown PRISM flag", [](prism_abi_send &send) { send.prism.flags |= 0x80; });
	expect_refused(poster, read, "an unknown CAS flag", [](prism_abi_send &send) { send.prism.cas_flags = 2; });
	expect_refused(poster, read, "a result of 4 bytes", [](prism_abi_send &send) { send.prism.result.length = 4; });
}

/* Commands ------------------------------------------------------------------------------------------------------ */

/** Opens a context; returns the error of the command */
int alloc_ucontext(const Device &device, const Rest &rest)
{
	const Descriptor file(
		open((std::string("/dev/infiniband/") + device.context()->device->dev_name).c_str(), O_RDWR));
	Answer answer{};
	answer[0] = static_cast<std::uint32_t>(-1);
	const int error = file.get() < 0 ? errno
					 : command(file.get(), IB_USER_VERBS_CMD_GET_CONTEXT, ib_uverbs_get_context{},
						   rest, &answer);
	const Descriptor events(static_cast<int>(answer[0]));
	return error;
}

int alloc_pd(const Device &device, const Rest &rest)
{
	const int fd = device.context()->cmd_fd;
	Answer answer{};
	if (const int error = command(fd, IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{}, rest, &answer))
		return error;
	return command(fd, IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{answer[0]});
}

int alloc_mw(const Device &device, const Rest &rest)
{
	const int fd = device.context()->cmd_fd;
	Answer answer{};
	ib_uverbs_alloc_mw alloc{};
	alloc.pd_handle = device.pd()->handle;
	alloc.mw_type = IBV_MW_TYPE_2;
	if (const int error = command(fd, IB_USER_VERBS_CMD_ALLOC_MW, alloc, rest, &answer))
		return error;
	return command(fd, IB_USER_VERBS_CMD_DEALLOC_MW, ib_uverbs_dealloc_mw{answer[0]});
}

int reg_mr(const Device &device, const Rest &rest, std::uint32_t access = IBV_ACCESS_LOCAL_WRITE)
{
	static const Pages pages(4096);
	const int fd = device.context()->cmd_fd;
	Answer answer{};
	ib_uverbs_reg_mr reg{};
	reg.start = reg.hca_va = pages.va();
	reg.length = pages.size();
	reg.pd_handle = device.pd()->handle;
	reg.access_flags = access;
	if (const int error = command(fd, IB_USER_VERBS_CMD_REG_MR, reg, rest, &answer))
		return error;
	return command(fd, IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{answer[0]});
}

int reg_mr_command(const Device &device, const Rest &rest)
{
	return reg_mr(device, rest);
}

/** Not supported on 6.1 */
int rereg_mr(const Device &device, const Rest &rest)
{
	const MemoryRegion memory(device.pd(), 4096);
	ib_uverbs_rereg_mr rereg{};
	rereg.mr_handle = memory.mr()->handle;
	rereg.flags = IBV_REREG_MR_CHANGE_ACCESS;
	rereg.pd_handle = device.pd()->handle;
	rereg.access_flags = IBV_ACCESS_LOCAL_WRITE;
	return command(device.context()->cmd_fd, IB_USER_VERBS_CMD_REREG_MR, rereg, rest);
}

int create_ah(const Device &device, const Rest &rest)
{
	Answer answer{};
	return pass_handle(device, rest, answer);
}

/** Creates a completion queue and resizes it, each with its own rest. */
int completion_queue(const Device &device, const Rest &create_rest, const Rest &resize_rest)
{
	const int fd = device.context()->cmd_fd;
	Answer answer{};
	ib_uverbs_create_cq create{};
	create.cqe = 4;
	create.comp_channel = -1;
	if (const int error = command(fd, IB_USER_VERBS_CMD_CREATE_CQ, create, create_rest, &answer))
		return error;
	ib_uverbs_resize_cq resize{};
	ib_uverbs_destroy_cq destroy{};
	resize.cq_handle = destroy.cq_handle = answer[0];
	resize.cqe = 8;
	const int error = command(fd, IB_USER_VERBS_CMD_RESIZE_CQ, resize, resize_rest);
	check(command(fd, IB_USER_VERBS_CMD_DESTROY_CQ, destroy), "IB_USER_VERBS_CMD_DESTROY_CQ");
	return error;
}

int create_cq(const Device &device, const Rest &rest)
{
	return completion_queue(device, rest, {});
}

int resize_cq(const Device &device, const Rest &rest)
{
	return completion_queue(device, {}, rest);
}

/** Returns our part of these commands, two words, all 0, and @p rest behind it */
Rest behind_ours(const Rest &rest)
{
	Rest all(2);
	static_assert(sizeof(prism_abi_create_srq) == 8 && sizeof(prism_abi_modify_srq) == 8 &&
		      sizeof(prism_abi_create_qp) == 8);
	all.insert(all.end(), rest.begin(), rest.end());
	return all;
}

/** Creates a shared receive queue and modifies it, each with its part for the driver */
int shared_queue(const Device &device, const Rest &create_part, const Rest &modify_part)
{
	const int fd = device.context()->cmd_fd;
	Answer answer{};
	ib_uverbs_create_srq create{};
	create.pd_handle = device.pd()->handle;
	create.max_wr = create.max_sge = 1;
	if (const int error = command(fd, IB_USER_VERBS_CMD_CREATE_SRQ, create, create_part, &answer))
		return error;
	ib_uverbs_modify_srq modify{};
	ib_uverbs_destroy_srq destroy{};
	modify.srq_handle = destroy.srq_handle = answer[0];
	modify.attr_mask = IBV_SRQ_LIMIT;
	const int error = command(fd, IB_USER_VERBS_CMD_MODIFY_SRQ, modify, modify_part);
	check(command(fd, IB_USER_VERBS_CMD_DESTROY_SRQ, destroy), "IB_USER_VERBS_CMD_DESTROY_SRQ");
	return error;
}

int create_srq(const Device &device, const Rest &rest)
{
	return shared_queue(device, behind_ours(rest), behind_ours({}));
}

int modify_srq(const Device &device, const Rest &rest)
{
	return shared_queue(device, behind_ours({}), behind_ours(rest));
}

int queue_pair(const Device &device, const Rest &part)
{
	const int fd = device.context()->cmd_fd;
	const Owned<ibv_cq> cq = conformance::create_cq(device);
	Answer answer{};
	ib_uverbs_create_qp create{};
	create.pd_handle = device.pd()->handle;
	create.send_cq_handle = create.recv_cq_handle = cq->handle;
	create.max_send_wr = create.max_recv_wr = create.max_send_sge = create.max_recv_sge = 1;
	create.qp_type = IBV_QPT_RC;
	if (const int error = command(fd, IB_USER_VERBS_CMD_CREATE_QP, create, part, &answer))
		return error;
	ib_uverbs_destroy_qp destroy{};
	destroy.qp_handle = answer[0];
	check(command(fd, IB_USER_VERBS_CMD_DESTROY_QP, destroy), "IB_USER_VERBS_CMD_DESTROY_QP");
	return 0;
}

int create_queue_pair(const Device &device, const Rest &rest)
{
	return queue_pair(device, behind_ours(rest));
}

/** Checks our part of commands: flags without a meaning yet, and the reserved word */
void expect_parts_refused(const Device &device)
{
	for (const Rest &part : {Rest{1u << 31, 0}, Rest{0, 1}}) {
		if (shared_queue(device, part, behind_ours({})) != EOPNOTSUPP)
			throw std::runtime_error("create_srq takes what is reserved in its command");
		if (queue_pair(device, part) != EOPNOTSUPP)
			throw std::runtime_error("create_qp takes what is reserved in its command");
	}
}

/** Only the extended command has a part for drivers. */
int modify_qp(const Device &device, const Rest &rest)
{
	const Owned<ibv_cq> cq = conformance::create_cq(device);
	const Owned<ibv_qp> qp = create_qp(device, device.pd(), cq.get());
	ib_uverbs_ex_modify_qp modify{};
	ib_uverbs_ex_modify_qp_resp response{};
	modify.base.qp_handle = qp->handle;
	modify.base.attr_mask = IBV_QP_STATE; /* RESET to RESET */
	ib_uverbs_cmd_hdr header{};
	ib_uverbs_ex_cmd_hdr extended{};
	header.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP;
	header.in_words = sizeof(modify) / 8;
	header.out_words = sizeof(response) / 8;
	extended.response = reinterpret_cast<std::uintptr_t>(&response);
	extended.provider_in_words = static_cast<std::uint16_t>(rest.size() / 2);
	std::vector<std::uint32_t> words;
	append_part(words, header);
	append_part(words, extended);
	append_part(words, modify);
	words.insert(words.end(), rest.begin(), rest.end());
	return submit_words(device.context()->cmd_fd, words);
}

/** Words behind the part of a command that the module knows must be 0. */
void expect_rests_refused(const Device &device)
{
	static constexpr struct {
		const char *name;
		int (*call)(const Device &, const Rest &);
	} commands[] = {
		{"alloc_ucontext", alloc_ucontext},
		{"alloc_pd", alloc_pd},
		{"alloc_mw", alloc_mw},
		{"reg_mr", reg_mr_command},
		{"rereg_mr", rereg_mr},
		{"create_ah", create_ah},
		{"create_cq", create_cq},
		{"resize_cq", resize_cq},
		{"create_srq", create_srq},
		{"modify_srq", modify_srq},
		{"create_qp", create_queue_pair},
		{"modify_qp", modify_qp},
	};
	for (const auto &[name, call] : commands) {
		if (const int error = call(device, {}); error == EOPNOTSUPP && call == rereg_mr)
			continue;
		else
			check(error, name);
		check(call(device, {0, 0}), name);
		if (const int error = call(device, {0, 1}); error != EOPNOTSUPP)
			throw std::runtime_error(fmt::format(
				"{} with something behind it: {}", name, error ? std::strerror(error) : "taken"));
	}
}

} // namespace

void unknown_is_refused(const Device &device)
{
	expect_sends_refused(device);
	expect_rests_refused(device);
	expect_parts_refused(device);
	/* Regions are pinned: no fault brings in a page while a request is executed. */
	if (const int error = reg_mr(device, {}, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
		error != EOPNOTSUPP && error != EINVAL /* on 6.1 */)
		throw std::runtime_error("a region with on-demand paging is taken");
}

} // namespace prism::hostile
