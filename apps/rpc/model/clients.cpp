/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/model/clients.hpp"

#include <cmath>
#include <deque>

namespace prism::rpc::model
{

namespace
{

constexpr unsigned server = 0;
constexpr std::uint32_t header_size = 16; /* of a request and of an answer */
constexpr std::uint32_t null_size = 64;   /* what a READ through a null pointer brings, all in all */
constexpr std::uint32_t flag_size = 8;
constexpr unsigned slow_calls = 2; /* K: so many in a row, and the mode changes */

Operation to_server(unsigned node, std::uint32_t bytes)
{
	Operation operation;
	operation.from = node;
	operation.to = server;
	operation.bytes = bytes;
	return operation;
}

/** How long something takes of late. */
class MovingAverage
{
public:
	void add(Time sample) noexcept
	{
		mean_ = any_ ? mean_ + (sample - mean_) / 8 : sample;
		any_ = true;
	}
	[[nodiscard]] Time mean() const noexcept { return mean_; }

private:
	Time mean_ = 0;
	bool any_ = false;
};

/**
 * When to fetch: the server's time after the request, as the answers' headers tell it, and a margin. The two pass the
 * same queues at different times, so their distance changes on the way: the mean alone would be too early half of the
 * time. The margin lets one of 20 be too early.
 */
class Pace
{
public:
	[[nodiscard]] Time delay() const noexcept { return server_time_.mean() + margin_; }
	void was_early() noexcept { margin_ += 20 * step; }
	void was_there(Time server_time) noexcept
	{
		server_time_.add(server_time);
		margin_ = std::max(margin_ - step, Time{0});
	}

private:
	static constexpr Time step = 0.01;

	MovingAverage server_time_;
	Time margin_ = 0;
};

/** READs, one after the other; none of them is a call's. */
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

/** A thread of the server: WRITEs, one after the other, each to any client. */
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

/** Both sides send: by WRITEs (reply), or by SENDs. */
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
			world_.processor.submit(world_.work(), [this, posted] { answer(posted); });
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

/** GETs without the server's threads: each READ says where the next one is. */
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

/** RFP. The mode is the thread's; each call under way has buffers of its own. */
class Fetch : public Client
{
public:
	Fetch(World &world, unsigned node, bool hybrid)
		: world_(world), node_(node), hybrid_(hybrid), calls_(world.parameters.under_way)
	{
	}

	void start() override
	{
		for (Call &call : calls_)
			request(call);
	}

private:
	/* Both sides' part of a call. */
	struct Call {
		std::uint64_t number = 0; /* what is late carries another one */
		Time posted = 0, arrived = 0;
		Time server_time = 0;
		std::uint32_t size = 0; /* of the whole answer */
		unsigned failures = 0;
		bool answered = false; /* the answer is in its buffer */
		bool waits = false;    /* for a reply: it does not fetch */
	};

	void request(Call &call)
	{
		call = {.number = call.number + 1, .posted = world_.events.now(), .waits = replies_};
		world_.counts.in_reply_mode += replies_ && world_.measuring();
		Operation write = to_server(node_, header_size + world_.parameters.request_size);
		write.at_target = [this, &call] {
			call.arrived = world_.events.now();
			world_.processor.submit(world_.work(), [this, &call] { publish(call); });
			return 0U;
		};
		write.completed = [this, &call, number = call.number] {
			if (call.number == number && !call.waits)
				fetch(call);
		};
		world_.network.issue(std::move(write));
	}

	/* The server: publishes, then looks at the flag. */
	void publish(Call &call)
	{
		call.size = header_size + world_.size();
		call.server_time = world_.events.now() - call.arrived;
		call.answered = true;
		if (!flag_)
			return;
		Operation reply;
		reply.from = server;
		reply.to = node_;
		reply.bytes = call.size;
		reply.at_target = [this, &call, number = call.number] {
			if (call.number == number)
				replied(call);
			return 0U;
		};
		world_.network.issue(std::move(reply));
	}

	void fetch(Call &call)
	{
		const auto found = std::make_shared<bool>();
		const Time posted = world_.events.now();
		Operation read = to_server(node_, 0);
		read.at_target = [this, &call, number = call.number, found] {
			*found = call.number == number && call.answered;
			return world_.parameters.fetch_size;
		};
		read.completed = [this, &call, number = call.number, found, posted] {
			world_.counts.reads += world_.measuring();
			fetch_time_.add(world_.events.now() - posted);
			if (call.number == number)
				*found ? fetched(call) : failed(call);
		};
		world_.network.issue(std::move(read));
	}

	void fetched(Call &call)
	{
		if (call.size <= world_.parameters.fetch_size)
			return succeeded(call);
		Operation rest = to_server(node_, 0);
		rest.at_target = [this, &call] { return call.size - world_.parameters.fetch_size; };
		rest.completed = [this, &call, number = call.number] {
			world_.counts.reads += world_.measuring();
			if (call.number == number)
				succeeded(call);
		};
		world_.network.issue(std::move(rest));
	}

	void succeeded(Call &call)
	{
		if (call.failures <= world_.parameters.retries)
			slow_ = 0;
		end(call);
	}

	void failed(Call &call)
	{
		world_.read_failed();
		if (call.waits)
			return; /* the READ after the flag has missed: the server has seen the flag */
		call.failures++;
		if (call.failures == world_.parameters.retries + 1)
			slow_++;
		if (hybrid_ && slow_ >= slow_calls && call.failures > world_.parameters.retries) {
			set_mode(true);
			call.waits = true;
		}
		fetch(call);
	}

	/* Locally and by WRITE. */
	void set_mode(bool replies)
	{
		replies_ = replies;
		slow_ = fast_ = 0;
		Operation write = to_server(node_, flag_size);
		write.at_target = [this, replies] {
			flag_ = replies;
			return 0U;
		};
		world_.network.issue(std::move(write));
	}

	void replied(Call &call)
	{
		const Time in_vain = world_.parameters.retries * fetch_time_.mean();
		fast_ = call.server_time < in_vain / 2 ? fast_ + 1 : 0;
		if (replies_ && fast_ >= slow_calls)
			set_mode(false);
		end(call);
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
	MovingAverage fetch_time_;
	bool replies_ = false; /* the mode, as the client has it */
	bool flag_ = false;    /* ... and as the server has it */
	unsigned slow_ = 0;    /* calls in a row that failed too often */
	unsigned fast_ = 0;    /* replies in a row that could have been fetched */
};

/** ALLOCATE, and a READ through a bounded pointer, which is due when the answer should be there. */
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
		Time posted = 0, arrived = 0;
		Time server_time = 0;
		std::uint32_t size = 0;
		bool answered = false;
	};

	void request(Call &call)
	{
		call = {.posted = world_.events.now()};
		Operation allocate = to_server(node_, header_size + world_.parameters.request_size);
		allocate.at_target = [this, &call] {
			call.arrived = world_.events.now();
			world_.processor.submit(world_.work(), [this, &call] {
				call.size = header_size + world_.size();
				call.server_time = world_.events.now() - call.arrived;
				call.answered = true;
			});
			return 0U;
		};
		world_.network.issue(std::move(allocate));
		world_.events.at(world_.events.now() + pace_.delay(), [this, &call] { fetch(call); });
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
			if (!*found) {
				world_.read_failed();
				pace_.was_early();
				return fetch(call);
			}
			pace_.was_there(call.server_time);
			world_.ended(call.posted);
			request(call);
		};
		world_.network.issue(std::move(read));
	}

	World &world_;
	unsigned node_;
	std::vector<Call> calls_;
	Pace pace_;
};

/** One READ takes all answers that the ring has; the next request says so. */
class Window : public Client
{
public:
	Window(World &world, unsigned node) : world_(world), node_(node) {}

	void start() override
	{
		for (unsigned i = 0; i < world_.parameters.under_way; i++)
			request();
		read_when_due();
	}

private:
	struct Record {
		Time posted = 0;
		Time server_time = 0;
		std::uint32_t size = 0;
	};

	void request()
	{
		const Time posted = world_.events.now();
		waiting_.push_back(posted);
		Operation allocate = to_server(node_, header_size + world_.parameters.request_size);
		allocate.at_target = [this, posted, consumed = taken_] {
			const Time arrived = world_.events.now();
			world_.processor.submit(world_.work(), [this, posted, arrived, consumed] {
				open_at(consumed);
				ring_.push_back({.posted = posted,
					.server_time = world_.events.now() - arrived,
					.size = header_size + world_.size()});
			});
			return 0U;
		};
		world_.network.issue(std::move(allocate));
	}

	/* The server: the window begins behind what the client has. */
	void open_at(std::uint64_t consumed)
	{
		for (; first_ < consumed; first_++)
			ring_.pop_front();
	}

	/* When the oldest call's answer should be there. Calls end out of order, so this is a guess. */
	void read_when_due()
	{
		world_.events.at(waiting_.front() + pace_.delay(), [this] { read(); });
	}

	void read()
	{
		const auto until = std::make_shared<std::uint64_t>();
		Operation read_operation = to_server(node_, 0);
		read_operation.at_target = [this, until] {
			std::uint32_t bytes = 0;
			for (const Record &record : ring_)
				bytes += record.size;
			*until = first_ + ring_.size();
			return bytes ? bytes : null_size;
		};
		read_operation.completed = [this, until] {
			world_.counts.reads += world_.measuring();
			if (*until == taken_) {
				world_.read_failed();
				pace_.was_early();
			}
			take(*until);
			read_when_due();
		};
		world_.network.issue(std::move(read_operation));
	}

	void take(std::uint64_t until)
	{
		std::uint64_t fresh = 0;
		for (; taken_ < until; taken_++, fresh++) {
			const Record &record = ring_[taken_ - first_];
			pace_.was_there(record.server_time);
			world_.ended(record.posted);
			waiting_.erase(std::find(waiting_.begin(), waiting_.end(), record.posted));
		}
		for (; fresh; fresh--)
			request();
	}

	World &world_;
	unsigned node_;
	std::deque<Time> waiting_; /* when the calls under way were posted */
	std::deque<Record> ring_;  /* of which the client may have the first ones */
	std::uint64_t first_ = 0;  /* number of the record in front */
	std::uint64_t taken_ = 0;  /* records that the client has */
	Pace pace_;
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
	case Way::bypass:
		return std::make_unique<Bypass>(world, node);
	case Way::slots:
		return std::make_unique<Slots>(world, node);
	case Way::window:
		return std::make_unique<Window>(world, node);
	}
	return nullptr;
}

} // namespace prism::rpc::model
