/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kernel flushes posted requests. A user that goes on posting must not keep it busy for ever. */
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

using Clock = std::chrono::steady_clock;

std::atomic_ref<std::uint32_t> producer(const Ring &ring)
{
	return std::atomic_ref(ring.header()->producer_index);
}

std::atomic_ref<std::uint32_t> consumer(const Ring &ring)
{
	return std::atomic_ref(ring.header()->consumer_index);
}

/** Keeps this thread on one processor while it lives; other threads can move to the rest by leave_it(). */
class OnOneProcessor
{
public:
	OnOneProcessor()
	{
		check(sched_getaffinity(0, sizeof(all_), &all_), "sched_getaffinity");
		cpu_set_t own;
		CPU_ZERO(&own);
		const int number = sched_getcpu();
		CPU_SET(number, &own);
		check(sched_setaffinity(0, sizeof(own), &own), "sched_setaffinity");
		others_ = all_;
		CPU_CLR(number, &others_);
		if (CPU_COUNT(&others_) == 0)
			throw std::runtime_error("this needs two processors");
	}
	OnOneProcessor(const OnOneProcessor &) = delete;
	OnOneProcessor &operator=(const OnOneProcessor &) = delete;
	~OnOneProcessor() { sched_setaffinity(0, sizeof(all_), &all_); }

	/** Moves the calling thread, which inherited the one processor, to the rest. */
	void leave_it() const { check(sched_setaffinity(0, sizeof(others_), &others_), "sched_setaffinity"); }

private:
	cpu_set_t all_{}, others_{};
};

/**
 * A user that posts as fast as the kernel flushes: it refills the queue of @p receives whenever one is taken, and
 * empties the one of @p completions whenever one arrives.
 */
class Poster
{
public:
	/** Gives up after @p seconds, so that even a flush that lasts as long as the posting ends at some time. */
	Poster(const Ring &receives, const Ring &completions, std::chrono::seconds seconds,
		const OnOneProcessor *other = nullptr)
		: end_(Clock::now() + seconds), thread_([=, this](const std::stop_token &stop) {
			  if (other)
				  other->leave_it();
			  run(receives, completions, stop);
		  })
	{
	}

	/** Returns how many receives the kernel has taken. */
	[[nodiscard]] std::uint64_t taken() const { return taken_; }
	[[nodiscard]] bool has_given_up() const { return Clock::now() >= end_; }

private:
	void run(const Ring &receives, const Ring &completions, const std::stop_token &stop)
	{
		std::uint32_t seen = consumer(receives);
		while (!stop.stop_requested() && !has_given_up()) {
			const std::uint32_t now = consumer(receives);
			producer(receives) = (now - 1) & receives.mask;
			consumer(completions) = producer(completions).load();
			taken_ += (now - seen) & receives.mask;
			seen = now;
		}
	}

	const Clock::time_point end_;
	std::atomic<std::uint64_t> taken_{0};
	std::jthread thread_;
};

constexpr std::uint32_t receives_at_most = 8'000;

/** A queue pair, and both its rings. */
struct Receiver {
	explicit Receiver(const Device &device)
	{
		Finder finder;
		cq = create_cq(device, 4 * receives_at_most); /* does not overflow while the poster is elsewhere, */
		completions = finder.take(Kind::completions, Kind::completions).at(0);
		QpLimits limits;
		limits.recv_wr = receives_at_most; /* nor does this run empty then */
		qp = create_qp(device, device.pd(), cq.get(), limits);
		receives = finder.take_queue(Kind::prism_sends, Kind::receives);
		path.source = path.destination = device.some_gid(false);
	}

	Owned<ibv_cq> cq;
	Owned<ibv_qp> qp;
	Ring completions, receives;
	Path path;
};

/** A reset flushes the receives that are there. */
void resets_end(const Device &device)
{
	const Receiver receiver(device);
	const Poster poster(receiver.receives, receiver.completions, std::chrono::minutes(1));
	std::uint64_t most = 0;
	for (unsigned i = 0; i < 50; i++) {
		connect(device, receiver.qp.get(), receiver.path);
		const std::uint64_t before = poster.taken();
		check(set_state(receiver.qp.get(), IBV_QPS_RESET), "to RESET");
		most = std::max(most, poster.taken() - before);
	}
	/* It checks the queue once or twice. */
	if (most > std::uint64_t{receiver.receives.mask} * 4)
		throw std::runtime_error(
			fmt::format("a reset flushes {} receives of a queue of {}", most, receiver.receives.mask));
}

/** In ERROR the flush lasts as long as the posting, but yields the processor in between. */
void errors_end(const Device &device)
{
	const Receiver receiver(device);
	connect(device, receiver.qp.get(), receiver.path);
	const OnOneProcessor here;
	const Poster poster(receiver.receives, receiver.completions, std::chrono::seconds(10), &here);
	while (producer(receiver.receives) == consumer(receiver.receives)) /* until the flush has begun */
		std::this_thread::yield();
	check(set_state(receiver.qp.get(), IBV_QPS_ERR), "to ERROR");
	std::this_thread::sleep_for(std::chrono::milliseconds(10)); /* the kernel may flush in a thread of its own */
	if (poster.has_given_up())
		throw std::runtime_error(fmt::format(
			"in ERROR receives are flushed in one go as long as they are posted: {}", poster.taken()));
}

/** The same of sends: sends posted in ERROR are flushed in batches, and others run between them. */
void sends_end(const Device &device)
{
	Finder finder;
	const Owned<ibv_cq> cq = create_cq(device, 4 * receives_at_most);
	const Ring completions = finder.take(Kind::completions, Kind::completions).at(0);
	QpLimits limits;
	limits.send_wr = receives_at_most;
	const Owned<ibv_qp> qp = create_qp(device, device.pd(), cq.get(), limits);
	const Ring sends = finder.take_queue(Kind::prism_sends, Kind::prism_sends);
	Path path;
	path.source = path.destination = device.some_gid(false);
	path.qpn = qp->qp_num;
	connect(device, qp.get(), path);
	const OnOneProcessor here;
	const Poster poster(sends, completions, std::chrono::seconds(10), &here);
	while (producer(sends) == consumer(sends)) /* until the flush has begun; nothing rings the doorbell */
		std::this_thread::yield();
	check(set_state(qp.get(), IBV_QPS_ERR), "to ERROR");
	for (unsigned i = 0; i < 20; i++) /* the kernel flushes in a thread of its own, which may be late */
		std::this_thread::sleep_for(std::chrono::milliseconds(10));
	if (poster.has_given_up())
		throw std::runtime_error(fmt::format(
			"in ERROR sends are flushed in one go as long as they are posted: {}", poster.taken()));
}

} // namespace

void flushes_end(const Device &device)
{
	resets_end(device);
	errors_end(device);
	sends_end(device);
}

} // namespace prism::hostile
