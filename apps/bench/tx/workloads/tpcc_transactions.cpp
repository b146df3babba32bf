/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* NewOrder (clause 2.4) and Payment (clause 2.5). */
#include "tpcc_inputs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

namespace prism::tx::tpcc
{

namespace
{

enum Kind : std::uint8_t {
	new_order,
	payment,
};

/*
 * The constants C of NURand in a run. That of last names keeps the distance from loading's C that clause 2.1.6.1
 * demands.
 */
constexpr std::uint64_t customers_constant = 259;
constexpr std::uint64_t items_constant = 7911;
constexpr std::uint64_t names_constant = 208;

constexpr double new_orders = 45.0 / 88; /* of all transactions */
constexpr double payments_by_name = 0.6;

struct Line {
	std::uint32_t item = 0;
	std::uint16_t supply_warehouse = 0;
	std::uint8_t quantity = 0;
};

struct NewOrderInput {
	Place place;
	std::uint32_t customer = 0;
	std::uint64_t date = 0;
	std::uint8_t lines = 0;
	std::array<Line, most_lines> line;
	bool to_be_rolled_back = false; /* the last line's item does not exist */
};

class NewOrder final : public Program
{
public:
	explicit NewOrder(const NewOrderInput &input) : input_(input)
	{
		add(warehouse_key(input.place.warehouse));
		add(district_key(input.place));
		add(customer_key(input.place, input.customer));
		for (unsigned i = 0; i < input.lines; i++) {
			add(item_key(input.line[i].item));
			add(stock_key(input.line[i].supply_warehouse, input.line[i].item));
		}
	}

	apps::Task<int> run(Transaction &transaction) override
	{
		if (const int error = co_await transaction.fetch(std::span(names_).first(count_)))
			co_return error;
		if (const int error = begin_order(transaction))
			co_return error;
		for (unsigned i = 0; i < input_.lines; i++) {
			if (const int error = add_line(transaction, i))
				co_return error;
		}
		co_return 0;
	}

	[[nodiscard]] Effects effects() const noexcept override { return {0, 1}; }
	[[nodiscard]] unsigned kind() const noexcept override { return new_order; }

private:
	enum Position : std::uint8_t {
		warehouse,
		district,
		customer,
		first_item,
	};

	void add(const Key &key)
	{
		keys_[count_] = key;
		names_[count_] = keys_[count_];
		count_++;
	}

	[[nodiscard]] const Key &item_of(unsigned line) const { return keys_[first_item + 2 * line]; }
	[[nodiscard]] const Key &stock_of(unsigned line) const { return keys_[first_item + 2 * line + 1]; }

	template <typename Record>
	int write(Transaction &transaction, const Key &key, const Record &record)
	{
		std::array<std::byte, largest_record<Record>()> buffer;
		return transaction.write(key, encode(record, buffer));
	}

	/**
	 * Begins an order. Reads the warehouse's tax and the customer's discount too, which only the terminal would
	 * use.
	 */
	int begin_order(Transaction &transaction)
	{
		Warehouse the_warehouse;
		Customer the_customer;
		District the_district;
		if (const int error = read_record(transaction, keys_[warehouse], the_warehouse))
			return error;
		if (const int error = read_record(transaction, keys_[customer], the_customer))
			return error;
		if (const int error = read_record(transaction, keys_[district], the_district))
			return error;
		order_ = the_district.next_order++;
		if (const int error = write(transaction, keys_[district], the_district))
			return error;
		/* The district's counter shows that these are new: they need not be read. */
		if (const int error = write(transaction, new_order_key(input_.place, order_), NewOrderRow()))
			return error;
		return write(transaction, order_key(input_.place, order_), make_order());
	}

	[[nodiscard]] Order make_order() const
	{
		const auto lines = std::span(input_.line).first(input_.lines);
		Order order;
		order.customer = input_.customer;
		order.date = input_.date;
		order.lines = input_.lines;
		order.all_local = std::all_of(lines.begin(), lines.end(),
			[this](const Line &line) { return line.supply_warehouse == input_.place.warehouse; });
		return order;
	}

	int add_line(Transaction &transaction, unsigned i)
	{
		if (input_.to_be_rolled_back && i + 1U == input_.lines)
			return transaction.value(item_of(i)) ? EBADMSG : own_rollback;
		const Line &line = input_.line[i];
		Item item;
		Stock stock;
		if (const int error = read_record(transaction, item_of(i), item))
			return error;
		if (const int error = read_record(transaction, stock_of(i), stock))
			return error;
		const OrderLine order_line = make_line(line, item, stock);
		take_from(stock, line);
		if (const int error = write(transaction, stock_of(i), stock))
			return error;
		return write(transaction, order_line_key(input_.place, order_, i + 1), order_line);
	}

	[[nodiscard]] OrderLine make_line(const Line &line, const Item &item, const Stock &stock) const
	{
		OrderLine made;
		made.item = line.item;
		made.supply_warehouse = line.supply_warehouse;
		made.quantity = line.quantity;
		made.amount = std::int64_t{line.quantity} * item.price;
		made.district_info = stock.district_info[input_.place.district - 1];
		return made;
	}

	void take_from(Stock &stock, const Line &line) const
	{
		const int left = stock.quantity - line.quantity;
		stock.quantity = static_cast<std::int16_t>(left >= 10 ? left : left + 91);
		stock.ytd += line.quantity;
		stock.orders++;
		if (line.supply_warehouse != input_.place.warehouse)
			stock.remote_orders++;
	}

	const NewOrderInput input_;
	std::size_t count_ = 0;
	std::array<Key, first_item + 2 * most_lines> keys_;
	std::array<Bytes, first_item + 2 * most_lines> names_;
	std::uint32_t order_ = 0;
};

struct PaymentInput {
	Place place;          /* where it is paid */
	Place customer_place; /* where the customer lives */
	bool by_name = false;
	std::uint32_t customer = 0; /* or the number of its last name */
	std::int64_t amount = 0;
	std::uint64_t date = 0;
};

class Payment final : public Program
{
public:
	explicit Payment(const PaymentInput &input)
		: input_(input), keys_{warehouse_key(input.place.warehouse), district_key(input.place),
					 input.by_name ? customer_name_key(input.customer_place, input.customer)
						       : customer_key(input.customer_place, input.customer)},
		  names_{keys_[warehouse], keys_[district], keys_[customer_or_name]}, customer_(input.customer)
	{
	}

	apps::Task<int> run(Transaction &transaction) override
	{
		if (const int error = co_await transaction.fetch(names_))
			co_return error;
		if (input_.by_name) {
			if (const int error = find_by_name(transaction))
				co_return error;
			if (const int error = co_await transaction.fetch(customer_key_))
				co_return error;
		} else {
			customer_key_ = keys_[customer_or_name];
		}
		co_return pay(transaction);
	}

	[[nodiscard]] Effects effects() const noexcept override { return {input_.amount, 0}; }
	[[nodiscard]] unsigned kind() const noexcept override { return payment; }

private:
	enum Position : std::uint8_t {
		warehouse,
		district,
		customer_or_name,
	};

	/** Finds the customer in the middle (clause 2.5.2.2). */
	int find_by_name(Transaction &transaction)
	{
		const std::optional<Bytes> index = transaction.value(keys_[customer_or_name]);
		if (!index)
			return ENOENT;
		const std::size_t count = customers_in(*index);
		if (count == 0)
			return EBADMSG;
		customer_ = customer_in(*index, (count + 1) / 2 - 1);
		customer_key_ = customer_key(input_.customer_place, customer_);
		return 0;
	}

	int pay(Transaction &transaction)
	{
		Warehouse the_warehouse;
		District the_district;
		if (const int error = read_record(transaction, keys_[warehouse], the_warehouse))
			return error;
		if (const int error = read_record(transaction, keys_[district], the_district))
			return error;
		the_warehouse.ytd += input_.amount;
		the_district.ytd += input_.amount;
		if (const int error = write(transaction, keys_[warehouse], the_warehouse))
			return error;
		if (const int error = write(transaction, keys_[district], the_district))
			return error;
		return pay_by_customer(transaction, the_warehouse, the_district);
	}

	int pay_by_customer(Transaction &transaction, const Warehouse &the_warehouse, const District &the_district)
	{
		Customer customer;
		if (const int error = read_record(transaction, customer_key_, customer))
			return error;
		if (customer.payments == most_payments)
			return EOVERFLOW; /* its history has no more keys */
		customer.balance -= input_.amount;
		customer.ytd_payment += input_.amount;
		customer.payments++;
		if (customer.credit.view() == "BC")
			note_payment(customer);
		if (const int error = write(transaction, customer_key_, customer))
			return error;
		History history;
		history.warehouse = input_.place.warehouse;
		history.district = input_.place.district;
		history.date = input_.date;
		history.amount = input_.amount;
		history.data.assign(fmt::format("{}    {}", the_warehouse.name.view(), the_district.name.view()));
		return write(transaction, history_key(input_.customer_place, customer_, customer.payments), history);
	}

	void note_payment(Customer &customer) const
	{
		customer.data.assign(fmt::format("{} {} {} {} {} {}.{:02} {}", customer_,
			input_.customer_place.district, input_.customer_place.warehouse, input_.place.district,
			input_.place.warehouse, input_.amount / 100, input_.amount % 100, customer.data.view()));
	}

	template <typename Record>
	int write(Transaction &transaction, const Key &key, const Record &record)
	{
		std::array<std::byte, largest_record<Record>()> buffer;
		return transaction.write(key, encode(record, buffer));
	}

	const PaymentInput input_;
	const std::array<Key, 3> keys_;
	const std::array<Bytes, 3> names_;
	std::uint32_t customer_;
	Key customer_key_{};
};

class TpccTerminal final : public Terminal
{
public:
	TpccTerminal(const TpccOptions &options, const Names &names, std::uint64_t seed, std::uint64_t number)
		: options_(options), names_(names), random_(bench::make_random(seed, number)),
		  home_(static_cast<std::uint16_t>(number % options.warehouses + 1))
	{
	}

	std::unique_ptr<Program> next() override
	{
		date_++;
		if (chance(random_, new_orders))
			return std::make_unique<NewOrder>(new_order_input());
		return std::make_unique<Payment>(payment_input());
	}

private:
	NewOrderInput new_order_input()
	{
		NewOrderInput input;
		input.place = {home_, draw_district()};
		input.customer = draw_customer();
		input.date = date_;
		input.lines = static_cast<std::uint8_t>(draw(random_, least_lines, most_lines));
		for (unsigned i = 0; i < input.lines; i++) {
			const bool remote = chance(random_, options_.remote_items);
			input.line[i] = {draw_item(std::span(input.line).first(i)),
				remote ? another_warehouse() : home_, static_cast<std::uint8_t>(draw(random_, 1, 10))};
		}
		input.to_be_rolled_back = chance(random_, options_.rollbacks);
		if (input.to_be_rolled_back)
			input.line[input.lines - 1U].item = options_.items + 1;
		return input;
	}

	PaymentInput payment_input()
	{
		PaymentInput input;
		input.place = {home_, draw_district()};
		input.customer_place = input.place;
		if (chance(random_, options_.remote_payments))
			input.customer_place = {another_warehouse(), draw_district()};
		input.by_name = chance(random_, payments_by_name);
		input.customer = input.by_name ? draw_name() : draw_customer();
		input.amount = static_cast<std::int64_t>(draw(random_, 1'00, 5000'00));
		input.date = date_;
		return input;
	}

	std::uint8_t draw_district() { return static_cast<std::uint8_t>(draw(random_, 1, districts)); }

	std::uint32_t draw_customer()
	{
		return static_cast<std::uint32_t>(
			non_uniform(random_, 1023, 1, options_.customers, customers_constant));
	}

	std::uint32_t draw_name()
	{
		return static_cast<std::uint32_t>(non_uniform(random_, 255, 0, names_.count() - 1, names_constant));
	}

	std::uint32_t draw_item(std::span<const Line> others)
	{
		auto item = static_cast<std::uint32_t>(non_uniform(random_, 8191, 1, options_.items, items_constant));
		const auto is_there = [&](const Line &line) { return line.item == item; };
		while (std::any_of(others.begin(), others.end(), is_there))
			item = item % options_.items + 1;
		return item;
	}

	/** Returns its own warehouse if there is no other. */
	std::uint16_t another_warehouse()
	{
		if (options_.warehouses == 1)
			return home_;
		const auto drawn = static_cast<std::uint16_t>(draw(random_, 1, options_.warehouses - 1));
		return drawn >= home_ ? static_cast<std::uint16_t>(drawn + 1) : drawn;
	}

	const TpccOptions options_;
	const Names &names_;
	bench::Random random_;
	const std::uint16_t home_;
	std::uint64_t date_ = 0;
};

} // namespace

std::unique_ptr<Terminal> make_terminal(
	const TpccOptions &options, const Names &names, std::uint64_t seed, std::uint64_t number)
{
	return std::make_unique<TpccTerminal>(options, names, seed, number);
}

} // namespace prism::tx::tpcc
