/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <cerrno>
#include <span>

#include "common/store_client.hpp"

namespace prism::apps
{

/**
 * Does all of @p operations, as many at once as @p client takes, and waits for the end: a multi-GET, a bulk load.
 * Nothing else may be under way. Their context is overwritten. 0, or the errno of one that could not be begun: that one
 * and those behind it have Outcome::failed.
 */
inline int run_all(StoreClient &client, std::span<Operation> operations)
{
	std::array<Operation *, 64> ended;
	std::size_t begun = 0, done = 0;
	int error = 0;
	while (done < begun || (begun < operations.size() && !error)) {
		while (begun < operations.size() && !error) {
			error = client.start(operations[begun]);
			begun += error == 0;
		}
		if (error == EAGAIN)
			error = 0;
		done += client.poll(ended);
	}
	for (Operation &operation : operations.subspan(begun)) {
		operation.outcome = Outcome::failed;
		operation.error = error;
	}
	return error;
}

} // namespace prism::apps
