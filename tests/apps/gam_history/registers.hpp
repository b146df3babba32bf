/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <random>

#include "../../linearizability/history.hpp"
#include "gam/api/session.hpp"
#include "node.hpp"

namespace gam_history
{

/** Thread's accesses to registers of 8 bytes: each kind of change, with unique values, all recorded. */
class Registers
{
public:
	/** Number of registers whose home is one node. */
	static constexpr unsigned of_each_node = 3;

	Registers(Node &node, unsigned thread, prism::test::HistoryWriter writer);
	/** Does one access. Returns false if the history is full. */
	bool act();

private:
	int get(std::size_t place);
	int put(std::size_t place);
	int change(std::size_t place);
	int change_locked(std::size_t place);
	int read(std::size_t place);
	int begin(prism::test::Kind kind, std::size_t place, prism::test::Value expected = prism::test::absent);
	void end(int error, prism::test::Outcome outcome, prism::test::Value value = prism::test::absent);

	Node &node_;
	prism::gam::Session session_;
	prism::test::HistoryWriter writer_;
	const std::uint32_t client_;
	std::mt19937_64 random_;
	std::uint64_t values_ = 0;        /* number of values written */
	std::vector<std::uint64_t> seen_; /* last seen in each register */
	std::vector<bool> gone_;          /* its home has died: reads must fail for ever */
	prism::test::HistoryWriter::Handle record_ = prism::test::HistoryWriter::none;
	std::uint64_t value_ = 0;
};

} // namespace gam_history
