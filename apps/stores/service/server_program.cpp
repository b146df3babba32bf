/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "server_program.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/failure_text.hpp"
#include "base/seconds.hpp"
#include "service/size_class.hpp"
#include "service/supervision.hpp"

namespace prism::apps
{

namespace
{

/* Most clients of a server: each needs memory and a descriptor. */
constexpr std::uint32_t most_connections = 1 << 16;

} // namespace

void ServerSettings::apply(OneSidedServerOptions &options) const
{
	options.address = address;
	options.port = port;
	options.max_connections = connections;
	options.answer_timeout = milliseconds(answer_timeout);
	options.log = log;
}

std::optional<BufferClass> parse_class(const std::string &text)
{
	BufferClass size_class;
	const char *const end = text.data() + text.size();
	const auto [colon, error] = std::from_chars(text.data(), end, size_class.buffer_size);
	if (error != std::errc{} || colon == end || *colon != ':')
		return std::nullopt;
	const auto [rest, no_count] = std::from_chars(colon + 1, end, size_class.count);
	if (no_count != std::errc{} || rest != end)
		return std::nullopt;
	return size_class;
}

std::string check_class(const std::string &text)
{
	constexpr std::uint32_t unit = 64;
	const std::optional<BufferClass> size_class = parse_class(text);
	const std::string wrong = "'" + text + "' is no size class: ";
	if (!size_class)
		return wrong + "write BYTES:COUNT";
	if (size_class->buffer_size == 0 || size_class->buffer_size % unit != 0)
		return wrong + fmt::format("the bytes of a buffer are a multiple of {}", unit);
	if (size_class->buffer_size > longest_object)
		return wrong + fmt::format("a buffer has {} bytes at most", longest_object);
	return size_class->count ? std::string() : wrong + "the number of buffers is at least 1";
}

/* Threads --------------------------------------------------------------------------------------------------------- */

/** One thread for each store. ended() becomes readable whenever one of them returns. */
class ServerProgram::Threads
{
public:
	/** @p ended: an eventfd. */
	Threads(Stores &stores, Descriptor ended) : ended_(std::move(ended)), running_(stores.size())
	{
		try {
			for (ServedStore &store : stores)
				threads_.emplace_back([this, &store] { serve(*store.service); });
		} catch (const std::system_error &) {
			for (ServedStore &store : stores)
				store.service->stop();
			throw;
		}
	}
	Threads(const Threads &) = delete;
	Threads &operator=(const Threads &) = delete;

	[[nodiscard]] int ended() const noexcept { return ended_.get(); }
	[[nodiscard]] bool all_ended() const noexcept { return !running_; }
	/** Waits for all threads. Errors: the first one that a store returned. */
	Result<void> join()
	{
		threads_.clear();
		return error_ ? Result<void>(*error_) : Result<void>();
	}
	[[nodiscard]] bool failed()
	{
		const std::lock_guard guard(lock_);
		return error_.has_value();
	}

private:
	void serve(Service &service)
	{
		const Result<void> served = result_of(service);
		if (!served) {
			const std::lock_guard guard(lock_);
			error_ = error_ ? error_ : served.error();
		}
		running_--;
		(void)::eventfd_write(ended_.get(), 1);
	}

	static Result<void> result_of(Service &service)
	{
		try {
			return service.serve();
		} catch (const std::system_error &error) { /* it could not start threads of its own */
			return Error{error.code().value(), text_of(error)};
		} catch (const std::bad_alloc &) {
			return Error{ENOMEM, no_memory};
		}
	}

	const Descriptor ended_;
	std::atomic<std::size_t> running_;
	std::mutex lock_;
	std::optional<Error> error_;
	std::vector<std::jthread> threads_; /* declared last: they use the other members */
};

/* Options ---------------------------------------------------------------------------------------------------------- */

ServerProgram::ServerProgram(const std::string &name, const std::string &description)
	: name_(name), command_line_(description)
{
	command_line_.add_version(name_);
	command_line_.add_config("--config",
		"File with options, such as 'port = 18620': names without dashes, a list as [\"a\", \"b\"]. What the "
		"command line says comes first");
	command_line_.add_option("-d,--ib-dev", settings_.device, "RDMA device (default: the first userspace device)");
	command_line_.add_option("--bind", settings_.address, "Address to listen on (default: all)");
	command_line_
		.add_option("--metrics", settings_.metrics,
			"Serve metrics for Prometheus at this address, HOST:PORT or PORT")
		.check(check_metrics_address);
	command_line_.add_choice<LogLevel>("--log-level", log_level_,
		{{"error", LogLevel::error}, {"warning", LogLevel::warning}, {"info", LogLevel::info},
			{"debug", LogLevel::debug}},
		"Log this and what is more urgent (default: info)");
	command_line_.add_flag("--json", settings_.json, "Print figures at the end, as JSON");
}

void ServerProgram::add_client_options()
{
	command_line_.add_option("--connections,--clients", settings_.connections, "At most so many clients")
		.check(cli::Range(1U, most_connections))
		.capture_default_str();
	command_line_
		.add_option("--answer-timeout", settings_.answer_timeout,
			"one-sided stores: seconds after which a client is cut off that does not answer the server's "
			"questions about lost buffers; 0: never")
		.check(cli::Seconds())
		.capture_default_str();
	command_line_
		.add_option("--stop-timeout", settings_.stop_timeout,
			"Seconds that clients have to end what is under way when the server is stopped")
		.check(cli::Seconds())
		.capture_default_str();
}

void ServerProgram::add_port(std::uint16_t default_port)
{
	settings_.port = default_port;
	command_line_.add_option("-p,--port", settings_.port, "TCP port for connections; 0: any").capture_default_str();
}

std::string ServerProgram::has_no(std::string_view store, std::initializer_list<const char *> options) const
{
	for (const char *const option : options) {
		if (command_line_.count(option))
			return fmt::format("{} has no {}: leave it out, or choose another --store", store, option);
	}
	return {};
}

/* A run ------------------------------------------------------------------------------------------------------------ */

int ServerProgram::run(int argc, char **argv, const Make &make)
{
	if (const auto early = command_line_.parse(name_, argc, argv))
		return early->print();
	if (const std::string problem = problem_(settings_); !problem.empty())
		return cli::usage_error(name_, problem).print();
	return cli::run_program([&] { return run(make); });
}

int ServerProgram::run(const Make &make)
{
	settings_.log = standard_error_log(name_, log_level_);
	cli::outlive_outputs();
	const sigset_t signals = ending_signals();
	pthread_sigmask(SIG_BLOCK, &signals, nullptr);
	if (const Result<void> served = serve(make); !served) {
		settings_.log(LogLevel::error, served.error().message);
		tell_service_manager(fmt::format("STATUS={}\nERRNO={}", served.error().message, served.error().code));
		return 1;
	}
	return 0;
}

Result<void> ServerProgram::serve(const Make &make)
{
	std::optional<EndedBySignals> ended_by_signals(std::in_place);
	Result<Context> context = Context::open(settings_.device, Progress::engine_thread);
	if (!context)
		return context.error();
	Result<Stores> stores = make(*context, settings_);
	if (!stores)
		return named(stores.error());
	Result<std::unique_ptr<MetricsEndpoint>> metrics = tell_metrics(*context, *stores);
	if (!metrics)
		return metrics.error();
	ended_by_signals.reset();
	std::string status;
	for (const ServedStore &store : *stores) {
		cli::print_or_end(store.ready + '\n');
		status += (status.empty() ? "" : "; ") + store.ready;
	}
	tell_service_manager("READY=1\nSTATUS=" + status);
	if (Result<void> served = serve(*stores); !served)
		return served;
	metrics->reset();
	if (settings_.json)
		print_stats(*stores);
	return {};
}

/**
 * Returns @p error, of a store that could not be made, with the option that causes it, if only this class knows that.
 */
Error ServerProgram::named(const Error &error) const
{
	const bool is_address = error.code == EADDRNOTAVAIL && !settings_.address.empty();
	return {error.code, (is_address ? "--bind: " : "") + error.message};
}

Result<std::unique_ptr<MetricsEndpoint>> ServerProgram::tell_metrics(const Context &context, const Stores &stores) const
{
	if (settings_.metrics.empty())
		return std::unique_ptr<MetricsEndpoint>();
	Result<std::unique_ptr<MetricsEndpoint>> endpoint = MetricsEndpoint::create(settings_.metrics);
	if (!endpoint)
		return endpoint.error();
	for (const ServedStore &store : stores) {
		const Service &service = *store.service;
		(*endpoint)->add([&service](std::vector<Metric> &metrics) { service.collect(metrics); }, store.labels);
	}
	(*endpoint)->add_device(context);
	settings_.log(LogLevel::info, fmt::format("metrics at port {}, as /metrics", (*endpoint)->port()));
	return endpoint;
}

/** Serves until a signal arrives or a store fails; that ends all of them. */
Result<void> ServerProgram::serve(Stores &stores)
{
	const sigset_t set = ending_signals();
	const Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	Descriptor ended(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (signals.get() < 0 || ended.get() < 0)
		return make_error(errno, "cannot wait for signals", "raise the limit of open files (ulimit -n)");
	Threads threads(stores, std::move(ended));
	bool draining = false;
	while (!threads.all_ended()) {
		std::array<pollfd, 2> waiting{{{signals.get(), POLLIN, 0}, {threads.ended(), POLLIN, 0}}};
		(void)::poll(waiting.data(), waiting.size(), -1);
		signalfd_siginfo signal{};
		const bool told = ::read(signals.get(), &signal, sizeof(signal)) == sizeof(signal);
		eventfd_t count = 0;
		(void)::eventfd_read(threads.ended(), &count);
		if (told && !draining) {
			draining = true;
			drain(stores);
		} else if (told || threads.failed()) {
			for (const ServedStore &store : stores)
				store.service->stop();
		}
	}
	return threads.join();
}

void ServerProgram::drain(Stores &stores) const
{
	tell_service_manager("STOPPING=1\nSTATUS=waits for what is under way");
	settings_.log(LogLevel::info, "stops when what is under way has ended");
	for (const ServedStore &store : stores)
		store.service->drain(milliseconds(settings_.stop_timeout));
}

void ServerProgram::print_stats(Stores &stores) const
{
	for (const ServedStore &store : stores)
		cli::print_or_end(store.service->final_stats() + '\n');
}

} // namespace prism::apps
