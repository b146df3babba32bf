/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "lane.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string_view>

#include "base/c_boundary.hpp"
#include "base/processors.hpp"
#include "base/random.hpp"
#include "base/recent_clock.hpp"
#include "base/signals.hpp"
#include "device.hpp"
#include "gid_table.hpp"
#include "limits.hpp"

namespace prism::soft
{

namespace
{

/** Time that the engine thread looks for packets before it sleeps: some round trips, so that a busy peer never
 * waits. */
constexpr Time spin_time = 50'000;
/** The same time for peers in memory: they answer sooner than they can be woken, and take longer to use an answer. */
constexpr Time local_spin_time = 200'000;
/** The same time while other threads want the core: sleeping and waking would cost both sides more. */
constexpr Time brief_spin_time = 5'000;
/** Length of a turn of the spinning loop that shows an interruption: other threads want the core. */
constexpr Time interruption = 300'000;
/**
 * Time without spinning after an interruption. A packet wakes a sleeper at once, while a spinner may have to wait for
 * its turn. The first interruption is often the only one, and each request that finds the thread asleep has to wake it:
 * so the time doubles only while interruptions go on.
 */
constexpr Time min_abstinence = 1'000'000;
constexpr Time max_abstinence = 50'000'000;
/** Longest interval between polls of an application that drives the engine itself. */
constexpr Time polling_now = 100'000;
/** Polls without a pause that it must have made: an application that polls now and then leaves its peers to the
 * thread. */
constexpr std::uint32_t on_and_on = 4;
/** Limit of the count of polls. A pause takes three quarters off, so that an application that polled long and lost
 * its processor is still recognised. */
constexpr std::uint32_t most_polls = 64;
/** Time that the engine thread then stands aside before it looks again; doubles while that goes on. */
constexpr Time min_patience = 50'000;
constexpr Time max_patience = 500'000;
/** Time without anybody after which threads of other lanes drive a lane, too, and interval at which they look. */
constexpr Time left_alone = 300'000;
constexpr Time help_interval = 100'000;
/** Most trains taken in one go, before answers leave and the lock is released. */
constexpr int trains_a_turn = 4;
/** The same limit when all that has arrived is wanted: peers may go on sending. */
constexpr int most_waiting = 8192;
/** Longest wait for the lane of a process that ends. */
constexpr Time longest_leave = 100'000'000;

/** Number of looks for packets in one turn: during the rest of a turn none is seen. */
constexpr int looks = 4;

/** Number of looks for requests that a peer announced, before answering those that came: about two microseconds. */
constexpr int company_looks = 12;
/** Limit for announced requests, so that no peer keeps the others waiting. */
constexpr int max_company = 16;

/** Decides when an interrupted thread may spin again. */
class Abstinence
{
public:
	void interrupted(Time at)
	{
		/* Any pause is over by now: interrupted again soon after it, the cores are still wanted. */
		const bool again = at - last_ < 2 * max_abstinence;
		length_ = again ? std::min(length_ * 2, max_abstinence) : min_abstinence;
		last_ = at;
	}

	bool lasts(Time at) const { return at < last_ + length_; }

private:
	Time last_ = 0, length_ = 0;
};

/** Returns the wire version; PRISM_WIRE_VERSION=1 stands for a device without bundles. */
std::uint32_t wire_version()
{
	const char *choice = std::getenv("PRISM_WIRE_VERSION");
	return choice && std::string_view(choice) == "1" ? PRISM_LOWEST_VERSION : PRISM_PROTOCOL_VERSION;
}

/** Returns true if half of the descriptors are left to the program: a further lane is no need, and takes a dozen. */
bool descriptors_abound()
{
	rlimit limit{};
	const FileDescriptor next(eventfd(0, EFD_CLOEXEC));
	return next && ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(next.get()) < limit.rlim_cur / 2;
}

/** Number of engine threads of this process that look for packets in a loop. */
std::atomic<unsigned> spinners{0};

/** Takes the calling engine thread out of that number while it exists. */
class Rest
{
public:
	Rest() { spinners--; }
	~Rest() { spinners++; }
	Rest(const Rest &) = delete;
	Rest &operator=(const Rest &) = delete;
};

/** Most of them that leave a processor to the application: they would take turns with it, and keep their lanes' locks
 * meanwhile. Known once a lane has been opened. */
std::atomic<unsigned> most_spinners{1};

bool too_many_spin()
{
	return spinners.load(std::memory_order_relaxed) > most_spinners.load(std::memory_order_relaxed);
}

} // namespace

std::unique_ptr<Lane> Lane::open(const Options &options, const SharedByLanes &shared, std::string &error)
{
	most_spinners = std::max(usable_processors(), 2U) - 1;
	std::unique_ptr<CounterPage> counters = CounterPage::create(device_name(options.interface));
	if (!counters) {
		error = "no memory for counters";
		return nullptr;
	}
	std::unique_ptr<Port> port = Port::open(options.interface, options.with_rings, options.takes_management, error,
		{&counters->port(), &counters->local(), &counters->local_peers()});
	if (!port)
		return nullptr;
	std::unique_ptr<Lane> lane(new Lane(options.threaded, shared, std::move(counters), std::move(port)));
	lane->engine_->trains_arrive_whole = !lane->udp().interface().is_loopback || loopback_keeps_trains_whole();
	if (!lane->wake_) {
		error = "no descriptors left for events";
		lane.reset(); /* this changes errno */
		errno = EMFILE;
	}
	return lane;
}

std::unique_ptr<Lane> Lane::open_beside(Lane &first, const SharedByLanes &shared)
{
	if (!descriptors_abound())
		return nullptr;
	std::unique_lock guard(first.lock);
	const InterfaceInfo bound = first.udp().bound();
	guard.unlock();
	std::unique_ptr<CounterPage> counters = CounterPage::create(device_name(bound.name));
	if (!counters)
		return nullptr;
	std::unique_ptr<Port> port = Port::open_beside(bound, first.udp().network(), first.port_->local(),
		{&counters->port(), &counters->local(), &counters->local_peers()});
	if (!port)
		return nullptr;
	std::unique_ptr<Lane> lane(new Lane(first.threaded_, shared, std::move(counters), std::move(port)));
	if (!lane->wake_)
		return nullptr;
	lane->engine_->trains_arrive_whole = first.engine_->trains_arrive_whole;
	lane->publish_counters();
	lane->start_thread(); /* now, while the first lane can do its work instead */
	return lane;
}

Lane::Lane(
	bool threaded, const SharedByLanes &shared, std::unique_ptr<CounterPage> counters, std::unique_ptr<Port> port)
	: counters_(std::move(counters)), port_(std::move(port)), lanes_(shared.count), threaded_(threaded),
	  wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), owner_(getpid())
{
	const SharedByEngines all{&counters_->protocol(), &RequestEpochs::of_process(), port_->udp().receive_room(),
		&shared.memory, &shared.queues};
	engine_ = std::make_unique<Engine>(*port_, shared.listener, first_qpn(), limits::max_qp, all);
	engine_->protocol_version = wire_version();
	engine_->has_thread = threaded_;
	engine_->shuffle_qpns(random_number());
}

Lane::~Lane()
{
	static_cast<void>(stop());
}

bool Lane::stop()
{
	stop_ = true;
	if (!thread_.joinable()) {
		take_leave();
		return true;
	}
	if (owner_ != ::getpid()) { /* the child has no such thread, and glibc 2.43 would wait for it */
		static_cast<void>(std::make_unique<std::thread>(std::move(thread_)).release());
		return true;
	}
	if (eventfd_write(wake_.get(), 1)) {
		thread_.detach();
		return false;
	}
	thread_.join();
	take_leave();
	return true;
}

/** Returns the first QPN: the lowest numbers are special (0 and 1) or easily guessed. */
std::uint32_t Lane::first_qpn() const
{
	return (port_->udp().slot() << limits::qpn_bits) + 16;
}

void Lane::publish_counters()
{
	const CounterPage::Identity identity{.device = device_name(udp().interface().name),
		.slot = port_->udp().slot(),
		.first_qpn = first_qpn(),
		.last_qpn = first_qpn() + limits::max_qp - 1,
		.addresses = page_addresses()};
	counters_->publish(identity);
}

std::vector<PageAddress> Lane::page_addresses() const
{
	const std::vector<Address> addresses = port_->udp().addresses();
	const std::vector<std::uint64_t> inodes = port_->udp().socket_inodes();
	std::vector<PageAddress> list;
	for (std::size_t i = 0; i < addresses.size(); i++)
		list.push_back({addresses[i].gid, inodes[i]});
	return list;
}

std::vector<Address> Lane::addresses()
{
	const std::lock_guard guard(lock);
	return udp().addresses();
}

int Lane::source_of(const Address &name)
{
	const std::vector<Address> bound = addresses();
	for (std::size_t i = 0; i < bound.size(); i++)
		if (gid_name(udp().interface(), bound[i]) == name)
			return static_cast<int>(i);
	return -1;
}

int Lane::add(const Address &address)
{
	const std::lock_guard guard(lock);
	const int index = port_->add(address);
	if (index < 0)
		return index;
	if (udp().shares_addresses())
		start_thread(true);
	eventfd_write(wake_.get(), 1); /* a sleeper has one more socket to wait for */
	counters_->set_addresses(page_addresses());
	return index;
}

bool Lane::follow(Lane &first)
{
	const std::vector<Address> wanted = first.addresses();
	for (std::size_t i = addresses().size(); i < wanted.size(); i++)
		if (add(wanted[i]) < 0)
			return false;
	return true;
}

/* Progress ------------------------------------------------------------------------------------------------------ */

/** Runs a turn. A packet that there is no memory for is lost: its sender repeats it. */
template <typename Turn>
void without_memory_as_lost(const Turn &turn) noexcept
{
	try {
		turn();
	} catch (const std::bad_alloc &) {
	}
}

/** Receives the requests that a peer announced, so that all answers leave as one train. */
void Lane::await_company(Time at)
{
	int quiet = 0;
	for (int trains = 0; engine_->expects_more() && quiet < company_looks && trains < max_company;) {
		const int received = port_->receive(*engine_, at, 1);
		quiet = received ? 0 : quiet + 1;
		trains += received;
	}
}

/** Answers and sends. */
void Lane::advance(Time at, Engine::Again again)
{
	without_memory_as_lost([&] { engine_->progress(at, again); });
	/* Nothing else tells the sleeper of packets that this context has sent to itself. */
	if (asleep_ && port_->own_packets_wait())
		wake_thread();
}

/**
 * Receives, executes, answers and sends.
 * @param looked_after true if somebody drives again soon even if nothing happens, so that acknowledgements may wait.
 */
bool Lane::drive(Time reading, int max_trains, bool looked_after)
{
	const Time at = in_order(reading);
	bool received = false;
	without_memory_as_lost([&] {
		for (int i = 0; i < looks && !received; i++)
			received = port_->receive(*engine_, at, max_trains) > 0;
		await_company(at);
		receive_before_timers(at);
	});
	/* The reply may leave by another lane, and must not overtake the acknowledgement. */
	const bool may_wait = received && looked_after && lanes_.load(std::memory_order_relaxed) == 1;
	advance(at, may_wait ? Engine::Again::surely : Engine::Again::maybe);
	return received;
}

void Lane::wake_thread()
{
	const WithoutCancellation whole;
	eventfd_write(wake_.get(), 1);
}

void Lane::note_user()
{
	if (!is_used_by_caller())
		user_.store(::pthread_self(), std::memory_order_relaxed);
}

/** Counts a poll. Several threads may poll: a count that is wrong by a few does no harm. */
void Lane::note_poll(Time at)
{
	const Time before = last_poll_.load(std::memory_order_relaxed);
	const bool again = at - before <= polling_now || before > at;
	const std::uint32_t polls = polls_.load(std::memory_order_relaxed);
	polls_.store(again ? std::min(polls + 1, most_polls) : polls / 4, std::memory_order_relaxed);
	last_poll_.store(at, std::memory_order_relaxed);
}

void Lane::poll()
{
	const Time at = recent_ns();
	note_user();
	note_poll(at);
	help(at);
}

void Lane::help(Time at)
{
	if (!lock.try_lock())
		return; /* another thread makes progress */
	std::lock_guard guard(lock, std::adopt_lock);
	/* A packet taken before the sleeper looked does not wake it. Wake it now, so that it stands by. */
	if (drive(at, trains_a_turn, looked_after()) && asleep_)
		wake_thread();
}

bool Lane::may_help(Time at)
{
	if (at < may_help_.load(std::memory_order_relaxed))
		return false;
	may_help_.store(at + help_interval, std::memory_order_relaxed);
	return true;
}

bool Lane::is_left_alone(Time at) const
{
	return looked_after() && at > latest_.load(std::memory_order_relaxed) + left_alone;
}

void Lane::catch_up()
{
	if (owner_ != getpid()) /* the sockets, and what has arrived, are the parent's */
		return;
	const Time at = in_order(monotonic_ns());
	without_memory_as_lost([&] { receive_waiting(at); });
	advance(at);
}

void Lane::receive_waiting(Time at)
{
	int trains = 0, received = 0;
	do {
		received = port_->receive_all(*engine_, at, most_waiting - trains);
		if (received)
			engine_->answer(at); /* what this context sends to itself has arrived, too */
		trains += received;
	} while (received && trains < most_waiting);
}

/** Receives all that has arrived if a timer is due: when this process has stood still, the answers are there already.
 */
void Lane::receive_before_timers(Time at)
{
	if (engine_->timer_is_due(at))
		receive_waiting(at);
}

void Lane::transmit()
{
	const Time at = in_order(recent_ns());
	note_user();
	without_memory_as_lost([&] { receive_before_timers(at); });
	advance(at);
	if (!asleep_)
		return;
	/* The sleeper does not know of a timer that this may have started, nor of a new peer. */
	const Time deadline = engine_->next_deadline();
	if (port_->has_new_peers() || (deadline && (!sleeps_until_ || deadline < sleeps_until_)))
		wake_thread();
}

void Lane::take_leave()
{
	if (owner_ != getpid())
		return;
	/* Its own thread may hold it, and be about to acknowledge what the program has just seen. */
	for (const Time began = monotonic_ns(); !lock.try_lock();) {
		if (monotonic_ns() - began > longest_leave)
			return;
		std::this_thread::yield();
	}
	std::lock_guard guard(lock, std::adopt_lock);
	without_memory_as_lost([this] { engine_->progress(in_order(monotonic_ns())); });
}

void Lane::hand_over()
{
	last_poll_.store(0, std::memory_order_relaxed);
	if (parked_.load())
		wake_thread();
}

int Lane::attach(QueuePair &qp, const Address &group)
{
	std::lock_guard guard(lock);
	if (!engine_->add_member(qp, group))
		return 0; /* as in the kernel */
	const int error = guarded([&] { return port_->udp().join(group); });
	if (error)
		engine_->remove_member(qp, group);
	else
		eventfd_write(wake_.get(), 1); /* a sleeper has one more socket to wait for */
	return error;
}

std::vector<Address> Lane::groups()
{
	const std::lock_guard guard(lock);
	return udp().groups();
}

int Lane::detach(QueuePair &qp, const Address &group)
{
	std::lock_guard guard(lock);
	if (!engine_->remove_member(qp, group))
		return EINVAL;
	port_->udp().leave(group);
	return 0;
}

void Lane::start_thread(bool needed)
{
	if (threaded_ || needed)
		std::call_once(started_, [this] {
			thread_ = without_signals([this] { return std::thread([this] { run(); }); });
			running_ = true;
		});
}

bool Lane::sleep()
{
	const Rest rest;
	const bool called = wait_for_work();
	asleep_ = false;
	return called;
}

/** Returns true if wake_thread() ended it. */
bool Lane::wait_for_work()
{
	/* A wake-up that park() took may have been that of stop(). */
	if (stop_)
		return false;
	std::int64_t timeout = -1;
	if (sleeps_until_)
		timeout = std::max<std::int64_t>(0, static_cast<std::int64_t>(sleeps_until_ - monotonic_ns()));
	eventfd_t ignored;
	return port_->wait(timeout, wake_.get()) && eventfd_read(wake_.get(), &ignored) == 0;
}

/** Stands aside while the application polls: two drivers would only wake each other. Returns true if it still polls. */
bool Lane::park(Time at, Time &patience)
{
	const Time last = last_poll_.load(std::memory_order_relaxed);
	const bool polled = last > at || at - last <= polling_now;
	if (!polled || polls_.load(std::memory_order_relaxed) < on_and_on) {
		patience = min_patience;
		return false;
	}
	const Rest rest;
	parked_ = true;
	pollfd wake{wake_.get(), POLLIN, 0};
	const timespec timeout{0, static_cast<long>(patience)};
	const bool handed_over = ppoll(&wake, 1, &timeout, nullptr) > 0;
	parked_ = false;
	eventfd_t ignored;
	if (handed_over)
		eventfd_read(wake_.get(), &ignored);
	patience = std::min(patience * 2, max_patience);
	return !handed_over && !stop_;
}

void Lane::run()
{
	Time busy = monotonic_ns(), last_turn = busy, patience = min_patience;
	Abstinence abstinence;
	bool called = false;
	spinners++;
	while (!stop_) {
		const Time at = recent_ns();
		if (park(at, patience)) {
			called = false;
			busy = last_turn = monotonic_ns();
			continue;
		}
		if (at - last_turn > interruption)
			abstinence.interrupted(at);
		{
			std::lock_guard guard(lock);
			if (drive(at, trains_a_turn, true))
				busy = at;
			sleeps_until_ = engine_->next_deadline();
			const Time patient = port_->has_local_peers() ? local_spin_time : spin_time;
			/* The caller may be waiting for this processor, and polls from now on. */
			const bool brief = called || abstinence.lasts(at) || too_many_spin();
			const bool idle = at - busy > (brief ? brief_spin_time : patient);
			asleep_ = idle && port_->prepare_sleep();
		}
		last_turn = at;
		if (asleep_) {
			called = sleep();
			last_turn = monotonic_ns();
		} else if (busy != at) {
			cpu_relax();
		}
	}
	spinners--;
}

void Lane::forget_threads()
{
	spinners = 0;
}

} // namespace prism::soft
