/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "service/supervision.hpp"

#include <systemd/sd-daemon.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <system_error>
#include <utility>

#include "base/signals.hpp"

namespace prism::apps
{

namespace
{

constexpr auto patience = std::chrono::milliseconds(100);

} // namespace

sigset_t ending_signals() noexcept
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	return signals;
}

EndedBySignals::EndedBySignals()
	: thread_([this](const std::stop_token &stop) {
		  const sigset_t signals = ending_signals();
		  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
		  std::unique_lock guard(lock_);
		  changed_.wait(guard, stop, [] { return false; });
	  })
{
}

void tell_service_manager(const std::string &state)
{
	if (!std::getenv("NOTIFY_SOCKET"))
		return;
	std::packaged_task<void()> send([state] { (void)sd_notify(0, state.c_str()); });
	const std::future<void> sent = send.get_future();
	try {
		without_signals([&send] { std::thread(std::move(send)).detach(); });
	} catch (const std::system_error &) {
		return; /* a manager that hears nothing is better than a server that stands */
	}
	(void)sent.wait_for(patience);
}

} // namespace prism::apps
