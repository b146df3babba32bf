/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bank.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

namespace gam_history
{

using prism::gam::Address;

namespace
{

constexpr std::size_t account_size = sizeof(std::uint64_t);

} // namespace

bool Bank::are_together(std::size_t first, std::size_t second) const
{
	return node_.places()[first].block() == node_.places()[second].block();
}

/** Locks both accounts in the order of their addresses, so that no two threads wait for each other. */
int Bank::lock(std::size_t first, std::size_t second)
{
	const auto [low, high] = std::minmax(node_.places()[first], node_.places()[second]);
	if (const int error = session_.wlock(low, account_size))
		return error;
	if (are_together(first, second))
		return 0;
	const int error = session_.wlock(high, account_size);
	if (error)
		(void)session_.unlock(low, account_size);
	return error;
}

int Bank::unlock(std::size_t first, std::size_t second)
{
	const int error = session_.unlock(node_.places()[first], account_size);
	const int other = are_together(first, second) ? 0 : session_.unlock(node_.places()[second], account_size);
	return error ? error : other;
}

int Bank::add(std::size_t account, std::uint64_t amount)
{
	std::uint64_t balance = 0;
	if (const int error = session_.read(node_.places()[account], bytes_of(balance)))
		return error;
	balance += amount;
	return session_.write(node_.places()[account], bytes_of(balance));
}

int Bank::transfer(std::size_t from, std::size_t to)
{
	if (const int error = lock(from, to))
		return error;
	const std::uint64_t amount = random_() % 10;
	int error = add(from, -amount);
	linger();
	if (!error)
		error = add(to, amount);
	const int unlocked = unlock(from, to);
	return error ? error : unlocked;
}

/** With logs, waits so that the node may be killed between two writes. */
void Bank::linger()
{
	if (!node_.options().logs)
		return;
	node_.stage().between_writes = node_.life();
	std::this_thread::sleep_for(std::chrono::milliseconds(5));
	node_.stage().between_writes = nobody;
}

/** Writes the balances of @p journal, which is pending, then marks it as done. */
int Bank::carry_out(Journal &journal)
{
	int error = 0;
	for (std::size_t i = 0; i < journal.account.size() && !error; i++) {
		error = session_.write(node_.places()[journal.account[i]], bytes_of(journal.balance[i]));
		linger();
	}
	if (!error)
		error = session_.mfence();
	journal.is_pending = 0;
	return error ? error : session_.write(node_.journal(), bytes_of(journal));
}

/** Reads @p journal and finishes a transfer that a dead node has begun. */
int Bank::finish(Journal &journal)
{
	const int error = session_.read(node_.journal(), bytes_of(journal));
	return error || !journal.is_pending ? error : carry_out(journal);
}

/** Calls @p work(journal) under the journal's lock, when nothing is pending. */
template <typename Work>
int Bank::with_journal(const Work &work)
{
	Journal journal;
	if (const int error = session_.wlock(node_.journal(), sizeof(journal)))
		return error;
	int error = finish(journal);
	if (!error)
		error = work(journal);
	const int unlocked = session_.unlock(node_.journal(), sizeof(journal));
	return error ? error : unlocked;
}

int Bank::transfer_by_journal(std::size_t from, std::size_t to)
{
	return with_journal([&](Journal &journal) {
		journal = {1, {from, to}, {}};
		int error = 0;
		for (std::size_t i = 0; i < journal.account.size() && !error; i++)
			error = session_.read(node_.places()[journal.account[i]], bytes_of(journal.balance[i]));
		const std::uint64_t amount = random_() % 10;
		journal.balance[0] -= amount;
		journal.balance[1] += amount;
		if (!error)
			error = session_.write(node_.journal(), bytes_of(journal));
		if (!error)
			error = session_.mfence();
		return error ? error : carry_out(journal);
	});
}

int Bank::sum_by_journal(std::uint64_t &total)
{
	return with_journal([&](const Journal & /*journal*/) {
		int error = 0;
		total = 0;
		for (std::size_t account = 0; account < accounts && !error; account++) {
			std::uint64_t balance = 0;
			error = session_.read(node_.places()[account], bytes_of(balance));
			total += balance;
		}
		return error;
	});
}

/**
 * Adds up all accounts under read locks of all, taken in the order of the addresses, which is that of the accounts'
 * numbers.
 */
int Bank::sum(std::uint64_t &total)
{
	int error = 0;
	std::size_t locked = 0;
	total = 0;
	for (; locked < accounts && !error; locked++) {
		if (locked == 0 || !are_together(locked - 1, locked))
			error = session_.rlock(node_.places()[locked], account_size);
		std::uint64_t balance = 0;
		if (!error)
			error = session_.read(node_.places()[locked], bytes_of(balance));
		total += balance;
	}
	for (std::size_t account = 0; account < locked; account++) {
		if (account == 0 || !are_together(account - 1, account)) {
			const int unlocked = session_.unlock(node_.places()[account], account_size);
			error = error ? error : unlocked;
		}
	}
	return error;
}

void Bank::audit()
{
	std::uint64_t total = 0;
	const int error = node_.journal().is_null() ? sum(total) : sum_by_journal(total);
	if (node_.expects(error, "an audit") && total != accounts * deposit)
		node_.find("the bank has " + std::to_string(total));
}

void Bank::act()
{
	if (random_() % 100 < node_.options().reads)
		return audit();
	const std::size_t from = random_() % accounts;
	const std::size_t to = (from + 1 + random_() % (accounts - 1)) % accounts;
	node_.expects(node_.journal().is_null() ? transfer(from, to) : transfer_by_journal(from, to), "a transfer");
}

} // namespace gam_history
