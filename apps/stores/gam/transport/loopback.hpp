/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A network inside one process: messages of a pair of nodes keep their order, and may be delayed. */
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "gam/transport/network.hpp"

namespace prism::gam
{

/** The delays of messages, independent for each pair of nodes; long ones are rare. */
struct LoopbackDelays {
	using Clock = std::chrono::steady_clock;

	std::chrono::nanoseconds longest{0}; /* 0: no delay */
	std::uint64_t seed = 1;
	Clock::time_point (*now)() = &Clock::now; /* the clock of the delays */

	/** Draws a delay. Most are short, so that many messages overtake a few. */
	template <typename Random>
	[[nodiscard]] std::chrono::nanoseconds next(Random &random) const
	{
		if (!longest.count())
			return {};
		const double chance = std::uniform_real_distribution(0.0, 1.0)(random);
		return std::chrono::nanoseconds(
			static_cast<std::int64_t>(static_cast<double>(longest.count()) * chance * chance * chance));
	}
};

class Loopback
{
public:
	explicit Loopback(std::size_t nodes, const LoopbackDelays &delays = {})
	{
		for (std::size_t node = 0; node < nodes; node++)
			ends_.push_back(std::make_unique<End>(*this, static_cast<NodeId>(node), nodes, delays));
	}

	[[nodiscard]] Network &end(NodeId node) { return *ends_[node]; }
	/**
	 * Cuts off @p node: when this returns, no message from or to it is delivered any more. Do not call inside
	 * poll().
	 */
	void cut_off(NodeId node)
	{
		ends_[node]->is_cut_off = true;
		for (const auto &end : ends_)
			end->finish_delivery();
	}
	/** Returns the number of messages sent. */
	[[nodiscard]] std::uint64_t messages() const
	{
		std::uint64_t sum = 0;
		for (const auto &end : ends_)
			sum += end->heard;
		return sum;
	}

private:
	using Clock = LoopbackDelays::Clock;

	struct Letter {
		Clock::time_point due;
		std::vector<std::byte> bytes;
	};

	class End final : public Network
	{
	public:
		End(Loopback &all, NodeId self, std::size_t nodes, const LoopbackDelays &delays)
			: all_(all), self_(self), delays_(delays), random_(delays.seed * max_nodes + self), from_(nodes)
		{
		}

		void send(NodeId to, const Message &message) noexcept override
		{
			if (to < all_.ends_.size() && to != self_ && !is_cut_off && !all_.ends_[to]->is_cut_off)
				all_.ends_[to]->take(self_, message);
		}
		void flush() noexcept override {}
		std::size_t poll(Listener &listener) noexcept override
		{
			const std::scoped_lock turn(delivering_);
			std::size_t count = 0;
			for (std::size_t from = 0; from < from_.size(); from++) {
				for (Letter letter; count < 64 && next(from, letter); count++) {
					if (const auto message = Message::parse(letter.bytes))
						listener.heard(static_cast<NodeId>(from), *message);
				}
			}
			return count;
		}
		void finish_delivery() { const std::scoped_lock turn(delivering_); }

		std::atomic<bool> is_cut_off{false};
		std::atomic<std::uint64_t> heard{0};

	private:
		void take(NodeId from, const Message &message)
		{
			std::vector<std::byte> bytes(message.size());
			message.serialize(bytes.data());
			const std::scoped_lock guard(lock_);
			std::deque<Letter> &letters = from_[from];
			Clock::time_point due = delays_.now() + delays_.next(random_);
			if (!letters.empty())
				due = std::max(due, letters.back().due);
			letters.push_back({due, std::move(bytes)});
			heard++;
		}
		bool next(std::size_t from, Letter &letter)
		{
			const std::scoped_lock guard(lock_);
			std::deque<Letter> &letters = from_[from];
			if (is_cut_off || all_.ends_[from]->is_cut_off)
				letters.clear();
			if (letters.empty() || letters.front().due > delays_.now())
				return false;
			letter = std::move(letters.front());
			letters.pop_front();
			return true;
		}
		Loopback &all_;
		const NodeId self_;
		const LoopbackDelays delays_;
		std::mutex delivering_; /* taken before all others */
		std::mutex lock_;
		std::mt19937_64 random_;
		std::vector<std::deque<Letter>> from_;
	};

	std::vector<std::unique_ptr<End>> ends_;
};

} // namespace prism::gam
