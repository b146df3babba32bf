/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "latch_cluster.hpp"

#include <algorithm>
#include <cerrno>

namespace gam_sim
{

using prism::gam::bit;
using prism::gam::block_size;
using prism::gam::Farewells;
using prism::gam::Member;
using prism::gam::Message;
using prism::gam::NodeState;
using prism::gam::Time;
using prism::gam::View;
using prism::gam::test::ChainUnderWay;
using prism::gam::test::LentMemory;

namespace
{

constexpr std::uint64_t rest = 20;      /* steps */
constexpr unsigned longest_idle = 1000; /* steps */

latch::Layout layout_of(const ClusterOptions &options)
{
	const std::uint64_t few = 1 + options.seed % 8; /* so the list runs dry */
	return {options.blocks, options.mortal ? 64 + few : few};
}

} // namespace

/** Life of a node, without the protocol's object. */
struct LatchCluster::Station final : latch::Homes, Farewells::Host {
	Station(LatchCluster &around, NodeId number, std::uint64_t life_number)
		: cluster(around), id(number), incarnation(life_number), lent(layout_of(around.options_), number),
		  working(around.options_.lines * latch::WorkingMemory::bytes_of_line), farewells(number, *this)
	{
		lent.region.lend(0, around.options_.blocks);
	}

	/* latch::Homes */
	[[nodiscard]] const latch::HomeMemory *find(NodeId home) const noexcept override
	{
		return home < cluster.stations_.size() && !known_dead[home] ? &cluster.station(home).lent.described
									    : nullptr;
	}
	int post(NodeId home, const prism::Chain &chain, std::uint64_t token) noexcept override
	{
		return cluster.post(id, home, chain, token);
	}
	void give_back(NodeId home, std::uint64_t address) noexcept override
	{
		cluster.reports_.push_back({cluster.life(id), cluster.life(home), address});
	}

	/* Farewells::Host */
	void tell(NodeId to, Farewells::Word word, std::uint64_t of) override
	{
		Message message;
		message.type = static_cast<std::uint8_t>(first_word + static_cast<unsigned>(word));
		message.counter = of;
		if (!cluster.is_dead(to))
			cluster.net_->inject({id, to}, message);
	}
	[[nodiscard]] bool has_let_go(NodeId dead) override { return cluster.latch_of(id).has_let_go(dead); }
	void sweep(NodeId dead) override { cluster.latch_of(id).sweep(dead); }
	[[nodiscard]] bool is_sweeping(NodeId /*dead*/) override { return cluster.latch_of(id).is_sweeping(); }
	void over(NodeId dead) override { cluster.latch_of(id).swept(dead); }

	void adopt(NodeId changed, std::uint64_t of, NodeState state)
	{
		view.epoch = std::max(view.epoch + 1, of);
		std::erase_if(view.members, [&](const Member &member) { return member.life.node == changed; });
		Member member;
		member.life = {changed, of};
		member.state = state;
		view.members.push_back(member);
		known_dead[changed] = state == NodeState::dead;
		farewells.adopt(view);
	}

	LatchCluster &cluster;
	const NodeId id;
	const std::uint64_t incarnation;
	LentMemory lent;
	prism::gam::test::AlignedBytes working;
	View view;
	std::array<bool, prism::gam::max_nodes> known_dead{};
	Farewells farewells;
};

LatchCluster::LatchCluster(const ClusterOptions &options, const latch::Rules &rules, const LatchSurroundings &around)
	: NetCluster(options), rules_(rules), around_(around), random_(options.seed), stations_(options.nodes)
{
	open([this](NodeId id, Coherence::Host &host) { return make(id, host); });
	net_->intercept = [this](std::pair<NodeId, NodeId> pair, const Message &message) {
		return hear(pair, message);
	};
	for (const auto &one : stations_) {
		for (const auto &other : stations_)
			one->adopt(other->id, other->incarnation, NodeState::serving);
	}
}

LatchCluster::~LatchCluster() = default;

/** Makes a new life. An earlier one stays, for its requests that are under way. */
std::unique_ptr<Coherence> LatchCluster::make(NodeId id, Coherence::Host &host)
{
	if (stations_[id])
		graves_.push_back(std::move(stations_[id]));
	stations_[id] = std::make_unique<Station>(*this, id, ++lives_);
	Station &made = *stations_[id];
	latch::Options latch;
	latch.self = id;
	latch.memory.bytes = made.working.span();
	latch.memory.address = reinterpret_cast<std::uint64_t>(latch.memory.bytes.data());
	latch.region = &made.lent.region;
	latch.patience = 1 + static_cast<unsigned>(options_.seed % 4);
	latch.rest = Time(rest);
	latch.rules = rules_;
	return std::make_unique<Latch>(latch, host, made);
}

LatchCluster::Life LatchCluster::life(NodeId id) const
{
	return {id, station(id).incarnation};
}

bool LatchCluster::lives(const Life &life) const
{
	return station(life.first).incarnation == life.second && !is_dead(life.first);
}

std::vector<NodeId> LatchCluster::living() const
{
	std::vector<NodeId> all;
	for (NodeId id = 0; id < stations_.size(); id++) {
		if (!is_dead(id))
			all.push_back(id);
	}
	return all;
}

/* Steps ---------------------------------------------------------------------------------------------------------- */

bool LatchCluster::step()
{
	now_++;
	const std::vector<NodeId> all = living();
	if (random_() % 16 == 0)
		tick(all[random_() % all.size()]);
	if (move()) {
		idle_ = 0;
		return true;
	}
	now_ += rest;
	for (const NodeId id : all)
		tick(id);
	return idle_++ < longest_idle && !is_at_rest();
}

void LatchCluster::tick(NodeId id)
{
	(void)node(id).on_time(Time(now_));
	station(id).farewells.step();
}

bool LatchCluster::is_at_rest()
{
	const std::vector<NodeId> all = living();
	const bool moves = net_->under_way() || !reports_.empty() || std::ranges::any_of(lanes_, [](const auto &each) {
		return !each.second.posted.empty() || !each.second.executed.empty();
	});
	return !moves && std::ranges::all_of(all, [this](NodeId id) {
		return node(id).at_rest() && !station(id).farewells.is_waiting();
	});
}

bool LatchCluster::move()
{
	switch (random_() % 8) {
	case 0:
		return move_report() || move_lane() || move_message();
	case 1:
	case 2:
	case 3:
		return move_message() || move_lane() || move_report();
	default:
		return move_lane() || move_message() || move_report();
	}
}

bool LatchCluster::move_message()
{
	return net_->step();
}

bool LatchCluster::hear(std::pair<NodeId, NodeId> pair, const Message &message)
{
	if (message.type < first_word)
		return false;
	station(pair.second)
		.farewells.hear(pair.first, static_cast<Farewells::Word>(message.type - first_word), message.counter);
	return true;
}

int LatchCluster::post(NodeId from, NodeId home, const prism::Chain &chain, std::uint64_t token)
{
	idle_ = 0; /* a node that tries is not stuck, however long others were held before */
	if (station(from).known_dead[home])
		return ENOTCONN;
	if (random_() % 64 == 0)
		return EAGAIN;
	lanes_[{life(from), life(home)}].posted.emplace_back(token, chain);
	return 0;
}

bool LatchCluster::is_held(const Pair &pair) const
{
	return held_.contains({pair.first.first, pair.second.first});
}

/** Executes one request, or completes one chain. */
bool LatchCluster::move_lane()
{
	std::vector<std::pair<const Pair *, bool>> ready;
	for (const auto &[pair, lane] : lanes_) {
		if (is_held(pair))
			continue;
		if (!lane.posted.empty())
			ready.emplace_back(&pair, false);
		if (!lane.executed.empty())
			ready.emplace_back(&pair, true);
	}
	if (ready.empty())
		return false;
	const auto [chosen, completes] = ready[random_() % ready.size()];
	const Pair pair = *chosen;
	moved_[pair.first.first]++;
	moved_[pair.second.first]++;
	if (completes)
		complete(pair, lanes_[pair]);
	else
		execute(pair, lanes_[pair]);
	return true;
}

void LatchCluster::execute(const Pair &pair, Lane &lane)
{
	lane.responder.failed |= !lives(pair.second);
	ChainUnderWay &chain = lane.posted.front();
	chain.execute(station(pair.second.first).lent.device, lane.responder);
	if (!chain.is_executed())
		return;
	lane.executed.push_back(std::move(chain));
	lane.posted.pop_front();
}

void LatchCluster::complete(const Pair &pair, Lane &lane)
{
	const ChainUnderWay chain = std::move(lane.executed.front());
	lane.executed.pop_front();
	if (lives(pair.first))
		latch_of(pair.first.first).completed(chain.token(), chain.deliver());
}

bool LatchCluster::move_report()
{
	if (reports_.empty())
		return false;
	const auto place = reports_.begin() + static_cast<std::ptrdiff_t>(random_() % reports_.size());
	const Report report = *place;
	reports_.erase(place);
	if (lives(report.home))
		free(report);
	return true;
}

void LatchCluster::free(const Report &report)
{
	LentMemory &lent = station(report.home.first).lent;
	bool is_used = std::ranges::find(lent.device.free, report.address) != lent.device.free.end();
	for (std::uint64_t block = 0; block < options_.blocks; block++)
		is_used |= lent.region.entry(block).value.ptr == report.address;
	if (is_used)
		find("a buffer is given back that is in use");
	lent.device.free.push_back(report.address);
}

void LatchCluster::hold(NodeId from, NodeId to)
{
	NetCluster::hold(from, to);
	held_.insert({from, to});
}

void LatchCluster::release_all()
{
	NetCluster::release_all();
	held_.clear();
}

std::uint64_t LatchCluster::delivered_of(NodeId id) const
{
	const auto found = moved_.find(id);
	return NetCluster::delivered_of(id) + (found == moved_.end() ? 0 : found->second);
}

std::uint64_t LatchCluster::delivered() const
{
	std::uint64_t all = 0;
	for (const auto &[id, count] : moved_)
		all += count;
	return NetCluster::delivered() + all / 2;
}

/* Deaths --------------------------------------------------------------------------------------------------------- */

void LatchCluster::kill(NodeId id)
{
	NetCluster::kill(id);
}

void LatchCluster::tell(NodeId id, NodeId dead)
{
	if (is_dead(id))
		return;
	const Life gone = life(dead);
	Station &living = station(id);
	if (around_.end_queue_pairs)
		lanes_[{gone, life(id)}].responder.failed = true;
	living.known_dead[dead] = true;
	std::erase_if(reports_, [&](const Report &report) { return report.from == gone && report.home.first == id; });
	NetCluster::tell(id, dead);
	living.adopt(dead, gone.second, NodeState::dead);
	for (NodeId other = 0; !around_.agree && other < stations_.size(); other++)
		living.farewells.hear(other, Farewells::Word::let_go, gone.second);
}

bool LatchCluster::has_mourned() const
{
	const std::vector<NodeId> all = living();
	return !around_.reuse_late ||
	       std::ranges::none_of(all, [this](NodeId id) { return station(id).farewells.is_waiting(); });
}

void LatchCluster::revive(NodeId id)
{
	NetCluster::revive(id);
	Station &newcomer = station(id);
	for (NodeId other = 0; other < stations_.size(); other++) {
		if (is_dead(other)) {
			newcomer.known_dead[other] = true;
			latch_of(id).swept(other);
			continue;
		}
		newcomer.adopt(other, station(other).incarnation, NodeState::serving);
		if (other == id)
			continue;
		station(other).adopt(id, newcomer.incarnation, NodeState::serving);
		station(other).farewells.met(id);
	}
}

/* Checks --------------------------------------------------------------------------------------------------------- */

Holding LatchCluster::holding(NodeId id, Address block)
{
	Holding holding;
	holding.alone = latch_of(id).state(block, &holding.data) == latch::State::exclusive;
	return holding;
}

std::string LatchCluster::disagreement(NodeId id, Address block)
{
	const latch::Entry entry = station(block.home()).lent.region.entry(block.block_number());
	const latch::State state = latch_of(id).state(block);
	if ((latch::node_of(entry.writer) == id) != (state == latch::State::exclusive))
		return "an entry and a line do not agree about the writer";
	if (state == latch::State::shared && !(entry.sharers & bit(id)))
		return "an entry does not know of a sharer";
	return {};
}

std::string LatchCluster::disorder()
{
	for (const NodeId home : living()) {
		if (const std::string what = disorder_of(home); !what.empty())
			return what;
	}
	return {};
}

std::string LatchCluster::disorder_of(NodeId home)
{
	const LentMemory &lent = station(home).lent;
	std::set<std::uint64_t> buffers(lent.device.free.begin(), lent.device.free.end());
	std::size_t count = lent.device.free.size();
	for (std::uint64_t block = 0; block < options_.blocks; block++) {
		const latch::Entry entry = lent.region.entry(block);
		const NodeId writer = latch::node_of(entry.writer);
		if (entry.waiter)
			return "an entry has a waiter, and nobody waits";
		for (NodeId id = 0; id < stations_.size(); id++) {
			if (is_dead(id) && (writer == id || (entry.sharers & bit(id))))
				return "an entry names a dead node";
		}
		count += entry.value.ptr != 0;
		buffers.insert(entry.value.ptr);
		buffers.erase(0);
	}
	if (buffers.size() != count)
		return "a buffer is in two places";
	const latch::Layout &layout = lent.region.layout();
	return options_.mortal || count == layout.buffer_count() ? "" : "a buffer is lost";
}

} // namespace gam_sim
