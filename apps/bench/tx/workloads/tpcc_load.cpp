/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The first content of TPC-C's tables (clause 4.3.3). */
#include "tpcc_inputs.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include <fmt/format.h>

namespace prism::tx::tpcc
{

namespace
{

constexpr std::uint64_t load_seed = 0x7cc0;

std::string letters(bench::Random &random, std::size_t least, std::size_t most)
{
	std::string text(draw(random, least, most), ' ');
	for (char &letter : text)
		letter = static_cast<char>('a' + draw(random, 0, 25));
	return text;
}

std::string digits(bench::Random &random, std::size_t count)
{
	std::string text(count, ' ');
	for (char &digit : text)
		digit = static_cast<char>('0' + draw(random, 0, 9));
	return text;
}

/** Returns the data of an item; one in ten has the word in it that NewOrder would print as brand "B". */
std::string item_data(bench::Random &random)
{
	static constexpr std::string_view original = "ORIGINAL";
	std::string text = letters(random, 26, 50);
	if (chance(random, 0.1))
		text.replace(draw(random, 0, text.size() - original.size()), original.size(), original);
	return text;
}

Address address(bench::Random &random)
{
	Address address;
	address.street_1.assign(letters(random, 10, 20));
	address.street_2.assign(letters(random, 10, 20));
	address.city.assign(letters(random, 10, 20));
	address.state.assign(letters(random, 2, 2));
	address.zip.assign(digits(random, 4) + "11111");
	return address;
}

/** Adds records to one of the transactions that load. */
class Filler
{
public:
	Filler(const TpccOptions &options, const Names &names, bench::Random random)
		: options_(options), names_(names), random_(random)
	{
	}

	void item(std::uint64_t i)
	{
		Item item;
		item.image = static_cast<std::uint32_t>(draw(random_, 1, 10'000));
		item.name.assign(letters(random_, 14, 24));
		item.price = static_cast<std::int32_t>(draw(random_, 1'00, 100'00));
		item.data.assign(item_data(random_));
		add(item_key(static_cast<std::uint32_t>(i + 1)), item);
	}

	void warehouse(std::uint64_t i)
	{
		Warehouse warehouse;
		warehouse.name.assign(letters(random_, 6, 10));
		warehouse.address = address(random_);
		warehouse.tax = static_cast<std::uint16_t>(draw(random_, 0, 2000));
		warehouse.ytd = first_payment * options_.customers * districts;
		add(warehouse_key(static_cast<std::uint16_t>(i + 1)), warehouse);
	}

	void district(std::uint64_t i)
	{
		District district;
		district.name.assign(letters(random_, 6, 10));
		district.address = address(random_);
		district.tax = static_cast<std::uint16_t>(draw(random_, 0, 2000));
		district.ytd = first_payment * options_.customers;
		add(district_key(place(i)), district);
	}

	void stock(std::uint64_t i)
	{
		Stock stock;
		stock.quantity = static_cast<std::int16_t>(draw(random_, 10, 100));
		for (Text<24> &info : stock.district_info)
			info.assign(letters(random_, 24, 24));
		stock.data.assign(item_data(random_));
		add(stock_key(static_cast<std::uint16_t>(i / options_.items + 1),
			    static_cast<std::uint32_t>(i % options_.items + 1)),
			stock);
	}

	void customer(std::uint64_t i)
	{
		const Place where = place(i / options_.customers);
		const auto number = static_cast<std::uint32_t>(i % options_.customers + 1);
		Customer customer;
		customer.first.assign(first_name(where, number));
		customer.middle.assign("OE");
		customer.last.assign(last_name(names_.of(number)));
		customer.address = address(random_);
		customer.phone.assign(digits(random_, 16));
		customer.credit.assign(chance(random_, 0.1) ? "BC" : "GC");
		customer.credit_limit = 50'000'00;
		customer.discount = static_cast<std::uint16_t>(draw(random_, 0, 5000));
		customer.balance = -first_payment;
		customer.ytd_payment = first_payment;
		customer.payments = 1;
		customer.data.assign(letters(random_, 300, 500));
		add(customer_key(where, number), customer);
	}

	void history(std::uint64_t i)
	{
		const Place where = place(i / options_.customers);
		const auto number = static_cast<std::uint32_t>(i % options_.customers + 1);
		History history;
		history.warehouse = where.warehouse;
		history.district = where.district;
		history.amount = first_payment;
		history.data.assign(letters(random_, 12, 24));
		add(history_key(where, number, 1), history);
	}

	void name(std::uint64_t i)
	{
		const Place where = place(i / names_.count());
		const auto name = static_cast<std::uint32_t>(i % names_.count());
		std::vector<std::uint32_t> who = names_.who(name);
		std::sort(who.begin(), who.end(), [where](std::uint32_t one, std::uint32_t other) {
			return std::pair(first_name(where, one), one) < std::pair(first_name(where, other), other);
		});
		std::vector<std::byte> index;
		for (const std::uint32_t customer : who)
			append_customer(index, customer);
		program_->add(customer_name_key(where, name), index);
	}

	[[nodiscard]] std::unique_ptr<Program> take() { return std::move(program_); }

private:
	static Place place(std::uint64_t i)
	{
		return {static_cast<std::uint16_t>(i / districts + 1), static_cast<std::uint8_t>(i % districts + 1)};
	}

	template <typename Record>
	void add(const Key &key, const Record &record)
	{
		std::array<std::byte, largest_record<Record>()> buffer;
		program_->add(key, encode(record, buffer));
	}

	const TpccOptions &options_;
	const Names &names_;
	bench::Random random_;
	std::unique_ptr<LoadProgram> program_ = std::make_unique<LoadProgram>();
};

struct Part {
	std::uint64_t count;
	void (Filler::*fill)(std::uint64_t);
};

std::array<Part, 7> parts(const TpccOptions &options, const Names &names)
{
	const std::uint64_t all_districts = std::uint64_t{options.warehouses} * districts;
	const std::uint64_t all_customers = all_districts * options.customers;
	return {{
		{options.items, &Filler::item},
		{options.warehouses, &Filler::warehouse},
		{all_districts, &Filler::district},
		{std::uint64_t{options.warehouses} * options.items, &Filler::stock},
		{all_customers, &Filler::customer},
		{all_customers, &Filler::history},
		{all_districts * names.count(), &Filler::name},
	}};
}

std::uint64_t loads_of(const Part &part)
{
	return (part.count + records_a_load - 1) / records_a_load;
}

} // namespace

std::uint64_t loads(const TpccOptions &options, const Names &names)
{
	std::uint64_t sum = 0;
	for (const Part &part : parts(options, names))
		sum += loads_of(part);
	return sum;
}

std::uint64_t loaded_objects(const TpccOptions &options, const Names &names)
{
	std::uint64_t sum = 0;
	for (const Part &part : parts(options, names))
		sum += part.count;
	return sum;
}

std::unique_ptr<Program> load(const TpccOptions &options, const Names &names, std::uint64_t number)
{
	Filler filler(options, names, bench::make_random(load_seed, number));
	std::uint64_t left = number;
	for (const Part &part : parts(options, names)) {
		if (left >= loads_of(part)) {
			left -= loads_of(part);
			continue;
		}
		const std::uint64_t end = std::min(part.count, (left + 1) * records_a_load);
		for (std::uint64_t i = left * records_a_load; i < end; i++)
			(filler.*part.fill)(i);
		break;
	}
	return filler.take();
}

} // namespace prism::tx::tpcc
