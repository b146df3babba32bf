/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "world.hpp"

#include <algorithm>
#include <cstring>

#include "simulation/linearizable.hpp"
#include "survivors.hpp"

namespace gam_sim
{

using prism::gam::block_size;

void WorldResult::add(const WorldResult &other) noexcept
{
	Result::add(other);
	operations += other.operations;
	busy += other.busy;
	returns += other.returns;
	coherence += other.coherence;
}

World::World(std::uint64_t seed, const WorldOptions &options) : options_(options), crashes_left_(options.crashes)
{
	ClusterOptions cluster;
	cluster.nodes = options.nodes;
	cluster.blocks = options.thread.blocks;
	cluster.lines = options.lines;
	cluster.mortal = options.crashes || options.crash_at;
	cluster.seed = seed;
	cluster_ = options.make(cluster);
	shared_.random.seed(seed);
	shared_.find = cluster_->find = [this](const std::string &what) { find(what); };
	cluster_->on_ended = [](Access &access) { Thread::ended(access); };
	for (NodeId id = 0; id < options.nodes; id++)
		add_threads(id);
}

void World::add_threads(NodeId id)
{
	for (unsigned i = 0; i < options_.threads; i++) {
		const auto client = static_cast<prism::gam::ThreadId>(players_.size());
		players_.push_back(
			{id, false, std::make_unique<Thread>(shared_, options_.thread, options_.nodes, client)});
	}
}

void World::find(const std::string &what)
{
	if (result_.finding.empty())
		result_.finding = what;
}

bool World::chance(double percent)
{
	return std::uniform_real_distribution<>(0, 100)(shared_.random) < percent;
}

bool World::is_over() const
{
	for (const Player &player : players_) {
		if (!player.has_died && !player.thread->is_done())
			return false;
	}
	return untold_.empty() && cluster_->has_mourned();
}

WorldResult World::run()
{
	std::uint64_t steps = 0;
	while (result_.finding.empty() && !is_over() && steps++ < options_.longest)
		step();
	if (result_.finding.empty() && !is_over())
		find("an access never ends");
	if (result_.finding.empty())
		check_rest();
	for (NodeId id = 0; id < options_.nodes; id++)
		result_.coherence += cluster_->node(id).stats();
	result_.operations = shared_.ended;
	result_.busy = shared_.busy;
	result_.packets = cluster_->delivered();
	return result_;
}

void World::step()
{
	hold_some();
	crash_some();
	tell_some();
	return_some();
	if (chance(options_.evictions)) {
		const auto id = static_cast<NodeId>(shared_.random() % options_.nodes);
		if (is_alive(id))
			cluster_->node(id).flush();
	}
	if (chance(30)) {
		const Player &player = players_[shared_.random() % players_.size()];
		if (!player.has_died)
			player.thread->act(cluster_->node(player.node));
	} else {
		cluster_->step();
	}
	for_each_block([this](Address block) { check_block(block); });
}

void World::hold_some()
{
	if (chance(options_.holds)) {
		const auto any = [this] { return static_cast<NodeId>(shared_.random() % options_.nodes); };
		cluster_->hold(any(), any());
	}
	if (chance(options_.holds / 2))
		cluster_->release_all();
}

/** Kills nodes: node 1 at its message options_.crash_at, or any node at any time. */
void World::crash_some()
{
	if (options_.crash_at && is_alive(1) && cluster_->delivered_of(1) >= options_.crash_at)
		die(1);
	if (crashes_left_ > 0 && chance(0.5)) {
		crashes_left_--;
		const auto id = static_cast<NodeId>(shared_.random() % options_.nodes);
		if (is_alive(id))
			die(id);
	}
}

void World::die(NodeId id)
{
	cluster_->kill(id);
	for (Player &player : players_) {
		if (player.node != id || player.has_died)
			continue;
		player.thread->die();
		player.has_died = true;
	}
	shared_.somebody_died = true;
	shared_.dead.insert(id);
	result_.crashes++;
	for (NodeId other = 0; other < options_.nodes; other++) {
		if (is_alive(other))
			untold_.emplace_back(id, other);
	}
	std::shuffle(untold_.begin(), untold_.end(), shared_.random);
}

void World::tell_some()
{
	if (!untold_.empty() && chance(3))
		tell_one();
}

/** Gives the numbers of dead nodes to new ones, which have nothing, once all have forgotten the dead. */
void World::return_some()
{
	if (!options_.returns || !shared_.somebody_died || !untold_.empty() || !cluster_->has_mourned() || !chance(2))
		return;
	for (NodeId id = 0; id < options_.nodes; id++) {
		if (is_alive(id))
			continue;
		shared_.lives[id]++;
		shared_.dead.erase(id);
		cluster_->revive(id);
		result_.returns++;
		add_threads(id);
		return;
	}
}

bool World::tell_one()
{
	if (untold_.empty())
		return false;
	const auto [dead, other] = untold_.back();
	untold_.pop_back();
	cluster_->tell(other, dead);
	return true;
}

void World::for_each_block(const std::function<void(Address)> &visit) const
{
	for (NodeId home = 0; home < options_.nodes; home++) {
		for (unsigned number = 0; number < options_.thread.blocks; number++)
			visit({home, number * block_size});
	}
}

/* Checks --------------------------------------------------------------------------------------------------------- */

/** Checks that one node may write, or that all that may read have the same value. Called after each step. */
void World::check_block(Address block)
{
	unsigned readers = 0;
	bool alone = false;
	const std::byte *data = nullptr;
	for (NodeId id = 0; id < options_.nodes; id++) {
		if (!is_alive(id))
			continue;
		const Holding holding = cluster_->holding(id, block);
		alone |= holding.alone;
		readers += holding.data != nullptr;
		if (holding.data && data && std::memcmp(holding.data, data, block_size) != 0)
			find("two nodes read different values");
		if (holding.data)
			data = holding.data;
	}
	if (alone && readers > 1)
		find("a node may write what another has");
}

void World::check_rest()
{
	settle();
	check_agreement();
	const bool died = shared_.somebody_died;
	for (NodeId id = 0; id < options_.nodes; id++) {
		if (!died && cluster_->node(id).stats().refused)
			find("a message was refused");
	}
	if (const std::string what = cluster_->disorder(); !what.empty())
		find(what);
	if (!died || options_.loses_little)
		check_history();
	if (died)
		check_all_can_write();
	for (NodeId id = 0; id < options_.nodes; id++) {
		if (is_alive(id))
			cluster_->node(id).flush();
	}
	settle();
	check_agreement();
}

void World::settle()
{
	cluster_->release_all();
	if (!cluster_->run(options_.longest))
		find("messages never end");
	for (NodeId id = 0; id < options_.nodes; id++) {
		if (is_alive(id) && !cluster_->node(id).at_rest())
			find("a node is not at rest, and nothing moves");
	}
	for_each_block([this](Address block) { check_block(block); });
}

void World::check_agreement()
{
	for_each_block([this](Address block) {
		if (!is_alive(block.home()))
			return;
		for (NodeId id = 0; id < options_.nodes; id++) {
			const std::string what = is_alive(id) ? cluster_->disagreement(id, block) : "";
			if (!what.empty())
				find(what);
		}
	});
}

/** Checks the history, which ends with reads by a client that is on no node. */
void World::check_history()
{
	for_each_block([this](Address block) {
		if (is_first_life(block.home()))
			check_words(block);
	});
	/* Drop blocks of a home whose number was given to another: their old contents are gone */
	std::vector<prism::test::Operation> history = shared_.history.operations();
	std::erase_if(history, [this](const prism::test::Operation &operation) {
		return shared_.lives.contains(Address(operation.key - 1).home());
	});
	/* The threads of a life die together, so any of them stands for it */
	const auto life_of = [this](std::uint32_t client) { return client / options_.threads; };
	const auto has_died = [this](std::uint32_t life) {
		const std::size_t client = std::size_t{life} * options_.threads;
		return client < players_.size() && players_[client].has_died;
	};
	simulation::check_linearizable(
		gam_test::survivors(history, life_of, has_died, shared_.kept), "word", shared_.find);
}

/** Records the final value of each word as a read by its home. */
void World::check_words(Address block)
{
	for (unsigned word = 0; word < options_.thread.words; word++) {
		std::uint64_t value = 0;
		Access access;
		access.at = block + word * sizeof(value);
		access.length = sizeof(value);
		access.bytes = reinterpret_cast<std::byte *>(&value);
		bool is_over = cluster_->node(block.home()).start(access);
		cluster_->on_ended = [&is_over](Access &) { is_over = true; };
		if (!cluster_->run(options_.longest) || !is_over)
			find("the last read never ends");
		simulation::record_last_get(shared_.history, 1000, access.at.value + 1, value);
	}
}

/** Checks after a death that each live node can write each block whose home lives, and that all then read the value. */
void World::check_all_can_write()
{
	std::uint64_t value = 0;
	const auto access_at = [&](NodeId id, Address block, prism::gam::AccessKind kind) {
		Access access;
		access.kind = kind;
		access.at = block;
		access.length = sizeof(value);
		access.bytes = reinterpret_cast<std::byte *>(&value);
		bool is_over = cluster_->node(id).start(access);
		cluster_->on_ended = [&is_over](Access &) { is_over = true; };
		if (!cluster_->run(options_.longest) || !is_over || access.error)
			find("a block cannot be used after a death");
	};
	for_each_block([&](Address block) {
		for (NodeId writer = 0; is_alive(block.home()) && writer < options_.nodes; writer++) {
			if (!is_alive(writer))
				continue;
			const std::uint64_t written = value = ++shared_.last_value;
			access_at(writer, block, prism::gam::AccessKind::write);
			for (NodeId reader = 0; reader < options_.nodes; reader++) {
				if (is_alive(reader))
					access_at(reader, block, prism::gam::AccessKind::read);
				if (value != written)
					find("a read misses a write after a death");
			}
		}
	});
}

} // namespace gam_sim
