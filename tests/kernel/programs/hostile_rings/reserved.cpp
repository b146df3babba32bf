/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What has no meaning yet in prism_abi.h is refused, so that it can get one. */
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "rings.hpp"

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
		const std::vector<Ring> rings = finder.take(Kind::receives, Kind::prism_sends);
		if (rings.size() != 2)
			throw std::runtime_error("the queues of a queue pair are not found");
		ring_ = rings[rings[0].kind == Kind::prism_sends ? 0 : 1];
	}

	/** How an entry completes on a queue pair that is connected to itself. */
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

/** @p plain is taken, and refused once @p spoil has been at it. */
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
	expect_refused(poster, read, "an unknown PRISM flag", [](prism_abi_send &send) { send.prism.flags |= 0x80; });
	expect_refused(poster, read, "an unknown CAS flag", [](prism_abi_send &send) { send.prism.cas_flags = 2; });
	expect_refused(poster, read, "a result of 4 bytes", [](prism_abi_send &send) { send.prism.result.length = 4; });
}

/** The words of a command; @p Command may end with an array of unknown length. */
template <typename Command, typename Response>
std::vector<std::uint32_t> words_of(unsigned number, const Command &command, const Response &response)
{
	ib_uverbs_cmd_hdr header{};
	header.command = number;
	header.out_words = static_cast<std::uint16_t>(sizeof(response) / 4);
	std::vector<std::uint32_t> words((sizeof(header) + sizeof(command)) / 4);
	std::memcpy(words.data(), &header, sizeof(header));
	std::memcpy(words.data() + sizeof(header) / 4, &command, sizeof(command));
	return words;
}

int submit(const Device &device, std::vector<std::uint32_t> words)
{
	reinterpret_cast<ib_uverbs_cmd_hdr *>(words.data())->in_words = static_cast<std::uint16_t>(words.size());
	return write(device.context()->cmd_fd, words.data(), words.size() * 4) < 0 ? errno : 0;
}

/** Create an SRQ with a command that has a word behind ours, and destroy it. 0 or errno. */
int create_queue(const Device &device, std::uint32_t further)
{
	std::array<std::uint32_t, 32> response{}; /* the standard one, ours behind it */
	ib_uverbs_create_srq create{};
	create.response = reinterpret_cast<std::uintptr_t>(response.data());
	create.pd_handle = device.pd()->handle;
	create.max_wr = create.max_sge = 1;
	std::vector<std::uint32_t> words = words_of(IB_USER_VERBS_CMD_CREATE_SRQ, create, response);
	words.insert(words.end(), {0, 0, further, 0});
	static_assert(sizeof(prism_abi_create_srq) == 2 * sizeof(std::uint32_t));
	if (const int error = submit(device, words))
		return error;
	ib_uverbs_destroy_srq_resp destroyed{};
	ib_uverbs_destroy_srq destroy{};
	destroy.response = reinterpret_cast<std::uintptr_t>(&destroyed);
	destroy.srq_handle = response[0];
	return submit(device, words_of(IB_USER_VERBS_CMD_DESTROY_SRQ, destroy, destroyed));
}

} // namespace

void unknown_is_refused(const Device &device)
{
	expect_sends_refused(device);
	check(create_queue(device, 0), "a longer command, with zeros");
	if (create_queue(device, 1) != EOPNOTSUPP)
		throw std::runtime_error("a longer command is not refused");
}

} // namespace prism::hostile
