/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The consistency conditions of clause 3.3.2 that NewOrder and Payment can affect, and some more. */
#include "tpcc_inputs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "bench/tx/workloads/reader.hpp"

namespace prism::tx::tpcc
{

namespace
{

constexpr std::uint64_t at_once = 1024; /* keys whose records are read together */

/** Sums of the order lines that took an item from a stock, as the orders have them; the stock's record must match. */
struct Supplied {
	std::uint64_t quantity = 0;
	std::uint64_t orders = 0;
};

class Inspector
{
public:
	Inspector(const TpccOptions &options, TransactionClient &client)
		: options_(options), reader_(client), paid_(std::size_t{options.warehouses} * districts),
		  supplied_(options.warehouses)
	{
	}

	[[nodiscard]] Result<Survey> run()
	{
		for (std::uint32_t warehouse = 1; warehouse <= options_.warehouses; warehouse++) {
			for (unsigned district = 1; district <= districts; district++) {
				const Place place{
					static_cast<std::uint16_t>(warehouse), static_cast<std::uint8_t>(district)};
				if (Result<void> done = look_at_customers(place); !done)
					return done.error();
			}
		}
		for (std::uint32_t warehouse = 1; warehouse <= options_.warehouses; warehouse++) {
			if (Result<void> done = look_at_warehouse(static_cast<std::uint16_t>(warehouse)); !done)
				return done.error();
		}
		/* The stocks come last, as any warehouse may supply the orders of any other. */
		for (std::uint32_t warehouse = 1; warehouse <= options_.warehouses; warehouse++) {
			if (Result<void> done = look_at_stock(static_cast<std::uint16_t>(warehouse)); !done)
				return done.error();
		}
		return std::move(survey_);
	}

private:
	void complain(std::string text) { survey_.findings.add(std::move(text)); }

	template <typename Record>
	bool decoded(
		std::optional<Bytes> value, Record &record, std::string_view what, Place place, std::uint64_t number)
	{
		if (value && decode(*value, record))
			return true;
		complain(fmt::format("{} {} of warehouse {}, district {} is {}", what, number, place.warehouse,
			place.district, value ? "damaged" : "not there"));
		return false;
	}

	/**
	 * Reads records number @p first to @p last, some at a time. @p key makes the key of a number, @p each receives
	 * every number and its value.
	 */
	template <typename MakeKey, typename Look>
	Result<void> read_all(std::uint64_t first, std::uint64_t last, MakeKey key, Look look)
	{
		std::vector<Key> keys;
		for (std::uint64_t begin = first; begin <= last; begin += at_once) {
			keys.clear();
			for (std::uint64_t i = begin; i <= std::min(last, begin + at_once - 1); i++)
				keys.push_back(key(i));
			const Result<void> done = reader_.read(
				keys, [&](std::size_t i, std::optional<Bytes> value) { look(begin + i, value); });
			if (!done)
				return done;
		}
		return {};
	}

	/** Checks that the customers' payments match their history. */
	Result<void> look_at_customers(Place place)
	{
		std::vector<Customer> customers(options_.customers + 1);
		Result<void> done = read_all(
			1, options_.customers,
			[&](std::uint64_t i) { return customer_key(place, static_cast<std::uint32_t>(i)); },
			[&](std::uint64_t i, std::optional<Bytes> value) {
				decoded(value, customers[i], "customer", place, i);
			});
		for (std::uint32_t i = 1; done && i <= options_.customers; i++) {
			if (customers[i].balance + customers[i].ytd_payment != 0)
				complain(fmt::format("customer {} of warehouse {}, district {} has paid {} and owes {}",
					i, place.warehouse, place.district, customers[i].ytd_payment,
					customers[i].balance));
			done = look_at_history(place, i, customers[i]);
		}
		return done;
	}

	Result<void> look_at_history(Place place, std::uint32_t number, const Customer &customer)
	{
		std::int64_t sum = 0;
		Result<void> done = read_all(
			1, customer.payments,
			[&](std::uint64_t i) { return history_key(place, number, static_cast<std::uint32_t>(i)); },
			[&](std::uint64_t i, std::optional<Bytes> value) {
				History history;
				if (!decoded(value, history, fmt::format("for customer {}, payment", number), place, i))
					return;
				sum += history.amount;
				if (std::int64_t *const paid = paid_in(history))
					*paid += history.amount;
				else
					complain(fmt::format("payment {} of customer {} of warehouse {}, district {} "
							     "was made nowhere",
						i, number, place.warehouse, place.district));
			});
		if (done && sum != customer.ytd_payment)
			complain(fmt::format("customer {} of warehouse {}, district {} has paid {}, by its history {}",
				number, place.warehouse, place.district, customer.ytd_payment, sum));
		return done;
	}

	std::int64_t *paid_in(const History &history)
	{
		if (history.warehouse == 0 || history.warehouse > options_.warehouses || history.district == 0 ||
			history.district > districts)
			return nullptr;
		return &paid_[std::size_t{history.warehouse - 1U} * districts + history.district - 1];
	}

	/** Checks clauses 3.3.2.1 and 3.3.2.8 and, for each district, its orders. */
	Result<void> look_at_warehouse(std::uint16_t number)
	{
		const Key key = warehouse_key(number);
		Warehouse warehouse;
		Result<void> done = reader_.read(std::span(&key, 1), [&](std::size_t, std::optional<Bytes> value) {
			decoded(value, warehouse, "the record", {number, 0}, 0);
		});
		std::int64_t sum = 0;
		for (unsigned district = 1; done && district <= districts; district++)
			done = look_at_district({number, static_cast<std::uint8_t>(district)}, sum);
		if (!done)
			return done;
		if (sum != warehouse.ytd)
			complain(fmt::format("warehouse {} has got {}, its districts {}", number, warehouse.ytd, sum));
		survey_.sums[0] += warehouse.ytd;
		return {};
	}

	Result<void> look_at_district(Place place, std::int64_t &sum)
	{
		const Key key = district_key(place);
		District district;
		const Result<void> done =
			reader_.read(std::span(&key, 1), [&](std::size_t, std::optional<Bytes> value) {
				decoded(value, district, "the record", place, 0);
			});
		if (!done)
			return done;
		sum += district.ytd;
		const std::int64_t paid = paid_[std::size_t{place.warehouse - 1U} * districts + place.district - 1];
		if (paid != district.ytd)
			complain(fmt::format("warehouse {}, district {} has got {}, by the history {}", place.warehouse,
				place.district, district.ytd, paid));
		survey_.sums[1] += district.next_order - 1;
		return look_at_orders(place, district.next_order);
	}

	/**
	 * Checks clauses 3.3.2.2 to 3.3.2.4: all orders below the district's counter are there, and not one more, with
	 * all lines.
	 */
	Result<void> look_at_orders(Place place, std::uint32_t next)
	{
		std::vector<std::uint8_t> lines(std::size_t{next} + 1);
		const auto look = [&](std::uint64_t i, std::optional<Bytes> value) {
			Order order;
			if (i == next)
				return must_not_be(value, "order", place, i);
			if (decoded(value, order, "order", place, i))
				lines[i] = std::min<std::uint8_t>(order.lines, most_lines);
		};
		const auto look_at_row = [&](std::uint64_t i, std::optional<Bytes> value) {
			NewOrderRow row;
			if (i == next)
				return must_not_be(value, "the row of new order", place, i);
			decoded(value, row, "the row of new order", place, i);
		};
		Result<void> done = read_all(
			1, next, [&](std::uint64_t i) { return order_key(place, static_cast<std::uint32_t>(i)); },
			look);
		if (done)
			done = read_all(
				1, next,
				[&](std::uint64_t i) { return new_order_key(place, static_cast<std::uint32_t>(i)); },
				look_at_row);
		for (std::uint32_t order = 1; done && order <= next; order++)
			done = look_at_lines(place, order, lines[order]);
		return done;
	}

	Result<void> look_at_lines(Place place, std::uint32_t order, unsigned lines)
	{
		const unsigned last = std::min(lines + 1, most_lines);
		return read_all(
			1, last,
			[&](std::uint64_t i) { return order_line_key(place, order, static_cast<unsigned>(i)); },
			[&](std::uint64_t i, std::optional<Bytes> value) {
				const std::string what = fmt::format("of order {} line", order);
				OrderLine line;
				if (i > lines)
					return must_not_be(value, what, place, i);
				if (!decoded(value, line, what, place, i))
					return;
				if (line.supply_warehouse == 0 || line.supply_warehouse > options_.warehouses)
					return complain(
						fmt::format("line {} of order {} is supplied by nobody", i, order));
				supplied_[line.supply_warehouse - 1U][line.item].quantity += line.quantity;
				supplied_[line.supply_warehouse - 1U][line.item].orders++;
			});
	}

	void must_not_be(std::optional<Bytes> value, std::string_view what, Place place, std::uint64_t number)
	{
		if (value)
			complain(fmt::format("{} {} of warehouse {}, district {} should not be there", what, number,
				place.warehouse, place.district));
	}

	/** Checks that the ordered items were taken from the stock, once for each line. */
	Result<void> look_at_stock(std::uint16_t number)
	{
		const std::map<std::uint32_t, Supplied> &supplied = supplied_[number - 1U];
		return read_all(
			1, options_.items,
			[&](std::uint64_t i) { return stock_key(number, static_cast<std::uint32_t>(i)); },
			[&](std::uint64_t i, std::optional<Bytes> value) {
				Stock stock;
				if (!decoded(value, stock, "the stock of item", {number, 0}, i))
					return;
				const auto found = supplied.find(static_cast<std::uint32_t>(i));
				const Supplied wanted = found == supplied.end() ? Supplied() : found->second;
				if (stock.ytd != wanted.quantity || stock.orders != wanted.orders)
					complain(fmt::format(
						"of item {}, warehouse {} has supplied {} for {} lines, by the "
						"orders {} for {}",
						i, number, stock.ytd, stock.orders, wanted.quantity, wanted.orders));
			});
	}

	const TpccOptions &options_;
	Reader reader_;
	std::vector<std::int64_t> paid_;                          /* by warehouse and district, as the history has it */
	std::vector<std::map<std::uint32_t, Supplied>> supplied_; /* by warehouse and item, as the orders have it */
	Survey survey_;
};

} // namespace

Result<Survey> survey(const TpccOptions &options, TransactionClient &client)
{
	return Inspector(options, client).run();
}

} // namespace prism::tx::tpcc
