/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of a node that is not the home: its lines, and the accesses of its threads to them.
 *
 * An access that cannot be done at once waits in the line's queue, as does a demand of the home for a line that is
 * locked or about to come. A locked line is not in transit, and a line in transit is not locked. When the home of a
 * locked line dies, all accesses to the block fail until the locks are given back: their holders would take the block
 * of another node, which has got the number, for the one that they have locked.
 *
 * The same queue waits until those who have to be sent something have room: a peer that is given more than it takes
 * would lose its connection, and with it all that this node has written. A home keeps only so many requests of a node,
 * so further ones wait here until some are answered.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "gam/coherence/cache.hpp"
#include "gam/coherence/lock.hpp"
#include "gam/directory/context.hpp"
#include "gam/directory/postponed.hpp"

namespace prism::gam::directory
{

enum class LineState : std::uint8_t {
	invalid,
	shared,
	doubtful, /**< its home died during its eviction, and may have given the block away: not used */
	dirty,
	to_shared,   /**< READ is under way */
	to_dirty,    /**< WRITE or UPGRADE */
	to_invalid,  /**< the eviction of a dirty line; it still serves others */
	to_uncached, /**< the home does the access; the line only keeps the queue */
};

[[nodiscard]] constexpr bool is_readable(LineState state) noexcept
{
	return state == LineState::shared || state == LineState::dirty;
}

/** Returns true for a line whose value its home may ask for when it returns. */
[[nodiscard]] constexpr bool has_value(LineState state) noexcept
{
	return is_readable(state) || state == LineState::doubtful;
}

/** Returns the state that the home is told: it decides whether a doubtful line is still dirty. */
[[nodiscard]] constexpr LineState told(LineState state) noexcept
{
	return state == LineState::doubtful ? LineState::dirty : state;
}

[[nodiscard]] constexpr bool is_in_transit(LineState state) noexcept
{
	return state > LineState::dirty;
}

/** Returns true if an answer of the home or of an owner is to come. */
[[nodiscard]] constexpr bool awaits_answer(LineState state) noexcept
{
	return is_in_transit(state) && state != LineState::to_invalid;
}

class Lines
{
public:
	/** Bytes of a line, beside those of its block and the 4 to 8 pointers that find it. */
	static constexpr std::size_t line_size = 64;

	/**
	 * @param memory of the lines  @param limit lines beyond which on_time() evicts
	 * @param requests most that are under way to each home
	 */
	Lines(Context &context, std::span<std::byte> memory, std::size_t limit, std::size_t requests);
	~Lines();

	/** Starts an access of a thread of this node to a block of another home. */
	void start(Access &access);
	/** See Coherence::read_beside(). */
	[[nodiscard]] bool read_beside(Address from, std::span<std::byte> into) noexcept
	{
		return cache_.read(from, into);
	}
	/** See Coherence::write_beside(). */
	[[nodiscard]] bool write_beside(Address to, std::span<const std::byte> bytes) noexcept
	{
		return cache_.write(to, bytes);
	}
	/** Handles @p message. Returns false if no rule allows it. */
	bool hear(NodeId from, const Message &message);
	void lost(NodeId node);
	/** Evicts lines beyond the limit, 16 at most. Returns true if more remain. */
	bool trim();
	/** Begins to evict all lines that are not locked; on_time() goes on while homes have no room for that many. */
	void flush();
	/** Evicts more of the lines that are to be flushed. Returns true if some remain. */
	bool flush_more();
	/** Goes on with lines that waited for a node to have room. */
	void resume();
	[[nodiscard]] bool waits_for_room() const noexcept { return !to_obey_.empty() || !to_ask_.empty(); }
	/** Ends accesses that have waited too long for room. Returns the time of the next call. */
	Time end_overdue(Time now);
	/** Gives lines that have become free to accesses that wait for one. The last step of each call. */
	void serve_starved();
	[[nodiscard]] bool at_rest() const noexcept
	{
		return in_transit_ == 0 && waiting_ == 0 && starved_.empty() && to_flush_ == 0;
	}
	/**
	 * Calls @p visit with the block, state, term and bytes of each line of @p home. Reports doubtful lines as
	 * dirty. The bytes stay unchanged until the next call.
	 */
	void for_each(
		NodeId home, const std::function<void(Address, LineState, std::uint64_t, const std::byte *)> &visit);
	/** Logs the values that this node owns: what flush() leaves here, as its home is away, is in no other log. */
	void log_all();
	/** Returns the term of a line that has a value; @p data then points to its bytes, for as long. */
	[[nodiscard]] std::optional<std::uint64_t> term(Address block, const std::byte *&data) noexcept;
	/** Drops the line of @p block: its home, which has returned, says that it is not valid. */
	void drop(Address block);
	/** Unpins the remaining lines of @p home, which are valid, and may be evicted again. */
	void unpin(NodeId home);
	/**
	 * Returns the state of the line of @p block; invalid: there is none. Reports doubtful lines as dirty. If there
	 * is a value, @p data points to its bytes.
	 */
	[[nodiscard]] LineState state(Address block, const std::byte **data = nullptr) noexcept;

private:
	/* A demand of the home. It waits in the queue of the line as an access does. There is one at a time. */
	struct Demand : Access {
		Type type = Type::invalidate;
		Message message;
		bool is_queued = false;
	};
	[[nodiscard]] static bool is_demand(const Access &access) noexcept { return access.progress == 1; }
	/* The record of a line that is in transit, locked or waited for */
	struct Pending {
		BlockLock lock;
		AccessQueue waiting;
		Demand demand;
		std::uint64_t request = 0; /* number of the last request */
		std::size_t length = 0;    /* length of the queue */
		std::size_t early = 0;     /* accesses of the queue that waited before the copy was invalidated */
		bool dropped = false;      /* true if the copy under way has been invalidated */
		bool has_copy = false;     /* true if the copy that an upgrade needs is here */
		bool is_here = false;      /* true if the old owner's data has come */
		bool is_done = false;      /* true if the home has confirmed the transfer */
		bool is_lost = false;      /* true if the lock was one of a home that has died */
		NodeId old_owner = no_node;
		Postponed::Turn to_obey; /* linked while the demand, or the first access, waits for room */
		Postponed::Turn to_ask;  /* linked while the first access does, which has no request under way */
	};
	struct Line : CacheLine {
		LineState state = LineState::invalid;
		std::uint64_t counter = 0; /* term of the data */
		std::unique_ptr<Pending> pending;
	};
	static_assert(sizeof(Line) == line_size);

	void starve(Access &access);
	void end_overdue(Line &line, Time now);
	[[nodiscard]] bool find_place(Access &access);
	[[nodiscard]] bool make_room();
	void arrive(Line &line, Access &access);
	void advance(Line &line);
	[[nodiscard]] bool do_next(Line &line);
	void perform(Line &line, Access &access);
	int log_if_durable(const Line &line, const Access &access);
	void log_before_it_leaves(const Line &line);
	[[nodiscard]] bool takes_more(NodeId home) const
	{
		return asked_[home] < most_requests_ && context_.has_room(home);
	}
	[[nodiscard]] bool has_room_to_ask(Line &line, const Access &access);
	void ask(Line &line, const Access &access);
	void ask_home_to_do(Line &line, const Access &access);
	void ask_for_receipt(Line &line, const Access &access);
	void settle(Line &line);
	void show(Line &line);
	void enter(Line &line, LineState state);
	void push(Pending &pending, Access &access);
	Access &pop(Pending &pending);
	void take_demand_out(Pending &pending);
	Pending &pending(Line &line);
	void drop_record(Line &line) noexcept;
	static void wait_no_more(Pending &pending) noexcept;
	void free(Line &line);
	void evict(Line &line);
	[[nodiscard]] bool evict_oldest();
	void end_all(Line &line, int error);
	void forget(Line &line);
	void fail(Line &line, Access &access);
	[[nodiscard]] bool keep(Line &line);
	[[nodiscard]] bool is_kept(const Line &line) const noexcept;

	bool take_shared(Line &line, const Message &message);
	bool take_grant(Line &line, const Message &message);
	bool take_permission(Line &line, const Message &message);
	bool take_over(Line &line, const Message &message);
	bool take_done(Line &line, const Message &message);
	bool take_answer(Line &line, const Message &message);
	bool take_refusal(Line &line, const Message &message);
	bool take_evicted(Line &line);
	void own(Line &line);
	void own_if_complete(Line &line);
	void ask_again(Line &line, NodeId dead);

	bool hear_from_home(Line &line, const Message &message);
	bool invalidate(Line *line, const Message &message);
	bool give_up(Line &line, const Message &message);
	bool obey_or_queue(Line &line, const Message &message, bool admitted);
	void queue(Line &line, const Message &message);
	[[nodiscard]] bool has_room_to_obey(Line &line, const Message &message);
	void obey(Line &line, const Message &message);
	void answer(const Message &message, Type type, std::span<const std::byte> data = {});

	Context &context_;
	Cache<Line> cache_;
	std::unique_ptr<Pending> spare_ = std::make_unique<Pending>(); /* see drop_record() */
	const std::size_t limit_;
	const std::size_t most_requests_;
	std::array<std::size_t, max_nodes> asked_{}; /* requests under way, by home */
	AccessQueue starved_;                        /* accesses that wait for a free line */
	Time overdue_ = Time::max();                 /* Access::room_until of the first of them */
	Postponed to_obey_;                          /* lines with a demand for which there is no room */
	Postponed to_ask_;                           /* lines with an access likewise */
	std::uint64_t requests_ = 0;
	std::size_t in_transit_ = 0;
	std::size_t evicting_ = 0; /* lines in transit that are evicted */
	std::size_t to_flush_ = 0; /* lines still to be evicted by flush(), at most */
	std::size_t waiting_ = 0;  /* accesses and demands in the queues of lines */
};

} // namespace prism::gam::directory
