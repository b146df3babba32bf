/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-gam-node: a node of a global memory that lends memory and uses none, until it is interrupted.
 * Exit codes: 0; 1 if it could not join, or was declared dead; 2 for an error of usage.
 */
#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/saturating.hpp"
#include "gam/api/joined_node.hpp"
#include "gam/membership/master_location.hpp"
#include "service/server_program.hpp"

namespace
{

using namespace prism;
using namespace prism::gam;

/** Returns the next step after a log has failed with @p error. */
std::string remedy(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "start the node again with a log that has room";
	case EFBIG:
		return "raise the limit of files' sizes (ulimit -f), and start the node again";
	case ENOENT: /* it cannot come back as the node that it was */
		return "its folder has been removed: save what the node lends, and start it again with another folder";
	default:
		return "start the node again with a log in a folder that can be written";
	}
}

class NodeService final : public apps::Service
{
public:
	NodeService(std::unique_ptr<JoinedNode> joined, apps::LogSink log)
		: joined_(std::move(joined)), log_(std::move(log))
	{
	}

	[[nodiscard]] std::uint16_t port() const noexcept override { return joined_->port(); }
	/** The node's own thread does the work. */
	Result<void> serve() override
	{
		while (!stopping_) {
			if (Result<void> member = joined_->check(); !member)
				return member;
			tell_if_log_failed();
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
		}
		return joined_->leave([this] { return hurries_.load(); });
	}
	void drain(std::chrono::milliseconds /*limit*/) noexcept override { stopping_ = true; }
	void stop() noexcept override { stopping_ = hurries_ = true; }
	[[nodiscard]] std::string final_stats() override
	{
		const CoherenceStats stats = joined_->node().stats();
		return nlohmann::json{{"node", joined_->node().self()}, {"hits", stats.hits}, {"misses", stats.misses},
			{"messages", stats.messages}, {"events", stats.events}, {"refused", stats.refused},
			{"lost_values", stats.lost_values}, {"free_bytes", joined_->node().available()}}
			.dump(2);
	}
	void collect(std::vector<apps::Metric> &metrics) const override
	{
		const CoherenceStats stats = joined_->node().stats();
		using Kind = apps::Metric::Kind;
		metrics.push_back({Kind::counter, "prism_gam_messages_total", "messages sent to other nodes",
			static_cast<double>(stats.messages), {}});
		metrics.push_back({Kind::counter, "prism_gam_home_events_total",
			"messages heard as the home of a block", static_cast<double>(stats.events), {}});
		metrics.push_back({Kind::counter, "prism_gam_refused_total",
			"messages that no rule of the protocol allows", static_cast<double>(stats.refused), {}});
		metrics.push_back({Kind::gauge, "prism_gam_free_bytes", "lent memory that is not allocated",
			static_cast<double>(joined_->node().available()), {}});
	}

private:
	/** Reports damage to the log, and a failed log, once: the node goes on without one. */
	void tell_if_log_failed()
	{
		if (const std::string trouble = joined_->log_trouble(); trouble != trouble_)
			apps::log_to(log_, apps::LogLevel::error, trouble_ = trouble);
		const int error = joined_->log_error();
		if (error && !std::exchange(told_, true))
			apps::log_to(log_, apps::LogLevel::error,
				"the log cannot be written any more: " + std::generic_category().message(error) + "; " +
					remedy(error));
	}

	std::unique_ptr<JoinedNode> joined_;
	const apps::LogSink log_;
	bool told_ = false;
	std::string trouble_; /* last one told */
	std::atomic<bool> stopping_{false};
	std::atomic<bool> hurries_{false}; /* only tells the master */
};

struct Options {
	JoinOptions join;
	std::uint64_t mebibytes = 64;
};

std::string describe(const RecoveryReport &report)
{
	std::string text =
		fmt::format("recovered {} blocks, {} wait, {} lost", report.recovered, report.waiting, report.lost);
	if (report.damaged)
		text += fmt::format("; its log has {} gaps", report.damaged);
	return text;
}

Result<apps::ServerProgram::Stores> make(const Context &context, Options options, const apps::ServerSettings &settings)
{
	if (!settings.address.empty())
		options.join.address = settings.address;
	options.join.port = settings.port;
	options.join.node.bytes = options.mebibytes << 20;
	options.join.peers_log = settings.log;
	Result<std::unique_ptr<JoinedNode>> joined = JoinedNode::join(context, options.join);
	if (!joined)
		return joined.error();
	const std::string ready = fmt::format("node {} of a global memory, lends {} MiB, port {}{}",
		joined.value()->node().self(), options.mebibytes, joined.value()->port(),
		options.join.log.folder.empty() ? "" : ", " + describe(joined.value()->recovery()));
	apps::ServerProgram::Stores stores;
	const std::string number = std::to_string(joined.value()->node().self());
	stores.push_back({std::make_unique<NodeService>(*std::move(joined), settings.log), ready, {{"node", number}}});
	return stores;
}

} // namespace

int main(int argc, char **argv)
{
	Options options;
	std::string folder;
	apps::ServerProgram program("prism-gam-node", "Lends memory to a global memory, and answers for it.");
	cli::CommandLine &app = program.command_line();
	app.add_option("-m,--master", options.join.master, "HOST:PORT of prism-gam-master, or etcd://HOST:PORT/KEY")
		.check(check_master)
		.capture_default_str();
	app.add_option("--memory", options.mebibytes, "MiB to lend")
		.capture_default_str()
		.check(cli::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
	app.add_choice<Protocol>("--protocol", options.join.protocol,
		{{"directory", Protocol::directory}, {"latch", Protocol::latch}}, "which all nodes speak");
	app.add_option("--log", folder, "keep a log in this folder, and come back by it").check(cli::NotEmpty());
	app.add_flag("--durable", options.join.log.durable,
		"with --log: what a session of this node has fenced is in the log, and what another's log alone has is "
		"waited for");
	program.add_port(0);
	program.check([&](const apps::ServerSettings & /*settings*/) {
		if (folder.empty())
			return options.join.log.durable ? "--durable without --log: give the folder of the log" : "";
		return options.join.protocol == Protocol::directory
			       ? ""
			       : "--log: the directory protocol alone has logs; docs/gam-recovery.md says why";
	});
	return program.run(argc, argv, [&](const Context &context, const apps::ServerSettings &settings) {
		options.join.log.folder = folder;
		return make(context, options, settings);
	});
}
