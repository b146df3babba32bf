/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Server of calls that returns as many bytes as a call asks for, and its callers. */
#pragma once

#include "../support/server_log.hpp"
#include "../support/waiting.hpp"
#include "base/wire.hpp"
#include "rpc/client/client_link.hpp"
#include "rpc/server/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace calls
{

using namespace prism;
using namespace prism::rpc;
using namespace std::chrono_literals;
using test::ServerLog;
using test::wait_until;

constexpr apps::StoreKind echo_kind{apps::Application::kv, 99, "echo of tests", 1};

/**
 * Start of a request after its header: the response's length, how long the server is busy, and the seed of the
 * response's bytes.
 */
struct Wish {
	std::uint32_t response = 0; /**< bytes after the header */
	std::uint32_t busy = 0;     /**< us */
	std::uint64_t seed = 0;
};
constexpr std::size_t wish_size = sizeof(Wish);

/** Returns byte @p index of the response to @p seed. */
inline std::byte pattern(std::uint64_t seed, std::size_t index)
{
	return static_cast<std::byte>((seed >> (index % 8 * 8)) + index / 8 * 31);
}

class Echo final : public CallHandler
{
public:
	std::unique_ptr<CallSession> open(const Limits &, const SessionPlace &place) override
	{
		return std::make_unique<Session>(*this, place.worker);
	}

	std::atomic<std::uint64_t> executed{0};
	/** Sum of the seeds: shows whether each call was executed exactly once. */
	std::atomic<std::uint64_t> seeds{0};
	/** True to hold back all answers. */
	std::atomic<bool> held{false};
	std::atomic<std::uint32_t> last_worker{0};

private:
	class Session final : public CallSession
	{
	public:
		Session(Echo &echo, std::uint32_t worker) : echo_(echo), worker_(worker) {}
		const char *handle(std::span<const std::byte> request, std::span<std::byte> response,
			std::uint32_t &size) noexcept override
		{
			MessageHeader header;
			if (const char *wrong = header.parse_request(request))
				return wrong;
			if (request.size() < message_header_size + wish_size)
				return "no wish";
			Wish wish;
			std::memcpy(&wish, &request[message_header_size], sizeof(wish));
			if (wish.response > response.size() - message_header_size)
				return "a wish for too much";
			while (echo_.held)
				std::this_thread::yield();
			const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(wish.busy);
			while (wish.busy && std::chrono::steady_clock::now() < end)
				;
			header.size = wish.response;
			header.serialize_response(response.data());
			for (std::size_t i = 0; i < wish.response; i++)
				response[message_header_size + i] = pattern(wish.seed, i);
			size = static_cast<std::uint32_t>(message_header_size) + wish.response;
			echo_.executed++;
			echo_.seeds += wish.seed;
			echo_.last_worker = worker_;
			return nullptr;
		}

	private:
		Echo &echo_;
		std::uint32_t worker_;
	};
};

constexpr std::uint32_t longest_response = 8192;

/** The echo, and the thread that serves it. */
class Served
{
public:
	explicit Served(Way way, const std::function<void(ServerOptions &)> &adjust = {})
	{
		ServerOptions options;
		options.way = way;
		options.address = "127.0.0.1";
		options.threads = 2;
		options.max_key_size = 64;
		options.max_value_size = longest_response;
		options.max_depth = 16;
		options.max_connections = 16;
		options.receive_buffers = 128;
		options.setup_timeout = 10s;
		options.log = log.sink();
		if (adjust)
			adjust(options);
		const ProtectionDomain pd = ProtectionDomain::create(context).value();
		StoreIdentity identity;
		identity.kind = echo_kind;
		server_ = Server::create(pd, echo, identity, options).value();
		thread_ = std::thread([this] { EXPECT_TRUE(server_->run()); });
	}
	~Served() { stop(); }
	Served(const Served &) = delete;
	Served &operator=(const Served &) = delete;

	void stop()
	{
		server_->stop();
		if (thread_.joinable())
			thread_.join();
	}
	[[nodiscard]] std::uint16_t port() const { return server_->port(); }
	[[nodiscard]] ServerStats stats() const { return server_->stats(); }

	static Result<SlotSizes> measure(const ConnectionRecord &, const apps::Hello &server)
	{
		SlotSizes sizes;
		sizes.request = message_header_size + wish_size + server.max_key_size;
		sizes.response = message_header_size + server.max_value_size;
		return sizes;
	}
	Result<std::unique_ptr<ClientLink>> try_connect(const ClientOptions &options)
	{
		return ClientLink::connect(
			client_context, "127.0.0.1", port(), apps::Hello{echo_kind}, options, measure);
	}
	Result<std::unique_ptr<ClientLink>> resume(const ClientLink &lost)
	{
		return ClientLink::resume(client_context, "127.0.0.1", port(), apps::Hello{echo_kind}, measure, lost);
	}
	std::unique_ptr<ClientLink> connect(const ClientOptions &options) { return try_connect(options).value(); }

	ServerLog log;
	Echo echo;
	Context context = Context::open("prism_lo", Progress::engine_thread).value();
	Context client_context = Context::open("prism_lo", Progress::engine_thread).value();

private:
	std::unique_ptr<Server> server_;
	std::thread thread_;
};

/** Caller that checks the responses. */
class Caller final : public ClientLink::Listener
{
public:
	explicit Caller(ClientLink &link) : link_(&link), wishes_(link.depth()), busy_(link.depth()) {}

	[[nodiscard]] bool idle(std::uint32_t slot) const { return !busy_[slot]; }
	void begin(std::uint32_t slot, const Wish &wish)
	{
		ASSERT_TRUE(idle(slot));
		wishes_[slot] = wish;
		busy_[slot] = true;
		const std::span<std::byte> request = link_->request(slot);
		MessageHeader header;
		header.call = 1;
		header.size = static_cast<std::uint32_t>(wish_size);
		header.serialize_request(request.data());
		std::memcpy(&request[message_header_size], &wish, sizeof(wish));
		link_->call(slot, message_header_size + wish_size);
	}
	/** Goes on with @p next, which has resumed the link. */
	void move_to(ClientLink &next) { link_ = &next; }
	/** Waits until nothing is under way, or the link is broken. */
	void finish()
	{
		const auto end = std::chrono::steady_clock::now() + test::patience;
		while (!link_->broken() && std::find(busy_.begin(), busy_.end(), true) != busy_.end()) {
			link_->poll(*this);
			ASSERT_LT(std::chrono::steady_clock::now(), end) << "calls do not end";
		}
	}
	/** Makes @p count calls with wishes from @p next, as many at once as the link takes, and finishes them. */
	void run(std::uint64_t count, const std::function<Wish()> &next)
	{
		const auto end = std::chrono::steady_clock::now() + test::patience;
		for (std::uint64_t made = 0; made < count && !link_->broken();) {
			for (std::uint32_t slot = 0; slot < link_->depth() && made < count; slot++) {
				if (idle(slot)) {
					begin(slot, next());
					made++;
				}
			}
			link_->poll(*this);
			ASSERT_LT(std::chrono::steady_clock::now(), end) << "calls do not end";
		}
		finish();
	}

	void on_response(std::uint32_t slot, std::span<const std::byte> response) noexcept override
	{
		const Wish &wish = wishes_[slot];
		busy_[slot] = false;
		answered++;
		MessageHeader header;
		EXPECT_EQ(header.parse_response(response), nullptr);
		ASSERT_EQ(response.size(), message_header_size + wish.response);
		for (std::size_t i = 0; i < wish.response; i++)
			ASSERT_EQ(response[message_header_size + i], pattern(wish.seed, i)) << "byte " << i;
	}
	void on_expired(std::uint32_t) noexcept override { expired++; }
	void on_released(std::uint32_t slot) noexcept override
	{
		busy_[slot] = false;
		released++;
	}

	std::uint64_t answered = 0;
	std::uint64_t expired = 0;
	std::uint64_t released = 0;

private:
	ClientLink *link_;
	std::vector<Wish> wishes_; /* by slot */
	std::vector<bool> busy_;
};

/** Returns the way's name in names of tests. */
inline std::string name_of(Way way)
{
	std::string name(to_string(way));
	std::replace(name.begin(), name.end(), '-', '_');
	return name;
}

inline std::string name_of_parameter(const testing::TestParamInfo<Way> &info)
{
	return name_of(info.param);
}

inline auto every_way()
{
	return testing::Values(Way::two_sided, Way::reply, Way::fetch, Way::slots, Way::window, Way::datagram);
}

/** Tests for calls by each way. */
class ByEachWay : public testing::TestWithParam<Way>
{
protected:
	ClientOptions options(std::uint32_t depth = 1) const
	{
		ClientOptions made;
		made.way = GetParam();
		made.depth = depth;
		return made;
	}
};

} // namespace calls
