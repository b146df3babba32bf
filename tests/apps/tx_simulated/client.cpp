/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "client.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "spoiler.hpp"

namespace tx_sim
{

using prism::Completion;
using prism::Status;
using prism::tx::max_accesses;
using prism::tx::PrismTransaction;
using prism::tx::Request;

namespace
{

constexpr std::uint32_t domain = 1;
constexpr std::uint16_t decision_number = 2 * max_accesses;
/* For Flaw::hasty_lane: id of a request that no lane waits for */
constexpr std::uint64_t nobody = Link::flush_id - 1;
/* For Flaw::repeated_timestamps: ns */
constexpr std::uint64_t coarse = 100'000;

std::uint64_t id_of(std::uint32_t lane, std::uint16_t number)
{
	return std::uint64_t{lane} << 16 | number;
}

} // namespace

Client::Client(test::Node &node, ClientSurroundings &around, std::size_t shards, const ClientOptions &options)
	: TransactionClient(options.depth, options.retry), node_(node), around_(around), options_(options),
	  state_(std::make_unique<prism::tx::ClientState>()), links_(shards), decided_(options.depth)
{
	state_->patience = options.patience;
}

Client::~Client()
{
	abandon();
	clearing_.reset();
	links_.clear();
	if (key_)
		node_.engine.memory.remove(key_);
}

/* Set-up --------------------------------------------------------------------------------------------------------- */

void Client::link_up(std::unique_ptr<Pair> pair, const Admission &admission)
{
	if (options_.flaw != Flaw::none)
		spoil(*pair, options_.flaw);
	links_[met_.size()].link = std::make_unique<Link>(std::move(pair), admission, options_.report_batch);
	met_.push_back(admission);
}

int Client::ObjectMemory::take(std::size_t bytes, std::byte *&memory, std::uint32_t &lkey) noexcept
{
	std::vector<Line> &lines = memory_.emplace_back((bytes + sizeof(Line) - 1) / sizeof(Line));
	auto *const first = reinterpret_cast<std::uint8_t *>(lines.data());
	memory = reinterpret_cast<std::byte *>(first);
	lkey = node_.engine.memory.add_region(first, reinterpret_cast<std::uintptr_t>(first),
		lines.size() * sizeof(Line), soft::access_local_write, domain);
	return 0;
}

void Client::make_lanes()
{
	const Admission &first = met_.front();
	state_->store = first.store;
	state_->incarnation = first.incarnation;
	std::uint32_t room = 0;
	for (const Admission &admission : met_)
		room = std::max(room, admission.view.classes.back().buffer_size);
	const std::size_t size = PrismTransaction::memory_size();
	state_->memory = &object_memory_;
	memory_.resize(size / sizeof(Line) * depth());
	auto *const bytes = reinterpret_cast<std::byte *>(memory_.data());
	key_ = node_.engine.memory.add_region(reinterpret_cast<std::uint8_t *>(bytes),
		reinterpret_cast<std::uintptr_t>(bytes), memory_.size() * sizeof(Line), soft::access_local_write,
		domain);
	const std::uint32_t first_place = first.client * first.view.geometry.lanes;
	for (std::uint32_t spare = first.view.geometry.lanes; spare-- > depth();)
		state_->spare_places.push_back(first_place + spare);
	prism::tx::Carrier &carrier = *this; /* the base is private */
	for (std::uint32_t lane = 0; lane < depth(); lane++)
		lanes_.push_back(std::make_unique<PrismTransaction>(
			*state_, carrier, waiter(lane), lane, first_place + lane, bytes + lane * size, room, key_));
}

void Client::begin()
{
	make_lanes();
	const bool used = std::ranges::any_of(met_, &Admission::used);
	ready_ = !used || state_->store.as_in_paper || options_.flaw == Flaw::no_takeover;
	if (ready_)
		return;
	clearing_.emplace(clear_logs());
	clearing_->start();
}

prism::apps::Task<int> Client::clear_logs()
{
	for (std::size_t shard = 0; shard < links_.size(); shard++) {
		const std::uint32_t lanes = met_[shard].view.geometry.lanes;
		bool cleared = false;
		const int error = co_await lanes_[0]->resolver().clear_all(
			shard, met_[shard].client * lanes, lanes, state_->clock, cleared);
		if (error)
			co_return error;
		if (cleared)
			around_.want_recovery(shard);
	}
	co_return 0;
}

/* Driving -------------------------------------------------------------------------------------------------------- */

void Client::drive() noexcept
{
	for (std::size_t shard = 0; shard < links_.size(); shard++) {
		Completion completion;
		while (links_[shard].link && links_[shard].link->pair().poll(completion))
			handle(shard, completion);
	}
	end_fancied();
	for (Shard &shard : links_) {
		if (shard.link)
			shard.link->talk(oldest_commit());
	}
	if (clearing_ && clearing_->done()) {
		refused_ = clearing_->value() != 0;
		ready_ = !refused_;
		clearing_.reset();
	}
}

void Client::handle(std::size_t shard, const Completion &completion)
{
	if (completion.failed()) {
		link_down(shard);
		return;
	}
	if (completion.wr_id == Link::flush_id)
		links_[shard].link->flushed();
	if (completion.wr_id >= nobody)
		return;
	const auto lane = static_cast<std::uint32_t>(completion.wr_id >> 16);
	Request *const request = lanes_[lane]->request(static_cast<std::uint16_t>(completion.wr_id));
	if (!request || !request->under_way || request->shard != shard)
		return;
	if (request->number < decision_number)
		spoil_cells(shard, completion.wr_id);
	end(lane, *request, completion);
}

void Client::end(std::uint32_t lane, Request &request, Completion completion)
{
	if (request.number == decision_number) {
		if (options_.flaw == Flaw::sure_decision && completion.status == Status::cas_miss)
			completion.status = Status::ok;
		decided_[lane] = completion.ok() ? lanes_[lane]->holding() : 0;
	}
	if (lanes_[lane]->ended(request, completion))
		resume(lane);
}

/**
 * Posts waiting requests, as PrismClient does: if the send queue is full, only some of them, but groups are never
 * split.
 */
void Client::ring(std::size_t number)
{
	Shard &shard = links_[number];
	const std::span<const prism::Chain::Posting> waiting(shard.put_off);
	std::size_t posted = waiting.size(), groups = shard.groups.size();
	int error = shard.link->pair().post(waiting);
	if (error == ENOMEM) {
		posted = 0;
		for (groups = 0; groups < shard.groups.size(); groups++) {
			error = shard.link->pair().post(waiting.subspan(posted, shard.groups[groups]));
			if (error)
				break;
			posted += shard.groups[groups];
		}
	}
	for (const CellRead &read : take_cell_reads())
		cell_reads_[read.wr_id].emplace_back(read.remote, read.local);
	if (error && error != ENOMEM) {
		link_down(number);
		return;
	}
	shard.put_off.erase(shard.put_off.begin(), shard.put_off.begin() + static_cast<std::ptrdiff_t>(posted));
	shard.groups.erase(shard.groups.begin(), shard.groups.begin() + static_cast<std::ptrdiff_t>(groups));
}

void Client::ring()
{
	for (std::size_t shard = 0; shard < links_.size(); shard++) {
		if (!links_[shard].put_off.empty())
			ring(shard);
	}
}

bool Client::has_completions() const noexcept
{
	return !fancied_.empty() || std::ranges::any_of(links_, [](const Shard &shard) {
		return shard.link && !shard.link->pair().endpoint.send_cq.empty();
	});
}

soft::Time Client::next_timer() noexcept
{
	auto next = prism::tx::Time::max();
	for (std::uint32_t lane = 0; lane < depth(); lane++)
		next = waiter(lane).waits() ? std::min(next, waiter(lane).wake_at) : next;
	return next == prism::tx::Time::max() ? 0 : static_cast<soft::Time>(next.count());
}

void Client::flush()
{
	for (std::size_t shard = 0; shard < links_.size(); shard++)
		report_now(shard);
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

std::uint64_t Client::clock() const noexcept
{
	if (options_.flaw != Flaw::repeated_timestamps)
		return options_.clock();
	state_->clock = {};
	return options_.clock() / coarse * coarse;
}

const prism::tx::ShardView *Client::view(std::size_t shard) const noexcept
{
	return links_[shard].link ? &links_[shard].link->view() : nullptr;
}

int Client::post(std::uint32_t lane, Request &request) noexcept
{
	if (!links_[request.shard].link)
		return ENOTCONN;
	if (is_hasty(lane, request)) {
		put_off(request, nobody);
		ring(request.shard);
		fancied_.push_back({lane, request.number});
		return 0;
	}
	put_off(request, id_of(lane, request.number));
	return 0;
}

void Client::put_off(const Request &request, std::uint64_t wr_id)
{
	Shard &to = links_[request.shard];
	to.put_off.push_back({&request.chain, wr_id});
	if (request.continues && !to.groups.empty() && options_.flaw != Flaw::parted_requests)
		to.groups.back()++;
	else
		to.groups.push_back(1);
}

void Client::release(std::size_t shard, std::uint64_t address) noexcept
{
	if (links_[shard].link)
		links_[shard].link->release(address);
}

void Client::report_now(std::size_t shard) noexcept
{
	if (links_[shard].link)
		links_[shard].link->flush();
}

/* Connections ---------------------------------------------------------------------------------------------------- */

std::uint64_t Client::oldest_commit() const noexcept
{
	std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
	for (const auto &lane : lanes_)
		oldest = std::min(oldest, lane->holding());
	return oldest;
}

void Client::settle(std::size_t shard, std::function<void()> settled)
{
	links_[shard].link->settle(state_->serial, std::move(settled));
}

/** Ends a connection, as PrismClient does: its requests have ended, but may or may not have been executed. */
void Client::link_down(std::size_t number)
{
	Shard &gone = links_[number];
	if (!gone.link)
		return;
	broken_ = true;
	gone.put_off.clear();
	gone.groups.clear();
	around_.closed(number, gone.link->connection());
	gone.link.reset();
	Completion flushed;
	flushed.error = IBV_WC_WR_FLUSH_ERR;
	for (std::uint32_t lane = 0; lane < lanes_.size(); lane++) {
		bool last = false;
		for (std::uint16_t request = 0; request < PrismTransaction::request_numbers; request++) {
			Request *const one = lanes_[lane]->request(request);
			if (one && one->under_way && one->shard == number)
				last |= lanes_[lane]->ended(*one, flushed);
		}
		if (last)
			resume(lane);
	}
}

prism::tx::TransactionFigures Client::figures() const noexcept
{
	prism::tx::TransactionFigures all;
	for (const auto &lane : lanes_) {
		const prism::tx::TransactionFigures &one = lane->figures();
		all.one_chain += one.one_chain;
		all.prepared += one.prepared;
		all.read_only += one.read_only;
		all.resolved += one.resolved;
		all.no_buffer += one.no_buffer;
		all.requests += one.requests;
	}
	return all;
}

/* Controls ------------------------------------------------------------------------------------------------------- */

/** Returns true for an install after a decision that was made already: nothing else is left to do. */
bool Client::is_hasty(std::uint32_t lane, const Request &request) const noexcept
{
	return options_.flaw == Flaw::hasty_lane && request.number < decision_number && request.number % 2 &&
	       decided_[lane] && decided_[lane] == lanes_[lane]->holding();
}

void Client::end_fancied()
{
	for (const Fancied &fancied : std::exchange(fancied_, {})) {
		Request *const request = lanes_[fancied.lane]->request(fancied.number);
		Completion completion;
		completion.status = Status::cas_miss; /* so that nothing is freed: the replaced buffer is not known */
		if (request->under_way)
			end(fancied.lane, *request, completion);
	}
}

/** Changes cells that were read: C becomes a later one, or PW becomes equal to C. */
void Client::spoil_cells(std::size_t shard, std::uint64_t wr_id)
{
	const auto found = cell_reads_.find(wr_id);
	if (found == cell_reads_.end())
		return;
	for (const auto &[remote, local] : found->second) {
		using prism::tx::Cell;
		auto &cell = *reinterpret_cast<Cell *>(local);
		constexpr std::size_t version = offsetof(Cell, version);
		constexpr std::size_t size = sizeof(cell.version.committed); /* the pointer would give it away */
		const std::byte *const there = around_.peek(shard, remote + version, size);
		if (options_.flaw == Flaw::late_version && there)
			std::memcpy(&cell.version.committed, there, size);
		if (options_.flaw == Flaw::late_version || options_.flaw == Flaw::unchecked_reads)
			cell.prepared.writer = cell.version.committed;
	}
	cell_reads_.erase(found);
}

} // namespace tx_sim
