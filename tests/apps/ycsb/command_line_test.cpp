/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Command line of prism-ycsb: accepted options, their meaning, and the messages for refused ones. */
#include <gtest/gtest.h>

#include "bench/ycsb/parameters.hpp"

namespace
{

using namespace prism;
using namespace prism::bench;
using namespace prism::ycsb;

Systems two_systems()
{
	const auto none = [](const SystemOptions &) -> Result<ClientFactory> { return make_error(ENOTSUP, "none"); };
	Systems systems;
	systems.add({"first", "the first one", 1111, none});
	systems.add({"second", "the second one", 2222, none});
	return systems;
}

std::variant<Parameters, EarlyExit> parse(std::vector<const char *> arguments)
{
	arguments.insert(arguments.begin(), "prism-ycsb");
	return parse_parameters(two_systems(), static_cast<int>(arguments.size()), arguments.data());
}

Parameters accept(const std::vector<const char *> &arguments)
{
	const auto parsed = parse(arguments);
	if (const auto *early = std::get_if<EarlyExit>(&parsed)) {
		ADD_FAILURE() << early->text;
		return {};
	}
	return std::get<Parameters>(parsed);
}

void refuse(const std::vector<const char *> &arguments, const std::string &words)
{
	const auto parsed = parse(arguments);
	const auto *early = std::get_if<EarlyExit>(&parsed);
	ASSERT_NE(early, nullptr) << "accepted, expected a refusal with: " << words;
	EXPECT_EQ(early->code, 2);
	EXPECT_NE(early->text.find(words), std::string::npos) << early->text;
}

TEST(CommandLine, Defaults)
{
	const Parameters parameters = accept({"--system", "second"});
	EXPECT_EQ(parameters.connection.host, "127.0.0.1");
	EXPECT_EQ(parameters.connection.port, 2222);
	EXPECT_EQ(parameters.connection.value_size, 512U);
	EXPECT_EQ(parameters.run.mix.name, 'C');
	EXPECT_EQ(parameters.run.distribution, bench::Distribution::zipfian);
	EXPECT_EQ(parameters.run.key_size, 8U);
	EXPECT_EQ(parameters.run.duration, 5);
	EXPECT_EQ(parameters.run.requests, 0U);
	EXPECT_EQ(parameters.run.rate, 0);
	EXPECT_TRUE(parameters.run.load);
}

TEST(CommandLine, EverythingArrives)
{
	const Parameters parameters = accept({"--system=first", "-p", "99", "-d", "prism_lo", "--mix=d", "--theta=0.5",
		"--records=77", "--key-size=16", "-s", "100", "--threads=2", "--processes=3", "--clients=4", "-t", "5",
		"-n", "1000", "--warm-up=0.5", "--rate=2000", "--arrivals=poisson", "--verify", "--no-load",
		"--json=report.json", "host.example"});
	EXPECT_EQ(parameters.connection.host, "host.example");
	EXPECT_EQ(parameters.connection.port, 99);
	EXPECT_EQ(parameters.connection.device, "prism_lo");
	EXPECT_EQ(parameters.connection.depth, 5U);
	EXPECT_EQ(parameters.connection.key_size, 16U);
	EXPECT_EQ(parameters.run.mix.name, 'D');
	EXPECT_EQ(parameters.run.distribution, bench::Distribution::latest);
	EXPECT_EQ(parameters.run.all_clients(), 24U);
	EXPECT_EQ(parameters.run.requests, 1000U);
	EXPECT_EQ(parameters.run.duration, 0);
	EXPECT_EQ(parameters.run.arrivals, Arrivals::poisson);
	EXPECT_TRUE(parameters.run.verify);
	EXPECT_FALSE(parameters.run.load);
	EXPECT_EQ(parameters.json_file, "report.json");
}

TEST(CommandLine, DistributionOverridesThatOfTheMix)
{
	EXPECT_EQ(accept({"--system=first", "--mix=A", "--distribution=uniform"}).run.distribution,
		bench::Distribution::uniform);
}

TEST(CommandLine, ReadsInPlaceOfAMix)
{
	const Parameters parameters = accept({"--system=first", "--read-ratio=99", "--distribution=uniform"});
	EXPECT_DOUBLE_EQ(parameters.run.mix.share[0], 0.99);
	EXPECT_DOUBLE_EQ(parameters.run.mix.share[1], 1 - 0.99);
	EXPECT_EQ(parameters.run.distribution, bench::Distribution::uniform);
	EXPECT_EQ(accept({"--system=first", "--read-ratio=0"}).run.distribution, bench::Distribution::zipfian);
}

TEST(CommandLine, YieldsWhenCoresAreFew)
{
	EXPECT_TRUE(accept({"--system=first", "--threads=1000"}).run.yield);
	EXPECT_FALSE(accept({"--system=first", "--threads=1000", "--no-yield"}).run.yield);
	EXPECT_TRUE(accept({"--system=first", "--yield"}).run.yield);
}

TEST(CommandLine, Refusals)
{
	refuse({}, "--system");
	refuse({"--system=third"}, "third");
	refuse({"--system=first", "--mix=E"}, "E");
	refuse({"--system=first", "-D", "1", "-n", "5"}, "excludes");
	refuse({"--system=first", "--records=0"}, "no records");
	refuse({"--system=first", "--key-size=300"}, "300 bytes");
	refuse({"--system=first", "--distribution=normal"}, "normal");
	refuse({"--system=first", "--bogus"}, "bogus");
	refuse({"--system=first", "--read-ratio=101"}, "101");
	refuse({"--system=first", "--read-ratio=50", "--mix=A"}, "excludes");
	refuse({"--system=first", "--cache=50"}, "first has no --cache");
}

TEST(CommandLine, HelpNamesTheSystems)
{
	const auto parsed = parse({"--help"});
	const auto &early = std::get<EarlyExit>(parsed);
	EXPECT_EQ(early.code, 0);
	EXPECT_NE(early.text.find("the second one (port 2222)"), std::string::npos) << early.text;
}

TEST(Systems, LastOfANameWins)
{
	Systems systems = two_systems();
	systems.add({"first", "another", 5, {}});
	EXPECT_EQ(systems.all().size(), 2U);
	EXPECT_EQ(systems.find("first")->default_port, 5);
	EXPECT_EQ(systems.find("none"), nullptr);
}

} // namespace
