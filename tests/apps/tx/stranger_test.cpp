/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Attacks by a stranger that only connects to the shards of a store and lies. */
#include "support.hpp"

#include <atomic>
#include <cerrno>
#include <limits>
#include <memory>

#include "tx/store/introduction.hpp"
#include "tx/store/kind.hpp"

namespace
{

using namespace tx_test;

constexpr std::uint32_t all_ones = std::numeric_limits<std::uint32_t>::max();

/** Connection of a stranger. */
class Stranger
{
public:
	/** Introduces itself to @p shard of @p store as @p mine; with @p enters, also says that it is ready. */
	Stranger(const Store &store, std::size_t shard, Introduction mine, bool enters)
		: link_(TcpRendezvous::connect("127.0.0.1", store.addresses[shard].port, 2s).value())
	{
		mine.shard = static_cast<std::uint16_t>(shard);
		mine.shards = store.options.shards;
		ConnectionRecord record;
		record.endpoint = pair_.endpoint();
		record.private_data = apps::Hello{prism_kind}.serialize(mine.serialize());
		const auto deadline = std::chrono::steady_clock::now() + 2s;
		const ConnectionRecord answer = link_.swap(record, deadline).value();
		const Result<apps::Hello> hello = apps::Hello{prism_kind}.expect(answer, "the shard");
		error_ = hello ? 0 : hello.error().code;
		if (hello)
			theirs_ = Introduction::parse(answer, "the shard").value();
		if (hello && enters && link_.barrier(deadline))
			entered_ = true;
	}

	/** Returns 0, or the error with which it was refused. */
	[[nodiscard]] int error() const { return error_; }
	[[nodiscard]] bool entered() const { return entered_; }
	[[nodiscard]] const Introduction &theirs() const { return theirs_; }

	/** Sends a message. Returns the answer; -1 if the connection has ended without one. */
	std::int64_t say(apps::ControlKind kind, std::uint64_t value)
	{
		apps::ControlChannel channel(link_.fd());
		apps::ControlMessage answer;
		if (channel.send({kind, value}))
			return -1;
		for (int got = 0; got >= 0; got = channel.receive(answer)) {
			if (got > 0 && answer.kind == kind)
				return static_cast<std::int64_t>(answer.value);
			(void)channel.wait(1000);
		}
		return -1;
	}

	/** Sends a message without an answer. */
	void tell(apps::ControlKind kind, std::uint64_t value)
	{
		(void)apps::ControlChannel(link_.fd()).send({kind, value});
	}

private:
	Context context_ = Context::open("prism_lo", Progress::caller).value();
	ProtectionDomain pd_ = ProtectionDomain::create(context_).value();
	CompletionQueue cq_ = CompletionQueue::create(context_, 16).value();
	QueuePair pair_ = QueuePair::create(pd_, cq_, cq_).value();
	TcpRendezvous link_;
	Introduction theirs_;
	int error_ = 0;
	bool entered_ = false;
};

/** Returns the introduction of a client of shard 0. */
Introduction claim(std::uint64_t store, std::uint32_t client, std::uint32_t incarnation, std::uint64_t signature = 0)
{
	Introduction claimed;
	claimed.store = store;
	claimed.client = client;
	claimed.incarnation = incarnation;
	claimed.signature = signature;
	return claimed;
}

/** Checks that @p client can change keys of both shards. */
void works(Client &client)
{
	EXPECT_EQ(client.run([](Transaction &transaction) -> apps::Task<int> {
		int error = 0;
		for (unsigned i = 0; i < 16 && !error; i++)
			error = transaction.write(bytes("k" + std::to_string(i)), bytes("1"));
		co_return error;
	}),
		Outcome::committed)
		<< client.last.error;
}

TEST(Stranger, DoesNotDecideWhichStoreAShardIsOf)
{
	Store store;
	EXPECT_EQ(Stranger(store, 1, claim(0x1234567890, 0, 1), true).error(), EACCES);
	Client client(store);
	works(client);
}

TEST(Stranger, DoesNotTakeNumbersThatItWasNotGiven)
{
	Store store;
	Client client(store);
	works(client);
	const Stranger admitted(store, 0, {}, true);
	ASSERT_TRUE(admitted.entered());
	const Introduction &ticket = admitted.theirs();
	for (std::uint32_t number = 0; number < store.options.clients; number++) {
		EXPECT_EQ(Stranger(store, 1, claim(ticket.identity, number, all_ones, ticket.signature), true).error(),
			EACCES);
		EXPECT_EQ(Stranger(store, 0, claim(ticket.identity, number, all_ones, ticket.signature), true).error(),
			EACCES);
	}
	works(client);
	Client later(store);
	works(later);
}

TEST(Stranger, FillsNoLogWithNonsense)
{
	std::atomic<unsigned> lines{0};
	StoreOptions options;
	options.shards = 1;
	options.log = [&lines](apps::LogLevel, const std::string &line) {
		lines += line.find("talks nonsense") != std::string::npos;
	};
	const Store store(options);
	for (unsigned i = 0; i < 2 * apps::LimitedLog::burst; i++) {
		Stranger stranger(store, 0, {}, true);
		ASSERT_TRUE(stranger.entered());
		EXPECT_EQ(stranger.say(static_cast<apps::ControlKind>(0x7777), 1), -1);
	}
	EXPECT_GT(lines, 0U);
	EXPECT_LT(lines, 2 * apps::LimitedLog::burst);
}

/** Tests a valid ticket on a connection that is never completed. */
TEST(Stranger, ChangesNothingBeforeItHasEntered)
{
	Store store;
	Client client(store);
	works(client);
	const std::uint32_t most = store.options.clients;
	for (std::uint32_t i = 0; i < 2 * most; i++)
		EXPECT_EQ(Stranger(store, 0, {}, false).error(), 0) << "numbers are used up";
	works(client);
	const Stranger admitted(store, 0, {}, true);
	ASSERT_TRUE(admitted.entered());
	const Introduction &ticket = admitted.theirs();
	const Introduction as_told = claim(ticket.identity, ticket.client, ticket.incarnation, ticket.signature);
	Stranger first(store, 1, as_told, true);
	EXPECT_TRUE(first.entered());
	EXPECT_EQ(Stranger(store, 1, as_told, false).error(), 0);
	EXPECT_GT(first.say(apps::ControlKind::stats, 0), 0) << "its connection was ended";
	works(client);
}

TEST(Stranger, DoesNotTellShardZeroOfLivesThatNoShardHas)
{
	Store store;
	Stranger admitted(store, 0, {}, true);
	ASSERT_TRUE(admitted.entered());
	const std::uint64_t forged = 0xabcdef0000 | 1;
	EXPECT_EQ(admitted.say(shard_message, forged), EACCES);
	{
		Client client(store);
		works(client);
	}
	admitted.tell(proof_message, 12345);
	EXPECT_EQ(admitted.say(adopt_message, forged), EACCES);
	Client client(store);
	works(client);
	EXPECT_EQ(admitted.say(adopt_message, 7), -1) << "there is no such shard";
}

/**
 * Checks that a dead client's transactions are resolved by another client, though a stranger says again and again that
 * this is done.
 */
TEST(Stranger, IsNotBelievedThatTransactionsAreResolved)
{
	Store store;
	auto dying = std::make_unique<Client>(store, 1), looking = std::make_unique<Client>(store, 1);
	const std::vector<std::string> keys = keys_of_all(*dying);
	Stranger zero(store, 0, {}, true);
	ASSERT_TRUE(zero.entered());
	const Introduction &ticket = zero.theirs();
	Stranger one(store, 1, claim(ticket.identity, ticket.client, ticket.incarnation, ticket.signature), true);
	ASSERT_TRUE(one.entered());
	Job job;
	prepare_on_all(*dying, *looking, keys, job);
	looking.reset();
	dying.reset();
	for (unsigned i = 0; i < 100; i++) {
		zero.tell(orphans_message, i % 4);
		one.tell(orphans_message, i % 4);
		std::this_thread::sleep_for(1ms);
	}
	PrismClientOptions options;
	options.patience = 1h;
	Client client(store, 1, options);
	EXPECT_EQ(client.run([&keys](Transaction &transaction) -> apps::Task<int> {
		const int error = transaction.write(bytes(keys[0]), bytes("3"));
		co_return error ? error : transaction.write(bytes(keys[1]), bytes("3"));
	}),
		Outcome::committed)
		<< client.last.error;
}

TEST(Shards, OfSecretsThatDiffer)
{
	StoreOptions options;
	Store store(options);
	store.end(1);
	store.options.secret = StoreSecret::random();
	store.begin(1);
	const Context context = Context::open("prism_lo", Progress::caller).value();
	const auto made = PrismClient::connect(context, store.addresses);
	ASSERT_FALSE(made.ok());
	EXPECT_EQ(made.error().code, EACCES);
	EXPECT_NE(made.error().message.find("start all shards with the same --secret"), std::string::npos)
		<< made.error().message;
}

TEST(Shards, NeedASecretIfThereAreSeveral)
{
	PrismShardOptions options;
	options.shards = 2;
	options.log = [](apps::LogLevel, const std::string &) {};
	options.classes = {{8192, 16}};
	const auto made = PrismShard::create(Context::open("prism_lo", Progress::engine_thread).value(), options);
	ASSERT_FALSE(made.ok());
	EXPECT_EQ(made.error().code, EINVAL);
	EXPECT_EQ(StoreSecret::of(bytes("too short")).error().code, EINVAL);
	EXPECT_EQ(StoreSecret::read("/nowhere/at/all").error().code, ENOENT);
}

} // namespace
