/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder keeps state of READs, atomics and flushes for their duplicates. A duplicate must only use the state of
 * its own request, and of none of another kind, region or domain. A requester that is reset and connected again at an
 * earlier PSN sends such duplicates: the responder does not notice.
 */
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

constexpr std::uint64_t own_va = 0x700000000000, others_va = own_va + 0x3000;
constexpr std::uint32_t length = 64, window_size = 256, first_psn = 0x100;
constexpr std::uint8_t mark = 0x77;
constexpr std::uint32_t wr_flush = 14; /* IB_UVERBS_WR_FLUSH, which the headers of older kernels do not have */

prism_abi_send rdma(std::uint32_t opcode, std::uint64_t va, std::uint32_t rkey)
{
	prism_abi_send send{};
	send.opcode = opcode;
	send.rdma.remote_addr = va;
	send.rdma.rkey = rkey;
	return send;
}

/**
 * Returns a flush of all of a region (level 1), of no type: needs neither an access right nor an address in the region
 */
prism_abi_send flush(std::uint64_t va, std::uint32_t rkey, std::uint32_t bytes)
{
	prism_abi_send send = rdma(wr_flush, va, rkey);
	send.length = bytes;
	send.rdma.flush = 1 << 8;
	return send;
}

/** A requester whose ring is written by hand, and a responder that keeps answers for @p requests requests. */
class Pair
{
public:
	explicit Pair(const Device &device, std::uint8_t kept = 1)
		: device_(device), cq_(create_cq(device)), responder_cq_(create_cq(device)), local_(device.pd(), 4096),
		  own_(device.pd(), 4096, every_right | IBV_ACCESS_MW_BIND, own_va)
	{
		QpLimits limits;
		limits.prism = false;
		Finder finder;
		requester_ = create_qp(device, device.pd(), cq_.get(), limits);
		ring_ = finder.take_queue(Kind::sends, Kind::sends);
		responder_ = create_qp(device, device.pd(), responder_cq_.get(), limits);
		path_.source = path_.destination = device.some_gid(false);
		path_.send_psn = path_.recv_psn = first_psn;
		path_.dest_rd_atomic = kept;
		path_.timeout = 15; /* 134 ms: a duplicate that is dropped is repeated once */
		path_.retry = 1;
		connect_both(device, requester_.get(), responder_.get(), path_);
		std::fill_n(own_.data(), own_.size(), std::uint8_t{0x11});
	}

	/** Reconnects the requester alone: its next request has this PSN. */
	void go_back_to(std::uint32_t psn)
	{
		Path path = path_;
		path.qpn = responder_->qp_num;
		path.send_psn = psn;
		connect(device_, requester_.get(), path);
	}

	ibv_wc_status run(prism_abi_send send, std::uint32_t bytes = 0)
	{
		const prism_abi_sge sge{local_.va(), bytes, local_.key()};
		const std::atomic_ref<std::uint32_t> producer(ring_.header()->producer_index);
		std::memset(local_.data(), 0, local_.size());
		send.flags = IBV_SEND_SIGNALED;
		send.num_sge = bytes ? 1 : 0;
		std::memcpy(ring_.entry(producer), &send, PRISM_ABI_SEND_HEADER);
		std::memcpy(ring_.entry(producer) + PRISM_ABI_SEND_HEADER, &sge, sizeof(sge));
		producer = (producer + 1) & ring_.mask;
		ring_doorbell(requester_.get());
		const std::optional<ibv_wc> wc = next_completion(cq_.get());
		if (!wc)
			throw std::runtime_error("a request does not complete");
		return wc->status;
	}

	/** Runs a request, which must succeed. */
	void succeed(const prism_abi_send &send, std::uint32_t bytes, const char *what)
	{
		if (const ibv_wc_status status = run(send, bytes))
			throw std::runtime_error(fmt::format("{}: {}", what, ibv_wc_status_str(status)));
	}

	/** Runs a false duplicate: it must not be answered with data. */
	void refuse(const prism_abi_send &send, const char *what)
	{
		if (run(send, length) == IBV_WC_SUCCESS)
			throw std::runtime_error(
				fmt::format("{} is answered, with bytes {:#x}", what, local_.data()[0]));
	}

	/** Returns the responder's region */
	MemoryRegion &own() { return own_; }
	/** Returns the first byte that the last request has read */
	[[nodiscard]] std::uint8_t read() const { return local_.data()[0]; }

	/** Binds a window on the responder, over the first bytes of its region */
	Owned<ibv_mw> window()
	{
		Owned<ibv_mw> made_window(made(ibv_alloc_mw(device_.pd(), IBV_MW_TYPE_1), "ibv_alloc_mw"));
		ibv_mw_bind bind{1, IBV_SEND_SIGNALED, {own_.mr(), own_va, window_size, IBV_ACCESS_REMOTE_READ}};
		check(ibv_bind_mw(responder_.get(), made_window.get(), &bind), "ibv_bind_mw");
		const std::optional<ibv_wc> wc = next_completion(responder_cq_.get());
		if (!wc || wc->status != IBV_WC_SUCCESS)
			throw std::runtime_error("a window is not bound");
		return made_window;
	}

	/** Binds the same window, but with addresses from 0 */
	Owned<ibv_mw> zero_based_window()
	{
		Owned<ibv_mw> made_window(made(ibv_alloc_mw(device_.pd(), IBV_MW_TYPE_2), "ibv_alloc_mw"));
		ibv_send_wr wr{}, *bad;
		wr.opcode = IBV_WR_BIND_MW;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.bind_mw = {made_window.get(), ibv_inc_rkey(made_window->rkey),
			{own_.mr(), own_va, window_size, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED}};
		check(ibv_post_send(responder_.get(), &wr, &bad), "IBV_WR_BIND_MW");
		const std::optional<ibv_wc> wc = next_completion(responder_cq_.get());
		if (!wc || wc->status != IBV_WC_SUCCESS)
			throw std::runtime_error("a zero-based window is not bound");
		made_window->rkey = wr.bind_mw.rkey;
		return made_window;
	}

private:
	const Device &device_;
	Owned<ibv_cq> cq_, responder_cq_;
	MemoryRegion local_, own_;
	Owned<ibv_qp> requester_, responder_;
	Ring ring_;
	Path path_;
};

/** The saved state of an atomic must not serve as the address of a READ. */
void atomics_are_no_reads(const Device &device)
{
	Pair pair(device);
	const Owned<ibv_mw> window = pair.window();
	pair.own().put(0x800, own_va + 0x400); /* outside the window */
	pair.succeed(rdma(IB_UVERBS_WR_RDMA_READ, own_va, window->rkey), length, "a READ through a window");
	prism_abi_send add{};
	add.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
	add.atomic.remote_addr = own_va + 0x800;
	add.atomic.rkey = pair.own().key();
	pair.succeed(add, 8, "a fetch and add");
	pair.go_back_to(first_psn + 1);
	pair.refuse(rdma(IB_UVERBS_WR_RDMA_READ, own_va + 0x400, window->rkey),
		"a READ outside of its window, at the PSN of an atomic,");
}

/** The saved state of a flush must not serve as the key of a READ. */
void flushes_are_no_reads(const Device &device)
{
	Pair pair(device);
	const Owned<ibv_pd> domain(made(ibv_alloc_pd(device.context()), "ibv_alloc_pd"));
	const MemoryRegion others(domain.get(), 4096, IBV_ACCESS_LOCAL_WRITE, others_va);
	std::fill_n(others.data(), others.size(), mark);
	pair.succeed(rdma(IB_UVERBS_WR_RDMA_READ, own_va, pair.own().key()), length, "a READ");
	const std::uint64_t key_and_length = std::uint64_t{length} << 32 | others.key();
	const ibv_wc_status status =
		pair.run(flush(key_and_length, pair.own().key(), static_cast<std::uint32_t>(others_va)));
	if (status == IBV_WC_LOC_QP_OP_ERR)
		return; /* there are none on 6.1 */
	pair.go_back_to(first_psn);
	pair.refuse(rdma(IB_UVERBS_WR_RDMA_READ, others_va, others.key()),
		"a READ of another domain's region, without any right,");
}

/** A range that wraps around the address space is not part of the range that was read. */
void ranges_do_not_wrap(const Device &device)
{
	Pair pair(device);
	pair.succeed(rdma(IB_UVERBS_WR_RDMA_READ, own_va, pair.own().key()), length, "a READ");
	pair.go_back_to(first_psn);
	pair.refuse(rdma(IB_UVERBS_WR_RDMA_READ, 0 - std::uint64_t{length}, pair.own().key()),
		"a READ of the end of the address space");
}

/** A duplicate may ask for a part of the range that was read, but no duplicate moves its start. */
void ranges_do_not_move(const Device &device)
{
	Pair pair(device);
	const Owned<ibv_mw> window = pair.window();
	constexpr std::uint64_t end = own_va + window_size;
	pair.succeed(rdma(IB_UVERBS_WR_RDMA_READ, end - length, window->rkey), length, "a READ through a window");
	pair.go_back_to(first_psn);
	pair.succeed(rdma(IB_UVERBS_WR_RDMA_READ, end - length / 2, window->rkey), length / 2, "a part of it");
	pair.go_back_to(first_psn);
	pair.refuse(rdma(IB_UVERBS_WR_RDMA_READ, end - length / 2, window->rkey),
		"a READ beyond its window, behind a part,");
}

/** The addresses of a zero-based window are not those of its region, for a duplicate neither. */
void zero_based_windows_are_read_again(const Device &device)
{
	Pair pair(device);
	const Owned<ibv_mw> window = pair.zero_based_window();
	for (int i = 0; i < 2; i++) {
		pair.go_back_to(first_psn);
		pair.succeed(
			rdma(IB_UVERBS_WR_RDMA_READ, 8, window->rkey), length, "a READ through a zero-based window");
		if (pair.read() != 0x11)
			throw std::runtime_error("a READ through a zero-based window brings other bytes");
	}
}

/** The key of a READ of nothing is not checked, for a duplicate neither. */
void nothing_is_read_again(const Device &device)
{
	Pair pair(device);
	for (int i = 0; i < 2; i++) {
		pair.go_back_to(first_psn);
		pair.succeed(rdma(IB_UVERBS_WR_RDMA_READ, own_va, 0x1234), 0, "a READ of nothing");
	}
}

/** A request without a length in between makes no difference. */
void nothing_in_between(const Device &device)
{
	Pair pair(device);
	const prism_abi_send read = rdma(IB_UVERBS_WR_RDMA_READ, own_va, pair.own().key());
	pair.succeed(read, length, "a READ");
	pair.succeed(rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 0), 0, "a WRITE of nothing");
	pair.go_back_to(first_psn);
	pair.succeed(read, length, "a READ once more, behind a WRITE of nothing");
	if (pair.read() != 0x11)
		throw std::runtime_error("a READ once more brings other bytes");
}

/** The responder keeps no answer at all, or more than fit into the attribute */
void flushes_need_room(const Device &device)
{
	Pair none(device, 0);
	const ibv_wc_status status = none.run(flush(own_va, none.own().key(), length));
	if (status != IBV_WC_REM_INV_REQ_ERR && status != IBV_WC_LOC_QP_OP_ERR)
		throw std::runtime_error(fmt::format("a flush without room: {}", ibv_wc_status_str(status)));
	try {
		Pair many(device, 200); /* 256, which is 0 in a byte */
		for (unsigned i = 0; i < 400; i++)
			if (many.run(flush(own_va, many.own().key(), length)) != IBV_WC_SUCCESS)
				break;
	} catch (const std::system_error &) {
		return; /* the module refuses to make it */
	}
	throw std::runtime_error("room for 200 requests is promised");
}

} // namespace

void duplicates_find_their_own(const Device &device)
{
	std::string all;
	for (const auto one : {atomics_are_no_reads, flushes_are_no_reads, ranges_do_not_wrap, ranges_do_not_move,
		     nothing_is_read_again, zero_based_windows_are_read_again, nothing_in_between, flushes_need_room})
		try {
			one(device);
		} catch (const std::exception &error) {
			all += std::string(all.empty() ? "" : "; ") + error.what();
		}
	if (!all.empty())
		throw std::runtime_error(all);
}

} // namespace prism::hostile
