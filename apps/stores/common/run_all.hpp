/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cerrno>
#include <span>

#include "common/store_client.hpp"

namespace prism::apps
{

/**
 * Runs all of @p operations, as many at once as @p client takes, and waits for the end: a multi-GET, a bulk load. No
 * other operation may be under way. An operation that cannot begin (a key of a forbidden size, a shard that is gone)
 * gets Outcome::failed and its error; the others are done all the same. Returns 0, or the errno value of the first that
 * could not begin.
 */
inline int run_all(StoreClient &client, std::span<Operation> operations) noexcept
{
	std::array<Operation *, 64> ended;
	std::size_t next = 0, under_way = 0;
	int first_error = 0;
	while (under_way || next < operations.size()) {
		for (; next < operations.size(); next++) {
			const int error = client.start(operations[next]);
			if (error == EAGAIN)
				break;
			under_way += error == 0;
			if (!error)
				continue;
			operations[next].outcome = Outcome::failed;
			operations[next].error = error;
			first_error = first_error ? first_error : error;
		}
		under_way -= client.poll(ended);
	}
	return first_error;
}

} // namespace prism::apps
