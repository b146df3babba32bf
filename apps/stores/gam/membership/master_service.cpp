/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/master_service.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "gam/membership/membership.hpp"

namespace prism::gam
{

namespace
{

constexpr auto accept_pause = std::chrono::milliseconds(10);
/* A client that does not read its answers is cut off at this backlog. */
constexpr std::size_t longest_backlog = std::size_t{1} << 20;

} // namespace

MasterService::MasterService(TcpListener listener, std::uint64_t cluster, Time lease)
	: listener_(std::move(listener)), master_(cluster, lease), desk_(master_),
	  wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

Result<std::unique_ptr<MasterService>> MasterService::create(const MasterServiceOptions &options)
{
	if (options.lease < Master::shortest_lease || options.lease > Master::longest_lease)
		return make_error(EINVAL, "leases of " + std::to_string(options.lease.count()) + " ms",
			"from 50 ms to 10 minutes are possible");
	Result<TcpListener> listener = TcpListener::create(options.port, options.address);
	if (!listener)
		return listener.error();
	/* The constructor is private: no make_unique. */
	std::unique_ptr<MasterService> made(new MasterService(*std::move(listener), random_number(), options.lease));
	if (made->wake_.get() < 0)
		return make_error(errno, "cannot create an event descriptor");
	return made;
}

void MasterService::stop() noexcept
{
	stopping_ = true;
	(void)eventfd_write(wake_.get(), 1);
}

/*
 * Accepts all waiting clients, so that they need not wait for a turn each: a turn answers all clients, which takes a
 * while.
 */
void MasterService::accept()
{
	for (std::size_t accepted = 0; accepted < max_clients; accepted++) {
		Result<TcpRendezvous> link = listener_.accept(std::chrono::milliseconds(0));
		if (!link && link.error().code == ETIMEDOUT)
			return;
		/* Without a descriptor the client that was silent for longest makes room, and the next turn accepts. */
		if (!link || clients_.size() >= max_clients)
			drop_quietest();
		if (!link)
			return;
		clients_.emplace_back(*std::move(link)).spoke = Membership::now();
	}
}

void MasterService::drop_quietest()
{
	if (clients_.empty()) { /* other parts of this process have all descriptors: poll slowly until one is free */
		std::this_thread::sleep_for(accept_pause);
		return;
	}
	clients_.erase(std::min_element(clients_.begin(), clients_.end(),
		[](const Client &one, const Client &other) { return one.spoke < other.spoke; }));
}

/* Reads from a client without a question. Returns false if it is to be cut off. */
bool MasterService::read(Client &client)
{
	std::array<char, 4096> bytes;
	const ssize_t got = recv(client.link.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	client.heard.append(bytes.data(), static_cast<std::size_t>(got));
	client.spoke = Membership::now();
	client.waits = client.heard.find('\n') != std::string::npos;
	return got > 0 && (client.waits || client.heard.size() <= MasterDesk::longest_question);
}

/* Answers one question: a client that asks many, or sends empty lines, takes no more of a turn than others. */
void MasterService::answer_one(Client &client)
{
	const std::size_t end = client.heard.find('\n');
	const nlohmann::json question = nlohmann::json::parse(
		client.heard.begin(), client.heard.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
	client.heard.erase(0, end + 1);
	client.told += desk_.answer(question, Membership::now()).dump() + '\n';
	client.waits = client.heard.find('\n') != std::string::npos;
}

bool MasterService::write(Client &client)
{
	if (client.told.empty())
		return true;
	const ssize_t put = send(client.link.fd(), client.told.data(), client.told.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	client.told.erase(0, static_cast<std::size_t>(put));
	return true;
}

Result<void> MasterService::run()
{
	const int pause = static_cast<int>(
		std::chrono::duration_cast<std::chrono::milliseconds>(master_.lease() / Master::looks_a_lease).count());
	std::vector<pollfd> watched;
	while (!stopping_) {
		watched.clear();
		bool waits = false;
		for (const Client &client : clients_) {
			waits |= client.waits;
			watched.push_back({client.link.fd(),
				static_cast<short>(client.told.empty() ? POLLIN : POLLIN | POLLOUT), 0});
		}
		watched.push_back({wake_.get(), POLLIN, 0});
		watched.push_back({listener_.fd(), POLLIN, 0});
		if (::poll(watched.data(), watched.size(), waits ? 0 : pause) < 0 && errno != EINTR)
			return make_error(errno, "cannot wait for nodes");
		auto next = watched.cbegin();
		std::erase_if(clients_, [&](Client &client) {
			const bool ready = (next++)->revents != 0;
			if (ready && !client.waits && !read(client))
				return true;
			if (client.waits)
				answer_one(client);
			return client.told.size() > longest_backlog || !write(client);
		});
		master_.on_time(Membership::now()); /* after the renewals that waited */
		if (watched.back().revents)
			accept();
	}
	return {};
}

} // namespace prism::gam
