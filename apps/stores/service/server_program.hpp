/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the server programs of all systems have in common: options, which may stand in a configuration file, the log,
 * metrics, memory, signals, and what the service manager is told (docs/operations.md).
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

/** What the user has said, by the words that all programs share. */
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

	/** Whether anybody will look at how long calls take. */
	[[nodiscard]] bool times_calls() const noexcept { return !metrics.empty(); }
	/** Fills in what they say of a one-sided server. */
	void apply(OneSidedServerOptions &options) const;
};

/** One server of a program. */
struct ServedStore {
	std::unique_ptr<Service> service;
	std::string ready; /**< the line that the program prints; it ends with ", port N" */
	Labels labels;     /**< of its metrics: {"store", ...}, and a number where there are several */
};

/** Reads "BYTES:COUNT"; nothing if it is something else. */
std::optional<BufferClass> parse_class(const std::string &text);
/** For options that are such classes: what is wrong with @p text, or nothing. */
std::string check_class(const std::string &text);

class ServerProgram
{
public:
	using Stores = std::vector<ServedStore>;
	/** Makes what is to be served. Errors end the program with 1. */
	using Make = std::function<Result<Stores>(const Context &context, const ServerSettings &settings)>;

	/** @p name: of the program. @p description: what its help begins with. */
	ServerProgram(const std::string &name, const std::string &description);

	/** For the program's own options. */
	[[nodiscard]] cli::CommandLine &command_line() noexcept { return command_line_; }
	/** Adds what is of servers that have clients: how many, and how long they are waited for. */
	void add_client_options();
	/** Adds -p, --port. */
	void add_port(std::uint16_t default_port);

	/** @p problem: called when the whole line is known, it returns what is wrong with it, or nothing. */
	void check(std::function<std::string()> problem) { problem_ = std::move(problem); }
	/**
	 * For check(), in a program that serves one store of several: which of @p options was given
	 * although @p store has it not.
	 */
	[[nodiscard]] std::string has_no(std::string_view store, std::initializer_list<const char *> options) const;

	/**
	 * Parses the line, makes what @p make makes, and serves until SIGINT or SIGTERM comes, which end it when what
	 * is under way has ended; a second one ends it at once. The exit code: 0; 1, if something could not be made or
	 * has failed; 2 for an error of usage. Call it before there are threads: it blocks these signals in all of
	 * them.
	 */
	int run(int argc, char **argv, const Make &make);

private:
	class Threads;
	class EndedBySignals;

	int run(const Make &make);
	Result<void> serve(const Make &make);
	[[nodiscard]] Error named(const Error &error) const;
	Result<std::unique_ptr<MetricsEndpoint>> tell_metrics(const Context &context, const Stores &stores) const;
	Result<void> serve(Stores &stores);
	void drain(Stores &stores) const;
	void print_stats(Stores &stores) const;

	const std::string name_;
	cli::CommandLine command_line_;
	std::function<std::string()> problem_ = [] { return std::string(); };
	ServerSettings settings_;
	LogLevel log_level_ = LogLevel::info;
};

} // namespace prism::apps
