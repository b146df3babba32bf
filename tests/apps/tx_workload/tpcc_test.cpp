/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <gtest/gtest.h>

#include <string>

#include "bench/tx/workloads/tpcc.hpp"
#include "bench/tx/workloads/tpcc_inputs.hpp"
#include "support/run_workload.hpp"

namespace
{

using namespace tx_test;

using namespace prism::tx::tpcc;

TpccOptions small()
{
	TpccOptions options;
	options.warehouses = 2;
	options.items = 60;
	options.customers = 12;
	return options;
}

std::unique_ptr<Workload> make(const TpccOptions &options = small())
{
	return make_tpcc(options).value();
}

std::string name_of(const Key &key)
{
	return {reinterpret_cast<const char *>(key.data()), key.size()};
}

template <typename Record>
Record at(const FakeStore &store, const Key &key)
{
	Record record;
	const std::optional<std::string> &value = store.at(name_of(key)).value;
	EXPECT_TRUE(value && decode(std::as_bytes(std::span(*value)), record));
	return record;
}

template <typename Record>
void put(FakeStore &store, const Key &key, const Record &record)
{
	std::array<std::byte, largest_record<Record>()> buffer;
	const Bytes value = encode(record, buffer);
	store.change(name_of(key), std::string(reinterpret_cast<const char *>(value.data()), value.size()));
}

TEST(Tpcc, EverythingFitsTogether)
{
	const Trial trial = attempt(*make(), {}, 3000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_GT(trial.tally.attempts, 3300U) << "there were conflicts to be survived";
	EXPECT_EQ(trial.objects, make()->objects());
	EXPECT_LE(trial.largest_value, make()->largest_value());
	EXPECT_GT(trial.largest_value, 300U) << "customers have a text";
	EXPECT_EQ(trial.before.sums[0], 2 * 10 * 12 * 10'00);
	EXPECT_EQ(trial.before.sums[1], 0);
	EXPECT_NEAR(static_cast<double>(trial.tally.committed.at(0) + trial.tally.rolled_back.at(0)), 3000 * 45.0 / 88,
		120);
	EXPECT_EQ(trial.tally.totals.lowest[1], static_cast<std::int64_t>(trial.tally.committed.at(0)));
}

TEST(Tpcc, OneOrderInAHundredIsRolledBack)
{
	const Trial trial = attempt(*make(), {}, 5000);
	EXPECT_NEAR(static_cast<double>(trial.tally.rolled_back.at(0)), 25, 15);
	EXPECT_EQ(trial.tally.rolled_back.at(1), 0U) << "payments never";
	EXPECT_EQ(trial.tally.errors, (std::map<int, std::uint64_t>{{own_rollback, trial.tally.rolled_back.at(0)}}));
	TpccOptions options = small();
	options.rollbacks = 1;
	EXPECT_EQ(attempt(*make(options), {}, 300).tally.totals.highest[1], 0);
}

TEST(Tpcc, FlawsAreFound)
{
	for (const Flaw flaw : {Flaw::lost_update, Flaw::half_committed, Flaw::lost_commit}) {
		FakeOptions store;
		store.flaw = flaw;
		const Trial trial = attempt(*make(), store, 300);
		EXPECT_GT(trial.flawed, 0U);
		EXPECT_GE(trial.findings.count(), 1U) << "flaw " << static_cast<int>(flaw);
	}
}

TEST(Tpcc, OutcomesThatAreNotKnownMakeARange)
{
	FakeOptions store;
	store.unknown_one_in = 10;
	const Trial trial = attempt(*make(), store, 1000);
	EXPECT_EQ(trial.findings.texts(), std::vector<std::string>());
	EXPECT_LT(trial.tally.totals.lowest[0], trial.tally.totals.highest[0]);
	EXPECT_LT(trial.tally.totals.lowest[1], trial.tally.totals.highest[1]);
}

TEST(Tpcc, RemoteWarehouses)
{
	TpccOptions options = small();
	options.warehouses = 1;
	options.remote_items = 1;
	options.remote_payments = 1;
	EXPECT_EQ(attempt(*make(options), {}, 300).findings.count(), 0U) << "there is no other warehouse";
	options.warehouses = 3;
	FakeStore store;
	FakeClient client(store, 1);
	load(*make(options), client);
	run(*make(options), client, 600);
	std::uint64_t orders = 0;
	for (unsigned district = 1; district <= districts; district++) {
		const Place place{1, static_cast<std::uint8_t>(district)};
		const auto next = at<District>(store, district_key(place)).next_order;
		for (std::uint32_t order = 1; order < next; order++, orders++) {
			EXPECT_EQ(at<Order>(store, order_key(place, order)).all_local, 0);
			EXPECT_NE(at<OrderLine>(store, order_line_key(place, order, 1)).supply_warehouse, 1);
		}
		for (std::uint32_t customer = 1; customer <= options.customers; customer++)
			EXPECT_EQ(at<Customer>(store, customer_key(place, customer)).payments, 1U)
				<< "the only terminal is that of warehouse 1, and all who pay there live elsewhere";
	}
	EXPECT_GT(orders, 200U);
	EXPECT_EQ(survey(*make(options), client).findings.texts(), std::vector<std::string>());
}

/** Breaks one thing after another that the checks must find. */
TEST(Tpcc, WhatIsWrongIsNamed)
{
	const std::unique_ptr<Workload> workload = make();
	FakeStore store;
	FakeClient client(store, 4);
	load(*workload, client);
	run(*workload, client, 400);
	ASSERT_EQ(survey(*workload, client).findings.texts(), std::vector<std::string>());
	const Place place{1, 1};
	const std::uint32_t next = at<District>(store, district_key(place)).next_order;
	ASSERT_GT(next, 2U);

	const auto finds = [&](const Key &key, const std::string &words) {
		const std::optional<std::string> good = store.at(name_of(key)).value;
		return [&store, &workload, &client, key, words, good] {
			const Survey after = survey(*workload, client);
			bool found = false;
			for (const std::string &text : after.findings.texts())
				found = found || text.find(words) != std::string::npos;
			EXPECT_TRUE(found)
				<< words << " is not among " << after.findings.count()
				<< " findings: " << (after.findings.count() ? after.findings.texts()[0] : "none");
			store.change(name_of(key), good);
		};
	};
	const auto change = [&]<typename Record>(const Key &key, const std::string &words, void (*how)(Record &)) {
		const auto check = finds(key, words);
		auto record = at<Record>(store, key);
		how(record);
		put(store, key, record);
		check();
	};
	const auto remove = [&](const Key &key, const std::string &words) {
		const auto check = finds(key, words);
		store.change(name_of(key), {});
		check();
	};

	change(
		warehouse_key(1), "its districts", +[](Warehouse &w) { w.ytd++; });
	change(
		district_key(place), "by the history", +[](District &d) { d.ytd++; });
	change(
		district_key(place), "order 1 of warehouse 1, district 1 should not be there",
		+[](District &d) { d.next_order = 1; });
	change(
		district_key(place), "is not there", +[](District &d) { d.next_order++; });
	change(
		customer_key(place, 1), "and owes", +[](Customer &c) { c.balance++; });
	change(
		customer_key(place, 1), "by its history", +[](Customer &c) { c.ytd_payment++, c.balance--; });
	change(
		customer_key(place, 1), "for customer 1, payment", +[](Customer &c) { c.payments++; });
	change(
		history_key(place, 1, 1), "was made nowhere", +[](History &h) { h.warehouse = 3; });
	change(
		order_key(place, 1), "of order 1 line", +[](Order &o) { o.lines--; });
	change(
		order_line_key(place, 1, 1), "has supplied", +[](OrderLine &l) { l.quantity++; });
	change(
		stock_key(2, 60), "of item 60, warehouse 2 has supplied", +[](Stock &s) { s.orders++; });
	remove(order_key(place, next - 1), "order " + std::to_string(next - 1));
	remove(new_order_key(place, 1), "the row of new order 1");
	remove(order_line_key(place, 1, 2), "of order 1 line 2");
	remove(stock_key(1, 1), "the stock of item 1");
	remove(customer_key(place, 2), "customer 2 of warehouse 1, district 1 is not there");
	const auto check = finds(warehouse_key(2), "damaged");
	store.change(name_of(warehouse_key(2)), "short");
	check();
	EXPECT_EQ(survey(*workload, client).findings.texts(), std::vector<std::string>()) << "all is as it was";
}

TEST(Tpcc, NamesAndTheirIndex)
{
	EXPECT_EQ(last_name(0), "BARBARBAR");
	EXPECT_EQ(last_name(371), "PRICALLYOUGHT");
	EXPECT_EQ(last_name(999), "EINGEINGEING");
	TpccOptions options = small();
	options.customers = 1500;
	options.warehouses = 1;
	const Names names(options.customers);
	EXPECT_EQ(names.count(), 1000U);
	EXPECT_GT(names.most_of_one(), 2U);
	FakeStore store;
	FakeClient client(store, 1);
	load(*make(options), client);
	const Place place{1, 10};
	std::size_t indexed = 0;
	for (std::uint32_t name = 0; name < names.count(); name++) {
		const std::string &index = *store.at(name_of(customer_name_key(place, name))).value;
		const Bytes bytes = std::as_bytes(std::span(index));
		ASSERT_GE(customers_in(bytes), 1U) << "nobody has the name " << name;
		std::string before;
		for (std::size_t i = 0; i < customers_in(bytes); i++, indexed++) {
			const auto customer = at<Customer>(store, customer_key(place, customer_in(bytes, i)));
			EXPECT_EQ(customer.last.view(), last_name(name));
			EXPECT_LE(before, customer.first.view());
			before = customer.first.view();
		}
	}
	EXPECT_EQ(indexed, 1500U) << "every customer once";
}

TEST(Tpcc, RecordsAreReadAsTheyWereWritten)
{
	Customer customer;
	customer.first.assign("a first name");
	customer.last.assign("one that is too long for its field");
	customer.data.assign(std::string(500, 'x'));
	customer.balance = -5;
	customer.payments = 7;
	std::array<std::byte, largest_record<Customer>()> buffer;
	const Bytes value = encode(customer, buffer);
	Customer again;
	ASSERT_TRUE(decode(value, again));
	EXPECT_EQ(again.first.view(), "a first name");
	EXPECT_EQ(again.last.view(), "one that is too ");
	EXPECT_EQ(again.data.view().size(), 500U);
	EXPECT_EQ(again.balance, -5);
	EXPECT_EQ(again.payments, 7U);
	for (std::size_t size = 0; size < value.size(); size++)
		EXPECT_FALSE(decode(value.first(size), again)) << "cut off at " << size;
	std::vector<std::byte> longer(value.begin(), value.end());
	longer.push_back({});
	EXPECT_FALSE(decode(longer, again));
	std::fill(longer.begin(), longer.end(), std::byte{0xff});
	EXPECT_FALSE(decode(longer, again)) << "lengths that no text has";
}

TEST(Tpcc, NonsenseIsRefused)
{
	const auto refused = [](auto change) {
		TpccOptions options = small();
		change(options);
		const auto made = make_tpcc(options);
		return !made && made.error().code == EINVAL;
	};
	EXPECT_FALSE(refused([](TpccOptions &) {}));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.warehouses = 0; }));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.warehouses = 65536; }));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.items = 14; }));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.customers = 0; }));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.customers = 65536; }));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.remote_items = 2; }));
	EXPECT_TRUE(refused([](TpccOptions &o) { o.rollbacks = -1; }));
}

} // namespace
