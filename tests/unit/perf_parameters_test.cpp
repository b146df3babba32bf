/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of the measuring tools: which options are accepted, what they mean, and the words of refusals. */
#include <gtest/gtest.h>

#include "common/parameters.hpp"

namespace
{

using namespace prism;
using namespace prism::perftest;

constexpr Tool read_lat{Operation::read, Metric::latency};
constexpr Tool read_bw{Operation::read, Metric::bandwidth};
constexpr Tool write_lat{Operation::write, Metric::latency};
constexpr Tool cas_lat{Operation::cas, Metric::latency};
constexpr Tool chain_lat{Operation::chain, Metric::latency};
constexpr Tool alloc_bw{Operation::allocate, Metric::bandwidth};

std::variant<Parameters, EarlyExit> parse(const Tool &tool, std::vector<const char *> arguments)
{
	arguments.insert(arguments.begin(), "tool");
	return parse_parameters(tool, static_cast<int>(arguments.size()), arguments.data());
}

Parameters accept(const Tool &tool, const std::vector<const char *> &arguments)
{
	const auto parsed = parse(tool, arguments);
	if (const auto *early = std::get_if<EarlyExit>(&parsed)) {
		ADD_FAILURE() << early->text;
		return {};
	}
	return std::get<Parameters>(parsed);
}

/* Expects a refusal that contains @p words. */
void refuse(const Tool &tool, const std::vector<const char *> &arguments, const std::string &words)
{
	const auto parsed = parse(tool, arguments);
	const auto *early = std::get_if<EarlyExit>(&parsed);
	ASSERT_NE(early, nullptr) << "accepted, expected a refusal with: " << words;
	EXPECT_EQ(ExitCode{early->code}, ExitCode::usage);
	EXPECT_NE(early->text.find(words), std::string::npos) << early->text;
	EXPECT_NE(early->text.find("--help"), std::string::npos) << early->text;
}

TEST(PerfParameters, NamesOfTools)
{
	EXPECT_EQ(read_lat.name(), "ib_prism_read_lat");
	EXPECT_EQ(alloc_bw.name(), "ib_prism_alloc_bw");
	EXPECT_EQ(chain_lat.name(), "ib_prism_chain_lat");
}

TEST(PerfParameters, DefaultsAreThoseOfPerftest)
{
	const Parameters parameters = accept(read_lat, {});
	EXPECT_TRUE(parameters.is_server());
	EXPECT_EQ(parameters.port, 18515);
	EXPECT_EQ(parameters.ib_port, 1U);
	EXPECT_EQ(parameters.qp_timeout, 14U);
	EXPECT_EQ(parameters.iterations_for(64), 1000U);
	EXPECT_FALSE(parameters.gid_index);
	EXPECT_EQ(parameters.access, Access::indirect);
	EXPECT_EQ(parameters.contest, Contest::prism);
}

TEST(PerfParameters, PerftestFlags)
{
	const Parameters parameters =
		accept(read_bw, {"-d", "prism_lo", "-p", "2000", "-s", "4096", "-n", "500", "-t", "64", "-m", "1024",
					"-x", "1", "-i", "2", "-u", "10", "-q", "4", "-c", "RC", "-F", "-l", "8", "-Q",
					"16", "--report_gbits", "--out_json_file=report.json", "host"});
	EXPECT_FALSE(parameters.is_server());
	EXPECT_EQ(parameters.host, "host");
	EXPECT_EQ(parameters.device, "prism_lo");
	EXPECT_EQ(parameters.port, 2000);
	EXPECT_EQ(parameters.size, 4096U);
	EXPECT_EQ(parameters.iterations_for(4096), 500U);
	EXPECT_EQ(parameters.tx_depth, 64U);
	EXPECT_EQ(parameters.mtu, 1024U);
	EXPECT_EQ(parameters.gid_index, 1);
	EXPECT_EQ(parameters.ib_port, 2U);
	EXPECT_EQ(parameters.qp_timeout, 10U);
	EXPECT_EQ(parameters.qps, 4U);
	EXPECT_EQ(parameters.post_list, 8U);
	EXPECT_EQ(parameters.cq_mod, 16U);
	EXPECT_TRUE(parameters.report_gbits);
	EXPECT_EQ(parameters.json.file, "report.json");
}

TEST(PerfParameters, LongFlags)
{
	const Parameters parameters =
		accept(read_bw, {"--ib-dev=prism_lo", "--port=2000", "--size=8", "--iters=9", "--tx-depth=4",
					"--mtu=256", "--qp=2", "--post_list=2", "--cq-mod=2", "--out_json"});
	EXPECT_EQ(parameters.device, "prism_lo");
	EXPECT_EQ(parameters.qps, 2U);
	EXPECT_TRUE(parameters.json.enabled);
}

TEST(PerfParameters, AccessAndContest)
{
	EXPECT_EQ(accept(read_lat, {"--direct"}).access, Access::direct);
	EXPECT_EQ(accept(read_lat, {"--bounded"}).access, Access::bounded);
	EXPECT_EQ(accept(write_lat, {}).access, Access::indirect);
	EXPECT_EQ(accept(cas_lat, {}).access, Access::direct);
	EXPECT_EQ(accept(cas_lat, {"--indirect"}).access, Access::indirect);
	EXPECT_EQ(accept(read_lat, {"--plain"}).contest, Contest::plain);
	EXPECT_EQ(accept(read_lat, {"--compare"}).contest, Contest::compare);
	EXPECT_EQ(accept(cas_lat, {"--mode=gt"}).cas_mode, CasMode::greater);
	EXPECT_EQ(accept(read_lat, {"--progress=thread"}).progress, Progress::thread);
}

TEST(PerfParameters, Chains)
{
	EXPECT_EQ(accept(chain_lat, {}).chain, ChainKind::alloc_cas);
	const Parameters parameters = accept(chain_lat, {"--chain=write-alloc-cas", "--scratch=device"});
	EXPECT_EQ(parameters.chain, ChainKind::write_alloc_cas);
	EXPECT_EQ(parameters.scratch, Scratch::device);
	EXPECT_TRUE(parameters.needs_free_list());
	refuse(chain_lat, {"--chain=cas-alloc"}, "--chain");
}

TEST(PerfParameters, Sizes)
{
	EXPECT_EQ(accept(read_lat, {"-s", "100"}).sizes(64), (std::vector<std::uint32_t>{100}));
	EXPECT_EQ(accept(read_lat, {"-a"}).sizes(16), (std::vector<std::uint32_t>{2, 4, 8, 16}));
	EXPECT_EQ(accept(read_lat, {"-a"}).sizes(std::size_t{1} << 30).back(), largest_size);
	EXPECT_EQ(accept(cas_lat, {"-a"}).sizes(4096), (std::vector<std::uint32_t>{8, 16, 32}));
}

TEST(PerfParameters, LargeMessagesRunFewerIterationsByDefault)
{
	const Parameters parameters = accept(read_bw, {});
	EXPECT_GT(parameters.iterations_for(64), parameters.iterations_for(1 << 20));
	EXPECT_GE(parameters.iterations_for(largest_size), 100U);
}

TEST(PerfParameters, RefusesWithReason)
{
	refuse(read_bw, {"-b"}, "one direction");
	refuse(read_lat, {"-c", "UD"}, "reliable connections");
	refuse(read_lat, {"--direct", "--bounded"}, "--direct excludes");
	refuse(read_lat, {"--plain", "--compare"}, "leave --plain out");
	refuse(read_lat, {"-D", "1", "-n", "100"}, "exclude each other");
	refuse(read_lat, {"-a", "-s", "64"}, "leave -s out");
	refuse(read_bw, {"-t", "8", "-l", "16"}, "-l 16");
	refuse(read_bw, {"-t", "8", "-Q", "16"}, "-Q 16");
	refuse(cas_lat, {"-s", "12"}, "12");
	refuse(read_lat, {"-m", "1500"}, "1500");
	refuse(read_lat, {"-n", "4"}, "--iters");
	refuse(read_lat, {"-s", "0"}, "--size");
	refuse(read_lat, {"-p", "70000"}, "--port");
	refuse(read_lat, {"-u", "32"}, "--qp-timeout");
	refuse(read_lat, {"-q", "2"}, "-q");
	refuse(read_lat, {"--nonsense"}, "--nonsense");
	refuse(read_lat, {"one", "two"}, "two");
}

TEST(PerfParameters, HelpAndVersionSucceed)
{
	for (const char *flag : {"--help", "-h", "--version", "-V"}) {
		const auto parsed = parse(read_lat, {flag});
		const auto *early = std::get_if<EarlyExit>(&parsed);
		ASSERT_NE(early, nullptr);
		EXPECT_EQ(ExitCode{early->code}, ExitCode::ok);
		EXPECT_NE(early->text.find("ib_prism_read_lat"), std::string::npos);
	}
}

TEST(PerfParameters, UnsortedImpliesHistogram)
{
	EXPECT_TRUE(accept(read_lat, {"-U"}).histogram);
	EXPECT_TRUE(accept(read_lat, {"-H"}).histogram);
	EXPECT_FALSE(accept(read_lat, {"-H"}).unsorted);
}

} // namespace
