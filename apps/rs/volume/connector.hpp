/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <variant>

#include "rs/volume/link.hpp"

namespace prism::rs
{

/**
 * Makes connections to one replica beside the thread that has operations under way: a replica that is gone costs them
 * nothing. Its functions are called by one thread.
 */
class Connector
{
public:
	Connector(LinkOptions options, unsigned replica);
	~Connector();
	Connector(const Connector &) = delete;
	Connector &operator=(const Connector &) = delete;

	/** A connection is wanted, and will be tried for until there is one; the replica is told @p epoch. */
	void want(std::uint64_t epoch);

	/** The connection, once there is one; null before. */
	std::unique_ptr<Link> take();

	/** Why there is none yet; empty: nothing has failed. */
	[[nodiscard]] Error why() const;

private:
	void run(const std::stop_token &stop);

	const LinkOptions options_;
	const unsigned replica_;
	mutable std::mutex lock_;
	std::condition_variable_any changed_;
	bool wanted_ = false; /* under lock_, as the next three are */
	std::uint64_t epoch_ = 0;
	std::unique_ptr<Link> link_;
	Error why_;
	std::atomic<bool> ready_ = false;
	std::jthread thread_; /* declared last: it uses the others */
};

} // namespace prism::rs
