/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Look-ups of host names that end in time. getaddrinfo(3) waits for silent name servers, for 10 s and more, and cannot
 * be stopped; so a thread of its own calls it, and may outlast all who wait.
 */
#pragma once

#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "base/signals.hpp"

namespace prism
{

struct FoundAddresses {
	int error = 0; /**< of getaddrinfo(3); EAI_INPROGRESS: no name server has answered in time */
	std::shared_ptr<addrinfo> list;
};

/** Looks up addresses for TCP, for as long as it takes. @p host: a name or an address; empty: this host. */
[[nodiscard]] inline FoundAddresses look_up(const std::string &host, std::uint16_t port, int flags = 0)
{
	addrinfo hints{};
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = flags | AI_NUMERICSERV;
	addrinfo *list = nullptr;
	const int error =
		getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &list);
	return {error, {list, [](addrinfo *found) { freeaddrinfo(found); }}};
}

/**
 * The look-ups of this process that are under way, one of each name. A later caller joins the one that an earlier
 * caller has not waited for: so the threads are as few as the names, and callers with little patience get an answer in
 * the end.
 */
class NameLookups
{
public:
	static NameLookups &of_process()
	{
		static auto *const all = new NameLookups; /* for ever, as a thread may outlast main() */
		return *all;
	}

	FoundAddresses find(const std::string &host, std::uint16_t port, std::chrono::steady_clock::time_point deadline)
	{
		const Name name{host, port};
		const std::shared_ptr<Lookup> lookup = join(name);
		if (lookup->found.wait_until(deadline) != std::future_status::ready)
			return {EAI_INPROGRESS, nullptr};
		forget(name, lookup);
		return lookup->found.get();
	}

private:
	using Name = std::pair<std::string, std::uint16_t>;
	struct Lookup {
		std::promise<FoundAddresses> promise;
		std::shared_future<FoundAddresses> found{promise.get_future()};
	};

	NameLookups()
	{
		/* A child has none of the threads. */
		(void)pthread_atfork([] { of_process().lock_.lock(); }, [] { of_process().lock_.unlock(); },
			[] {
				of_process().under_way_.clear();
				of_process().lock_.unlock();
			});
	}

	std::shared_ptr<Lookup> join(const Name &name)
	{
		const std::lock_guard guard(lock_);
		std::shared_ptr<Lookup> &lookup = under_way_[name];
		if (!lookup) {
			lookup = std::make_shared<Lookup>();
			begin(name, lookup);
		}
		return lookup;
	}

	/** Starts a thread. */
	void begin(const Name &name, const std::shared_ptr<Lookup> &lookup)
	{
		try {
			without_signals([&] { std::thread([this, name, lookup] { run(name, lookup); }).detach(); });
		} catch (const std::exception &) { /* no thread, or no memory */
			lookup->promise.set_value({EAI_AGAIN, nullptr});
		}
	}

	/** An error that nobody waited for may be over when the next caller comes; addresses last. */
	void run(const Name &name, const std::shared_ptr<Lookup> &lookup)
	{
		FoundAddresses found{EAI_MEMORY, nullptr};
		try {
			found = look_up(name.first, name.second);
		} catch (const std::bad_alloc &) {
		}
		if (found.error)
			forget(name, lookup);
		lookup->promise.set_value(std::move(found));
	}

	void forget(const Name &name, const std::shared_ptr<Lookup> &lookup)
	{
		const std::lock_guard guard(lock_);
		const auto place = under_way_.find(name);
		if (place != under_way_.end() && place->second == lookup)
			under_way_.erase(place);
	}

	std::mutex lock_;
	std::map<Name, std::shared_ptr<Lookup>> under_way_;
};

/** Does the same until @p deadline. An address takes no thread. */
[[nodiscard]] inline FoundAddresses look_up(
	const std::string &host, std::uint16_t port, std::chrono::steady_clock::time_point deadline)
{
	FoundAddresses found = look_up(host, port, AI_NUMERICHOST);
	if (found.error != EAI_NONAME)
		return found;
	return NameLookups::of_process().find(host, port, deadline);
}

/** Describes an error of a look-up of @p host, and what to do. */
[[nodiscard]] inline std::string describe_lookup(const std::string &host, int error)
{
	if (error == EAI_INPROGRESS)
		return "cannot resolve \"" + host +
		       "\": no name server has answered in time; give an address, or see /etc/resolv.conf";
	return "cannot resolve \"" + host + "\": " + gai_strerror(error) + "; check the name, or give an address";
}

} // namespace prism
