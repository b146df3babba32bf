/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "latch_cluster.hpp"

#include <algorithm>

#include "gam/membership/farewells.hpp"

namespace gam_sim
{

using gam_test::LatchNet;
using prism::gam::Farewells;
using prism::gam::Member;
using prism::gam::Message;
using prism::gam::NodeState;
using prism::gam::Time;
using prism::gam::View;

namespace
{

constexpr std::uint64_t rest = 20;      /* steps */
constexpr unsigned longest_idle = 1000; /* steps */

LatchNet::Shape shape_of(const ClusterOptions &options, const latch::Rules &rules, const LatchSurroundings &around)
{
	const std::uint64_t few = 1 + options.seed % 8; /* so the list runs dry */
	LatchNet::Shape shape;
	shape.nodes = options.nodes;
	shape.lines = options.lines;
	shape.blocks = options.blocks;
	shape.spares = options.mortal ? 64 + few : few;
	shape.first_lent = 0;
	shape.seed = options.seed;
	shape.patience = 1 + static_cast<unsigned>(options.seed % 4);
	shape.rest = rest;
	shape.full = 64;
	shape.ends_queue_pairs = around.end_queue_pairs;
	shape.rules = rules;
	return shape;
}

} // namespace

/** Life of a node, as far as it takes part in the agreement after a death. */
struct LatchCluster::Mourner final : Farewells::Host {
	Mourner(LatchNet &around, NodeId number) : net(around), id(number), farewells(number, *this) {}

	void tell(NodeId to, Farewells::Word word, std::uint64_t of) override
	{
		Message message;
		message.type = static_cast<std::uint8_t>(first_word + static_cast<unsigned>(word));
		message.counter = of;
		if (!net.is_dead(to))
			net.inject({id, to}, message);
	}
	[[nodiscard]] bool has_let_go(NodeId dead) override { return net.latch(id).has_let_go(dead); }
	void sweep(NodeId dead) override { net.latch(id).sweep(dead); }
	[[nodiscard]] bool is_sweeping(NodeId /*dead*/) override { return net.latch(id).is_sweeping(); }
	void over(NodeId dead) override { net.latch(id).swept(dead); }

	void adopt(NodeId changed, NodeState state)
	{
		const std::uint64_t of = net.incarnation(changed);
		view.epoch = std::max(view.epoch + 1, of);
		std::erase_if(view.members, [&](const Member &member) { return member.life.node == changed; });
		Member member;
		member.life = {changed, of};
		member.state = state;
		view.members.push_back(member);
		farewells.adopt(view);
	}

	LatchNet &net;
	const NodeId id;
	View view;
	Farewells farewells;
};

LatchCluster::LatchCluster(const ClusterOptions &options, const latch::Rules &rules, const LatchSurroundings &around)
	: NetCluster(std::make_unique<LatchNet>(shape_of(options, rules, around))), around_(around),
	  mortal_(options.mortal)
{
	net().on_freed_twice = [this] { find("a buffer is given back that is in use"); };
	net().intercept = [this](std::pair<NodeId, NodeId> pair, const Message &message) {
		return hear(pair, message);
	};
	for (NodeId id = 0; id < options.nodes; id++)
		mourners_.push_back(std::make_unique<Mourner>(net(), id));
	for (const auto &one : mourners_) {
		for (const auto &other : mourners_)
			one->adopt(other->id, NodeState::serving);
	}
}

LatchCluster::~LatchCluster() = default;

std::vector<NodeId> LatchCluster::living() const
{
	std::vector<NodeId> all;
	for (NodeId id = 0; id < mourners_.size(); id++) {
		if (!is_dead(id))
			all.push_back(id);
	}
	return all;
}

bool LatchCluster::step()
{
	net().pass(1);
	const std::vector<NodeId> all = living();
	if (net().random()() % 16 == 0)
		tick(all[net().random()() % all.size()]);
	if (net().move()) {
		idle_ = 0;
		return true;
	}
	net().pass(rest);
	for (const NodeId id : all)
		tick(id);
	if (std::exchange(posts_, net().posts) != posts_)
		idle_ = 0; /* a node that tries is not stuck, however long others were held before */
	return idle_++ < longest_idle && !is_at_rest();
}

void LatchCluster::tick(NodeId id)
{
	(void)node(id).on_time(Time(net().now()));
	mourners_[id]->farewells.step();
}

bool LatchCluster::is_at_rest() const
{
	return !net().is_moving() && net().is_at_rest() && has_agreed();
}

bool LatchCluster::hear(std::pair<NodeId, NodeId> pair, const Message &message)
{
	if (message.type < first_word)
		return false;
	mourners_[pair.second]->farewells.hear(
		pair.first, static_cast<Farewells::Word>(message.type - first_word), message.counter);
	return true;
}

void LatchCluster::tell(NodeId id, NodeId dead)
{
	if (is_dead(id))
		return;
	NetCluster::tell(id, dead);
	mourners_[id]->adopt(dead, NodeState::dead);
	for (NodeId other = 0; !around_.agree && other < mourners_.size(); other++)
		mourners_[id]->farewells.hear(other, Farewells::Word::let_go, net().incarnation(dead));
}

bool LatchCluster::has_agreed() const
{
	const std::vector<NodeId> all = living();
	return std::ranges::none_of(all, [this](NodeId id) { return mourners_[id]->farewells.is_waiting(); });
}

void LatchCluster::revive(NodeId id)
{
	NetCluster::revive(id);
	mourners_[id] = std::make_unique<Mourner>(net(), id);
	for (NodeId other = 0; other < mourners_.size(); other++) {
		if (is_dead(other)) {
			net().latch(id).swept(other);
			continue;
		}
		mourners_[id]->adopt(other, NodeState::serving);
		if (other == id)
			continue;
		mourners_[other]->adopt(id, NodeState::serving);
		mourners_[other]->farewells.met(id);
	}
}

Holding holding_of(Latch &node, Address block)
{
	Holding holding;
	holding.alone = node.state(block, &holding.data) == latch::State::exclusive;
	return holding;
}

} // namespace gam_sim
