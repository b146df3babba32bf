/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The tables of TPC-C as objects of a store (standard specification, clause 1.3). A record omits the fields that its
 * key has. Money is in cents, taxes and discounts in parts of 10000. Dates are numbers of transactions: with dates of a
 * clock no run could be repeated.
 */
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "bench/tx/workloads/record_codec.hpp"
#include "bench/tx/workloads/workload.hpp"

namespace prism::tx::tpcc
{

constexpr unsigned districts = 10;  /* of a warehouse */
constexpr unsigned most_lines = 15; /* of an order */
constexpr unsigned least_lines = 5;
constexpr unsigned last_names = 1000;
constexpr std::int64_t first_payment = 10'00; /* of each customer, made by loading */

/* Keys: table 8 bits, warehouse 16, district 4, and 36 for the number within it. */

enum class Table : std::uint8_t {
	warehouse = 1,
	district,
	customer,
	customer_name, /**< index: the customers of a district that have a last name */
	history,
	new_order,
	order,
	order_line,
	item,
	stock,
};

constexpr unsigned payment_bits = 20; /* of a customer, in keys of its history */
constexpr unsigned line_bits = 4;
constexpr std::uint32_t most_warehouses = 65535;
constexpr std::uint32_t most_customers = 65535; /* of a district */
constexpr std::uint32_t most_payments = (1U << payment_bits) - 1;

struct Place {
	std::uint16_t warehouse = 1;
	std::uint8_t district = 1;
};

inline Key make_key(Table table, Place place, std::uint64_t rest) noexcept
{
	Key key;
	apps::store(key.data(), std::uint64_t{static_cast<std::uint8_t>(table)} << 56 |
					std::uint64_t{place.warehouse} << 40 | std::uint64_t{place.district} << 36 |
					rest);
	return key;
}

inline Key warehouse_key(std::uint16_t warehouse) noexcept
{
	return make_key(Table::warehouse, {warehouse, 0}, 0);
}
inline Key district_key(Place place) noexcept
{
	return make_key(Table::district, place, 0);
}
inline Key customer_key(Place place, std::uint32_t customer) noexcept
{
	return make_key(Table::customer, place, customer);
}
/** @param name its number, below last_names. */
inline Key customer_name_key(Place place, std::uint32_t name) noexcept
{
	return make_key(Table::customer_name, place, name);
}
/** @param payment number of the customer's payment, from 1. */
inline Key history_key(Place place, std::uint32_t customer, std::uint32_t payment) noexcept
{
	return make_key(Table::history, place, std::uint64_t{customer} << payment_bits | payment);
}
inline Key new_order_key(Place place, std::uint32_t order) noexcept
{
	return make_key(Table::new_order, place, order);
}
inline Key order_key(Place place, std::uint32_t order) noexcept
{
	return make_key(Table::order, place, order);
}
inline Key order_line_key(Place place, std::uint32_t order, unsigned line) noexcept
{
	return make_key(Table::order_line, place, std::uint64_t{order} << line_bits | line);
}
inline Key item_key(std::uint32_t item) noexcept
{
	return make_key(Table::item, {0, 0}, item);
}
inline Key stock_key(std::uint16_t warehouse, std::uint32_t item) noexcept
{
	return make_key(Table::stock, {warehouse, 0}, item);
}

struct Address {
	Text<20> street_1;
	Text<20> street_2;
	Text<20> city;
	Text<2> state;
	Text<9> zip;
};

struct Warehouse {
	Text<10> name;
	Address address;
	std::uint16_t tax = 0;
	std::int64_t ytd = 0;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.name, self.address.street_1, self.address.street_2, self.address.city,
			self.address.state, self.address.zip, self.tax, self.ytd);
	}
};

struct District {
	Text<10> name;
	Address address;
	std::uint16_t tax = 0;
	std::int64_t ytd = 0;
	std::uint32_t next_order = 1;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.name, self.address.street_1, self.address.street_2, self.address.city,
			self.address.state, self.address.zip, self.tax, self.ytd, self.next_order);
	}
};

struct Customer {
	Text<16> first;
	Text<2> middle;
	Text<16> last;
	Address address;
	Text<16> phone;
	std::uint64_t since = 0;
	Text<2> credit;
	std::int64_t credit_limit = 0;
	std::uint16_t discount = 0;
	std::int64_t balance = 0;
	std::int64_t ytd_payment = 0;
	std::uint32_t payments = 0;
	std::uint32_t deliveries = 0;
	Text<500> data;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.first, self.middle, self.last, self.address.street_1, self.address.street_2,
			self.address.city, self.address.state, self.address.zip, self.phone, self.since, self.credit,
			self.credit_limit, self.discount, self.balance, self.ytd_payment, self.payments,
			self.deliveries, self.data);
	}
};

struct History {
	std::uint16_t warehouse = 0; /* where it was paid */
	std::uint8_t district = 0;
	std::uint64_t date = 0;
	std::int64_t amount = 0;
	Text<24> data;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.warehouse, self.district, self.date, self.amount, self.data);
	}
};

/** A row that has nothing beside its key. */
struct NewOrderRow {
	std::uint8_t present = 1;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.present);
	}
};

struct Order {
	std::uint32_t customer = 0;
	std::uint64_t date = 0;
	std::uint8_t carrier = 0; /* none yet */
	std::uint8_t lines = 0;
	std::uint8_t all_local = 1;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.customer, self.date, self.carrier, self.lines, self.all_local);
	}
};

struct OrderLine {
	std::uint32_t item = 0;
	std::uint16_t supply_warehouse = 0;
	std::uint64_t delivered = 0; /* not yet */
	std::uint8_t quantity = 0;
	std::int64_t amount = 0;
	Text<24> district_info;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.item, self.supply_warehouse, self.delivered, self.quantity, self.amount,
			self.district_info);
	}
};

struct Item {
	std::uint32_t image = 0;
	Text<24> name;
	std::int32_t price = 0;
	Text<50> data;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		return std::tie(self.image, self.name, self.price, self.data);
	}
};

struct Stock {
	std::int16_t quantity = 0;
	std::array<Text<24>, districts> district_info;
	std::uint64_t ytd = 0;
	std::uint32_t orders = 0;
	std::uint32_t remote_orders = 0;
	Text<50> data;

	template <typename Self>
	static auto fields(Self &self) noexcept
	{
		auto infos = std::apply([](auto &...info) { return std::tie(info...); }, self.district_info);
		return std::tuple_cat(
			std::tie(self.quantity), infos, std::tie(self.ytd, self.orders, self.remote_orders, self.data));
	}
};

} // namespace prism::tx::tpcc
