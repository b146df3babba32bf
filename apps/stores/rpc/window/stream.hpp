/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Epochs and positions of the way window, for both sides: sans-I/O. layout.hpp has the rules. */
#pragma once

#include <cstdint>

namespace prism::rpc::window
{

/** The server's side. */
class ServedStream
{
public:
	explicit ServedStream(std::uint64_t ring) noexcept : ring_(ring) {}

	/** Effect of a request. */
	enum class Heard : std::uint8_t {
		nothing,
		next_epoch, /* epoch() has just begun */
		nonsense,   /* a violation of the protocol */
	};

	/** Takes the client's epoch @p epoch, which begins at @p base. */
	Heard hear(std::uint32_t epoch, std::uint64_t base) noexcept
	{
		if (epoch + 1 == epoch_ || (epoch == epoch_ && base == base_))
			return Heard::nothing; /* requests of one doorbell may be sent in another order */
		if (epoch != epoch_ + 1 || base <= base_ || base > produced_)
			return Heard::nonsense;
		base_ = base;
		epoch_ = epoch;
		return Heard::next_epoch;
	}

	/** Returns true if there is room for @p bytes. */
	[[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept { return produced_ - base_ + bytes <= ring_; }
	void append(std::uint64_t bytes) noexcept { produced_ += bytes; }

	[[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
	/** Returns the position before which bytes may be overwritten. */
	[[nodiscard]] std::uint64_t base() const noexcept { return base_; }
	[[nodiscard]] std::uint64_t produced() const noexcept { return produced_; }
	/** Returns the bytes that READs of this epoch find. */
	[[nodiscard]] std::uint32_t bound() const noexcept { return static_cast<std::uint32_t>(produced_ - base_); }

private:
	std::uint64_t ring_;
	std::uint32_t epoch_ = 0;
	std::uint64_t base_ = 0;
	std::uint64_t produced_ = 0;
};

/** The client's side. */
class ReadStream
{
public:
	/** The client's state, as the next request has it. */
	struct Knowledge {
		std::uint32_t epoch;
		std::uint64_t base;
	};
	/**
	 * Returns the state for the next request. If responses were consumed, the next epoch begins after them, from
	 * now on. Its pointer is null until the server has heard this. It must be found before a further epoch begins,
	 * which has the pointer of the epoch before.
	 */
	Knowledge tell() noexcept
	{
		if (found_ && consumed_ > base_) {
			epoch_++;
			base_ = consumed_;
			found_ = false;
		}
		return {epoch_, base_};
	}

	/** Begins a READ of epoch(). Another epoch may begin before it has ended. */
	void begin_read() noexcept
	{
		read_epoch_ = epoch_;
		read_base_ = base_;
	}
	/** Ends the READ, which has found the pointer. */
	void end_read() noexcept { found_ = read_epoch_ == epoch_; }

	[[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
	/** Returns the bytes at the beginning of the READ that were consumed before. */
	[[nodiscard]] std::uint64_t known() const noexcept { return consumed_ - read_base_; }
	void consume(std::uint64_t bytes) noexcept { consumed_ += bytes; }

private:
	std::uint32_t epoch_ = 0;
	std::uint64_t base_ = 0;
	std::uint64_t consumed_ = 0;
	std::uint32_t read_epoch_ = 0;
	std::uint64_t read_base_ = 0;
	bool found_ = false;
};

} // namespace prism::rpc::window
