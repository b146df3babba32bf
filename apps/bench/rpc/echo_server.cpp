/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/rpc/echo_server.hpp"

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "bench/frame/process_usage.hpp"
#include "bench/frame/thread_context.hpp"

namespace prism::echo
{

namespace
{

/** Keeps the core busy for this time by the clock, whatever else runs on it. */
void be_busy(std::uint32_t nanoseconds) noexcept
{
	using Clock = std::chrono::steady_clock;
	if (nanoseconds == 0)
		return;
	const Clock::time_point end = Clock::now() + std::chrono::nanoseconds(nanoseconds);
	while (Clock::now() < end)
		;
}

std::uint32_t respond(const Request &request, std::size_t size, std::byte *to) noexcept
{
	rpc::MessageHeader header;
	header.call = static_cast<std::uint8_t>(request.call);
	header.size = static_cast<std::uint32_t>(size);
	header.id = request.id;
	header.serialize_response(to);
	return static_cast<std::uint32_t>(rpc::message_header_size + size);
}

std::uint32_t longest_message(std::uint32_t payload) noexcept
{
	return static_cast<std::uint32_t>(request_head) + payload;
}

} // namespace

/** Session of a connection. It has no state. */
class EchoServer::Session final : public rpc::CallSession
{
public:
	Session(const EchoServer &server, std::uint32_t limit) : server_(server), limit_(limit) {}

	const char *handle(
		std::span<const std::byte> message, std::span<std::byte> answer, std::uint32_t &size) noexcept override
	{
		Request request;
		if (const char *wrong = request.parse(message, limit_))
			return wrong;
		std::byte *const payload = answer.data() + rpc::message_header_size;
		if (request.call == Call::figures) {
			server_.figures().serialize(payload);
			size = respond(request, Figures::size, answer.data());
			return nullptr;
		}
		be_busy(request.time);
		fill_response(request.nonce, {payload, request.wanted});
		size = respond(request, request.wanted, answer.data());
		return nullptr;
	}

private:
	const EchoServer &server_;
	const std::uint32_t limit_;
};

Result<void> EchoServer::check(const EchoOptions &options)
{
	if (options.message_size < Figures::size || options.message_size > longest_payload)
		return make_error(EINVAL,
			"messages of " + std::to_string(options.message_size) + " bytes (--message-size)",
			"from " + std::to_string(Figures::size) + " to " + std::to_string(longest_payload) +
				" are possible");
	rpc::ServerOptions server = options.server;
	server.max_key_size = 1;
	server.max_value_size = options.message_size;
	return rpc::Server::check({}, server);
}

Result<std::unique_ptr<EchoServer>> EchoServer::create(const Context &context, EchoOptions options)
{
	if (Result<void> checked = check(options); !checked)
		return checked.error();
	/* Clients take the limit of values as that of payloads. */
	options.server.max_key_size = 1;
	options.server.max_value_size = options.message_size;
	rpc::StoreIdentity identity;
	identity.kind = kind;
	identity.message_size = longest_message(options.message_size);
	if (Result<void> taken = rpc::Server::announce_memory({}, context, identity.message_size, options.server);
		!taken)
		return taken.error();
	Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	const std::uint64_t planned = rpc::Server::planned_memory(identity.message_size, options.server);
	/* The constructor is private: no make_unique. */
	std::unique_ptr<EchoServer> echo(new EchoServer(context, planned));
	Result<std::unique_ptr<rpc::Server>> server =
		rpc::Server::create(*pd, *echo, std::move(identity), std::move(options.server));
	if (!server)
		return server.error();
	echo->server_ = *std::move(server);
	return echo;
}

std::unique_ptr<rpc::CallSession> EchoServer::open(const rpc::Limits &limits, const rpc::SessionPlace &)
{
	return std::make_unique<Session>(*this, static_cast<std::uint32_t>(limits.max_value_size));
}

Figures EchoServer::figures() const
{
	const bench::ProcessUsage usage = bench::usage_of_process();
	Figures figures;
	figures.calls = server_->stats().requests;
	figures.user = usage.user;
	figures.system = usage.system;
	figures.resident = usage.resident;
	figures.peak = usage.peak;
	figures.allocated = usage.allocated;
	figures.touched = usage.touched;
	figures.planned = planned_;
	figures.traffic = bench::traffic_of(context_);
	return figures;
}

} // namespace prism::echo
