/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <memory>
#include <random>

#include "../../linearizability/history.hpp"
#include "gam/data/table_client.hpp"
#include "node.hpp"

namespace gam_history
{

/** Thread's operations on the hash table: Gets, Puts of values that take at least two blocks, Erases, all recorded. */
class Pairs
{
public:
	static constexpr std::uint64_t keys = 12; /* in one chain */

	Pairs(Node &node, unsigned thread, prism::test::HistoryWriter writer);
	/** Does one operation. Returns false if the history is full. */
	bool act();

private:
	static constexpr std::size_t least_words = 70, most_words = 150; /* of a value */

	void end(const prism::apps::Operation &operation, prism::test::HistoryWriter::Handle record);

	Node &node_;
	prism::test::HistoryWriter writer_;
	const std::uint32_t client_;
	std::mt19937_64 random_;
	std::unique_ptr<prism::gam::TableClient> table_;
	std::uint64_t values_ = 0; /* number of values put */
	std::array<std::uint64_t, most_words> value_{}, result_{};
};

} // namespace gam_history
