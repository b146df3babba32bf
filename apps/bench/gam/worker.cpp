/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/worker.hpp"

#include <cerrno>
#include <limits>
#include <span>
#include <utility>

namespace prism::gam::micro
{

Worker::Worker(Session &session, const RunOptions &options, ItemChooser items, const bench::Clock &clock, Look look)
	: session_(session), options_(options), items_(std::move(items)), clock_(clock), look_(std::move(look))
{
}

RunResult Worker::run()
{
	if (options_.warm_up > 0)
		load(options_.warm_up, 0);
	note(session_.mfence());
	const bench::ErrorCounts earlier = result_.errors;
	result_ = {};
	result_.errors = earlier;
	const CoherenceStats before = look_ ? look_() : CoherenceStats();
	const std::uint64_t begin = clock_.now();
	load(options_.duration, options_.operations);
	note(session_.mfence());
	result_.nanoseconds = clock_.now() - begin;
	if (look_)
		result_.stats = since(before, look_());
	if (result_.nanoseconds)
		result_.rate = static_cast<double>(result_.operations) * 1e9 / static_cast<double>(result_.nanoseconds);
	return std::move(result_);
}

/** Runs for @p seconds, or @p count operations. Reads the clock only now and then, as that costs as much as a hit. */
void Worker::load(double seconds, std::uint64_t count)
{
	std::uint64_t now = clock_.now();
	const std::uint64_t end =
		count ? std::numeric_limits<std::uint64_t>::max() : now + static_cast<std::uint64_t>(seconds * 1e9);
	std::uint64_t left = count ? count : std::numeric_limits<std::uint64_t>::max();
	while (now < end && left > 0 && !has_ended_) {
		const ItemChooser::Item timed = items_.next();
		const std::uint64_t begin = clock_.now();
		operate(timed);
		now = clock_.now();
		(timed.is_read ? result_.reads : result_.writes).add(now - begin);
		left--;
		for (std::size_t i = 1; i < options_.timed && left > 0 && !has_ended_; i++, left--)
			operate(items_.next());
	}
}

void Worker::operate(const ItemChooser::Item &item) noexcept
{
	note(perform(item));
	result_.operations++;
}

int Worker::perform(const ItemChooser::Item &item) noexcept
{
	switch (options_.workload.operation) {
	case Operation::read_write:
		return access(item);
	case Operation::lock:
	case Operation::lock_access:
		return under_lock(item, false);
	case Operation::try_lock:
		return under_lock(item, true);
	}
	return 0;
}

int Worker::access(const ItemChooser::Item &item) noexcept
{
	const std::span<std::uint64_t> value(&value_, 1);
	if (item.is_read)
		return session_.read(item.at, std::as_writable_bytes(value));
	value_++;
	return session_.write(item.at, std::as_bytes(value));
}

int Worker::under_lock(const ItemChooser::Item &item, bool tries) noexcept
{
	int error = 0;
	if (item.is_read)
		error = tries ? session_.try_rlock(item.at, item_size) : session_.rlock(item.at, item_size);
	else
		error = tries ? session_.try_wlock(item.at, item_size) : session_.wlock(item.at, item_size);
	if (error)
		return error;
	if (options_.workload.operation != Operation::lock)
		error = access(item);
	const int unlocked = session_.unlock(item.at, item_size);
	return error ? error : unlocked;
}

void Worker::note(int error) noexcept
{
	if (error == EBUSY)
		result_.busy++;
	else if (error)
		result_.errors.add(error);
	has_ended_ |= error == ESTALE;
}

} // namespace prism::gam::micro
