/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/server/server.hpp"

#include "base/saturating.hpp"
#include "rpc/protocol/introduction.hpp"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>

namespace prism::rpc
{

namespace
{

constexpr std::uint32_t thread_limit = 256;
constexpr std::uint32_t connection_limit = 4096;
constexpr std::uint32_t receive_limit = 65536;

} // namespace

/** A client that is not ready yet. */
class Server::PendingConnection final : public apps::Reception::AcceptedConnection
{
public:
	PendingConnection(Server &owner, std::shared_ptr<Connection> made)
		: server_(owner), connection_(std::move(made))
	{
	}
	~PendingConnection() override
	{
		if (connection_)
			server_.part(connection_);
	}

	void enter() override
	{
		server_.connections_.push_back(std::exchange(connection_, nullptr));
		server_.accepted_.fetch_add(1, std::memory_order_relaxed);
	}

private:
	Server &server_;
	std::shared_ptr<Connection> connection_;
};

Server::Server(const ProtectionDomain &domain, CallHandler &calls, StoreIdentity who, ServerOptions options,
	std::unique_ptr<apps::Reception> clients, ServerWay way)
	: pd_(domain), handler_(calls), identity_(std::move(who)), state_{std::move(options)}, way_(std::move(way)),
	  reception_(std::move(clients))
{
}

Server::~Server() = default;

Result<void> Server::check(const StoreIdentity &identity_, const ServerOptions &options)
{
	const auto between = [](std::uint32_t value, std::uint32_t low, std::uint32_t high) {
		return value >= low && value <= high;
	};
	if (!between(options.max_key_size, 1, 65535) ||
		std::uint64_t{options.max_key_size} + options.max_value_size + message_header_size > max_message_size)
		return make_error(EINVAL, "keys and values of the sizes asked for (--key-size, --value-size)",
			"a key has at least a byte, and the longest key and value have 65,512 bytes together at most");
	if (identity_.message_size && !between(identity_.message_size, message_header_size, max_message_size))
		return make_error(EINVAL, "messages of " + std::to_string(identity_.message_size) + " bytes",
			"they may have up to 65,536");
	struct Bound {
		std::uint32_t value, most;
		const char *what;
	};
	for (const auto &[value, most, what] : {Bound{options.threads, thread_limit, "threads (--threads)"},
		     Bound{options.max_depth, depth_limit, "calls on a connection (--depth)"},
		     Bound{options.max_connections, connection_limit,
			     "connections (--connections; jakiro's clients have one to each of its --threads)"},
		     Bound{options.receive_buffers, receive_limit, "buffers for calls (--receive-buffers)"}}) {
		if (!between(value, 1, most))
			return make_error(EINVAL, std::to_string(value) + " " + what,
				"1 to " + std::to_string(most) + " are possible");
	}
	return {};
}

Result<void> Server::announce_memory(
	apps::MemoryPlan store, const Context &context, std::uint32_t message_size, const ServerOptions &options)
{
	ServerWay::plan(store, options, sizes(message_size, options));
	return apps::announce_memory(store, context, options.log,
		"lower the number of records, their sizes, the connections, or the calls of each");
}

std::uint64_t Server::planned_memory(std::uint32_t message_size, const ServerOptions &options)
{
	apps::MemoryPlan plan;
	ServerWay::plan(plan, options, sizes(message_size, options));
	return plan.total();
}

Result<std::unique_ptr<Server>> Server::create(
	const ProtectionDomain &pd_, CallHandler &handler_, StoreIdentity identity_, ServerOptions options)
{
	if (Result<void> checked = check(identity_, options); !checked)
		return checked.error();
	Result<TcpListener> listening = TcpListener::create(options.port, options.address);
	if (!listening)
		return listening.error();
	Result<std::unique_ptr<apps::Reception>> clients =
		apps::Reception::create(*std::move(listening), apps::Hello{identity_.kind}, options.setup_timeout);
	if (!clients)
		return clients.error();
	Result<ServerWay> way =
		ServerWay::create(pd_, options, sizes(identity_.message_size, options), identity_.access_flags);
	if (!way)
		return way.error();
	/* The constructor is private: no make_unique. */
	std::unique_ptr<Server> server(new Server(
		pd_, handler_, std::move(identity_), std::move(options), *std::move(clients), *std::move(way)));
	if (server->wake_.get() < 0)
		return make_error(errno, "cannot create an event descriptor");
	if (Result<void> created = server->create_workers(); !created)
		return created.error();
	return server;
}

ChannelSizes Server::sizes(std::uint32_t message_size, const ServerOptions &options) noexcept
{
	const std::size_t longest = message_size ? message_size : message_header_size + options.max_value_size;
	ChannelSizes sizes;
	sizes.request = message_size ? message_size : longest + options.max_key_size;
	sizes.response = apps::rounded_up(longest, 64);
	sizes.depth = options.max_depth;
	return sizes;
}

Result<void> Server::create_workers()
{
	for (unsigned i = 0; i < settings().threads; i++) {
		Result<CompletionQueue> cq =
			CompletionQueue::create(pd_.context(), static_cast<int>(way_.completions()));
		if (!cq)
			return cq.error();
		std::unique_ptr<CallDevice> device = way_.device(*cq);
		Result<std::unique_ptr<Transport>> transport = way_.transport(*cq, *device);
		if (!transport)
			return transport.error();
		workers_.push_back(std::make_unique<Worker>(state_, std::move(device), *std::move(transport)));
	}
	return {};
}

/** Returns the number of concurrent calls that the client announces. Errors: it is no client of this server, EINVAL. */
Result<std::uint32_t> Server::announced(const ConnectionRecord &theirs) const
{
	Result<apps::Hello> hello = apps::Hello{identity_.kind}.expect(theirs, "the client");
	if (!hello)
		return hello.error();
	const std::uint32_t calls = hello->max_depth;
	if (calls == 0 || calls > settings().max_depth)
		return make_error(EINVAL, "a client with " + std::to_string(calls) + " calls at once",
			"this server takes 1 to " + std::to_string(settings().max_depth));
	return calls;
}

/** Checks that there is room for one more client, with @p calls concurrent calls. */
Result<void> Server::check_room(std::uint32_t calls) const
{
	if (met_ >= settings().max_connections)
		return make_error(EMFILE, "there are " + std::to_string(met_) + " connections already",
			"raise the server's number of connections");
	if (way_.promises_buffers() && calls > settings().receive_buffers - promised_)
		return make_error(ENOBUFS,
			"a client with " + std::to_string(calls) + " calls at once finds " +
				std::to_string(settings().receive_buffers - promised_) + " of " +
				std::to_string(settings().receive_buffers) + " receive buffers left",
			"ask for a smaller depth, or raise the server's number of receive buffers");
	return {};
}

Result<Introduction> Server::introduction(const ConnectionRecord &theirs) const
{
	const Result<Introduction> wanted = Introduction::parse(apps::Hello::own_part(theirs.private_data));
	if (!wanted)
		return wanted.error();
	if (wanted->way != settings().way)
		return make_error(EPROTONOSUPPORT,
			"a client that calls by " + std::string(to_string(wanted->way)) +
				", and this server answers by " + std::string(to_string(settings().way)),
			"give both the same way");
	return wanted;
}

/** Returns the former worker of @p client. Ends its old connection, if it has not ended yet. Errors: ESTALE. */
Result<std::uint32_t> Server::find_again(const Introduction &client)
{
	const auto found = seen_.find(client.client);
	if (found == seen_.end())
		return make_error(ESTALE, "a client comes back that this server does not know",
			"the server was started again, or too much time has passed: what was under way may have been "
			"done");
	const std::shared_ptr<Connection> before = found->second.connection.lock();
	const auto open = std::find(connections_.begin(), connections_.end(), before);
	if (before && open != connections_.end()) {
		connections_.erase(open);
		part(before);
	}
	return found->second.worker;
}

/** Returns the worker for a client: the one it asks for, or the one with the fewest connections. */
Result<std::uint32_t> Server::assign(const Introduction &client)
{
	if (client.stay == Stay::again)
		return find_again(client);
	const Introduction *const wanted = &client;
	if (wanted->worker != Introduction::any_worker && wanted->worker >= workers_.size())
		return make_error(EINVAL, "a client of worker " + std::to_string(wanted->worker),
			"there are " + std::to_string(workers_.size()));
	const auto least = std::min_element(workers_.begin(), workers_.end(),
		[](const auto &one, const auto &other) { return one->load() < other->load(); });
	const auto chosen = wanted->worker == Introduction::any_worker
				    ? static_cast<std::uint32_t>(least - workers_.begin())
				    : wanted->worker;
	if (workers_[chosen]->load() >= 2 * settings().connections_of_worker())
		return make_error(EAGAIN, "workers soon let go of connections that were closed a moment ago");
	return chosen;
}

namespace
{

/**
 * Has the kernel ask a silent client's host now and then if it is there: one that vanishes sends no FIN, and its client
 * would keep a place for ever. Such a socket becomes readable 15 s after the last sign of life.
 */
void notice_vanished(int socket) noexcept
{
	const auto set = [socket](int level, int option, int value) {
		(void)::setsockopt(socket, level, option, &value, sizeof(value));
	};
	set(SOL_SOCKET, SO_KEEPALIVE, 1);
	set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
	set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
	set(IPPROTO_TCP, TCP_KEEPCNT, 5);
}

} // namespace

Result<std::shared_ptr<Connection>> Server::connect(const apps::Reception::Link &link, const ConnectionRecord &theirs,
	const Introduction &client, const SessionPlace &place, ConnectionRecord &mine)
{
	Worker &worker = *workers_[place.worker];
	Result<std::unique_ptr<Channel>> channel = worker.transport().open(theirs, place.calls, mine);
	if (!channel)
		return channel.error();
	std::unique_ptr<CallSession> session =
		handler_.open({settings().max_key_size, settings().max_value_size}, place);
	auto connection = std::make_shared<Connection>(
		link, *std::move(channel), std::move(session), place.calls, client, worker);
	notice_vanished(link->fd());
	const Result<void> connected = connection->channel->connect(theirs.endpoint);
	/*
	 * From here on the channel belongs to the worker alone, which may also destroy it at any moment. The client
	 * learns only after this where to send.
	 */
	worker.add(connection);
	if (!connected) {
		worker.remove(connection);
		return connected.error();
	}
	if (client.stay != Stay::once)
		seen_[client.client] = {place.worker, connection, std::chrono::steady_clock::time_point::max()};
	return connection;
}

Result<std::unique_ptr<apps::Reception::AcceptedConnection>> Server::on_connect(
	const apps::Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine)
{
	const Result<std::uint32_t> calls = announced(theirs);
	if (!calls)
		return calls.error();
	const Result<Introduction> client = introduction(theirs);
	if (!client)
		return client.error();
	const Result<std::uint32_t> worker = assign(*client);
	if (!worker)
		return worker.error();
	/* If the client comes back, its old connection has ended, and left its place. */
	if (Result<void> room = check_room(*calls); !room)
		return room.error();
	mine.regions = identity_.regions;
	Result<std::shared_ptr<Connection>> connection = connect(link, theirs, *client, {*calls, *worker}, mine);
	if (!connection)
		return connection.error();
	const apps::Hello hello{
		identity_.kind, settings().max_key_size, settings().max_value_size, settings().max_depth};
	mine.private_data = hello.serialize(identity_.own);
	met_++;
	promised_ += *calls;
	return std::unique_ptr<apps::Reception::AcceptedConnection>(
		std::make_unique<PendingConnection>(*this, *std::move(connection)));
}

void Server::refused(const Error &why) noexcept
{
	state_.log(apps::LogLevel::warning, "refused a client: " + why.message);
	refused_clients_.fetch_add(1, std::memory_order_release);
}

void Server::part(const std::shared_ptr<Connection> &connection)
{
	connection->worker().remove(connection);
	const auto seen = seen_.find(connection->who.client);
	if (seen != seen_.end() && seen->second.connection.lock() == connection) {
		if (connection->refused())
			seen_.erase(seen);
		else
			seen->second.until = std::chrono::steady_clock::now() + Departed::patience;
	}
	met_--;
	promised_ -= connection->announced;
}

/** Forgets clients that have not come back in time. */
void Server::forget_seen()
{
	const auto now = std::chrono::steady_clock::now();
	std::erase_if(seen_, [now](const auto &entry) { return entry.second.until < now; });
}

/*
 * Closes departed clients: a connected client sends nothing on the socket, so any event there means that it has left.
 */
void Server::drop_departed(std::span<const pollfd> links)
{
	std::size_t kept = 0;
	for (std::size_t i = 0; i < links.size(); i++) {
		if (links[i].revents)
			part(connections_[i]);
		else
			std::swap(connections_[kept++], connections_[i]);
	}
	connections_.resize(kept);
}

Result<void> Server::serve()
{
	std::vector<pollfd> watched;
	while (!state_.stopping) {
		watched.clear();
		for (const auto &connection : connections_)
			watched.push_back({connection->link->fd(), POLLIN, 0});
		watched.push_back({wake_.get(), POLLIN, 0});
		watched.push_back({reception_->fd(), POLLIN, 0});
		if (::poll(watched.data(), watched.size(), reception_->patience()) < 0) {
			if (errno == EINTR)
				continue;
			return make_error(errno, "cannot wait for clients");
		}
		drop_departed(std::span(watched).first(watched.size() - 2));
		forget_seen();
		if (!state_.stopping)
			reception_->serve(*this);
		open_now_.store(connections_.size(), std::memory_order_relaxed);
	}
	return {};
}

Result<void> Server::run()
{
	if (ran_.exchange(true))
		return make_error(EALREADY, "a server runs once", "create another");
	std::vector<std::jthread> threads;
	threads.reserve(workers_.size());
	try {
		for (const auto &worker : workers_)
			threads.emplace_back([&worker] { worker->run(); });
	} catch (const std::system_error &) {
		state_.stopping = true;
		throw;
	}
	Result<void> served = serve();
	state_.stopping = true;
	threads.clear();
	connections_.clear();
	open_now_ = 0;
	return served;
}

void Server::stop() noexcept
{
	state_.stopping = true;
	/* Fails only if the counter is full, and then the descriptor is readable already. */
	(void)eventfd_write(wake_.get(), 1);
}

ServerStats Server::stats() const noexcept
{
	ServerStats sum;
	sum.connections = accepted_.load(std::memory_order_relaxed);
	sum.open = open_now_.load(std::memory_order_relaxed);
	sum.refused = refused_clients_.load(std::memory_order_acquire);
	for (const auto &worker : workers_) {
		sum.requests += worker->requests.load(std::memory_order_relaxed);
		sum.malformed += worker->malformed.load(std::memory_order_acquire);
		sum.repeated += worker->repeated.load(std::memory_order_relaxed);
		sum.vanished += worker->vanished.load(std::memory_order_acquire);
		sum.handling += worker->handling;
	}
	return sum;
}

} // namespace prism::rpc
