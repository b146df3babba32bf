/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Answers of the module contain only bytes that it wrote: none of a previous owner of the kernel's memory. */
#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "commands.hpp"
#include "rings.hpp"
#include "wire_peer.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

constexpr std::uint32_t rubbish = 0x5a5a5a5a;

/**
 * Leaves rubbish in free kernel memory: a socket's filter stands there as its user wrote it. A filter of @p
 * instructions has the size of the structure that tells the address of a queue's mapping.
 */
void leave_rubbish()
{
	constexpr std::size_t instructions = 64 / sizeof(sock_filter), sockets = 64;
	std::array<sock_filter, instructions> code;
	code.fill({BPF_LD | BPF_IMM, 0, 0, rubbish});
	code.back() = {BPF_RET | BPF_K, 0, 0, rubbish};
	const sock_fprog program{instructions, code.data()};
	std::vector<Descriptor> all;
	for (std::size_t i = 0; i < sockets; i++) {
		all.emplace_back(socket(AF_INET, SOCK_DGRAM, 0));
		check(setsockopt(all.back().get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)),
			"SO_ATTACH_FILTER");
	}
}

} // namespace

void answers_are_clean(const Device &device)
{
	const int fd = device.context()->cmd_fd;
	constexpr std::size_t standard = sizeof(ib_uverbs_create_cq_resp) / 4;
	constexpr std::size_t reserved =
		standard + offsetof(prism_abi_create_cq_resp, queue.reserved) / sizeof(std::uint32_t);
	for (unsigned round = 0; round < 4; round++) {
		std::vector<ib_uverbs_destroy_cq> queues;
		leave_rubbish();
		wait_until([] { return false; }, std::chrono::milliseconds(50)); /* filters are freed a moment later */
		bool clean = true;
		for (unsigned i = 0; i < 64; i++) {
			Answer answer{};
			ib_uverbs_create_cq create{};
			create.cqe = 1;
			create.comp_channel = -1;
			check(command(fd, IB_USER_VERBS_CMD_CREATE_CQ, create, {}, &answer),
				"IB_USER_VERBS_CMD_CREATE_CQ");
			ib_uverbs_destroy_cq destroy{};
			destroy.cq_handle = answer[0];
			queues.push_back(destroy);
			clean = clean && answer[reserved - 1] != 0 && answer[reserved] == 0; /* a size, then zeros */
		}
		for (const ib_uverbs_destroy_cq &queue : queues)
			check(command(fd, IB_USER_VERBS_CMD_DESTROY_CQ, queue), "IB_USER_VERBS_CMD_DESTROY_CQ");
		if (!clean)
			throw std::runtime_error("the address of a queue comes with memory of the kernel's");
	}
}

} // namespace prism::hostile
