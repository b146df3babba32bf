/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "client_thread.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

namespace prism::rs
{

namespace
{

/* Interval of the polls with nothing under way */
constexpr std::chrono::milliseconds idle_pause(10);
/* An answer comes after a few polls, or takes long: then the core is left to others, which may have to produce it. */
constexpr unsigned polls_without_pause = 400;
constexpr std::chrono::microseconds pause(20);

} // namespace

/** The operations of one run(), on its stack. */
struct ClientThread::Batch {
	std::span<apps::Operation> operations;
	Clock::time_point submitted;
	std::size_t next = 0; /* the next one to begin */
	std::size_t under_way = 0;
	std::optional<Error> error;
	bool done = false; /* under lock_ */
	std::condition_variable ended;
};

ClientThread::ClientThread(
	std::unique_ptr<apps::StoreClient> client, std::chrono::nanoseconds patience, Explain explain)
	: client_(std::move(client)), patience_(patience), explain_(std::move(explain)), success_(Clock::now()),
	  thread_([this](const std::stop_token &stop) { drive(stop); })
{
}

ClientThread::~ClientThread() = default;

Result<void> ClientThread::run(std::span<apps::Operation> operations)
{
	if (operations.empty())
		return {};
	Batch batch;
	batch.operations = operations;
	batch.submitted = Clock::now();
	std::unique_lock lock(lock_);
	submitted_.push_back(&batch);
	any_submitted_ = true;
	changed_.notify_one();
	batch.ended.wait(lock, [&batch] { return batch.done; });
	if (batch.error)
		return *std::move(batch.error);
	return {};
}

void ClientThread::drive(const std::stop_token &stop)
{
	unsigned polls = 0;
	while (take_submitted(stop)) {
		start_waiting();
		polls = take_ended() ? 0 : polls + 1;
		if (under_way_ && polls > polls_without_pause)
			std::this_thread::sleep_for(pause);
	}
}

/** Takes the submitted batches. Returns false if there is no work and will be none. */
bool ClientThread::take_submitted(const std::stop_token &stop)
{
	const bool idle = waiting_.empty() && !under_way_;
	if (!idle && !any_submitted_.load(std::memory_order_relaxed))
		return true;
	std::unique_lock lock(lock_);
	if (idle)
		changed_.wait_for(lock, stop, idle_pause, [this] { return !submitted_.empty(); });
	waiting_.insert(waiting_.end(), submitted_.begin(), submitted_.end());
	submitted_.clear();
	any_submitted_ = false;
	return !idle || !waiting_.empty() || !stop.stop_requested();
}

void ClientThread::start_waiting()
{
	while (!waiting_.empty() && start_next(*waiting_.front()))
		;
}

/** Begins the next operation. Returns false if the client takes no more now. */
bool ClientThread::start_next(Batch &batch)
{
	apps::Operation &operation = batch.operations[batch.next];
	operation.context = &batch;
	const int error = hopeless(batch) ? EHOSTUNREACH : client_->start(operation);
	if (error == EAGAIN)
		return false;
	if (error) {
		operation.outcome = apps::Outcome::failed;
		operation.error = error;
		refuse(batch, operation);
		end_if_done(batch);
		return true;
	}
	under_way_++;
	batch.under_way++;
	if (++batch.next == batch.operations.size())
		waiting_.pop_front();
	return true;
}

/**
 * True if no operation has succeeded for too long: waiting for the deadlines of all earlier operations, one after
 * another, would not end.
 */
bool ClientThread::hopeless(const Batch &batch) const
{
	return success_ < batch.submitted && Clock::now() - batch.submitted > patience_;
}

bool ClientThread::take_ended()
{
	std::array<apps::Operation *, 64> ended;
	const std::size_t count = client_->poll(ended);
	if (!count)
		return false;
	const Clock::time_point now = Clock::now();
	for (apps::Operation *const operation : std::span(ended).first(count)) {
		Batch &batch = *static_cast<Batch *>(operation->context);
		under_way_--;
		batch.under_way--;
		if (operation->outcome == apps::Outcome::ok)
			success_ = now;
		else
			refuse(batch, *operation);
		end_if_done(batch);
	}
	return true;
}

/** Begins nothing more of @p batch, because of the failed operation @p why. */
void ClientThread::refuse(Batch &batch, const apps::Operation &why)
{
	if (!batch.error)
		batch.error = explain_(why);
	batch.next = batch.operations.size();
	std::erase(waiting_, &batch);
}

/** Ends the batch if it is done. Its memory is gone once the lock is released. */
void ClientThread::end_if_done(Batch &batch)
{
	if (batch.under_way || batch.next < batch.operations.size())
		return;
	const std::lock_guard lock(lock_);
	batch.done = true;
	batch.ended.notify_one();
}

} // namespace prism::rs
