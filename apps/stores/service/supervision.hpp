/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Relations of a server with who supervises it: the signals that end it, and sd_notify(3). */
#pragma once

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

namespace prism::apps
{

/** Returns SIGINT and SIGTERM, which servers block in all threads and wait for. */
sigset_t ending_signals() noexcept;

/**
 * While it lives, one of ending_signals() ends the process, although all other threads block it. The making of a server
 * may wait for others, such as a name server that does not answer. Nothing can be lost then that a crash could not
 * lose.
 */
class EndedBySignals
{
public:
	EndedBySignals();

private:
	std::mutex lock_;
	std::condition_variable_any changed_;
	std::jthread thread_; /* declared last: it uses the other members */
};

/**
 * Sends @p state, as sd_notify(3) has it, to the service manager, if there is one. Waits for 100 ms at most: a manager
 * that stands still gets it later, and holds no server up.
 */
void tell_service_manager(const std::string &state);

} // namespace prism::apps
