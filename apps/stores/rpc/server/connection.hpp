/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A client of a Server. */
#pragma once

#include "rpc/call_handler.hpp"
#include "rpc/protocol/introduction.hpp"
#include "rpc/server/channel.hpp"
#include "rpc/server/departed.hpp"
#include "service/reception.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace prism::rpc
{

class Worker;

/** A connection. Only its worker uses it, except for const members and for the channel's number() and connect(). */
class Connection final : public Calls
{
public:
	/** @p calls_at_once: as the client has announced. */
	Connection(apps::Reception::Link rendezvous, std::unique_ptr<Channel> way,
		std::unique_ptr<CallSession> store_part, std::uint32_t calls_at_once, const Introduction &client,
		Worker &worker)
		: link(std::move(rendezvous)), channel(std::move(way)), announced(calls_at_once), who(client),
		  worker_(worker), session_(std::move(store_part)), kept_(calls_at_once)
	{
	}

	/**
	 * Keeps these responses of a client that has come back and sends their calls again. Call before its first call.
	 */
	void remember(KeptResponses responses) { kept_ = std::move(responses); }

	/* Calls */
	bool execute(std::span<const std::byte> request, std::span<std::byte> response,
		std::uint32_t &size) noexcept override;
	[[nodiscard]] bool finishing() const noexcept override;
	[[nodiscard]] bool closed() const noexcept override { return closed_; }
	void touch() noexcept override;
	void refuse(const std::string &why) noexcept override;
	void lose(const std::string &why) noexcept override;

	/** Returns true after refuse(): nothing is kept of the client. Any thread. */
	[[nodiscard]] bool refused() const noexcept { return refused_; }

	/** Executes no more calls, and tells the client. May be called again. */
	void close() noexcept;
	/** Posts the responses of the turn. */
	void post() noexcept
	{
		touched_ = false;
		if (!closed_)
			channel->post(*this);
	}
	[[nodiscard]] std::chrono::steady_clock::time_point closed_at() const noexcept { return closed_at_; }
	[[nodiscard]] Worker &worker() const noexcept { return worker_; }

	const apps::Reception::Link link; /**< null in simulations */
	/** Null after the burial, on the worker's thread. */
	std::unique_ptr<Channel> channel;
	const std::uint32_t announced;
	const Introduction who;

private:
	bool repeat(std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept;
	void keep_responses() noexcept;

	Worker &worker_;
	std::unique_ptr<CallSession> session_; /* null once it is closed */
	KeptResponses kept_;                   /* of the previous connection */
	std::atomic<bool> refused_{false};     /* the client violates the protocol: it may not come back */
	bool touched_ = false;                 /* post() is due */
	bool closed_ = false;
	std::chrono::steady_clock::time_point closed_at_;
};

} // namespace prism::rpc
