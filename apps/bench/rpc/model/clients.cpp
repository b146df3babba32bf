/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/model/clients.hpp"

#include "rpc/client/pace.hpp"
#include "rpc/fetch/mode_choice.hpp"

#include <chrono>
#include <cmath>
#include <deque>
#include <optional>

namespace prism::rpc::model
{

namespace
{

constexpr unsigned server = 0;
constexpr std::uint32_t header_size = 16; /* of a request and of an answer */
constexpr std::uint32_t null_size = 64;   /* all bytes of a READ through a null pointer */
constexpr std::uint32_t flag_size = 8;
constexpr unsigned slow_calls = 2; /* K */

/* Time as apps/stores/rpc has it: the model decides with the same code. */
std::chrono::nanoseconds nanoseconds(Time time)
{
	return std::chrono::nanoseconds(std::llround(time * 1e3));
}

Time microseconds(std::chrono::nanoseconds time)
{
	return static_cast<Time>(time.count()) / 1e3;
}

/** Returns the time as a response's frame has it. */
std::chrono::nanoseconds told(Time work)
{
	return nanoseconds(std::floor(work));
}

Operation to_server(unsigned node, std::uint32_t bytes)
{
	Operation operation;
	operation.from = node;
	operation.to = server;
	operation.bytes = bytes;
	return operation;
}

/** A client that READs, one READ after the other; none belongs to a call. */
class Reader : public Client
{
public:
	Reader(World &world, unsigned node) : world_(world), node_(node) {}

	void start() override
	{
		const Time posted = world_.events.now();
		Operation read = to_server(node_, 0);
		read.at_target = [this] { return world_.size(); };
		read.completed = [this, posted] {
			world_.counts.reads += world_.measuring();
			world_.ended(posted);
			start();
		};
		world_.network.issue(std::move(read));
	}

private:
	World &world_;
	unsigned node_;
};

/** A thread of the server that WRITEs, one WRITE after the other, to any client. */
class Writer : public Client
{
public:
	explicit Writer(World &world) : world_(world) {}

	void start() override
	{
		const Time posted = world_.events.now();
		Operation write;
		write.from = server;
		write.to = 1 + static_cast<unsigned>(world_.random() * world_.parameters.nodes);
		write.bytes = world_.size();
		write.completed = [this, posted] {
			world_.ended(posted);
			start();
		};
		world_.network.issue(std::move(write));
	}

private:
	World &world_;
};

/** Calls for which both sides send: by WRITEs (reply), or by SENDs. */
class TwoWay : public Client
{
public:
	TwoWay(World &world, unsigned node, bool sends) : world_(world), node_(node), sends_(sends) {}

	void start() override
	{
		for (unsigned i = 0; i < world_.parameters.under_way; i++)
			call();
	}

private:
	void call()
	{
		const Time posted = world_.events.now();
		Operation request = to_server(node_, header_size + world_.parameters.request_size);
		request.two_sided = sends_;
		request.at_target = [this, posted] {
			world_.processor.submit(world_.work(), [this, posted] {
				answer(posted);
				return Time(0);
			});
			return 0U;
		};
		world_.network.issue(std::move(request));
	}

	void answer(Time posted)
	{
		Operation response;
		response.from = server;
		response.to = node_;
		response.bytes = header_size + world_.size();
		response.two_sided = sends_;
		response.at_target = [this, posted] {
			world_.counts.in_reply_mode += world_.measuring();
			world_.ended(posted);
			call();
			return 0U;
		};
		world_.network.issue(std::move(response));
	}

	World &world_;
	unsigned node_;
	bool sends_;
};

/** GETs without the server's threads: each READ gives the address of the next one. */
class Bypass : public Client
{
public:
	Bypass(World &world, unsigned node) : world_(world), node_(node) {}

	void start() override
	{
		for (unsigned i = 0; i < world_.parameters.under_way; i++)
			get();
	}

private:
	void get()
	{
		const double wanted = world_.parameters.reads;
		const double whole = std::floor(wanted);
		const unsigned reads = static_cast<unsigned>(whole) + (world_.random() < wanted - whole);
		read(world_.events.now(), reads);
	}

	void read(Time posted, unsigned left)
	{
		Operation read_operation = to_server(node_, 0);
		read_operation.at_target = [this, left] {
			return left > 1 ? 2 * header_size
					: world_.parameters.read_pairs * (header_size + world_.size());
		};
		read_operation.completed = [this, posted, left] {
			world_.counts.reads += world_.measuring();
			if (left > 1)
				return read(posted, left - 1);
			world_.ended(posted);
			get();
		};
		world_.network.issue(std::move(read_operation));
	}

	World &world_;
	unsigned node_;
};

/** RFP. The mode is per thread; each call under way has buffers of its own. */
class Fetch : public Client
{
public:
	Fetch(World &world, unsigned node, bool hybrid, bool paced = false)
		: world_(world), node_(node), hybrid_(hybrid), calls_(world.parameters.under_way),
		  choice_(world.parameters.retries, slow_calls), pace_(paced)
	{
	}

	void start() override
	{
		for (Call &call : calls_)
			request(call);
	}

private:
	/* Both sides' state of a call. */
	struct Call {
		std::uint64_t number = 0; /* late events have an older one */
		Time posted = 0;
		Time work = 0;
		std::uint32_t size = 0; /* of the whole answer */
		unsigned failures = 0;
		bool answered = false; /* the answer is in its buffer */
		bool replied = false;  /* the server is to send it */
		bool waits = false;    /* the client waits for a reply */
	};

	/** Returns an event that runs @p what if the call is still the same. */
	template <typename What>
	auto for_call(Call &call, What what)
	{
		return [&call, number = call.number, what] {
			if (call.number == number)
				what(call);
		};
	}

	void request(Call &call)
	{
		const bool reply = choice_.mode() == Mode::reply;
		call = {.number = call.number + 1, .posted = world_.events.now(), .replied = reply, .waits = reply};
		world_.counts.in_reply_mode += reply && world_.measuring();
		Operation write = to_server(node_, header_size + world_.parameters.request_size);
		write.at_target = [this, &call] {
			call.work = world_.work();
			world_.processor.submit(call.work, [this, &call] {
				publish(call);
				return Time(0);
			});
			return 0U;
		};
		write.completed = for_call(call, [this](Call &same) {
			if (!same.waits)
				fetch_at(same, same.posted + microseconds(pace_.wait()));
		});
		world_.network.issue(std::move(write));
	}

	/* The server's side: publishes, then checks whether a reply is wanted. */
	void publish(Call &call)
	{
		call.size = header_size + world_.size();
		call.answered = true;
		if (!call.replied)
			return;
		Operation reply;
		reply.from = server;
		reply.to = node_;
		reply.bytes = call.size;
		const auto arrived = for_call(call, [this](Call &same) {
			choice_.replied(told(same.work));
			end(same);
		});
		reply.at_target = [arrived] {
			arrived();
			return 0U;
		};
		world_.network.issue(std::move(reply));
	}

	void fetch_at(Call &call, Time time)
	{
		if (time <= world_.events.now())
			return fetch(call);
		world_.events.at(time, for_call(call, [this](Call &same) { fetch(same); }));
	}

	void fetch(Call &call)
	{
		const auto found = std::make_shared<bool>();
		const Time posted = world_.events.now();
		Operation read = to_server(node_, 0);
		const auto look = for_call(call, [found](Call &same) { *found = same.answered; });
		read.at_target = [this, look] {
			look();
			return world_.parameters.fetch_size;
		};
		const auto completed = for_call(
			call, [this, found, posted](Call &same) { *found ? fetched(same, posted) : failed(same); });
		read.completed = [this, completed] {
			world_.counts.reads += world_.measuring();
			completed();
		};
		world_.network.issue(std::move(read));
	}

	void fetched(Call &call, Time posted)
	{
		if (call.size <= world_.parameters.fetch_size)
			return succeeded(call, posted);
		Operation rest = to_server(node_, 0);
		rest.at_target = [this, &call] { return call.size - world_.parameters.fetch_size; };
		const auto completed = for_call(call, [this, posted](Call &same) { succeeded(same, posted); });
		rest.completed = [this, completed] {
			world_.counts.reads += world_.measuring();
			completed();
		};
		world_.network.issue(std::move(rest));
	}

	void succeeded(Call &call, Time posted)
	{
		choice_.fetched(call.failures, nanoseconds(world_.events.now() - posted));
		pace_.answered(told(call.work), call.failures);
		end(call);
	}

	void failed(Call &call)
	{
		world_.read_failed();
		if (call.waits)
			return; /* the READ after the flag has missed: the server has seen the flag */
		call.failures++;
		if (hybrid_ && choice_.failed(call.failures))
			ask_for_reply(call);
		fetch(call);
	}

	void ask_for_reply(Call &call)
	{
		call.waits = true;
		Operation write = to_server(node_, flag_size);
		const auto arrived = for_call(call, [](Call &same) { same.replied = true; });
		write.at_target = [arrived] {
			arrived();
			return 0U;
		};
		world_.network.issue(std::move(write));
	}

	void end(Call &call)
	{
		world_.ended(call.posted);
		request(call);
	}

	World &world_;
	unsigned node_;
	bool hybrid_;
	std::vector<Call> calls_;
	fetch::ModeChoice choice_;
	Pace pace_;
};

/** Calls by ALLOCATE, and a READ through a bounded pointer when the answer should be there. */
class Slots : public Client
{
public:
	Slots(World &world, unsigned node) : world_(world), node_(node), calls_(world.parameters.under_way) {}

	void start() override
	{
		for (Call &call : calls_)
			request(call);
	}

private:
	struct Call {
		Time posted = 0;
		Time work = 0;
		std::uint32_t size = 0;
		std::uint32_t failures = 0;
		bool answered = false;
	};

	void request(Call &call)
	{
		call = {.posted = world_.events.now()};
		Operation allocate = to_server(node_, header_size + world_.parameters.request_size);
		allocate.at_target = [this, &call] {
			call.work = world_.work();
			world_.processor.submit(call.work, [this, &call] {
				call.size = header_size + world_.size();
				call.answered = true;
				return Time(0);
			});
			return 0U;
		};
		world_.network.issue(std::move(allocate));
		fetch_in(call, pace_.wait());
	}

	void fetch_in(Call &call, std::chrono::nanoseconds time)
	{
		world_.events.at(world_.events.now() + microseconds(time), [this, &call] { fetch(call); });
	}

	void fetch(Call &call)
	{
		const auto found = std::make_shared<bool>();
		Operation read = to_server(node_, 0);
		read.at_target = [&call, found] {
			*found = call.answered;
			return call.answered ? call.size : null_size;
		};
		read.completed = [this, &call, found] {
			world_.counts.reads += world_.measuring();
			if (*found)
				return end(call);
			world_.read_failed();
			call.failures++;
			fetch_in(call, Pace::wait_again(nanoseconds(world_.events.now() - call.posted)));
		};
		world_.network.issue(std::move(read));
	}

	void end(Call &call)
	{
		pace_.answered(told(call.work), call.failures);
		world_.ended(call.posted);
		request(call);
	}

	World &world_;
	unsigned node_;
	std::vector<Call> calls_;
	Pace pace_{true};
};

/**
 * Calls of the way window: one READ takes all answers in the ring, through the pointer of the client's epoch. A request
 * can begin the next epoch after the answers that the client has. Requests are ALLOCATEs as those of slots, or SENDs as
 * in apps/stores/rpc.
 */
class Window : public Client
{
public:
	Window(World &world, unsigned node, bool sends) : world_(world), node_(node), sends_(sends) {}

	void start() override
	{
		for (unsigned i = 0; i < world_.parameters.under_way; i++)
			request();
	}

private:
	struct Record {
		Time posted = 0;
		Time work = 0;
		std::uint32_t size = 0;
	};
	/** The client's state, as a request has it. */
	struct Knowledge {
		std::uint64_t epoch = 0;
		std::uint64_t base = 0;
	};

	/* Begins the next epoch, if this one's pointer was found. */
	Knowledge tell()
	{
		if (found_ && taken_ > base_) {
			epoch_++;
			base_ = taken_;
			found_ = false;
		}
		return {epoch_, base_};
	}

	void request()
	{
		const Time posted = world_.events.now();
		active_++;
		Operation operation = to_server(node_, 2 * header_size + world_.parameters.request_size);
		operation.two_sided = sends_;
		operation.at_target = [this, posted, known = tell()] {
			const Time work = world_.work();
			world_.processor.submit(
				work,
				[this, posted, work] {
					ring_.push_back({posted, work, header_size + world_.size()});
					return Time(0);
				},
				[this, known] { hear(known); });
			return 0U;
		};
		world_.network.issue(std::move(operation));
		last_news_ = posted;
		if (!reading_ && active_ == 1)
			read_at(posted + microseconds(pace_.wait()));
	}

	/* The server's side of it. */
	void hear(const Knowledge &known)
	{
		if (known.epoch == served_epoch_)
			return;
		served_epoch_ = known.epoch;
		for (; first_ < known.base; first_++)
			ring_.pop_front();
	}

	void read_at(Time when)
	{
		world_.events.at(when, [this, timer = ++timer_] {
			if (timer == timer_ && active_)
				read();
		});
	}

	void read()
	{
		reading_ = true;
		const auto until = std::make_shared<std::optional<std::uint64_t>>();
		Operation operation = to_server(node_, 0);
		operation.at_target = [this, until, epoch = epoch_] {
			if (epoch != served_epoch_)
				return null_size;
			std::uint32_t bytes = 0;
			for (const Record &record : ring_)
				bytes += record.size;
			*until = first_ + ring_.size();
			return bytes;
		};
		operation.completed = [this, until, epoch = epoch_] {
			reading_ = false;
			found_ = found_ || (*until && epoch == epoch_);
			world_.counts.reads += world_.measuring();
			take(*until);
		};
		world_.network.issue(std::move(operation));
	}

	/* Takes the result of a READ: records up to this one, or a null pointer. */
	void take(std::optional<std::uint64_t> until)
	{
		const Time now = world_.events.now();
		if (until && *until > taken_)
			return take_records(*until);
		world_.read_failed();
		failures_++;
		read_at(now + microseconds(Pace::wait_again(nanoseconds(now - last_news_))));
	}

	void take_records(std::uint64_t until)
	{
		const std::uint64_t fresh = until - taken_;
		for (; taken_ < until; taken_++) {
			const Record &record = ring_[taken_ - first_];
			pace_.answered(told(record.work), failures_);
			world_.ended(record.posted);
			active_--;
		}
		failures_ = 0;
		read_at(world_.events.now() + microseconds(pace_.wait()));
		for (std::uint64_t i = 0; i < fresh; i++)
			request();
	}

	World &world_;
	unsigned node_;
	bool sends_;
	unsigned active_ = 0;     /* calls under way */
	bool reading_ = false;    /* one READ at a time */
	std::uint64_t timer_ = 0; /* number of the next READ's timer; others are out of date */
	std::uint32_t failures_ = 0;
	Time last_news_ = 0;
	Pace pace_{true};
	/* Records are counted from the first one on. The client's side: */
	std::uint64_t epoch_ = 0;
	std::uint64_t base_ = 0;  /* where it begins */
	std::uint64_t taken_ = 0; /* records that it has */
	bool found_ = false;      /* a READ has found this epoch's pointer */
	/* The server's: */
	std::uint64_t served_epoch_ = 0;
	std::uint64_t first_ = 0;
	std::deque<Record> ring_; /* from first_ on */
};

} // namespace

std::unique_ptr<Client> make_client(World &world, unsigned node)
{
	switch (world.parameters.way) {
	case Way::in_bound:
		return std::make_unique<Reader>(world, node);
	case Way::out_bound:
		return std::make_unique<Writer>(world);
	case Way::two_sided:
		return std::make_unique<TwoWay>(world, node, true);
	case Way::reply:
		return std::make_unique<TwoWay>(world, node, false);
	case Way::fetch:
		return std::make_unique<Fetch>(world, node, true);
	case Way::fetch_only:
		return std::make_unique<Fetch>(world, node, false);
	case Way::fetch_paced:
		return std::make_unique<Fetch>(world, node, true, true);
	case Way::bypass:
		return std::make_unique<Bypass>(world, node);
	case Way::slots:
		return std::make_unique<Slots>(world, node);
	case Way::window:
		return std::make_unique<Window>(world, node, false);
	case Way::window_send:
		return std::make_unique<Window>(world, node, true);
	}
	return nullptr;
}

} // namespace prism::rpc::model
