/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Epochs and positions of the way window, of both sides: sans-I/O. layout.hpp has the rules. */
#pragma once

#include <cstdint>
#include <optional>

namespace prism::rpc::window
{

/** The server's side. */
class ServedStream
{
public:
	explicit ServedStream(std::uint64_t ring) noexcept : ring_(ring) {}

	/** What a request has done. */
	enum class Heard : std::uint8_t {
		nothing,
		next_epoch, /* epoch() has just begun */
		nonsense,   /* no client that keeps to the protocol says that */
	};

	Heard hear(std::uint32_t epoch, std::uint64_t consumed) noexcept
	{
		if (epoch + 1 == epoch_)
			return Heard::nothing; /* sent before the client found this epoch */
		if (epoch != epoch_ || consumed < base_ || consumed > produced_)
			return Heard::nonsense;
		free_ = base_;
		if (consumed == base_)
			return Heard::nothing;
		base_ = consumed;
		epoch_++;
		return Heard::next_epoch;
	}

	/** There is room for @p bytes. */
	[[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept { return produced_ - free_ + bytes <= ring_; }
	void append(std::uint64_t bytes) noexcept { produced_ += bytes; }

	[[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
	[[nodiscard]] std::uint64_t base() const noexcept { return base_; }
	/** What stands before may be overwritten. */
	[[nodiscard]] std::uint64_t first_kept() const noexcept { return free_; }
	[[nodiscard]] std::uint64_t produced() const noexcept { return produced_; }
	/** Bytes that READs of this epoch find. */
	[[nodiscard]] std::uint32_t bound() const noexcept { return static_cast<std::uint32_t>(produced_ - base_); }

private:
	std::uint64_t ring_;
	std::uint32_t epoch_ = 0;
	std::uint64_t base_ = 0;
	std::uint64_t produced_ = 0;
	std::uint64_t free_ = 0;
};

/** The client's side. */
class ReadStream
{
public:
	/** What the next request says. */
	struct Knowledge {
		std::uint32_t epoch;
		std::uint64_t consumed;
	};
	/** Requests may arrive in another order than they were asked for: all say the same until the next epoch is
	 * found. */
	Knowledge tell() noexcept
	{
		if (!next_base_ && consumed_ > base_)
			next_base_ = consumed_;
		return {epoch_, next_base_.value_or(base_)};
	}

	/** The pointer of epoch() is null. False: it cannot be. */
	bool find_next_epoch() noexcept
	{
		if (!next_base_)
			return false;
		epoch_++;
		base_ = *next_base_;
		next_base_.reset();
		return true;
	}

	[[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
	/** Of what a READ brings, how much was consumed before. */
	[[nodiscard]] std::uint64_t known() const noexcept { return consumed_ - base_; }
	void consume(std::uint64_t bytes) noexcept { consumed_ += bytes; }

private:
	std::uint32_t epoch_ = 0;
	std::uint64_t base_ = 0;
	std::uint64_t consumed_ = 0;
	std::optional<std::uint64_t> next_base_; /* where the next epoch begins, once a request has said so */
};

} // namespace prism::rpc::window
