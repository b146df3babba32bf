/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The command line of the measuring tools: perftest's flags where perftest has one for the purpose. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/command_line.hpp"
#include "common/error.hpp"
#include "common/report.hpp"

namespace prism::perftest
{

enum class Operation : std::uint8_t {
	read = 1,
	write,
	cas,
	allocate,
	chain,
};

enum class Metric : std::uint8_t {
	latency = 1,
	bandwidth,
};

/** Subject of a tool's measurements; one for each program. */
struct Tool {
	Operation operation;
	Metric metric;

	/** Returns the name, such as "ib_prism_read_lat". */
	[[nodiscard]] std::string name() const;
};

enum class ChainKind : std::uint8_t {
	alloc_cas = 1,   /**< the update of PRISM-KV */
	write_alloc_cas, /**< the install of PRISM-RS */
};

/** Contestants of a run. */
enum class Contest : std::uint8_t {
	prism,
	plain,
	compare, /**< all of them, interleaved in one run */
};

enum class Access : std::uint8_t {
	direct,
	indirect,
	bounded, /**< indirect through a bounded pointer */
};

enum class Scratch : std::uint8_t {
	host,
	device, /**< ibv_alloc_dm() */
};

/** Comparisons, with the values of enum prismdv_cas_mode. */
enum class CasMode : std::uint8_t {
	equal,
	greater,
	less,
};

/** Progress modes, with the values of enum prismdv_progress_mode; 0: the tool chooses, client inline, server thread. */
enum class Progress : std::uint8_t {
	unset,
	in_line,
	thread,
};

/** Carriers, with the values of enum prismdv_path. */
enum class Carrier : std::uint8_t {
	unset,
	udp,
	local,
};

inline constexpr std::size_t largest_size = std::size_t{1} << 23; /* the end of perftest's -a */

struct Parameters {
	Tool tool{};
	std::string host; /**< empty: this is the server */
	std::string device;
	std::uint16_t port = 18515;
	std::uint32_t ib_port = 1;
	std::optional<int> gid_index;
	std::uint32_t mtu = 0; /**< bytes; 0: of the port */
	std::uint32_t size = 64;
	bool all_sizes = false;
	std::uint64_t iterations = 0; /**< 0: by size, see iterations_for() */
	std::uint32_t duration = 0;   /**< seconds; 0: count iterations */
	std::uint32_t tx_depth = 0;   /**< requests in flight for each QP; 0: the device's limit */
	std::uint32_t qps = 1;
	std::uint32_t post_list = 0; /**< jobs for each doorbell; 0: chosen by the driver */
	std::uint32_t cq_mod = 0;    /**< jobs for each completion; 0: chosen by the driver */
	std::uint32_t inline_size = 0;
	std::uint32_t qp_timeout = 14;
	bool histogram = false;
	bool unsorted = false;
	bool report_gbits = false;
	bool warm_up = false;
	Access access = Access::direct;
	Contest contest = Contest::prism;
	ChainKind chain = ChainKind::alloc_cas;
	CasMode cas_mode = CasMode::equal;
	Scratch scratch = Scratch::host;
	Progress progress = Progress::unset;
	Carrier carrier = Carrier::unset;
	JsonOutput json;

	[[nodiscard]] bool is_server() const { return host.empty(); }

	/** Returns the iterations for messages of @p message_size bytes, when no duration is set. */
	[[nodiscard]] std::uint64_t iterations_for(std::size_t message_size) const;

	/** Returns the sizes to run, none above @p limit unless the user named it with -s. */
	[[nodiscard]] std::vector<std::uint32_t> sizes(std::size_t limit) const;

	/** Returns true if jobs take buffers of a free list. */
	[[nodiscard]] bool needs_free_list() const;
};

using cli::EarlyExit;

/** Reads the command line of @p tool; an error of usage ends it with ExitCode::usage. */
[[nodiscard]] std::variant<Parameters, EarlyExit> parse_parameters(const Tool &tool, int argc, const char *const *argv);

} // namespace prism::perftest
