/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The data that a worker keeps, for some seconds, of clients whose connections were lost: their last responses. A
 * client that comes back sends the interrupted calls again. Those that were executed are answered with the kept
 * responses.
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
 * The last response of each slot of a client: the client began no call there before it had the previous response. The
 * low half of a call's id is its slot (header.hpp).
 */
class KeptResponses
{
public:
	/** @p slots: of the client; responses to calls of other slots are not kept. */
	explicit KeptResponses(std::uint32_t slots = 0) : slots_(slots) {}

	/** Adds @p response, with its header. */
	void add(std::span<const std::byte> response);
	/**
	 * Returns the response to the call with this id, or nothing. In that case this is another call of its slot, and
	 * the kept response of the slot is dropped.
	 */
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

/** The departed clients of one worker. Used by its thread. */
class Departed
{
public:
	using Clock = std::chrono::steady_clock;

	/** Time that a client may take to come back. */
	static constexpr auto patience = std::chrono::seconds(10);
	/** Most bytes of all clients together; the oldest are forgotten first. */
	static constexpr std::size_t most_bytes = std::size_t{64} << 20;

	void keep(const ClientId &client, KeptResponses responses, Clock::time_point now);
	/** Returns true if @p client is kept, even if it had no responses. */
	[[nodiscard]] bool knows(const ClientId &client) const { return clients_.contains(client); }
	/** Removes and returns the responses of @p client, which has come back. */
	KeptResponses take(const ClientId &client);
	/** Forgets the clients whose time is over. */
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
