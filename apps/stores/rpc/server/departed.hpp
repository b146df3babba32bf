/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a worker keeps of clients whose connections were lost: for some seconds, their last responses. A client that
 * comes back sends the calls again that were under way. Those that were executed are answered with what is kept.
 */
#pragma once

#include "rpc/protocol/introduction.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace prism::rpc
{

/**
 * Of each slot of a client the last response: the client began no call there before it had the one before. The low half
 * of a call's id is its slot (header.hpp).
 */
class KeptResponses
{
public:
	/** @p slots: of the client; responses to calls of others are not kept. */
	explicit KeptResponses(std::uint32_t slots = 0) : slots_(slots) {}

	/** @p response: with its header. */
	void add(std::span<const std::byte> response);
	/** The response to the call with this id, or nothing. Then this is another call of its slot, and what was kept
	 * of that is not wanted any more. */
	[[nodiscard]] std::span<const std::byte> find(std::uint64_t id) noexcept;
	[[nodiscard]] bool empty() const noexcept { return responses_.empty(); }
	[[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
	struct Response {
		std::uint64_t id = 0;
		std::vector<std::byte> bytes;
	};

	std::uint32_t slots_;
	std::map<std::uint32_t, Response> responses_; /* by slot */
	std::size_t bytes_ = 0;
};

/** Of one worker; its thread's. */
class Departed
{
public:
	using Clock = std::chrono::steady_clock;

	/** How long a client may take to come back. */
	static constexpr auto patience = std::chrono::seconds(10);
	/** Of all clients together; the oldest are forgotten first. */
	static constexpr std::size_t most_bytes = std::size_t{64} << 20;

	void keep(const ClientId &client, KeptResponses responses, Clock::time_point now);
	/** Something is kept of @p client, if only that it had no responses. */
	[[nodiscard]] bool knows(const ClientId &client) const { return clients_.contains(client); }
	/** What is kept of @p client, which has come back. */
	KeptResponses take(const ClientId &client);
	/** Forgets those whose time is over. */
	void forget(Clock::time_point now);
	[[nodiscard]] bool empty() const noexcept { return clients_.empty(); }

private:
	struct Client {
		KeptResponses responses;
		Clock::time_point left;
	};

	void forget_oldest();

	std::map<ClientId, Client> clients_;
	std::size_t bytes_ = 0;
};

} // namespace prism::rpc
