/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "round_trips.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include <fmt/core.h>

#include "client.hpp"
#include "network.hpp"
#include "server.hpp"

namespace kv_sim
{

using prism::apps::OperationKind;
using prism::kv::Lane;
using prism::kv::Slot;

namespace
{

constexpr std::size_t value_size = 512;
constexpr unsigned repetitions = 10;

/** Client and its server on a network without faults. */
class Bench final : private Surroundings
{
public:
	explicit Bench(soft::Time delay);

	/* Return nanoseconds of virtual time. */
	soft::Time take(OperationKind kind);
	soft::Time two_reads();

	std::string finding;

private:
	[[nodiscard]] soft::Time time() const override { return now_; }
	prism::test::Random &random() override { return random_; }
	void go_on_until(const std::function<bool()> &done) override;
	void tell_to_settle(std::uint32_t, std::uint64_t) override {}
	void find(const std::string &what) override { finding = what; }

	static ServerOptions server_options(soft::Time delay);
	void step();
	bool read(prism::RemoteAddress from, prism::LocalSlice to);
	soft::Time since(soft::Time start, bool good);

	prism::test::Random random_{1};
	soft::Time now_ = 1000;
	test::Node server_node_{1}, client_node_{2};
	test::Network network_;
	Server server_;
	std::uint64_t key_ = 1;
	std::array<std::byte, value_size> value_{}, result_{};
	std::unique_ptr<Pair> reader_;
	std::unique_ptr<Client> client_;
	std::vector<Slot> memory_; /* of the reader: a slot, then an object */
	std::uint32_t memory_key_ = 0;
};

ServerOptions Bench::server_options(soft::Time delay)
{
	ServerOptions options;
	options.classes = {{1024, 64}};
	options.max_value_size = value_size;
	options.ack_timeout = 8 * delay + 1'000'000;
	return options;
}

Bench::Bench(soft::Time delay)
	: network_({&server_node_, &client_node_}, {0, 0, 0, 0}, random_, {delay, 1, 1}),
	  server_(server_node_, *this, server_options(delay)),
	  reader_(std::make_unique<Pair>(client_node_, test::EndpointOptions{})), memory_(1 + 1024 / sizeof(Slot))
{
	auto pair = std::make_unique<Pair>(client_node_, test::EndpointOptions{});
	Admission admission = server_.admit(*pair);
	client_ = std::make_unique<Client>(std::move(pair), std::move(admission), ClientOptions{}, [](Lane &) {});
	(void)server_.admit(*reader_);
	auto *const bytes = reinterpret_cast<std::uint8_t *>(memory_.data());
	memory_key_ = client_node_.engine.memory.add_region(bytes, reinterpret_cast<std::uintptr_t>(bytes),
		memory_.size() * sizeof(Slot), soft::access_local_write, 1);
}

/** Acts on packets under way, then advances to the time of the next. */
void Bench::step()
{
	for (test::Node *node : {&server_node_, &client_node_})
		node->engine.progress(now_);
	network_.collect(now_);
	if (!network_.next()) {
		find("nothing is under way");
		return;
	}
	now_ = network_.next();
	network_.deliver(now_);
	client_->poll();
	server_.serve();
}

void Bench::go_on_until(const std::function<bool()> &done)
{
	while (finding.empty() && !done())
		step();
}

soft::Time Bench::since(soft::Time start, bool good)
{
	if (!good)
		find("an operation did not do what it was asked to");
	return now_ - start;
}

soft::Time Bench::take(OperationKind kind)
{
	prism::apps::Operation operation;
	operation.kind = kind;
	operation.key = std::as_bytes(std::span(&key_, 1));
	operation.value = value_;
	operation.result = result_;
	Lane &lane = client_->lane(0);
	const soft::Time start = now_;
	client_->start(lane, operation, [this](Lane &free) { return client_->protocol().run(free); });
	go_on_until([&lane] { return !lane.operation; });
	return since(start, operation.outcome == prism::apps::Outcome::ok);
}

bool Bench::read(prism::RemoteAddress from, prism::LocalSlice to)
{
	prism::Chain chain;
	chain.rdma_read(from, to);
	if (reader_->post(chain, 0))
		return false;
	prism::Completion completion;
	bool there = false;
	go_on_until([&] { return there = reader_->poll(completion); });
	return there && completion.ok();
}

/** Does a lookup by plain verbs: READs the slot, then the object. */
soft::Time Bench::two_reads()
{
	const soft::Time start = now_;
	const prism::kv::ServerView &view = client_->server();
	const prism::kv::Fingerprint key = prism::kv::fingerprint_of(view.secret, std::as_bytes(std::span(&key_, 1)));
	const auto place = reinterpret_cast<std::uintptr_t>(memory_.data());
	bool good = read(view.slot(view.geometry.home_of(key)), {place, sizeof(Slot), memory_key_});
	const prismdv_bounded_ptr object = memory_.front().object;
	good = good && memory_.front().key == key &&
	       read({object.ptr, view.table.rkey}, {place + sizeof(Slot), object.bound, memory_key_});
	return since(start, good);
}

/** Returns the mean of several repetitions, in round trips. */
double round_trips(soft::Time delay, const std::function<soft::Time()> &take)
{
	soft::Time sum = 0;
	for (unsigned i = 0; i < repetitions; i++)
		sum += take();
	return static_cast<double>(sum) / repetitions / static_cast<double>(2 * delay);
}

bool is_about(double value, double wanted)
{
	return std::abs(value - wanted) < 0.01 * wanted;
}

} // namespace

int report_round_trips(const std::vector<double> &delays)
{
	bool good = true;
	fmt::print("virtual time, us; computing takes none\n{:>12} {:>12} {:>12} {:>12} {:>12} {:>12}\n", "one way",
		"insert", "PRISM GET", "PRISM PUT", "PRISM ERASE", "READ, READ");
	for (const double us : delays) {
		const auto delay = static_cast<soft::Time>(us * 1000);
		Bench bench(delay);
		const auto in_us = [us](double trips) { return trips * 2 * us; };
		const double insert =
			static_cast<double>(bench.take(OperationKind::put)) / static_cast<double>(2 * delay);
		const double get = round_trips(delay, [&] { return bench.take(OperationKind::get); });
		const double reads = round_trips(delay, [&] { return bench.two_reads(); });
		const double put = round_trips(delay, [&] { return bench.take(OperationKind::put); });
		const double erase =
			static_cast<double>(bench.take(OperationKind::erase)) / static_cast<double>(2 * delay);
		fmt::print("{:12.1f} {:12.1f} {:12.1f} {:12.1f} {:12.1f} {:12.1f}\n", us, in_us(insert), in_us(get),
			in_us(put), in_us(erase), in_us(reads));
		good &= is_about(get, 1) && is_about(put, 1) && is_about(erase, 1) && is_about(reads, 2) &&
			bench.finding.empty();
		if (!bench.finding.empty())
			fmt::print("{}\n", bench.finding);
	}
	if (!good)
		fmt::print("FAIL: that is not one round trip, and two for two READs\n");
	return good ? 0 : 1;
}

} // namespace kv_sim
