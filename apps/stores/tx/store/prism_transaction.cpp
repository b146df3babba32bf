/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "prism_transaction.hpp"

#include <cerrno>
#include <limits>

#include "tx/store/paper_commit.hpp"
#include "tx/store/protected_commit.hpp"

namespace prism::tx
{

namespace
{

/** Memory of a lane, beside that of its execution. */
struct LaneMemory {
	ResolverMemory resolver;
	ProtectedCommitMemory commit;
};
static_assert(sizeof(LaneMemory) % 64 == 0);

LaneMemory &lane_memory(std::byte *memory)
{
	return *reinterpret_cast<LaneMemory *>(memory);
}

} // namespace

std::size_t PrismTransaction::memory_size() noexcept
{
	return sizeof(LaneMemory) + Execution::memory_size();
}

PrismTransaction::PrismTransaction(ClientState &client, Carrier &carrier, Waiter &waiter, std::uint32_t lane,
	std::uint32_t place, std::byte *memory, std::size_t room, std::uint32_t lkey)
	: lane_(client, carrier, waiter, lane, place, lkey), execution_(lane_, memory + sizeof(LaneMemory), room),
	  resolver_(carrier, lane_.requests, lane_memory(memory).resolver, lkey, resolver_number)
{
	if (client.store.as_in_paper)
		commit_ = std::make_unique<PaperCommit>(lane_, execution_);
	else
		commit_ = std::make_unique<ProtectedCommit>(lane_, execution_, resolver_, lane_memory(memory).commit);
	for (std::uint16_t number = 0; number < request_numbers; number++) {
		if (Request *const one = request(number))
			one->number = number;
	}
}

apps::Task<int> PrismTransaction::fetch(std::span<const Bytes> keys)
{
	if (const int error = co_await execution_.fetch(keys))
		co_return error;
	if (!commit_->after_fetch())
		co_return 0;
	const int error = co_await commit_->after_conflict();
	co_return error ? error : EAGAIN;
}

apps::Task<void> PrismTransaction::begin()
{
	co_await lane_.requests.all_ended();
	execution_.begin();
	commit_->begin();
	lane_.round_trips = 0;
	lane_.leaves_traces = false;
	co_return;
}

apps::Task<void> PrismTransaction::roll_back()
{
	co_return; /* no other client has seen it */
}

apps::Task<Outcome> PrismTransaction::commit()
{
	committing_ = true;
	serial_ = ++lane_.client.serial;
	const Outcome outcome = co_await commit_->run();
	committing_ = false;
	co_return outcome;
}

/* For the carrier ------------------------------------------------------------------------------------------------ */

Request *PrismTransaction::request(std::uint16_t number) noexcept
{
	if (number == resolver_number)
		return &resolver_.request();
	if (number >= request_numbers)
		return nullptr;
	if (number >= first_object_ahead)
		return &execution_.all_accesses()[number - first_object_ahead].object_ahead;
	if (number >= decision_number)
		return commit_->request(number - decision_number);
	Access &access = execution_.all_accesses()[number / 2];
	return number % 2 ? &access.end : &access.request;
}

/**
 * Ends a request. An install may end long after its transaction: the buffer that it has replaced is freed here. An
 * install misses if somebody else has done it, or a later version is there already.
 */
bool PrismTransaction::ended(Request &request, const Completion &completion) noexcept
{
	if (request.number < decision_number && request.number % 2 && !completion.failed()) {
		Access &access = execution_.all_accesses()[request.number / 2];
		if (access.installed && completion.ok() && access.memory.was_version->object.ptr)
			lane_.carrier.release(access.shard, access.memory.was_version->object.ptr);
	}
	lane_.retired |= lane_.leaves_traces && completion.failed();
	return lane_.requests.ended(request, completion);
}

std::uint64_t PrismTransaction::holding() const noexcept
{
	return committing_ || lane_.requests.under_way() ? serial_ : std::numeric_limits<std::uint64_t>::max();
}

} // namespace prism::tx
