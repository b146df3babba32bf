/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-gam-master: the master of one global memory: numbers, leases, deaths of nodes.
 * Exit codes: 0; 1 if it cannot listen; 2 for an error of usage.
 */
#include <csignal>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/command_line.hpp"
#include "base/seconds.hpp"
#include "gam/membership/master_service.hpp"
#include "service/log.hpp"
#include "service/supervision.hpp"

namespace
{

using namespace prism;

int complain(const Error &error)
{
	apps::standard_error_log("prism-gam-master", apps::LogLevel::info)(apps::LogLevel::error, error.message);
	return 1;
}

/** Serves until SIGINT or SIGTERM comes. */
int serve(gam::MasterService &service, const sigset_t &ends)
{
	std::jthread waiter([&service, &ends] {
		int signal = 0;
		sigwait(&ends, &signal);
		apps::tell_service_manager("STOPPING=1");
		service.stop();
	});
	const Result<void> served = service.run();
	if (served)
		return 0;
	(void)pthread_kill(waiter.native_handle(), SIGTERM);
	return complain(served.error());
}

int run(const gam::MasterServiceOptions &options)
{
	const sigset_t ends = apps::ending_signals();
	pthread_sigmask(SIG_BLOCK, &ends, nullptr);
	std::optional<apps::EndedBySignals> ended_by_signals(std::in_place);
	const Result<std::unique_ptr<gam::MasterService>> service = gam::MasterService::create(options);
	ended_by_signals.reset();
	if (!service)
		return complain(service.error());
	cli::print_or_end(fmt::format("prism-gam-master: ready, port {}\n", service.value()->port()));
	apps::tell_service_manager(fmt::format("READY=1\nSTATUS=port {}", service.value()->port()));
	return serve(*service.value(), ends);
}

} // namespace

int main(int argc, char **argv)
{
	gam::MasterServiceOptions options;
	options.port = 18660;
	double lease = 2;
	cli::CommandLine app(
		"Brings the nodes of a global memory together: gives them numbers and leases, and declares dead who "
		"does not renew its lease. What is in the memory does not pass through it.");
	app.add_help_and_version("prism-gam-master");
	app.add_config("--config",
		"file with options, such as 'lease = 1': names without dashes. What the command line says "
		"comes first");
	app.add_option("-p,--port", options.port, "TCP port; 0: any").capture_default_str();
	app.add_option("--bind,--address", options.address, "to listen on; all, if it is not given");
	app.add_option("--lease", lease, "seconds after which a silent node is dead")
		.capture_default_str()
		.check(cli::Range(0.05, 600.0));
	if (const auto ended = app.parse("prism-gam-master", argc, argv))
		return ended->print();
	options.lease = apps::milliseconds(lease);

	cli::outlive_outputs();
	return cli::run_program([&] { return run(options); });
}
