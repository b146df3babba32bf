/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/device.hpp>
#include <prism/result.hpp>

#include <cstdint>
#include <memory>
#include <string>

#include "bench/rpc/echo.hpp"
#include "rpc/server/server.hpp"

namespace prism::echo
{

struct EchoOptions {
	rpc::ServerOptions server;         /**< its sizes of keys and values are not used */
	std::uint32_t message_size = 8192; /**< bytes of the longest payload, of requests and of responses */
};

struct EchoStats {
	rpc::ServerStats server;
};

/** Server that answers the calls of echo.hpp, by any way. */
class EchoServer final : private rpc::CallHandler
{
public:
	/** Errors: EINVAL, those of rpc::Server::create(). */
	static Result<std::unique_ptr<EchoServer>> create(const Context &context, EchoOptions options);
	/** Checks that create() takes these options. Errors: EINVAL. */
	static Result<void> check(const EchoOptions &options);
	~EchoServer() override = default;

	[[nodiscard]] std::uint16_t port() const noexcept { return server_->port(); }
	/** See rpc::Server. */
	Result<void> run() { return server_->run(); }
	void stop() noexcept { server_->stop(); }
	[[nodiscard]] EchoStats stats() const noexcept { return {server_->stats()}; }
	/** Returns the figures. Any thread. */
	[[nodiscard]] Figures figures() const;

private:
	class Session;

	EchoServer(Context context, std::uint64_t planned) : context_(std::move(context)), planned_(planned) {}
	std::unique_ptr<rpc::CallSession> open(const rpc::Limits &limits, const rpc::SessionPlace &place) override;

	const Context context_;
	const std::uint64_t planned_;
	std::unique_ptr<rpc::Server> server_;
};

} // namespace prism::echo
