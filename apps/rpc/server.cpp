/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/server.hpp"

#include "rpc/worker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <poll.h>
#include <utility>

namespace prism::rpc
{

namespace
{

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
	std::unique_ptr<apps::Reception> clients, Buffer buffers, ibv_srq *srq)
	: pd_(domain), handler_(calls), identity_(std::move(who)), settings_(std::move(options)),
	  receive_memory_(std::move(buffers)), srq_handle_(srq), reception_(std::move(clients))
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
		return make_error(EINVAL, "keys and values of the sizes asked for",
			"longest key and longest value may have 65,512 bytes together");
	if (identity_.message_size && !between(identity_.message_size, message_header_size, max_message_size))
		return make_error(EINVAL, "messages of " + std::to_string(identity_.message_size) + " bytes",
			"they may have up to 65,536");
	if (!between(options.threads, 1, 256) || !between(options.max_depth, 1, depth_limit) ||
		!between(options.max_connections, 1, connection_limit) ||
		!between(options.receive_buffers, 1, receive_limit))
		return make_error(EINVAL, "numbers of threads, connections, calls or buffers",
			"at least 1; at most 256 threads, 4096 connections and calls on each, 65,536 buffers");
	return {};
}

Result<void> Server::announce_memory(
	apps::MemoryPlan store, const Context &context, std::uint32_t message_size, const ServerOptions &options)
{
	store.add(std::to_string(options.receive_buffers) + " receive buffers",
		request_size(message_size, options) * options.receive_buffers);
	store.add("answers of " + std::to_string(options.max_connections) + " connections",
		std::uint64_t{options.max_connections} * options.max_depth * response_size(message_size, options));
	return apps::announce_memory(store, context, options.log,
		"lower the number of records, their sizes, the connections, or the calls of each");
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
	Result<Buffer> buffers =
		Buffer::create(pd_, request_size(identity_.message_size, options) * options.receive_buffers);
	if (!buffers)
		return buffers.error();
	ibv_srq_init_attr attr{};
	attr.attr.max_wr = options.receive_buffers;
	attr.attr.max_sge = 1;
	ibv_srq *srq = ibv_create_srq(pd_.raw(), &attr);
	if (!srq)
		return make_error(errno, "cannot create a receive queue", "max_srq_wr of ibv_devinfo -v is the limit");
	/* The constructor is private: no make_unique. */
	std::unique_ptr<Server> server(new Server(pd_, handler_, std::move(identity_), std::move(options),
		*std::move(clients), *std::move(buffers), srq));
	if (server->wake_.get() < 0)
		return make_error(errno, "cannot create an event descriptor");
	if (Result<void> created = server->create_workers(); !created)
		return created.error();
	return server;
}

Result<void> Server::create_workers()
{
	/* One worker may get all receives, and connections that have closed keep entries until they are removed. */
	const std::size_t entries =
		settings_.receive_buffers + 2 * connections_of_worker() * std::size_t{settings_.max_depth};
	for (unsigned i = 0; i < settings_.threads; i++) {
		Result<CompletionQueue> cq = CompletionQueue::create(pd_.context(), static_cast<int>(entries));
		if (!cq)
			return cq.error();
		workers_.push_back(std::make_unique<Worker>(*this, *std::move(cq)));
	}
	std::vector<std::uint32_t> slots(settings_.receive_buffers);
	std::iota(slots.begin(), slots.end(), 0);
	if (const int error = post_receives(slots))
		return make_error(error, "cannot post receives");
	return {};
}

int Server::post_receives(std::span<const std::uint32_t> slots) noexcept
{
	constexpr std::size_t chunk = 32;
	std::array<ibv_recv_wr, chunk> requests;
	std::array<ibv_sge, chunk> pieces;
	while (!slots.empty()) {
		const std::size_t count = std::min(chunk, slots.size());
		for (std::size_t i = 0; i < count; i++) {
			const LocalSlice slice = receive_memory_.slice(
				slots[i] * request_size(), static_cast<std::uint32_t>(request_size()));
			pieces[i] = {slice.address, slice.length, slice.lkey};
			requests[i] = {slots[i], i + 1 < count ? &requests[i + 1] : nullptr, &pieces[i], 1};
		}
		ibv_recv_wr *bad = nullptr;
		if (const int error = ibv_post_srq_recv(srq_handle_.get(), requests.data(), &bad))
			return error;
		slots = slots.subspan(count);
	}
	return 0;
}

void Server::log(apps::LogLevel level, const std::string &message) const
{
	apps::log_to(settings_.log, level, message);
}

Worker *Server::least_loaded() noexcept
{
	const auto found = std::min_element(workers_.begin(), workers_.end(),
		[](const auto &one, const auto &other) { return one->load() < other->load(); });
	return (*found)->load() < 2 * connections_of_worker() ? found->get() : nullptr;
}

/** The number of concurrent calls that the client announces. Errors: there are no receive buffers for them. */
Result<std::uint32_t> Server::promise(const ConnectionRecord &theirs) const
{
	Result<apps::Hello> hello = apps::Hello{identity_.kind}.expect(theirs, "the client");
	if (!hello)
		return hello.error();
	const std::uint32_t calls = hello->max_depth;
	if (calls == 0 || calls > settings_.max_depth)
		return make_error(EINVAL, "a client with " + std::to_string(calls) + " calls at once",
			"this server takes 1 to " + std::to_string(settings_.max_depth));
	if (met_ >= settings_.max_connections)
		return make_error(EMFILE, "there are " + std::to_string(met_) + " connections already",
			"raise the server's number of connections");
	if (calls > settings_.receive_buffers - promised_)
		return make_error(ENOBUFS,
			"a client with " + std::to_string(calls) + " calls at once finds " +
				std::to_string(settings_.receive_buffers - promised_) + " of " +
				std::to_string(settings_.receive_buffers) + " receive buffers left",
			"ask for a smaller depth, or raise the server's number of receive buffers");
	return calls;
}

Result<std::shared_ptr<Server::Connection>> Server::connect(
	const apps::Reception::Link &link, const Endpoint &peer, std::uint32_t calls, Worker &worker)
{
	QueuePairOptions options;
	options.srq = srq_handle_.get();
	options.access_flags = identity_.access_flags;
	options.max_send_wr = settings_.max_depth;
	Result<QueuePair> qp = QueuePair::create(pd_, worker.completion_queue(), worker.completion_queue(), options);
	if (!qp)
		return qp.error();
	Result<Buffer> responses = Buffer::create(pd_, settings_.max_depth * response_size());
	if (!responses)
		return responses.error();
	std::unique_ptr<CallSession> session = handler_.open({settings_.max_key_size, settings_.max_value_size}, calls);
	auto connection = std::make_shared<Connection>(
		link, *std::move(qp), *std::move(responses), std::move(session), settings_.max_depth, calls);
	connection->worker = &worker;
	/* The worker must know the connection before the client can send. */
	worker.add(connection);
	if (Result<void> connected = connection->qp.connect(peer); !connected) {
		worker.remove(connection);
		return connected.error();
	}
	return connection;
}

Result<std::unique_ptr<apps::Reception::AcceptedConnection>> Server::on_connect(
	const apps::Reception::Link &link, const ConnectionRecord &theirs, ConnectionRecord &mine)
{
	const Result<std::uint32_t> calls = promise(theirs);
	if (!calls)
		return calls.error();
	Worker *const worker = least_loaded();
	if (!worker)
		return make_error(EAGAIN, "workers soon let go of connections that were closed a moment ago");
	Result<std::shared_ptr<Connection>> connection = connect(link, theirs.endpoint, *calls, *worker);
	if (!connection)
		return connection.error();
	mine.endpoint = (*connection)->qp.endpoint();
	mine.regions = identity_.regions;
	const apps::Hello hello{identity_.kind, settings_.max_key_size, settings_.max_value_size, settings_.max_depth};
	mine.private_data = hello.serialize(identity_.own);
	met_++;
	promised_ += *calls;
	return std::unique_ptr<apps::Reception::AcceptedConnection>(
		std::make_unique<PendingConnection>(*this, *std::move(connection)));
}

void Server::refused(const Error &why) noexcept
{
	log(apps::LogLevel::warning, "refused a client: " + why.message);
	refused_clients_.fetch_add(1, std::memory_order_release);
}

void Server::part(const std::shared_ptr<Connection> &connection)
{
	connection->worker->remove(connection);
	met_--;
	promised_ -= connection->calls;
}

/* A connected client sends nothing on the socket, so any event there means that it has left. */
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
	while (!stopping_) {
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
		if (!stopping_)
			reception_->serve(*this);
		open_now_.store(connections_.size(), std::memory_order_relaxed);
	}
	return {};
}

Result<void> Server::run()
{
	if (ran_.exchange(true))
		return make_error(EALREADY, "a server runs once", "create another");
	std::vector<std::thread> threads;
	threads.reserve(workers_.size());
	for (const auto &worker : workers_)
		threads.emplace_back([&worker] { worker->run(); });
	Result<void> served = serve();
	stopping_ = true;
	for (std::thread &thread : threads)
		thread.join();
	connections_.clear();
	open_now_ = 0;
	return served;
}

void Server::stop() noexcept
{
	stopping_ = true;
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
		sum.vanished += worker->vanished.load(std::memory_order_acquire);
		sum.handling += worker->handling;
	}
	return sum;
}

} // namespace prism::rpc
