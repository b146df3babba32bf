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

/** Its worker alone touches it, but for what is const and for the channel's number() and connect(). */
class Connection final : public Calls
{
public:
	/** @p calls_at_once: that the client has announced. */
	Connection(apps::Reception::Link rendezvous, std::unique_ptr<Channel> way,
		std::unique_ptr<CallSession> store_part, std::uint32_t calls_at_once, const Introduction &client,
		Worker &worker)
		: link(std::move(rendezvous)), channel(std::move(way)), announced(calls_at_once), who(client),
		  worker_(worker), session_(std::move(store_part)), kept_(calls_at_once)
	{
	}

	/** The client has come back, and sends calls again of which these are the responses. Before its first call. */
	void remember(KeptResponses responses) { kept_ = std::move(responses); }

	/* Calls */
	bool execute(std::span<const std::byte> request, std::span<std::byte> response,
		std::uint32_t &size) noexcept override;
	[[nodiscard]] bool finishing() const noexcept override;
	[[nodiscard]] bool closed() const noexcept override { return closed_; }
	void touch() noexcept override;
	void refuse(const std::string &why) noexcept override;
	void lose(const std::string &why) noexcept override;

	/** refuse() was called: nothing is kept of the client. Any thread. */
	[[nodiscard]] bool refused() const noexcept { return refused_; }

	/** Executes no more calls, and tells the client that. Once is enough. */
	void close() noexcept;
	/** Posts what the turn has brought. */
	void post() noexcept
	{
		touched_ = false;
		if (!closed_)
			channel->post(*this);
	}
	[[nodiscard]] std::chrono::steady_clock::time_point closed_at() const noexcept { return closed_at_; }
	[[nodiscard]] Worker &worker() const noexcept { return worker_; }

	const apps::Reception::Link link; /**< null in simulations */
	/** Until it is buried, on the worker's thread. */
	std::unique_ptr<Channel> channel;
	const std::uint32_t announced;
	const Introduction who;

private:
	bool repeat(std::span<const std::byte> request, std::span<std::byte> response, std::uint32_t &size) noexcept;
	void keep_responses() noexcept;

	Worker &worker_;
	std::unique_ptr<CallSession> session_; /* until it is closed */
	KeptResponses kept_;                   /* of a connection before this one */
	std::atomic<bool> refused_{false};     /* the client does not keep to the protocol: it may not come back */
	bool touched_ = false;                 /* post() is to come */
	bool closed_ = false;
	std::chrono::steady_clock::time_point closed_at_;
};

} // namespace prism::rpc
