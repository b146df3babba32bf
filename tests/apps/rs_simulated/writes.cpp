/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "writes.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/core.h>

namespace rs_sim
{

using prism::apps::OperationKind;
using prism::apps::Outcome;

namespace
{

constexpr soft::Time step_time = 1'000; /* ns */
/* Steps between two turns of the replicas */
constexpr std::uint64_t replica_turn = 4;
/* Steps after which an operation must have ended: some thousand times its usual number */
constexpr std::uint64_t longest_pause = 20'000;
constexpr unsigned count_bits = 40; /* bits of a value; the rest is the client */

} // namespace

/**
 * Returns a bound on the buffers in use. A client holds one buffer of a replica for each operation, which may be on its
 * way to a slot or out of it, and as many freed ones as fit into a report, once on its side and once on the way. Half
 * as many again are on the replica's side.
 */
std::uint64_t Writes::most_buffers() const
{
	const std::uint64_t of_a_client = 2 * options_.depth + 3 * options_.report_batch;
	return options_.blocks + options_.clients * of_a_client;
}

Writes::Writes(const WritesOptions &options)
	: options_(options), random_(options.seed), seats_(options.clients), ended_(options.blocks)
{
	ReplicaOptions replica;
	replica.blocks = options_.blocks;
	replica.block_size = options_.block_size;
	replica.mtu = 4096;
	replica.spare_buffers = static_cast<std::uint32_t>(most_buffers() - options_.blocks);
	replica.flaw = options_.flaw;
	simulation::Surroundings &around = *this; /* the bases are private */
	ClientSurroundings &host_of_clients = *this;
	std::uint8_t host = 1;
	for (unsigned number = 0; number < options_.replicas; number++) {
		nodes_.push_back(std::make_unique<test::Node>(host++));
		replicas_.push_back(std::make_unique<Replica>(*nodes_.back(), around, replica, true));
	}
	result_.buffers = most_buffers();
	for (unsigned number = 0; number < options_.clients; number++) {
		nodes_.push_back(std::make_unique<test::Node>(host++));
		Seat &seat = seats_[number];
		seat.jobs.resize(options_.depth);
		for (Job &job : seat.jobs)
			job.value.resize(options_.block_size / sizeof(std::uint64_t));
		for (Job &job : seat.jobs)
			job.result.resize(job.value.size());
		ClientOptions client;
		client.protocol.replicas = options_.replicas;
		client.protocol.client = number + 1;
		client.protocol.exclusive = options_.exclusive ? 1 : 0;
		client.protocol.hedge = std::chrono::milliseconds(1);
		client.depth = options_.depth;
		client.block_size = options_.block_size;
		client.report_batch = options_.report_batch;
		client.timeout = longest_pause * step_time * 10;
		client.flaw = options_.flaw;
		seat.client = std::make_unique<Client>(*nodes_.back(), host_of_clients, client,
			[this](const prism::apps::Operation &operation) { ended(operation); });
		seat.client->begin();
	}
}

Writes::~Writes() = default;

void Writes::find(const std::string &what)
{
	if (result_.finding.empty())
		result_.finding = fmt::format("after {} writes: {}", result_.writes, what);
}

void Writes::want(Client &client, unsigned replica, std::uint64_t epoch)
{
	const auto is_it = [&client](const Seat &seat) { return seat.client.get() == &client; };
	const auto number = std::find_if(seats_.begin(), seats_.end(), is_it) - seats_.begin();
	auto pair = std::make_unique<Pair>(
		*nodes_[options_.replicas + static_cast<std::size_t>(number)], test::EndpointOptions{});
	const std::optional<Admission> admission = replicas_[replica]->admit(*pair, {epoch, false});
	if (!admission) {
		find("a replica refuses a client");
		return;
	}
	replicas_[replica]->enter(admission->connection);
	client.link_up(replica, std::move(pair), *admission);
}

void Writes::closed(Client &, unsigned, std::uint32_t)
{
	find("a connection has failed");
}

void Writes::go_on_until(const std::function<bool()> &)
{
	find("a replica has work of its own, though no client has left");
}

/* Operations ----------------------------------------------------------------------------------------------------- */

void Writes::go_on(unsigned number)
{
	Seat &seat = seats_[number];
	seat.client->poll();
	for (Job &job : seat.jobs) {
		if (!job.under_way && begun_ < options_.writes)
			begin(number, job);
	}
	seat.client->ring();
}

void Writes::begin(unsigned number, Job &job)
{
	Seat &seat = seats_[number];
	const bool gets = random_.chance(options_.gets);
	job.block = random_.below(options_.blocks);
	if (options_.exclusive && !gets)
		job.block = number +
			    options_.clients * random_.below((options_.blocks - number - 1) / options_.clients + 1);
	job.operation = {};
	job.operation.kind = gets ? OperationKind::get : OperationKind::put;
	job.oldest = ended_[job.block];
	if (!gets) {
		begun_++;
		std::fill(job.value.begin(), job.value.end(), (std::uint64_t{number} + 1) << count_bits | ++seat.begun);
	}
	job.operation.value = std::as_bytes(std::span(job.value));
	job.operation.result = std::as_writable_bytes(std::span(job.result));
	job.operation.context = &job;
	job.under_way = true;
	if (!seat.client->start(job.operation, job.block))
		find("a client takes fewer operations than its depth");
}

void Writes::ended(const prism::apps::Operation &operation)
{
	Job &job = *static_cast<Job *>(operation.context);
	job.under_way = false;
	progress_ = steps_;
	if (job.operation.outcome != Outcome::ok) {
		find(fmt::format("an operation failed with {}", std::strerror(job.operation.error)));
		return;
	}
	constexpr std::uint64_t count = (std::uint64_t{1} << count_bits) - 1;
	if (job.operation.kind == OperationKind::put) {
		result_.writes++;
		ended_[job.block] = std::max(ended_[job.block], job.value.front() & count);
		return;
	}
	result_.gets++;
	const std::uint64_t value = job.result.front();
	if (std::any_of(job.result.begin(), job.result.end(), [value](std::uint64_t word) { return word != value; }))
		find("a block that is parts of several");
	if (options_.exclusive && (value & count) < job.oldest)
		find("a GET does not see a write that was over when it began");
}

/* A run ---------------------------------------------------------------------------------------------------------- */

void Writes::carry()
{
	for (const auto &from : nodes_) {
		for (std::size_t i = 0; i < from->outbox.size(); i++) {
			const test::Packet &packet = from->outbox.at(i);
			test::Node &to = *nodes_[packet.to.gid.back() - 1u];
			to.engine.receive({from->address, {}}, packet.bytes, now_);
		}
		from->outbox.clear();
	}
}

void Writes::look()
{
	for (const auto &replica : replicas_) {
		replica->serve();
		const std::uint64_t used = replica->buffers_in_use();
		result_.most_in_use = std::max(result_.most_in_use, used);
		if (used >= most_buffers())
			find("all buffers are in use");
	}
	if (steps_ - progress_ > longest_pause)
		find("nothing goes on any more");
}

void Writes::step()
{
	now_ += step_time;
	steps_++;
	for (unsigned number = 0; number < options_.clients; number++) {
		/* Vary which client is first */
		if (!random_.chance(20))
			go_on(number);
	}
	for (const auto &node : nodes_)
		node->engine.progress(now_);
	carry();
	if (steps_ % replica_turn == 0)
		look();
}

WritesResult Writes::run()
{
	const auto start = std::chrono::steady_clock::now();
	const auto busy = [](const Seat &seat) {
		return std::any_of(seat.jobs.begin(), seat.jobs.end(), [](const Job &job) { return job.under_way; });
	};
	while (result_.finding.empty() && (begun_ < options_.writes || std::any_of(seats_.begin(), seats_.end(), busy)))
		step();
	for (const Seat &seat : seats_)
		result_.misses += seat.client->misses();
	result_.took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
	return result_;
}

} // namespace rs_sim
