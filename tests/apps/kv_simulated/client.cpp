/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kv/store/introduction.hpp"

namespace kv_sim
{

using prism::kv::Lane;
using prism::kv::LaneMemory;
using prism::kv::Slot;

namespace
{

constexpr std::uint64_t flush_id = ~std::uint64_t{0};
constexpr std::uint32_t domain = 1;
/* Requests that Protocol posts to claim a slot; no other chain has as many. */
constexpr std::size_t requests_of_a_claim = 3;
/* Freed buffers after which Flaw::double_report reports the oldest of them again */
constexpr std::size_t reports_until_again = 3;

/** Builder of a CAS that does not compare the tag. */
void cas_without_tag(prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t address, const prismdv_cas *cas);

/* The real builder behind it; the same for all pairs. */
Pair::CasBuilder real_cas = nullptr;

void cas_without_tag(prismdv_qp_ex *qp, std::uint32_t rkey, std::uint64_t address, const prismdv_cas *cas)
{
	constexpr std::size_t tag = offsetof(Slot, object) + offsetof(prismdv_bounded_ptr, tag);
	std::array<std::byte, sizeof(Slot)> mask;
	std::memcpy(mask.data(), cas->compare_mask, mask.size());
	std::memset(mask.data() + tag, 0, sizeof(prismdv_bounded_ptr::tag));
	prismdv_cas changed = *cas;
	changed.compare_mask = mask.data();
	real_cas(qp, rkey, address, &changed);
}

std::size_t room_for(const prism::kv::ServerView &view)
{
	const std::size_t object =
		sizeof(prism::kv::ObjectHeader) + std::size_t{view.max_key_size} + view.max_value_size;
	return (object + sizeof(Slot) - 1) / sizeof(Slot) * sizeof(Slot);
}

} // namespace

Client::Client(std::unique_ptr<Pair> pair, Admission admission, const ClientOptions &options,
	std::function<void(Lane &)> ended)
	: pair_(std::move(pair)), view_(std::move(admission.view)), lease_(std::move(admission.lease)),
	  options_(options), ended_(std::move(ended)), protocol_(view_, *this, options.hints),
	  memory_(LaneMemory::size(room_for(view_)) / sizeof(Slot) * options.depth), lanes_(options.depth),
	  claims_(options.depth), reports_(view_.classes.size())
{
	auto *const bytes = reinterpret_cast<std::byte *>(memory_.data());
	const std::size_t total = memory_.size() * sizeof(Slot), each = total / options.depth;
	key_ = pair_->endpoint.node.engine.memory.add_region(reinterpret_cast<std::uint8_t *>(bytes),
		reinterpret_cast<std::uintptr_t>(bytes), total, soft::access_local_write, domain);
	for (std::uint32_t number = 0; number < options.depth; number++) {
		lanes_[number].number = number;
		lanes_[number].memory = LaneMemory::divide(bytes + number * each, room_for(view_), key_);
	}
	for (std::size_t i = 0; i < reports_.size(); i++)
		reports_[i].free_list = view_.classes[i].free_list;
	versions_ = prism::kv::LeasedVersions(lease_(prism::kv::LeasedVersions::first_lease));
	if (options_.flaw == Flaw::no_tag)
		real_cas = pair_->put_in_front(cas_without_tag);
}

Client::~Client()
{
	for (Lane &lane : lanes_)
		lane.task.reset();
	soft::Engine &engine = pair_->endpoint.node.engine;
	pair_.reset();
	engine.memory.remove(key_);
}

/* Operations ----------------------------------------------------------------------------------------------------- */

void Client::start(Lane &lane, prism::apps::Operation &operation, const std::function<Task(Lane &)> &make)
{
	operation.error = 0;
	operation.length = 0;
	lane.operation = &operation;
	lane.began = ++serial_;
	lane.round_trips = 0;
	lane.task.emplace(make(lane));
	lane.task->start();
	if (lane.task->done())
		finish(lane);
}

void Client::finish(Lane &lane)
{
	lane.operation->outcome = lane.task->value();
	lane.operation->round_trips = lane.round_trips;
	lane.task.reset();
	lane.operation = nullptr;
	ended_(lane);
}

void Client::poll()
{
	prism::Completion completion;
	while (pair_->poll(completion))
		handle(completion);
	for (const std::uint64_t address : std::exchange(waiting_, {}))
		report(address);
	if (settling_.answer)
		go_on_settling();
}

void Client::handle(const prism::Completion &completion)
{
	if (completion.failed() && !broken_)
		broken_ = prism::kv::errno_of(completion);
	if (completion.wr_id == flush_id && flushes_)
		flushes_--;
	if (completion.wr_id >= lanes_.size())
		return;
	Lane &lane = lanes_[completion.wr_id];
	if (!lane.waiter.waits()) /* another request of a chain that has failed already */
		return;
	lane.completion = completion;
	if (options_.flaw == Flaw::blind_insert && claims_[lane.number])
		std::fill(lane.memory.buckets.begin(), lane.memory.buckets.end(), Slot{});
	lane.waiter.resume();
	if (lane.task && lane.task->done())
		finish(lane);
}

/* Carrier -------------------------------------------------------------------------------------------------------- */

int Client::post(const prism::Chain &chain, std::uint64_t lane) noexcept
{
	claims_[lane] = chain.size() == requests_of_a_claim;
	const int error = broken_ ? broken_ : pair_->post(chain, lane);
	if (error && !broken_)
		broken_ = error;
	return error;
}

void Client::release(std::uint64_t address) noexcept
{
	if (!address)
		return;
	report(address);
	if (options_.flaw != Flaw::double_report)
		return;
	again_.push_back(address);
	if (again_.size() > reports_until_again) {
		report(again_.front());
		again_.erase(again_.begin());
	}
}

void Client::report(std::uint64_t address)
{
	for (std::size_t i = 0; i < reports_.size(); i++) {
		prism::FreeReport &batch = reports_[i];
		if (!view_.classes[i].holds(address))
			continue;
		if (batch.count >= options_.report_batch && send(batch, 0, false)) {
			waiting_.push_back(address);
			return;
		}
		batch.addresses[batch.count++] = address;
		if (batch.count >= options_.report_batch)
			(void)send(batch, 0, false);
		return;
	}
}

int Client::send(prism::FreeReport &batch, std::uint64_t wr_id, bool signaled)
{
	prism::FreeReport::Bytes bytes;
	const std::size_t size = batch.serialize(bytes);
	const int error = pair_->send(std::span(bytes).first(size), wr_id, signaled);
	if (!error)
		batch.count = 0;
	return error;
}

bool Client::buffers_may_come(Lane &, unsigned attempts) noexcept
{
	constexpr unsigned most = 4096;
	flush();
	return attempts < most;
}

void Client::flush() noexcept
{
	for (prism::FreeReport &batch : reports_) {
		if (batch.count && !send(batch, flush_id, true))
			flushes_++;
	}
}

std::uint64_t Client::next_version() noexcept
{
	if (const std::uint64_t count = versions_.ask())
		(void)versions_.add(lease_(count));
	return versions_.take();
}

/* Scans ---------------------------------------------------------------------------------------------------------- */

void Client::settle(std::function<void()> settled)
{
	settling_ = {std::move(settled), false, 0, serial_};
	go_on_settling();
}

/**
 * Sends a signalled report for each class, even an empty one: full batches went out unsignalled, and nothing else shows
 * that they have arrived. Returns false if the send queue has no room yet.
 */
bool Client::flush_all()
{
	for (std::size_t i = settling_.classes; i < reports_.size(); i++) {
		if (!reports_[i].count && options_.flaw == Flaw::unsure_flush)
			continue;
		if (send(reports_[i], flush_id, true))
			return false;
		flushes_++;
		settling_.classes++;
	}
	return true;
}

void Client::go_on_settling()
{
	const auto before = [this](const Lane &lane) { return lane.operation && lane.began <= settling_.before; };
	const bool hasty = options_.flaw == Flaw::hasty_settle;
	if (!hasty && (std::any_of(lanes_.begin(), lanes_.end(), before) || !waiting_.empty()))
		return;
	if (!settling_.flushed && !flush_all())
		return;
	settling_.flushed = true;
	if ((flushes_ && !hasty) || broken_)
		return;
	std::exchange(settling_.answer, nullptr)();
}

} // namespace kv_sim
