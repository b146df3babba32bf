/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "bench/gam/in_process.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bench/frame/threads.hpp"
#include "bench/gam/run.hpp"
#include "gam/directory/directory.hpp"
#include "gam/transport/loopback.hpp"

namespace prism::gam::micro
{

namespace
{

/** The addresses that nodes announce to each other. */
class Board
{
public:
	explicit Board(double timeout) : timeout_(timeout) {}

	void put(const std::string &key, Address address)
	{
		const std::scoped_lock guard(lock_);
		addresses_[key] = address;
		changed_.notify_all();
	}
	Result<Address> get(const std::string &key)
	{
		std::unique_lock guard(lock_);
		const bool came = changed_.wait_for(guard, std::chrono::duration<double>(timeout_),
			[&] { return given_up_ || addresses_.contains(key); });
		if (given_up_)
			return make_error(ECANCELED, "another node has failed");
		if (!came)
			return make_error(ETIMEDOUT, "waiting for " + key, "see --timeout");
		return addresses_[key];
	}
	void give_up()
	{
		const std::scoped_lock guard(lock_);
		given_up_ = true;
		changed_.notify_all();
	}

private:
	const double timeout_;
	std::mutex lock_;
	std::condition_variable changed_;
	std::map<std::string, Address> addresses_;
	bool given_up_ = false;
};

class InProcessPlace final : public Place
{
public:
	InProcessPlace(Board &board, Network &network, const RunOptions &options, NodeId self)
		: board_(board), memory_(bytes_of_node(options)),
		  lines_((lines_of_node(options) + shards) / shards * shards * block_size)
	{
		NodeOptions node;
		node.self = self;
		node.bytes = memory_.size();
		node.shards = shards;
		node.consistency = options.cluster.consistency;
		node.cached = options.cluster.cached;
		node_ = std::make_unique<Node>(node, network,
			[this, self](Coherence::Host &host, std::size_t shard) -> std::unique_ptr<Coherence> {
				directory::Options of;
				of.self = self;
				of.memory = memory_;
				of.lines = std::span(lines_).subspan(
					shard * (lines_.size() / shards), lines_.size() / shards);
				of.shards = shards;
				of.shard = shard;
				return std::make_unique<Directory>(of, host);
			});
		for (std::size_t other = 0; other < options.cluster.nodes; other++)
			node_->joined(static_cast<NodeId>(other));
	}

	[[nodiscard]] Node &node() noexcept override { return *node_; }
	Result<void> put(const std::string &key, Address address) override
	{
		board_.put(key, address);
		return {};
	}
	Result<Address> get(const std::string &key) override { return board_.get(key); }

private:
	static constexpr std::size_t shards = 8;

	Board &board_;
	std::vector<std::byte> memory_;
	std::vector<std::byte> lines_;
	std::unique_ptr<Node> node_;
};

} // namespace

Result<RunResult> run_in_process(const RunOptions &options)
{
	Board board(options.cluster.timeout);
	Loopback network(options.cluster.nodes);
	std::vector<std::unique_ptr<InProcessPlace>> places;
	for (std::size_t node = 0; node < options.cluster.nodes; node++) {
		const auto self = static_cast<NodeId>(node);
		places.push_back(std::make_unique<InProcessPlace>(board, network.end(self), options, self));
	}
	return bench::run_threads<RunResult>(
		static_cast<unsigned>(options.cluster.nodes),
		[&](unsigned node) {
			Result<RunResult> result = run_node(*places[node], options);
			if (!result)
				board.give_up();
			return result;
		},
		[] {});
}

} // namespace prism::gam::micro
