/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace prism::rpc::datagram
{

/** The timer of retransmissions: the estimator of RFC 6298; the timeout doubles with each retransmission of a call. */
class RetransmissionTimer
{
public:
	using Nanoseconds = std::chrono::nanoseconds;

	/** Returns the timeout of a call that was sent again @p retransmissions times. */
	[[nodiscard]] Nanoseconds timeout(std::uint32_t retransmissions) const noexcept
	{
		const Nanoseconds base = measured_ ? average_ + 4 * deviation_ : initial;
		return std::clamp(base * (1 << std::min(retransmissions, std::uint32_t{10})), least, most);
	}

	/** Adds the time of a call that was answered @p time after it was sent, and sent only once (Karn). */
	void answered(Nanoseconds time) noexcept
	{
		if (!measured_) {
			measured_ = true;
			average_ = time;
			deviation_ = time / 2;
			return;
		}
		const Nanoseconds off = time > average_ ? time - average_ : average_ - time;
		deviation_ += (off - deviation_) / 4;
		average_ += (time - average_) / 8;
	}

private:
	static constexpr Nanoseconds initial = std::chrono::milliseconds(20);
	static constexpr Nanoseconds least = std::chrono::milliseconds(5);
	static constexpr Nanoseconds most = std::chrono::milliseconds(500);

	bool measured_ = false;
	Nanoseconds average_{0};
	Nanoseconds deviation_{0};
};

} // namespace prism::rpc::datagram
