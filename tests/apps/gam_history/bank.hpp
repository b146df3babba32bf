/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <random>

#include "gam/api/session.hpp"
#include "node.hpp"

namespace gam_history
{

/**
 * Transfer about to be done, in one block, which is written as a whole or not at all. The holder of its lock has the
 * bank. If it is pending, the previous holder has died, and the transfer is done again first.
 */
struct Journal {
	std::uint64_t is_pending = 0;
	std::array<std::uint64_t, 2> account{};
	std::array<std::uint64_t, 2> balance{};
};

/** Accounts, and a thread that transfers between them: under the accounts' locks, or by a journal if there is one. */
class Bank
{
public:
	static constexpr std::size_t accounts = 8;
	static constexpr std::uint64_t deposit = 1000;

	Bank(Node &node, unsigned thread) : node_(node), session_(node.memory()), random_(node.life() * 100 + thread) {}
	/** Does a transfer or an audit. */
	void act();
	/** Checks the sum of all accounts. */
	void audit();

private:
	int sum(std::uint64_t &total);
	template <typename Work>
	int with_journal(const Work &work);
	int sum_by_journal(std::uint64_t &total);
	int transfer_by_journal(std::size_t from, std::size_t to);
	int finish(Journal &journal);
	int carry_out(Journal &journal);
	void linger();
	int transfer(std::size_t from, std::size_t to);
	int lock(std::size_t first, std::size_t second);
	int unlock(std::size_t first, std::size_t second);
	[[nodiscard]] bool are_together(std::size_t first, std::size_t second) const;
	int add(std::size_t account, std::uint64_t amount);

	Node &node_;
	prism::gam::Session session_;
	std::mt19937_64 random_;
};

} // namespace gam_history
