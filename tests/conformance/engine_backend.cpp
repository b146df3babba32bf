/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two protocol engines joined in memory: requests are posted to one, and executed by the other. */
#include <algorithm>
#include <array>
#include <utility>

#include "backend.hpp"
#include "node.hpp"
#include "random.hpp"

namespace prism::conformance
{

using reference::Entry;
using reference::Mangle;
using reference::no_region;
using reference::Op;
using reference::Outcome;
using reference::Reason;
using reference::Region;
using reference::Request;
using reference::Rights;
using reference::Status;
using reference::Verdict;
using soft::SendKind;
using soft::SendRequest;
using soft::Sge;

namespace
{

/* Local memory of the requester: a piece for each request of a batch. A READ may ask for more than it can get. */
constexpr std::uint64_t local_va = 0x4000'0000;
constexpr std::size_t piece_size = 64 << 10;
constexpr std::size_t local_size = 4 << 20;
constexpr std::size_t watched = 12 << 10; /* bytes of a piece that must not change unless they are answered */
constexpr std::uint8_t untouched = 0xa5;
constexpr std::uint32_t bad_key = 0xdeadbe11;
constexpr std::uint32_t bad_list = 0xabcdef;

std::uint32_t access_of(const Rights &rights)
{
	return (rights.local_write ? soft::access_local_write : 0u) | (rights.read ? soft::access_remote_read : 0u) |
	       (rights.write ? soft::access_remote_write : 0u) | (rights.atomic ? soft::access_remote_atomic : 0u);
}

/** A block whose alignment matches the region's addresses. */
struct alignas(64) Block {
	std::array<std::uint8_t, 64> bytes;
};

struct Memory {
	std::uint64_t va = 0;
	std::size_t size = 0;
	std::vector<Block> blocks;
	std::uint8_t *data() { return reinterpret_cast<std::uint8_t *>(blocks.data()); }
	[[nodiscard]] const std::uint8_t *data() const { return reinterpret_cast<const std::uint8_t *>(blocks.data()); }
};

class EngineBackend final : public Backend
{
public:
	EngineBackend() : client_(1), server_(2), local_(local_size, untouched) {}

	[[nodiscard]] const char *name() const override { return "engine"; }
	[[nodiscard]] bool checks_qp_access() const override { return true; }
	[[nodiscard]] bool mangles() const override { return true; }
	void build(reference::World &world) override;
	void reset(const Rights &access) override;
	void poke(std::uint64_t va, const Bytes &bytes) override;
	void set_live(int region, bool live) override;
	bool post(int list, const Entry &entry) override;
	std::vector<Outcome> run(std::span<const Request> requests) override;
	[[nodiscard]] std::span<const std::uint8_t> memory(std::size_t arena) const override
	{
		return {arenas_[arena].data(), arenas_[arena].size};
	}
	[[nodiscard]] ListState list_state(int list) override;
	[[nodiscard]] std::vector<reference::Rejected> take_rejected(int list) override;
	[[nodiscard]] std::optional<bool> chain_ok() const override { return responder_->qp.resp.chain_ok; }
	[[nodiscard]] std::string complaint() override { return complaint_; }

private:
	static constexpr std::array counters_of_faults{
		std::pair{&soft::ProtocolCounters::rx_bad_format, Reason::format},
		std::pair{&soft::ProtocolCounters::rx_bad_flags, Reason::flags},
		std::pair{&soft::ProtocolCounters::rx_bad_operand, Reason::operand},
		std::pair{&soft::ProtocolCounters::rx_bad_alignment, Reason::alignment},
		std::pair{&soft::ProtocolCounters::rx_access_error, Reason::access},
		std::pair{&soft::ProtocolCounters::rx_bad_free_list, Reason::free_list},
	};

	[[nodiscard]] std::uint32_t key(int region) const
	{
		return region == no_region ? bad_key : keys_[static_cast<std::size_t>(region)];
	}
	void add_region(std::size_t index);
	void complain(std::string what)
	{
		if (complaint_.empty())
			complaint_ = std::move(what);
	}
	void post_request(const Request &request, std::size_t index);
	std::vector<Sge> pieces(std::uint64_t va, std::uint32_t length);
	void carry(std::span<const Request> requests, std::size_t wanted);
	void mangle(std::span<const Request> requests, std::vector<std::uint8_t> &packet);
	void deliver_apart(test::Node &from, test::Node &to, std::span<const Request> requests,
		const std::vector<std::uint8_t> &packet);
	void drain(test::Node &from, test::Node &to, std::span<const Request> requests);
	Outcome outcome_of(const Request &request, std::size_t index, const ibv_wc &wc);
	void check_untouched(std::size_t index, std::size_t from, std::size_t to);
	Reason reason_since(const soft::ProtocolCounters &before);

	test::Node client_, server_;
	std::unique_ptr<test::Endpoint> requester_, responder_;
	std::vector<Memory> arenas_;
	std::vector<Region> regions_;
	std::vector<std::uint32_t> keys_;
	std::vector<std::unique_ptr<soft::SharedReceiveQueue>> lists_;
	std::vector<std::uint8_t> local_;
	std::uint32_t local_key_ = 0;
	std::uint32_t mtu_ = 0;
	soft::Time now_ = 1000;
	test::Random random_{1};
	std::vector<ibv_wc> completions_;
	bool taken_apart_ = false; /* every bundle of this batch */
	std::size_t packets_ = 0;  /* request packets of this batch that have passed */
	std::string complaint_;
};

/* The world ---------------------------------------------------------------------------------------------------- */

void EngineBackend::build(reference::World &world)
{
	mtu_ = world.mtu;
	for (const reference::Arena &arena : world.arenas) {
		Memory memory{arena.va, arena.bytes.size(), std::vector<Block>((arena.bytes.size() + 63) / 64)};
		std::copy(arena.bytes.begin(), arena.bytes.end(), memory.data());
		arenas_.push_back(std::move(memory));
	}
	regions_ = world.regions;
	keys_.resize(regions_.size());
	for (std::size_t i = 0; i < regions_.size(); i++)
		add_region(i);
	for (const reference::FreeList &list : world.lists) {
		lists_.push_back(std::make_unique<soft::SharedReceiveQueue>(server_.engine.take_srqn(),
			static_cast<std::uint32_t>(list.domain), list.capacity, 1, list.is_free_list));
		server_.engine.add_srq(*lists_.back());
	}
	local_key_ = client_.engine.memory.add_region(local_.data(), local_va, local_size, soft::access_local_write, 1);
	requester_ = std::make_unique<test::Endpoint>(client_, test::EndpointOptions{});
	responder_ = std::make_unique<test::Endpoint>(server_, test::EndpointOptions{});
}

void EngineBackend::add_region(std::size_t index)
{
	const Region &region = regions_[index];
	Memory &arena = arenas_[region.arena];
	keys_[index] = server_.engine.memory.add_region(arena.data() + (region.va - arena.va), region.va, region.length,
		access_of(region.rights), static_cast<std::uint32_t>(region.domain));
}

void EngineBackend::set_live(int region, bool live)
{
	if (live)
		add_region(static_cast<std::size_t>(region));
	else
		server_.engine.memory.remove(keys_[static_cast<std::size_t>(region)]);
}

/** Sequence numbers start anywhere, often just before they wrap. */
void EngineBackend::reset(const Rights &access)
{
	const auto psn = [this] {
		return static_cast<std::uint32_t>(
			       random_.chance(25) ? PRISM_PSN_MASK - random_.below(20) : random_.bits()) &
		       PRISM_PSN_MASK;
	};
	test::ConnectOptions options;
	options.mtu = mtu_;
	options.access = access_of(access);
	options.send_psn = psn();
	options.recv_psn = psn();
	options.bundles = random_.chance(75);
	test::ConnectOptions back = options;
	std::swap(back.send_psn, back.recv_psn);
	requester_->connect(*responder_, options);
	responder_->connect(*requester_, back);
	client_.outbox.clear();
	server_.outbox.clear();
}

void EngineBackend::poke(std::uint64_t va, const Bytes &bytes)
{
	for (Memory &arena : arenas_)
		if (va - arena.va < arena.size)
			std::copy(bytes.begin(), bytes.end(), arena.data() + (va - arena.va));
}

bool EngineBackend::post(int list, const Entry &entry)
{
	return server_.engine.post_free_list(*lists_[static_cast<std::size_t>(list)], entry.id,
		       {entry.va, entry.length, key(entry.region)}) == 0;
}

ListState EngineBackend::list_state(int list)
{
	soft::SharedReceiveQueue &of = *lists_[static_cast<std::size_t>(list)];
	return {of.posted, of.popped, of.rejected, of.reclaimed, server_.engine.allocatable(of)};
}

std::vector<reference::Rejected> EngineBackend::take_rejected(int list)
{
	std::vector<reference::Rejected> reports;
	for (const auto &report : lists_[static_cast<std::size_t>(list)]->reports)
		reports.push_back({report.wr_id, report.error});
	lists_[static_cast<std::size_t>(list)]->reports.clear();
	return reports;
}

/* Posting ------------------------------------------------------------------------------------------------------ */

/** Splits the range into one to three sges. */
std::vector<Sge> EngineBackend::pieces(std::uint64_t va, std::uint32_t length)
{
	std::vector<Sge> sges;
	while (sges.size() < 2 && length > 1 && random_.chance(40)) {
		const auto n = static_cast<std::uint32_t>(random_.between(0, length - 1));
		sges.push_back({va, n, local_key_});
		va += n;
		length -= n;
	}
	sges.push_back({va, length, local_key_});
	return sges;
}

void EngineBackend::post_request(const Request &request, std::size_t index)
{
	SendRequest &wr = *requester_->next();
	wr.wr_id = index;
	const std::uint64_t va = local_va + index * piece_size;
	std::uint8_t *piece = local_.data() + index * piece_size;
	std::fill_n(piece, std::min(watched, local_size - index * piece_size), untouched);
	if (request.op < Op::plain_read) {
		std::uint8_t operands[4 * PRISM_MAX_CAS] = {};
		const std::uint32_t list =
			request.list < 0 ? bad_list : lists_[static_cast<std::size_t>(request.list)]->number;
		const prism_request fields =
			to_wire(request, {key(request.region), key(request.aux_region), list}, operands);
		test::set_prism(*requester_, wr, fields, operands);
	} else {
		static constexpr SendKind kinds[] = {
			SendKind::read, SendKind::write, SendKind::atomic, SendKind::atomic};
		wr.kind = kinds[static_cast<int>(request.op) - static_cast<int>(Op::plain_read)];
		wr.rkey = key(request.region);
		wr.remote_addr = request.va;
		wr.fetch_add = request.op == Op::plain_add;
		wr.compare_add = get_unaligned_le64(request.compare.data());
		wr.swap = get_unaligned_le64(request.swap.data());
	}
	if (request.op == Op::allocate)
		wr.result = {va + piece_size / 2, 8, local_key_};

	if (request.carries_payload()) {
		if (request.payload.size() <= requester_->qp.sq.max_inline && random_.chance(50)) {
			requester_->post_inline(wr, request.payload);
			return;
		}
		std::copy(request.payload.begin(), request.payload.end(), piece);
		requester_->post(wr, pieces(va, static_cast<std::uint32_t>(request.payload.size())));
	} else if (request.op == Op::cas) {
		requester_->post(wr, pieces(va, request.size));
	} else if (request.op == Op::plain_swap || request.op == Op::plain_add) {
		requester_->post(wr, pieces(va, 8));
	} else if (request.op == Op::plain_read || (request.op == Op::read && !request.has(reference::redirect))) {
		requester_->post(wr, pieces(va, request.length));
	} else {
		requester_->post(wr, {});
	}
}

/* Carrying ----------------------------------------------------------------------------------------------------- */

/** Request packets pass in order: counts them to find the one to mangle. */
void EngineBackend::mangle(std::span<const Request> requests, std::vector<std::uint8_t> &packet)
{
	std::size_t index = packets_++;
	for (const Request &request : requests) {
		const std::size_t payload = request.carries_payload() ? request.payload.size() : 0;
		const std::size_t packets = payload ? (payload - 1) / mtu_ + 1 : 1;
		if (index >= packets) {
			index -= packets;
			continue;
		}
		if (index == request.mangled_packet)
			mangle_packet(packet, request.mangle);
		return;
	}
}

/** Delivers the packets of a bundle one by one: they must mean the same as the bundle. */
void EngineBackend::deliver_apart(
	test::Node &from, test::Node &to, std::span<const Request> requests, const std::vector<std::uint8_t> &packet)
{
	prism_bundle bundle;
	if (!prism_bundle_open(&bundle, packet.data(), static_cast<std::uint32_t>(packet.size()), mtu_)) {
		complain("a bundle that is not well formed");
		return;
	}
	std::vector<std::uint8_t> single(PRISM_MAX_ENTRY_PACKET(mtu_));
	while (const std::uint32_t size = prism_bundle_next(&bundle, single.data())) {
		std::vector<std::uint8_t> entry(single.begin(), single.begin() + size);
		if (!requests.empty())
			mangle(requests, entry);
		to.engine.receive({from.address, {}}, entry, now_);
	}
}

void EngineBackend::drain(test::Node &from, test::Node &to, std::span<const Request> requests)
{
	for (std::size_t i = 0; i < from.outbox.size(); i++) {
		std::vector<std::uint8_t> &packet = from.outbox.at(i).bytes;
		const bool is_bundle = prism_opcode_is_bundle(packet[0]);
		if (is_bundle && (taken_apart_ || random_.chance(20))) {
			deliver_apart(from, to, requests, packet);
			continue;
		}
		if (!requests.empty() && !is_bundle)
			mangle(requests, packet);
		to.engine.receive({from.address, {}}, packet, now_);
	}
	from.outbox.clear();
}

void EngineBackend::carry(std::span<const Request> requests, std::size_t wanted)
{
	packets_ = 0;
	/* Mangling changes single packets, so bundles are taken apart. */
	taken_apart_ = std::ranges::any_of(
		requests, [](const Request &request) { return request.mangle != reference::Mangle::none; });
	completions_.resize(wanted);
	std::size_t have = 0;
	for (unsigned rounds = 0; have < wanted; rounds++) {
		if (rounds == 10'000) {
			complain("requests do not complete");
			break;
		}
		client_.engine.progress(now_);
		const bool idle = client_.outbox.size() == 0;
		drain(client_, server_, requests);
		server_.engine.progress(now_);
		drain(server_, client_, {});
		have += static_cast<std::size_t>(
			requester_->send_cq.poll(static_cast<int>(wanted - have), completions_.data() + have));
		/* Nothing is lost here: time passes only for the pacing of long READs. */
		now_ += idle ? 10'000 : 100;
	}
	completions_.resize(have);
}

/* Outcomes ----------------------------------------------------------------------------------------------------- */

void EngineBackend::check_untouched(std::size_t index, std::size_t from, std::size_t to)
{
	const std::uint8_t *piece = local_.data() + index * piece_size;
	to = std::min(to, watched);
	if (from < to && std::any_of(piece + from, piece + to, [](std::uint8_t b) { return b != untouched; }))
		complain("local memory changed where nothing was answered");
}

Outcome EngineBackend::outcome_of(const Request &request, std::size_t index, const ibv_wc &wc)
{
	Outcome outcome;
	if (wc.status == IBV_WC_WR_FLUSH_ERR)
		outcome.verdict = Verdict::flushed;
	else if (wc.status == IBV_WC_REM_INV_REQ_ERR)
		outcome.verdict = Verdict::invalid_request;
	else if (wc.status == IBV_WC_REM_ACCESS_ERR)
		outcome.verdict = Verdict::access_error;
	else if (wc.status != IBV_WC_SUCCESS)
		complain("a completion with status " + std::to_string(wc.status));
	if (wc.wr_id != index)
		complain("completions out of order");

	const bool has_data = request.op == Op::cas || request.op == Op::plain_read || request.op == Op::plain_add ||
			      request.op == Op::plain_swap ||
			      (request.op == Op::read && !request.has(reference::redirect));
	const std::uint8_t *piece = local_.data() + index * piece_size;
	outcome.status = static_cast<Status>(wc.vendor_err);
	outcome.byte_len = wc.byte_len;
	if (wc.status == IBV_WC_SUCCESS && has_data)
		outcome.local.assign(piece, piece + wc.byte_len);
	if (wc.status == IBV_WC_SUCCESS && request.op == Op::allocate)
		outcome.local.assign(piece + piece_size / 2, piece + piece_size / 2 + 8);
	if (!request.carries_payload())
		check_untouched(index, outcome.local.size(), piece_size);
	return outcome;
}

Reason EngineBackend::reason_since(const soft::ProtocolCounters &before)
{
	Reason found = Reason::none;
	for (const auto &[counter, reason] : counters_of_faults) {
		const std::uint64_t grown = server_.engine.counters.*counter - before.*counter;
		if (grown > 1 || (grown && found != Reason::none))
			complain("one fault, counted more than once");
		if (grown)
			found = reason;
	}
	return found;
}

std::vector<Outcome> EngineBackend::run(std::span<const Request> requests)
{
	const soft::ProtocolCounters before = server_.engine.counters;
	const std::uint64_t retransmits = client_.engine.counters.retransmits;
	for (std::size_t i = 0; i < requests.size(); i++)
		post_request(requests[i], i);
	carry(requests, requests.size());

	const Reason reason = reason_since(before);
	std::vector<Outcome> outcomes;
	for (std::size_t i = 0; i < completions_.size(); i++) {
		outcomes.push_back(outcome_of(requests[i], i, completions_[i]));
		const Verdict verdict = outcomes.back().verdict;
		if (verdict == Verdict::invalid_request || verdict == Verdict::access_error)
			outcomes.back().reason = reason;
	}
	if (client_.engine.counters.retransmits != retransmits)
		complain("a retransmission without a loss");
	return outcomes;
}

} // namespace

std::unique_ptr<Backend> make_engine_backend()
{
	return std::make_unique<EngineBackend>();
}

} // namespace prism::conformance
