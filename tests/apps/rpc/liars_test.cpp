/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Servers with wrong responses. The link breaks, and the caller gets none of the response. */
#include "support.hpp"

namespace
{

using namespace calls;

constexpr std::size_t longest_told = 100;

/** Changes a response of longest_told bytes; there is room for more. */
using Lie = std::uint32_t (*)(std::span<std::byte> response, std::uint32_t size);

class Liar final : public CallHandler
{
public:
	explicit Liar(Lie lie) : lie_(lie) {}
	std::unique_ptr<CallSession> open(const Limits &, const SessionPlace &) override
	{
		return std::make_unique<Session>(lie_);
	}

private:
	class Session final : public CallSession
	{
	public:
		explicit Session(Lie lie) : lie_(lie) {}
		const char *handle(std::span<const std::byte> request, std::span<std::byte> response,
			std::uint32_t &size) noexcept override
		{
			MessageHeader header;
			if (const char *wrong = header.parse_request(request))
				return wrong;
			header.serialize_response(response.data());
			size = lie_(response, longest_told);
			return nullptr;
		}

	private:
		Lie lie_;
	};

	Lie lie_;
};

struct Named {
	const char *name;
	Lie lie;
};

void change_id(std::span<std::byte> response, std::uint64_t by)
{
	const auto id = apps::load<std::uint64_t>(&response[message_id_offset]);
	apps::store(&response[message_id_offset], id + by);
}

constexpr Named lies[] = {
	{"nothing", [](std::span<std::byte>, std::uint32_t) { return 0U; }},
	{"less_than_a_header", [](std::span<std::byte>, std::uint32_t) { return 23U; }},
	{"another_magic",
		[](std::span<std::byte> response, std::uint32_t size) {
			response[0] = std::byte{0};
			return size;
		}},
	{"the_call_before",
		[](std::span<std::byte> response, std::uint32_t size) {
			change_id(response, ~std::uint64_t{0} << 32);
			return size;
		}},
	{"a_slot_that_is_idle",
		[](std::span<std::byte> response, std::uint32_t size) {
			change_id(response, 1);
			return size;
		}},
	{"a_slot_that_is_not",
		[](std::span<std::byte> response, std::uint32_t size) {
			change_id(response, 1000);
			return size;
		}},
	{"too_long", [](std::span<std::byte> response,
			     std::uint32_t) { return static_cast<std::uint32_t>(response.size()); }},
};

class Liars : public testing::TestWithParam<std::tuple<Way, std::size_t>>
{
};

TEST_P(Liars, BreakTheLink)
{
	const auto [way, lie] = GetParam();
	const Context context = Context::open("prism_lo", Progress::engine_thread).value();
	const Context client_context = Context::open("prism_lo", Progress::engine_thread).value();
	Liar liar(lies[lie].lie);
	ServerLog log;
	ServerOptions options;
	options.way = way;
	options.address = "127.0.0.1";
	options.max_value_size = longest_response;
	options.max_depth = 2;
	options.log = log.sink();
	StoreIdentity identity;
	identity.kind = echo_kind;
	const ProtectionDomain pd = ProtectionDomain::create(context).value();
	const auto server = Server::create(pd, liar, identity, options).value();
	std::thread thread([&] { EXPECT_TRUE(server->run()); });
	const auto measure = [](const ConnectionRecord &, const apps::Hello &told) -> Result<SlotSizes> {
		SlotSizes sizes;
		sizes.request = message_header_size + wish_size + told.max_key_size;
		sizes.response = longest_told;
		return sizes;
	};
	ClientOptions wanted;
	wanted.way = way;
	wanted.depth = 2;
	wanted.patience = 500ms; /* datagrams that make no sense are dropped */
	{
		const auto link = ClientLink::connect(
			client_context, "127.0.0.1", server->port(), apps::Hello{echo_kind}, wanted, measure)
					  .value();
		Caller caller(*link);
		caller.begin(0, {100, 0, 1});
		caller.finish();
		EXPECT_NE(link->broken(), 0);
		EXPECT_EQ(caller.answered, 0u);
	}
	server->stop();
	thread.join();
}

INSTANTIATE_TEST_SUITE_P(All, Liars, testing::Combine(every_way(), testing::Range(std::size_t{0}, std::size(lies))),
	[](const auto &info) { return name_of(std::get<0>(info.param)) + "_" + lies[std::get<1>(info.param)].name; });

/* The regions that a server announces decide how much memory a client allocates. */
class Boasters : public testing::TestWithParam<Way>
{
protected:
	/* Returns the error of a client with @p depth calls whose server announces regions of @p length bytes each. */
	int error_of(std::uint32_t depth, std::uint64_t length)
	{
		const Context context = Context::open("prism_lo", Progress::engine_thread).value();
		const ProtectionDomain pd = ProtectionDomain::create(context).value();
		const CompletionQueue cq = CompletionQueue::create(context, 8).value();
		const QueuePair qp = QueuePair::create(pd, cq, cq).value();
		TcpListener listener = TcpListener::create(0, "127.0.0.1").value();
		std::thread server([&] {
			ConnectionRecord mine;
			mine.endpoint = qp.endpoint();
			mine.private_data = apps::Hello{echo_kind, 64, longest_response, depth}.serialize();
			for (const std::uint32_t id : {0x52500001U, 0x52500002U, 0x52500003U, 0x52500004U})
				mine.regions.push_back({id, {0x10000, length, 7}});
			TcpRendezvous link = listener.accept(2s).value();
			EXPECT_TRUE(link.swap(mine, std::chrono::steady_clock::now() + 2s));
		});
		ClientOptions options;
		options.way = GetParam();
		options.depth = depth;
		options.timeout = 2s;
		const auto link = ClientLink::connect(
			context, "127.0.0.1", listener.port(), apps::Hello{echo_kind}, options, Served::measure);
		server.join();
		return link ? 0 : link.error().code;
	}
};

TEST_P(Boasters, AreNotBelieved)
{
	for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{4096},
		     std::uint64_t{1} << 28, std::uint64_t{1} << 31, std::uint64_t{1} << 62})
		EXPECT_EQ(error_of(4, length), EBADMSG) << length;
}

INSTANTIATE_TEST_SUITE_P(
	All, Boasters, testing::Values(Way::reply, Way::fetch, Way::slots, Way::window), name_of_parameter);

} // namespace
