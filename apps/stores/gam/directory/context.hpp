/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

#include "gam/coherence/block_log.hpp"
#include "gam/coherence/coherence.hpp"
#include "gam/coherence/queue.hpp"
#include "gam/directory/messages.hpp"
#include "gam/directory/rules.hpp"

namespace prism::gam::directory
{

[[nodiscard]] constexpr bool writes(AccessKind kind) noexcept
{
	return kind == AccessKind::write || kind == AccessKind::atomic;
}

/** The state that Home and Lines share: the way to send, the log, and the dead nodes. */
class Context
{
public:
	/** @param log null if there is none */
	Context(NodeId self, Coherence::Host &host, const Rules &rules, BlockLog *log) noexcept
		: self_(self), host_(host), rules_(rules), log_(log), loggers_(log ? ~std::uint64_t{0} : 0)
	{
	}

	[[nodiscard]] NodeId self() const noexcept { return self_; }
	[[nodiscard]] Coherence::Host &host() const noexcept { return host_; }
	[[nodiscard]] const Rules &rules() const noexcept { return rules_; }
	[[nodiscard]] CoherenceStats &stats() noexcept { return stats_; }
	[[nodiscard]] const CoherenceStats &stats() const noexcept { return stats_; }

	[[nodiscard]] bool is_dead(NodeId node) const noexcept { return node < max_nodes && (dead_ & bit(node)); }
	void bury(NodeId node) noexcept { dead_ |= bit(node); }
	void revive(NodeId node) noexcept { dead_ &= ~bit(node); }

	[[nodiscard]] bool has_log() const noexcept { return log_; }
	/**
	 * Returns true if the log of @p node has what it has given away or written, so that it may return with that.
	 */
	[[nodiscard]] bool keeps_log(NodeId node) const noexcept { return node < max_nodes && (loggers_ & bit(node)); }
	void set_loggers(std::uint64_t nodes) noexcept { loggers_ = nodes; }
	[[nodiscard]] bool is_durable() const noexcept { return log_ && log_->durable(); }
	/** See BlockLog::wrote(). */
	int log_value(Address block, std::uint64_t counter, const std::byte *data) noexcept
	{
		return log_ ? log_->wrote(block, counter, BlockLog::Block(data, block_size)) : 0;
	}
	/** See BlockLog::transfers(). The transfer happens even if it cannot be logged. */
	void log_transfer(Address block, std::uint64_t counter, NodeId owner) noexcept
	{
		if (log_)
			(void)log_->transfers(block, counter, owner, keeps_log(owner));
	}

	/** Sends @p message; drops it if @p to is dead. */
	void send(NodeId to, Type type, Message message);

	/** See Coherence::Host::has_room(). */
	[[nodiscard]] bool has_room(NodeId to) const { return is_dead(to) || host_.has_room(to); }

	/** Runs @p begin, which may end() @p access. Returns true if it has. */
	template <typename Begin>
	bool has_ended_in(Access &access, Begin begin)
	{
		Access *const outer = starting_;
		starting_ = &access;
		begin();
		const bool ended = !starting_;
		starting_ = outer;
		return ended;
	}
	void end(Access &access, int error) noexcept;
	/**
	 * Reports ended accesses to the host, which may start others meanwhile; so call it while no block is in use.
	 */
	void deliver();

private:
	const NodeId self_;
	Coherence::Host &host_;
	const Rules rules_;
	BlockLog *const log_;
	CoherenceStats stats_;
	std::uint64_t loggers_; /* bit set, as dead_ */
	std::uint64_t dead_ = 0;
	Access *starting_ = nullptr; /* null again once it has ended */
	AccessQueue ended_;
	bool delivering_ = false;
};

} // namespace prism::gam::directory
