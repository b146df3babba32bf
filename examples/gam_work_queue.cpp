/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue of work that several nodes share: node 0 puts numbers into it, all take some out and count their divisors.
 * The queue is one block with a lock, so the holder of the lock has the queue in its cache; the tasks themselves lie
 * elsewhere.
 */
#include "gam.hpp"

#include "gam/api/pointer.hpp"

namespace
{

constexpr std::uint64_t tasks = 2000;
constexpr std::uint64_t places = 32;

struct Task {
	std::uint64_t number;
};

struct Queue {
	std::uint64_t taken; /* tasks taken so far */
	std::uint64_t put;
	std::uint64_t closed; /* no more tasks will come */
	std::array<prism::gam::Pointer<Task>, places> tasks;
};
static_assert(sizeof(Queue) <= prism::gam::block_size, "one lock");

using QueuePointer = prism::gam::Pointer<Queue>;

/** Calls @p change with the queue, locked. @p change returns true if it has changed the queue. */
template <typename Change>
bool update(example::Session &session, QueuePointer queue, const Change &change)
{
	Queue now;
	example::must(queue.wlock(session), "the queue's lock");
	example::must(queue.read(session, now), "the queue");
	const bool changed = change(now);
	if (changed)
		example::must(queue.write(session, now), "the queue");
	example::must(queue.unlock(session), "the queue's lock");
	return changed;
}

bool put(example::Session &session, QueuePointer queue, prism::gam::Pointer<Task> task)
{
	return update(session, queue, [&](Queue &now) {
		if (now.put - now.taken == places)
			return false;
		now.tasks[now.put++ % places] = task;
		return true;
	});
}

/** Returns the next task, or none yet; sets @p closed if there will be none. */
prism::gam::Pointer<Task> take(example::Session &session, QueuePointer queue, bool &closed)
{
	prism::gam::Pointer<Task> task;
	update(session, queue, [&](Queue &now) {
		closed = now.closed && now.put == now.taken;
		if (now.put == now.taken)
			return false;
		task = now.tasks[now.taken++ % places];
		return true;
	});
	return task;
}

std::uint64_t divisors(std::uint64_t number)
{
	std::uint64_t count = 0;
	for (std::uint64_t candidate = 1; candidate <= number; candidate++)
		count += number % candidate == 0;
	return count;
}

/** Does one task, if there is one. */
bool help(example::Session &session, QueuePointer queue, example::Address sum, std::uint64_t &done, bool &closed)
{
	const prism::gam::Pointer<Task> task = take(session, queue, closed);
	if (task.is_null())
		return false;
	Task what{};
	std::uint64_t before = 0;
	example::must(task.read(session, what), "a task");
	example::must(session.free(task.address()), "a task's memory");
	example::must(session.atomic(sum, 8, prism::gam::Function::add, divisors(what.number), before), "the sum");
	done++;
	return true;
}

void put_all(example::Session &session, QueuePointer queue, example::Address sum, std::uint64_t &done)
{
	bool closed = false;
	for (std::uint64_t number = 1; number <= tasks; number++) {
		prism::gam::Pointer<Task> task;
		example::must(prism::gam::Pointer<Task>::allocate(session, 1, task), "room for a task");
		example::must(task.write(session, {number}), "a task");
		while (!put(session, queue, task))
			help(session, queue, sum, done, closed);
	}
	update(session, queue, [](Queue &now) {
		now.closed = 1;
		return true;
	});
}

int work(example::Worker &worker)
{
	example::Session session(worker.joined->node());
	if (worker.number == 0) {
		QueuePointer queue;
		example::Address sum, barrier;
		example::must(QueuePointer::allocate(session, 1, queue), "a queue");
		example::must(session.malloc(8, sum), "a sum");
		example::must(session.malloc(8, barrier), "a barrier");
		worker.publish("queue", queue.address());
		worker.publish("sum", sum);
		worker.publish("barrier", barrier);
	}
	const QueuePointer queue(worker.address("queue", 0));
	const example::Address sum = worker.address("sum", 0);
	example::Barrier barrier(worker.address("barrier", 0), worker);

	std::uint64_t done = 0, total = 0, expected = 0;
	bool closed = false;
	barrier.meet(session);
	if (worker.number == 0)
		put_all(session, queue, sum, done);
	while (!closed)
		help(session, queue, sum, done, closed);
	barrier.meet(session);
	example::must(session.read(sum, std::as_writable_bytes(std::span(&total, 1))), "the sum");
	for (std::uint64_t number = 1; number <= tasks; number++)
		expected += divisors(number);
	std::printf("node %zu: did %llu of %llu tasks; all divisors: %llu\n", worker.number,
		static_cast<unsigned long long>(done), static_cast<unsigned long long>(tasks),
		static_cast<unsigned long long>(total));
	return total == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char **argv)
{
	return example::run_workers(argc, argv, work);
}
