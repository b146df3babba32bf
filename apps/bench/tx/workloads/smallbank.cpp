/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "smallbank.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <fmt/format.h>

#include "base/wire.hpp"
#include "bench/frame/workload.hpp"
#include "bench/tx/workloads/reader.hpp"

namespace prism::tx
{

namespace
{

enum class Kind : std::uint8_t {
	balance,
	deposit_checking,
	transact_savings,
	amalgamate,
	write_check,
	send_payment,
};

constexpr std::array<std::string_view, 6> kind_names{
	"balance", "deposit-checking", "transact-savings", "amalgamate", "write-check", "send-payment"};
constexpr std::array<std::string_view, 1> sum_names{"balances, in cents"};
constexpr std::array<unsigned, 6> percent{15, 15, 15, 15, 15, 25};

/* Cents */
constexpr std::int64_t least_at_first = 10'000'00;
constexpr std::int64_t most_at_first = 50'000'00;
constexpr std::int64_t largest_amount = 20'00;
constexpr std::int64_t penalty = 1'00;

constexpr std::uint64_t most_accounts = std::uint64_t{1} << 48;
constexpr std::uint64_t checked_at_once = 1024; /* customers */

using Value = std::array<std::byte, sizeof(std::int64_t)>;

Value value_of(std::int64_t balance)
{
	Value value;
	apps::store(value.data(), static_cast<std::uint64_t>(balance));
	return value;
}

std::optional<std::int64_t> balance_of(Bytes value)
{
	if (value.size() != sizeof(Value))
		return {};
	return static_cast<std::int64_t>(apps::load<std::uint64_t>(value.data()));
}

enum class Account : std::uint8_t {
	checking = 0,
	savings = 1,
};

Key key_of(const SmallBankOptions &options, std::uint64_t customer, Account account)
{
	const std::uint64_t number = 2 * customer + static_cast<std::uint64_t>(account);
	Key key;
	if (options.numbered)
		std::memcpy(key.data(), &number, sizeof(number));
	else
		apps::store(key.data(), number);
	return key;
}

struct Parameters {
	Kind kind;
	std::uint64_t one;   /* customer */
	std::uint64_t other; /* of a transaction with two */
	std::int64_t amount;
};

class SmallBankProgram final : public Program
{
public:
	SmallBankProgram(const SmallBankOptions &options, const Parameters &parameters) : parameters_(parameters)
	{
		keys_[mine] = key_of(options, parameters.one, Account::checking);
		keys_[saved] = key_of(options, parameters.one, Account::savings);
		keys_[theirs] = key_of(options, parameters.other, Account::checking);
	}

	apps::Task<int> run(Transaction &transaction) override
	{
		effect_ = 0;
		std::array<Bytes, 3> names;
		std::size_t count = 0;
		for (const Place place : {mine, saved, theirs}) {
			if (needs(place))
				names[count++] = keys_[place];
		}
		if (const int error = co_await transaction.fetch(std::span(names).first(count)))
			co_return error;
		for (const Place place : {mine, saved, theirs}) {
			if (!needs(place))
				continue;
			if (const int error = read(transaction, place))
				co_return error;
		}
		co_return change(transaction);
	}

	[[nodiscard]] Effects effects() const noexcept override { return {effect_}; }
	[[nodiscard]] unsigned kind() const noexcept override { return static_cast<unsigned>(parameters_.kind); }

private:
	enum Place : std::uint8_t {
		mine,  /* checking account of one */
		saved, /* savings account of one */
		theirs /* checking account of other */
	};

	[[nodiscard]] bool needs(Place place) const
	{
		switch (parameters_.kind) {
		case Kind::balance:
		case Kind::write_check:
			return place != theirs;
		case Kind::deposit_checking:
			return place == mine;
		case Kind::transact_savings:
			return place == saved;
		case Kind::amalgamate:
			return true;
		case Kind::send_payment:
			return place != saved;
		}
		return false;
	}

	int read(Transaction &transaction, Place place)
	{
		const std::optional<Bytes> value = transaction.value(keys_[place]);
		if (!value)
			return ENOENT;
		const std::optional<std::int64_t> balance = balance_of(*value);
		if (!balance)
			return EBADMSG;
		balances_[place] = *balance;
		return 0;
	}

	int write(Transaction &transaction, Place place, std::int64_t balance)
	{
		return transaction.write(keys_[place], value_of(balance));
	}

	/** Adds @p amount, which comes from outside the bank. */
	int take_in(Transaction &transaction, Place place, std::int64_t amount)
	{
		effect_ = amount;
		return write(transaction, place, balances_[place] + amount);
	}

	int change(Transaction &transaction)
	{
		const std::int64_t amount = parameters_.amount;
		const std::int64_t all = balances_[mine] + balances_[saved];
		switch (parameters_.kind) {
		case Kind::balance:
			return 0;
		case Kind::deposit_checking:
			return take_in(transaction, mine, amount);
		case Kind::transact_savings:
			return balances_[saved] + amount < 0 ? own_rollback : take_in(transaction, saved, amount);
		case Kind::write_check:
			return take_in(transaction, mine, all < amount ? -amount - penalty : -amount);
		case Kind::amalgamate:
			if (const int error = write(transaction, saved, 0))
				return error;
			return move(transaction, 0, all);
		case Kind::send_payment:
			if (balances_[mine] < amount)
				return own_rollback;
			return move(transaction, balances_[mine] - amount, amount);
		}
		return EINVAL;
	}

	int move(Transaction &transaction, std::int64_t left, std::int64_t amount)
	{
		if (const int error = write(transaction, mine, left))
			return error;
		return write(transaction, theirs, balances_[theirs] + amount);
	}

	const Parameters parameters_;
	std::array<Key, 3> keys_;
	std::array<std::int64_t, 3> balances_{};
	std::int64_t effect_ = 0;
};

class SmallBankTerminal final : public Terminal
{
public:
	SmallBankTerminal(const SmallBankOptions &options, bench::Random random) : options_(options), random_(random) {}

	std::unique_ptr<Program> next() override
	{
		const bool hot = boost::random::uniform_01<double>()(random_) < options_.hot_share;
		const std::uint64_t among = hot ? options_.hot_accounts : options_.accounts;
		Parameters parameters{draw_kind(), draw(among), draw(among - 1), amount()};
		if (parameters.other >= parameters.one)
			parameters.other++; /* uniform among those that are not the one */
		if (parameters.kind == Kind::transact_savings && draw(2) == 0)
			parameters.amount = -parameters.amount;
		return std::make_unique<SmallBankProgram>(options_, parameters);
	}

private:
	/** Returns a number from 0 to @p n - 1. */
	std::uint64_t draw(std::uint64_t n)
	{
		return boost::random::uniform_int_distribution<std::uint64_t>(0, n - 1)(random_);
	}

	std::int64_t amount() { return 1 + static_cast<std::int64_t>(draw(largest_amount)); }

	Kind draw_kind()
	{
		std::uint64_t drawn = draw(100);
		std::size_t kind = 0;
		for (; drawn >= percent[kind]; kind++)
			drawn -= percent[kind];
		return static_cast<Kind>(kind);
	}

	const SmallBankOptions options_;
	bench::Random random_;
};

std::int64_t balance_at_first(std::uint64_t customer, Account account)
{
	const std::uint64_t number = 2 * customer + static_cast<std::uint64_t>(account);
	constexpr std::uint64_t range = most_at_first - least_at_first + 1;
	return least_at_first + static_cast<std::int64_t>(bench::permute(number, 64) % range);
}

class SmallBank final : public Workload
{
public:
	explicit SmallBank(const SmallBankOptions &options) : options_(options) {}

	[[nodiscard]] std::string_view name() const noexcept override { return "smallbank"; }
	[[nodiscard]] std::span<const std::string_view> kinds() const noexcept override { return kind_names; }
	[[nodiscard]] std::span<const std::string_view> sums() const noexcept override { return sum_names; }
	[[nodiscard]] std::size_t largest_value() const noexcept override { return sizeof(Value); }
	[[nodiscard]] std::size_t most_keys() const noexcept override { return records_a_load; }
	[[nodiscard]] std::uint64_t objects() const noexcept override { return 2 * options_.accounts; }
	[[nodiscard]] std::uint64_t loads() const noexcept override
	{
		return (options_.accounts + customers_a_load - 1) / customers_a_load;
	}

	[[nodiscard]] std::unique_ptr<Program> load(std::uint64_t number) const override
	{
		auto program = std::make_unique<LoadProgram>();
		const std::uint64_t end = std::min(options_.accounts, (number + 1) * customers_a_load);
		for (std::uint64_t customer = number * customers_a_load; customer < end; customer++) {
			for (const Account account : {Account::checking, Account::savings})
				program->add(key_of(options_, customer, account),
					value_of(balance_at_first(customer, account)));
		}
		return program;
	}

	[[nodiscard]] std::unique_ptr<Terminal> terminal(std::uint64_t seed, std::uint64_t number) const override
	{
		return std::make_unique<SmallBankTerminal>(options_, bench::make_random(seed, number));
	}

	[[nodiscard]] Result<Survey> survey(TransactionClient &client) const override
	{
		Reader reader(client);
		Survey survey;
		for (std::uint64_t first = 0; first < options_.accounts; first += checked_at_once) {
			std::vector<Key> keys;
			const std::uint64_t end = std::min(options_.accounts, first + checked_at_once);
			for (std::uint64_t customer = first; customer < end; customer++) {
				keys.push_back(key_of(options_, customer, Account::checking));
				keys.push_back(key_of(options_, customer, Account::savings));
			}
			const Result<void> done = reader.read(keys, [&](std::size_t i, std::optional<Bytes> value) {
				look_at(first + i / 2, static_cast<Account>(i % 2), value, survey);
			});
			if (!done)
				return done.error();
		}
		return survey;
	}

private:
	static constexpr std::uint64_t customers_a_load = records_a_load / 2;

	static void look_at(std::uint64_t customer, Account account, std::optional<Bytes> value, Survey &survey)
	{
		const std::string_view which = account == Account::savings ? "savings" : "checking";
		const std::optional<std::int64_t> balance = value ? balance_of(*value) : std::nullopt;
		if (!balance)
			return survey.findings.add(fmt::format("the {} account of customer {} is {}", which, customer,
				value ? "damaged" : "not there"));
		/* Only checks may overdraw, and they are drawn on checking accounts. */
		if (account == Account::savings && *balance < 0)
			survey.findings.add(
				fmt::format("the savings account of customer {} has {}", customer, *balance));
		survey.sums[0] += *balance;
	}

	const SmallBankOptions options_;
};

} // namespace

Result<std::unique_ptr<Workload>> make_smallbank(const SmallBankOptions &options)
{
	if (options.accounts < 2 || options.accounts > most_accounts)
		return make_error(EINVAL, fmt::format("{} customers of a bank (--records)", options.accounts),
			"2 to 2^48 are possible");
	if (options.hot_accounts < 2 || options.hot_accounts > options.accounts)
		return make_error(EINVAL, fmt::format("{} hot customers (--hot-records)", options.hot_accounts),
			fmt::format("2 to {}, all customers, are possible", options.accounts));
	if (!(options.hot_share >= 0 && options.hot_share <= 1))
		return make_error(EINVAL, "a share of hot transactions (--hot-share) that is not between 0 and 1");
	return std::unique_ptr<Workload>(std::make_unique<SmallBank>(options));
}

} // namespace prism::tx
