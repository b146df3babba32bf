/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <array>
#include <random>

#include "gam/memory/session.hpp"
#include "node.hpp"

namespace gam_history
{

/** Accounts, and a thread that transfers between them under their locks. */
class Bank
{
public:
	static constexpr std::size_t accounts = 8;
	static constexpr std::uint64_t deposit = 1000;

	Bank(Node &node, unsigned thread) : node_(node), session_(node.memory()), random_(node.life() * 100 + thread) {}
	/** A transfer, or an audit. */
	void act();
	/** Looks at the sum of all accounts. */
	void audit();

private:
	int sum(std::uint64_t &total);
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
