/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part that the server programs of all systems share: options, which may be in a configuration file, the log,
 * metrics, memory, signals, and the messages to the service manager (docs/operations.md).
 */
#pragma once

#include <prism/device.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/command_line.hpp"
#include "service/log.hpp"
#include "service/one_sided_server.hpp"
#include "service/service.hpp"

namespace prism::apps
{

/** The user's settings that all programs share. */
struct ServerSettings {
	std::string device;
	std::string address;
	std::uint16_t port = 0;
	std::uint32_t connections = 64;
	std::string metrics; /**< address of the endpoint; empty: none */
	bool json = false;   /**< print figures at the end */
	double answer_timeout = 60;
	double stop_timeout = 5;
	LogSink log;

	/** Returns true if somebody will look at the durations of calls. */
	[[nodiscard]] bool times_calls() const noexcept { return !metrics.empty(); }
	/** Fills in the settings of a one-sided server. */
	void apply(OneSidedServerOptions &options) const;
};

/** One server of a program. */
struct ServedStore {
	std::unique_ptr<Service> service;
	std::string ready; /**< the line that the program prints; it ends with ", port N" */
	Labels labels;     /**< of its metrics: {"store", ...}, and a number if there are several */
};

/** Parses "BYTES:COUNT"; returns nothing if @p text is something else. */
std::optional<BufferClass> parse_class(const std::string &text);
/** Returns what is wrong with @p text as such a class; empty if nothing is. For options. */
std::string check_class(const std::string &text);

class ServerProgram
{
public:
	using Stores = std::vector<ServedStore>;
	/** Makes the stores to serve. Errors end the program with 1. */
	using Make = std::function<Result<Stores>(const Context &context, const ServerSettings &settings)>;

	/** @p name: of the program. @p description: beginning of its help. */
	ServerProgram(const std::string &name, const std::string &description);

	/** Returns the command line, for the program's own options. */
	[[nodiscard]] cli::CommandLine &command_line() noexcept { return command_line_; }
	/** Adds the options of servers with clients: their number, and the time to wait for them. */
	void add_client_options();
	/** Adds -p, --port. */
	void add_port(std::uint16_t default_port);

	using Check = std::function<std::string(const ServerSettings &settings)>;

	/** @p problem: called when the whole line is known; it returns what is wrong with it, empty if nothing is. */
	void check(Check problem) { problem_ = std::move(problem); }
	/**
	 * For check(), in a program that serves one store of several: names one of @p options that was given although
	 * @p store does not have it.
	 */
	[[nodiscard]] std::string has_no(std::string_view store, std::initializer_list<const char *> options) const;

	/**
	 * Parses the line, makes the stores by @p make, and serves until SIGINT or SIGTERM comes. Such a signal ends it
	 * when the operations under way have ended; a second one ends it at once. Returns the exit code: 0; 1, if
	 * something could not be made or has failed; 2 for a usage error. Call it before there are threads: it blocks
	 * these signals in all of them.
	 */
	int run(int argc, char **argv, const Make &make);

private:
	class Threads;

	int run(const Make &make);
	Result<void> serve(const Make &make);
	[[nodiscard]] Error named(const Error &error) const;
	Result<std::unique_ptr<MetricsEndpoint>> tell_metrics(const Context &context, const Stores &stores) const;
	Result<void> serve(Stores &stores);
	void drain(Stores &stores) const;
	void print_stats(Stores &stores) const;

	const std::string name_;
	cli::CommandLine command_line_;
	Check problem_ = [](const ServerSettings & /*settings*/) { return std::string(); };
	ServerSettings settings_;
	LogLevel log_level_ = LogLevel::info;
};

} // namespace prism::apps
