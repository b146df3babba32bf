/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "packet_cluster.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "directory_cluster.hpp"
#include "gam/membership/farewells.hpp"
#include "gam/one_sided/verbs_homes.hpp"
#include "gam/transport/peers.hpp"
#include "latch_cluster.hpp"

namespace gam_sim
{

using prism::gam::block_size;
using prism::gam::Farewells;
using prism::gam::Member;
using prism::gam::Message;
using prism::gam::NodeLife;
using prism::gam::NodeState;
using prism::gam::PeerDevice;
using prism::gam::PeerOptions;
using prism::gam::Peers;
using prism::gam::Time;
using prism::gam::View;

namespace
{

constexpr prism::soft::Time us = 1000;
constexpr prism::soft::Time longest_pause = 100 * us;
/* Message type that is not the protocol's, like first_word */
constexpr std::uint8_t freed = 0xf8; /* counter: number of addresses in the data */

/** Returns the life of a node. Numbers are never reused here, so the incarnation follows from the number. */
NodeLife life_of(NodeId id)
{
	return {id, id + 1U};
}

template <typename T>
T need(prism::Result<T> result)
{
	if (!result)
		throw std::runtime_error(result.error().message);
	return *std::move(result);
}

} // namespace

/** Node: the common part of both protocols. */
struct PacketCluster::Seat : Coherence::Host, prism::gam::Network::Listener, Peers::Events {
	Seat(PacketCluster &around, NodeId number)
		: cluster(around), id(number), host(static_cast<std::uint8_t>(1 + number))
	{
		PeerOptions options;
		options.max_peers = around.options_.nodes;
		options.log = [](prism::apps::LogLevel, const std::string &) {};
		rpc_sim::Around &surroundings = around;
		auto made = std::make_unique<rpc_sim::Device>(host, surroundings, around.packets_.device);
		device = made.get();
		PeerDevice parts;
		parts.pool = made->make_pool(options.sizes.frame_bytes, options.max_peers * options.sizes.receives());
		parts.device = std::move(made);
		peers = std::make_unique<Peers>(std::move(parts), options, *this);
	}

	void meet(Seat &other)
	{
		auto mine = need(peers->open()), theirs = need(other.peers->open());
		(void)mine->connect(theirs->endpoint());
		(void)theirs->connect(mine->endpoint());
		(void)peers->add(life_of(other.id), std::move(mine), Peers::Begin::open);
		(void)other.peers->add(life_of(id), std::move(theirs), Peers::Begin::open);
	}
	virtual void poll()
	{
		(void)peers->poll(*this);
		(void)coherence->on_time(Time(static_cast<std::int64_t>(cluster.now_)));
		peers->flush();
	}
	virtual void learn(NodeId dead)
	{
		peers->cut_off(dead);
		coherence->lost(dead);
	}
	[[nodiscard]] virtual bool is_at_rest() const { return coherence->at_rest(); }
	[[nodiscard]] virtual bool has_mourned() const { return true; }
	[[nodiscard]] virtual Holding holding(Address block) = 0;
	[[nodiscard]] virtual std::string disagreement(Seat &home, Address block) = 0;

	/* Coherence::Host */
	void send(NodeId to, const Message &message) override { peers->send(to, message); }
	void ended(Access &access) override { cluster.on_ended(access); }
	[[nodiscard]] bool is_allocated(Address /*block*/) const override { return true; }
	/* Network::Listener */
	void heard(NodeId from, const Message &message) override { coherence->hear(from, message); }
	/* Peers::Events */
	void broken(NodeId node, int /*error*/) noexcept override
	{
		if (!cluster.is_dead(node))
			cluster.find("a pair of two nodes that live has ended");
	}

	PacketCluster &cluster;
	const NodeId id;
	prism::test::Node host;
	rpc_sim::Device *device = nullptr; /* of peers */
	std::unique_ptr<Peers> peers;
	std::unique_ptr<Coherence> coherence;
	bool is_dead = false;
	std::uint64_t packets = 0; /* sent and received */
};

struct PacketCluster::DirectorySeat final : Seat {
	DirectorySeat(PacketCluster &around, NodeId number) : Seat(around, number), parts(around.options_)
	{
		coherence = parts.make(id, *this, around.packets_.directory, around.packets_.through_home);
	}
	[[nodiscard]] Directory &directory() { return static_cast<Directory &>(*coherence); }
	[[nodiscard]] Holding holding(Address block) override { return holding_of(directory(), id, block); }
	[[nodiscard]] std::string disagreement(Seat &home, Address block) override
	{
		return disagreement_of(static_cast<DirectorySeat &>(home).directory(), directory(), id, block);
	}

	DirectoryParts parts;
};

struct PacketCluster::LatchSeat final : Seat, latch::VerbsHomes::Sink, Farewells::Host {
	static constexpr std::uint64_t spares = 32;
	static constexpr std::uint32_t requests = 64;

	LatchSeat(PacketCluster &around, NodeId number) : Seat(around, number), farewells(number, *this)
	{
		const latch::Layout layout{around.options_.blocks, spares + prism::gam::max_nodes};
		homes = need(latch::VerbsHomes::create(*device, id, layout, requests, *this));
		homes->region().lend(0, layout.blocks);
		latch::Options options;
		options.self = id;
		options.memory = need(homes->allocate_lines(around.options_.lines));
		options.region = &homes->region();
		options.rest = Time(20 * us);
		options.rules = around.packets_.rules;
		coherence = std::make_unique<Latch>(options, *this, *homes);
		for (NodeId other = 0; other < around.options_.nodes; other++) {
			Member member;
			member.life = life_of(other);
			member.state = NodeState::serving;
			view.members.push_back(member);
		}
		view.epoch = around.options_.nodes + 1;
		farewells.adopt(view);
	}
	~LatchSeat() override { coherence.reset(); }

	[[nodiscard]] Latch &latch_object() const { return static_cast<Latch &>(*coherence); }
	void meet_homes(LatchSeat &other)
	{
		auto mine = need(homes->open()), theirs = need(other.homes->open());
		(void)mine->connect(theirs->endpoint());
		(void)theirs->connect(mine->endpoint());
		homes->add(other.id, std::move(mine), other.homes->memory());
		other.homes->add(id, std::move(theirs), homes->memory());
	}
	void poll() override
	{
		Seat::poll();
		farewells.step();
		if (cluster.random_.chance(20))
			homes->flush_reports();
		peers->flush();
	}
	/** Learns of a death like LatchSide::adopt(). */
	void learn(NodeId dead) override
	{
		if (cluster.packets_.end_queue_pairs)
			homes->cut_off(dead);
		Seat::learn(dead);
		view.epoch++;
		view.members[dead].state = NodeState::dead;
		farewells.adopt(view);
	}
	[[nodiscard]] bool is_at_rest() const override { return Seat::is_at_rest() && has_mourned(); }
	[[nodiscard]] bool has_mourned() const override { return !farewells.is_waiting(); }
	[[nodiscard]] Holding holding(Address block) override { return holding_of(latch_object(), block); }
	[[nodiscard]] std::string disagreement(Seat &home, Address block) override
	{
		const latch::Entry entry = static_cast<LatchSeat &>(home).homes->region().entry(block.block_number());
		return gam_test::disagreement_of(entry, latch_object(), id, block);
	}

	void heard(NodeId from, const Message &message) override
	{
		if (message.type < first_word)
			return Seat::heard(from, message);
		if (message.type != freed)
			return farewells.hear(
				from, static_cast<Farewells::Word>(message.type - first_word), message.counter);
		std::array<std::uint64_t, latch::VerbsHomes::max_reported> buffers;
		std::memcpy(buffers.data(), message.data.data(), sizeof(buffers));
		homes->freed(std::span(buffers).first(message.counter));
	}
	void completed(const prism::Completion &completion) override { (void)homes->take(completion); }

	/* latch::VerbsHomes::Sink */
	void completed(std::uint64_t token, const latch::Outcome &outcome) override
	{
		latch_object().completed(token, outcome);
	}
	void report(NodeId home, std::span<const std::uint64_t> buffers) override
	{
		std::array<std::byte, block_size> data{};
		std::memcpy(data.data(), buffers.data(), buffers.size_bytes());
		Message message;
		message.type = freed;
		message.counter = buffers.size();
		message.data = data;
		send(home, message);
	}
	/* Farewells::Host */
	void tell(NodeId to, Farewells::Word word, std::uint64_t incarnation) override
	{
		Message message;
		message.type = static_cast<std::uint8_t>(first_word + static_cast<unsigned>(word));
		message.counter = incarnation;
		send(to, message);
	}
	[[nodiscard]] bool has_let_go(NodeId dead) override { return latch_object().has_let_go(dead); }
	void sweep(NodeId dead) override { latch_object().sweep(dead); }
	[[nodiscard]] bool is_sweeping(NodeId /*dead*/) override { return latch_object().is_sweeping(); }
	void over(NodeId dead) override { latch_object().swept(dead); }

	std::unique_ptr<latch::VerbsHomes> homes;
	View view;
	Farewells farewells;
};

PacketCluster::PacketCluster(const ClusterOptions &options, const PacketOptions &packets)
	: options_(options), packets_(packets), random_(options.seed)
{
	std::vector<prism::test::Node *> hosts;
	for (NodeId id = 0; id < options.nodes; id++) {
		if (packets.latch)
			seats_.push_back(std::make_unique<LatchSeat>(*this, id));
		else
			seats_.push_back(std::make_unique<DirectorySeat>(*this, id));
		hosts.push_back(&seats_.back()->host);
		for (NodeId other = 0; other < id; other++) {
			seats_[id]->meet(*seats_[other]);
			if (packets.latch)
				static_cast<LatchSeat &>(*seats_[id])
					.meet_homes(static_cast<LatchSeat &>(*seats_[other]));
		}
	}
	network_ = std::make_unique<prism::test::Network>(hosts, packets.faults, random_, packets.delays);
	network_->set_shim([this](prism::test::Node &node, std::vector<std::uint8_t> &) {
		const auto seat = std::ranges::find_if(seats_, [&](const auto &one) { return &one->host == &node; });
		(*seat)->packets++;
		return !(*seat)->is_dead;
	});
}

PacketCluster::~PacketCluster() = default;

Coherence &PacketCluster::node(NodeId id)
{
	return *seats_[id]->coherence;
}

prism::soft::Time PacketCluster::next_time() const
{
	prism::soft::Time next = now_ + pause_;
	const auto earlier = [&](prism::soft::Time other) { next = other ? std::min(next, other) : next; };
	earlier(network_->next());
	for (const auto &seat : seats_) {
		if (!seat->is_dead)
			earlier(seat->host.engine.next_deadline());
	}
	return std::max(next, now_ + 1);
}

bool PacketCluster::step()
{
	const bool completions = std::ranges::any_of(
		seats_, [](const auto &seat) { return !seat->is_dead && seat->device->has_completions(); });
	pause_ = completions ? us : std::clamp(2 * pause_, us, longest_pause);
	now_ = next_time();
	network_->deliver(now_);
	for (const auto &seat : seats_) {
		if (!seat->is_dead && !random_.chance(20)) /* else it is busy with other things */
			seat->poll();
	}
	for (const auto &seat : seats_) {
		if (seat->is_dead)
			continue;
		seat->host.engine.progress(now_);
		seat->packets += seat->host.outbox.size();
	}
	network_->collect(now_);
	return completions || !is_at_rest();
}

bool PacketCluster::is_at_rest() const
{
	return std::ranges::all_of(seats_, [](const auto &seat) { return seat->is_dead || seat->is_at_rest(); });
}

void PacketCluster::kill(NodeId id)
{
	seats_[id]->is_dead = true;
}

bool PacketCluster::is_dead(NodeId id) const
{
	return seats_[id]->is_dead;
}

void PacketCluster::tell(NodeId id, NodeId dead)
{
	if (!is_dead(id))
		seats_[id]->learn(dead);
}

bool PacketCluster::has_mourned() const
{
	return std::ranges::all_of(seats_, [](const auto &seat) { return seat->is_dead || seat->has_mourned(); });
}

std::uint64_t PacketCluster::delivered_of(NodeId id) const
{
	return seats_[id]->packets;
}

Holding PacketCluster::holding(NodeId id, Address block)
{
	return seats_[id]->holding(block);
}

std::string PacketCluster::disagreement(NodeId id, Address block)
{
	return seats_[id]->disagreement(*seats_[block.home()], block);
}

} // namespace gam_sim
