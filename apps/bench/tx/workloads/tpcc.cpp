/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "tpcc.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <fmt/format.h>

#include "bench/tx/workloads/tpcc_inputs.hpp"

namespace prism::tx
{

namespace tpcc
{

namespace
{

constexpr std::uint64_t names_a = 255;        /* NURand's A for last names */
constexpr std::uint64_t names_constant = 123; /* its C in loading */
constexpr std::uint64_t names_seed = 0x7c43;
constexpr std::size_t index_entry = sizeof(std::uint16_t);

} // namespace

std::uint64_t draw(bench::Random &random, std::uint64_t least, std::uint64_t most)
{
	return boost::random::uniform_int_distribution<std::uint64_t>(least, most)(random);
}

bool chance(bench::Random &random, double share)
{
	return boost::random::uniform_01<double>()(random) < share;
}

std::uint64_t non_uniform(
	bench::Random &random, std::uint64_t a, std::uint64_t least, std::uint64_t most, std::uint64_t constant)
{
	const std::uint64_t skewed = draw(random, 0, a);
	const std::uint64_t uniform = draw(random, least, most);
	return ((skewed | uniform) + constant) % (most - least + 1) + least;
}

std::string last_name(std::uint32_t number)
{
	static constexpr std::array<std::string_view, 10> syllables{
		"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"};
	std::string name(syllables[number / 100 % 10]);
	return name.append(syllables[number / 10 % 10]).append(syllables[number % 10]);
}

Names::Names(std::uint32_t customers) : count_(std::min<std::uint32_t>(customers, last_names)), who_(count_)
{
	bench::Random random = bench::make_random(names_seed, 0);
	of_.reserve(customers);
	for (std::uint32_t customer = 1; customer <= customers; customer++) {
		const bool first_of_name = customer <= count_;
		of_.push_back(first_of_name ? customer - 1
					    : static_cast<std::uint32_t>(
						      non_uniform(random, names_a, 0, count_ - 1, names_constant)));
		who_[of_.back()].push_back(customer);
	}
}

std::size_t Names::most_of_one() const
{
	std::size_t most = 0;
	for (const std::vector<std::uint32_t> &customers : who_)
		most = std::max(most, customers.size());
	return most;
}

std::string first_name(Place place, std::uint32_t customer)
{
	std::uint64_t bits = bench::permute(
		std::uint64_t{place.warehouse} << 40 | std::uint64_t{place.district} << 36 | customer, 64);
	std::string name(8 + bits % 9, 'a');
	for (char &letter : name) {
		bits = bench::permute(bits, 64);
		letter = static_cast<char>('a' + bits % 26);
	}
	return name;
}

void append_customer(std::vector<std::byte> &index, std::uint32_t customer)
{
	index.resize(index.size() + index_entry);
	apps::store(index.data() + index.size() - index_entry, static_cast<std::uint16_t>(customer));
}

std::size_t customers_in(Bytes index) noexcept
{
	return index.size() / index_entry;
}

std::uint32_t customer_in(Bytes index, std::size_t position) noexcept
{
	return apps::load<std::uint16_t>(index.data() + position * index_entry);
}

} // namespace tpcc

namespace
{

using namespace tpcc;

constexpr std::array<std::string_view, 2> kind_names{"new-order", "payment"};
constexpr std::array<std::string_view, 2> sum_names{"payments, in cents", "orders"};
/*
 * Keys of an order: warehouse, district, customer, an item and a stock for each line; the order, its row of NEW-ORDER,
 * its lines.
 */
constexpr std::size_t keys_of_order = 3 + 3 * most_lines + 2;
constexpr std::uint32_t most_items = 1U << 24;

class Tpcc final : public Workload
{
public:
	explicit Tpcc(const TpccOptions &options) : options_(options), names_(options.customers) {}

	[[nodiscard]] std::string_view name() const noexcept override { return "tpcc"; }
	[[nodiscard]] std::span<const std::string_view> kinds() const noexcept override { return kind_names; }
	[[nodiscard]] std::span<const std::string_view> sums() const noexcept override { return sum_names; }
	[[nodiscard]] std::size_t largest_value() const noexcept override
	{
		return std::max(largest_record<Customer>(), names_.most_of_one() * sizeof(std::uint16_t));
	}
	[[nodiscard]] std::size_t most_keys() const noexcept override { return keys_of_order; }
	[[nodiscard]] std::uint64_t objects() const noexcept override { return loaded_objects(options_, names_); }
	[[nodiscard]] std::uint64_t loads() const noexcept override { return tpcc::loads(options_, names_); }
	[[nodiscard]] std::unique_ptr<Program> load(std::uint64_t number) const override
	{
		return tpcc::load(options_, names_, number);
	}
	[[nodiscard]] std::unique_ptr<Terminal> terminal(std::uint64_t seed, std::uint64_t number) const override
	{
		return make_terminal(options_, names_, seed, number);
	}
	[[nodiscard]] Result<Survey> survey(TransactionClient &client) const override
	{
		return tpcc::survey(options_, client);
	}

private:
	const TpccOptions options_;
	const Names names_;
};

bool is_share(double share)
{
	return share >= 0 && share <= 1;
}

} // namespace

Result<std::unique_ptr<Workload>> make_tpcc(const TpccOptions &options)
{
	if (options.warehouses == 0 || options.warehouses > most_warehouses)
		return make_error(EINVAL, fmt::format("{} warehouses (--warehouses)", options.warehouses),
			fmt::format("1 to {} are possible", most_warehouses));
	if (options.items < most_lines || options.items > most_items)
		return make_error(EINVAL, fmt::format("{} items (--items)", options.items),
			fmt::format("{} (the lines of an order) to {} are possible", most_lines, most_items));
	if (options.customers == 0 || options.customers > most_customers)
		return make_error(EINVAL, fmt::format("{} customers of a district (--customers)", options.customers),
			fmt::format("1 to {} are possible", most_customers));
	if (!is_share(options.remote_items) || !is_share(options.remote_payments) || !is_share(options.rollbacks))
		return make_error(EINVAL, "a share (--remote-items, --remote-payments) that is not between 0 and 1");
	return std::unique_ptr<Workload>(std::make_unique<Tpcc>(options));
}

} // namespace prism::tx
