/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Redis and memcached as StoreClients, each with its own server on a Unix socket; skipped if not installed. */
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "bench/frame/workload.hpp"
#include "bench/ycsb/foreign/systems.hpp"
#include "bench/ycsb/run.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;
using namespace prism::ycsb;

using apps::Operation;
using apps::OperationKind;
using apps::Outcome;
using namespace std::chrono_literals;

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text)
{
	const auto *begin = reinterpret_cast<const std::byte *>(text.data());
	return {begin, begin + text.size()};
}

Operation get_of(std::span<const std::byte> key, std::span<std::byte> place)
{
	Operation operation;
	operation.key = key;
	operation.result = place;
	return operation;
}

/* Child process that ends with this object, or with this process. */
class Process
{
public:
	explicit Process(std::vector<std::string> words) : id_(fork())
	{
		if (id_ != 0)
			return;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		const int nowhere = open("/dev/null", O_RDWR);
		dup2(nowhere, STDOUT_FILENO);
		dup2(nowhere, STDERR_FILENO);
		std::vector<char *> arguments;
		for (std::string &word : words)
			arguments.push_back(word.data());
		arguments.push_back(nullptr);
		execvp(arguments.front(), arguments.data());
		_exit(127);
	}
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;
	~Process() { end(); }

	void end()
	{
		if (id_ <= 0)
			return;
		kill(id_, SIGKILL);
		waitpid(id_, nullptr, 0);
		id_ = -1;
	}

private:
	pid_t id_;
};

bool is_installed(const std::string &program)
{
	const char *path = std::getenv("PATH");
	std::stringstream folders(path ? path : "");
	for (std::string folder; std::getline(folders, folder, ':');) {
		if (access((folder + "/" + program).c_str(), X_OK) == 0)
			return true;
	}
	return false;
}

class ForeignTest : public testing::TestWithParam<const char *>
{
protected:
	void SetUp() override
	{
		add_foreign_systems(systems);
		const std::string name = GetParam();
		const bool redis = name == "redis";
		if (!is_installed(redis ? "redis-server" : "memcached"))
			GTEST_SKIP() << name << " is not installed";
		std::string pattern = std::filesystem::temp_directory_path() / "foreign_test_XXXXXX";
		ASSERT_NE(mkdtemp(pattern.data()), nullptr);
		folder = pattern;
		const std::string path = folder / "socket";
		if (redis)
			server.emplace(std::vector<std::string>{"redis-server", "--port", "0", "--unixsocket", path,
				"--save", "", "--appendonly", "no", "--dir", folder.string()});
		else
			server.emplace(std::vector<std::string>{"memcached", "-s", path, "-m", "64", "-t", "1", "-u",
				geteuid() == 0 ? "root" : std::to_string(geteuid())});
		options.host = "unix:" + path;
		options.timeout = 5;
	}

	void TearDown() override
	{
		client.reset();
		server.reset();
		if (!folder.empty())
			std::filesystem::remove_all(folder);
	}

	/* Connects; the server needs a moment before it listens. */
	void connect(unsigned depth)
	{
		options.depth = depth;
		const Result<ClientFactory> factory = systems.find(GetParam())->open(options);
		ASSERT_TRUE(factory);
		for (int i = 0; i < 250 && !client; i++) {
			Result<std::unique_ptr<apps::StoreClient>> connected = (*factory)(0);
			if (connected)
				client = std::move(*connected);
			else
				std::this_thread::sleep_for(20ms);
		}
		ASSERT_NE(client, nullptr) << "the server does not listen";
	}

	std::vector<Operation *> wait_for(std::size_t count)
	{
		std::vector<Operation *> ended;
		const auto deadline = std::chrono::steady_clock::now() + 10s;
		while (ended.size() < count && std::chrono::steady_clock::now() < deadline) {
			std::array<Operation *, 3> some{};
			const std::size_t now = client->poll(some);
			ended.insert(ended.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(now));
		}
		EXPECT_EQ(ended.size(), count);
		return ended;
	}

	Operation perform(OperationKind kind, const Bytes &key, const Bytes &value = {})
	{
		Operation operation = get_of(key, result);
		operation.kind = kind;
		operation.value = value;
		EXPECT_EQ(client->start(operation), 0);
		EXPECT_EQ(wait_for(1), std::vector<Operation *>{&operation});
		return operation;
	}

	Outcome put(const Bytes &key, const Bytes &value) { return perform(OperationKind::put, key, value).outcome; }

	std::optional<Bytes> get(const Bytes &key)
	{
		const Operation operation = perform(OperationKind::get, key);
		if (operation.outcome != Outcome::ok)
			return {};
		return Bytes(result.begin(), result.begin() + operation.length);
	}

	Systems systems;
	std::filesystem::path folder;
	std::optional<Process> server;
	SystemOptions options;
	std::unique_ptr<apps::StoreClient> client;
	Bytes result = Bytes(4096);
};

TEST_P(ForeignTest, PutGetErase)
{
	ASSERT_NO_FATAL_FAILURE(connect(1));
	const Bytes key = bytes_of("a key");
	EXPECT_EQ(perform(OperationKind::get, key).outcome, Outcome::not_found);
	EXPECT_EQ(perform(OperationKind::erase, key).outcome, Outcome::not_found);
	EXPECT_EQ(put(key, bytes_of("first")), Outcome::ok);
	EXPECT_EQ(get(key), bytes_of("first"));
	EXPECT_EQ(put(key, bytes_of("a longer second one")), Outcome::ok);
	EXPECT_EQ(get(key), bytes_of("a longer second one"));
	EXPECT_EQ(perform(OperationKind::erase, key).outcome, Outcome::ok);
	EXPECT_EQ(get(key), std::nullopt);
}

TEST_P(ForeignTest, KeysAndValuesAreBytes)
{
	ASSERT_NO_FATAL_FAILURE(connect(1));
	const Bytes key = bytes_of(std::string_view("\0 \r\n\xff*$", 7));
	const Bytes value = bytes_of(std::string_view("\r\nEND\r\n\0\0$-1\r\n", 14));
	EXPECT_EQ(put(key, value), Outcome::ok);
	EXPECT_EQ(get(key), value);
	EXPECT_EQ(put(key, {}), Outcome::ok);
	EXPECT_EQ(get(key), Bytes{});
}

TEST_P(ForeignTest, ShortResultsAreCutAndSayHowLongTheValueIs)
{
	ASSERT_NO_FATAL_FAILURE(connect(1));
	const Bytes key = bytes_of("key");
	ASSERT_EQ(put(key, bytes_of("0123456789")), Outcome::ok);
	Bytes place(8, std::byte{'x'});
	Operation operation = get_of(key, std::span(place).first(4));
	ASSERT_EQ(client->start(operation), 0);
	wait_for(1);
	EXPECT_EQ(operation.length, 10U);
	EXPECT_EQ(operation.round_trips, 1U);
	EXPECT_EQ(place, bytes_of("0123xxxx"));
}

TEST_P(ForeignTest, ManyAtOnceEachGetsItsOwn)
{
	constexpr unsigned depth = 16;
	ASSERT_NO_FATAL_FAILURE(connect(depth));
	ASSERT_EQ(client->depth(), depth);
	std::vector<Bytes> keys(depth, Bytes(8));
	std::vector<Bytes> values(depth, Bytes(600));
	std::vector<Bytes> places(depth, Bytes(600));
	/* Each key is used twice, and every eighth is absent. */
	for (unsigned i = 0; i < depth; i++) {
		bench::fill_key(i / 2, keys[i]);
		bench::fill_value(i / 2, 1, values[i]);
		if (i / 2 % 4 != 0) {
			ASSERT_EQ(put(keys[i], values[i]), Outcome::ok);
		}
	}
	for (int round = 0; round < 20; round++) {
		std::vector<Operation> gets(depth);
		for (unsigned i = 0; i < depth; i++) {
			gets[i] = get_of(keys[i], places[i]);
			ASSERT_EQ(client->start(gets[i]), 0);
		}
		Operation one_more = get_of(keys[0], result);
		EXPECT_EQ(client->start(one_more), EAGAIN);
		wait_for(depth);
		for (unsigned i = 0; i < depth; i++) {
			if (i / 2 % 4 == 0) {
				EXPECT_EQ(gets[i].outcome, Outcome::not_found) << i;
				continue;
			}
			ASSERT_EQ(gets[i].outcome, Outcome::ok) << i;
			EXPECT_EQ(places[i], values[i]) << i;
		}
	}
}

TEST_P(ForeignTest, TheDriverVerifiesEveryMix)
{
	ASSERT_NO_FATAL_FAILURE(connect(1));
	client.reset();
	for (const char mix : {'A', 'D', 'F'}) {
		for (const unsigned depth : {1U, 8U}) {
			RunOptions run_options;
			run_options.mix = bench::find_mix(mix).value();
			run_options.distribution = run_options.mix.distribution;
			run_options.records = 200;
			run_options.requests = 2000;
			run_options.threads = 2;
			run_options.depth = options.depth = depth;
			run_options.verify = true;
			const Result<ClientFactory> factory = systems.find(GetParam())->open(options);
			ASSERT_TRUE(factory);
			const Result<RunResult> measured = run(run_options, *factory);
			ASSERT_TRUE(measured) << measured.error().message;
			EXPECT_EQ(measured->requests, 2000U);
			EXPECT_TRUE(measured->clean(true)) << mix << " depth " << depth;
		}
	}
}

TEST_P(ForeignTest, AServerThatWentAwayIsAFailure)
{
	ASSERT_NO_FATAL_FAILURE(connect(2));
	const Bytes key = bytes_of("key");
	ASSERT_EQ(put(key, key), Outcome::ok);
	server->end();
	Operation operation = get_of(key, result);
	const int started = client->start(operation);
	if (started == 0) {
		wait_for(1);
		EXPECT_EQ(operation.outcome, Outcome::failed);
		EXPECT_NE(operation.error, 0);
	}
	Operation next = get_of(key, result);
	if (client->start(next) == 0) {
		wait_for(1);
		EXPECT_EQ(next.outcome, Outcome::failed);
	}
}

TEST_P(ForeignTest, EmptyKeysAreRefused)
{
	ASSERT_NO_FATAL_FAILURE(connect(1));
	Operation operation = get_of({}, result);
	EXPECT_EQ(client->start(operation), EINVAL);
}

TEST_P(ForeignTest, NoServerIsAnErrorThatNamesTheAddress)
{
	options.host = "unix:/nonexistent/socket";
	const Result<ClientFactory> factory = systems.find(GetParam())->open(options);
	ASSERT_TRUE(factory);
	const Result<std::unique_ptr<apps::StoreClient>> connected = (*factory)(0);
	ASSERT_FALSE(connected);
	EXPECT_NE(connected.error().message.find("/nonexistent/socket"), std::string::npos)
		<< connected.error().message;
}

INSTANTIATE_TEST_SUITE_P(Systems, ForeignTest, testing::Values("redis", "memcached"),
	[](const auto &parameter) { return std::string(parameter.param); });

} // namespace

int main(int argc, char **argv)
{
	std::signal(SIGPIPE, SIG_IGN);
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
