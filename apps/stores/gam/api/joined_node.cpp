/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/api/joined_node.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/saturating.hpp"
#include "gam/directory/directory.hpp"
#include "gam/membership/master_location.hpp"
#include "gam/membership/membership.hpp"
#include "gam/membership/watch.hpp"
#include "gam/node/latch_side.hpp"
#include "gam/node/log_side.hpp"
#include "gam/transport/meeting.hpp"
#include "gam/transport/peers.hpp"
#include "service/memory.hpp"

namespace prism::gam
{

namespace
{

constexpr std::size_t smallest_segment = std::size_t{1} << 20; /* smallest segment of a log */
constexpr double usual_cache_share = 0.15;                     /* share of the memory that is lent, as in the paper */

std::size_t lines_of(const JoinOptions &options)
{
	const std::size_t bytes =
		options.cache_bytes
			? options.cache_bytes
			: static_cast<std::size_t>(static_cast<double>(options.node.bytes) * usual_cache_share);
	return std::max(bytes / block_size, options.node.shards);
}

PeerOptions peer_options(const JoinOptions &options)
{
	PeerOptions peers;
	if (options.protocol == Protocol::latch)
		peers.other_completions = max_nodes * LatchSide::requests;
	peers.log = options.peers_log;
	return peers;
}

/** Checks the memory before any is taken, so that too large sizes are reported at once. */
Result<void> check_memory_for(const Context &context, const JoinOptions &options)
{
	apps::MemoryPlan plan;
	plan.add("memory that is lent", options.node.bytes);
	plan.add("cache", apps::product_of(lines_of(options), block_size));
	return apps::check_memory(plan, apps::memory_limits(!context.is_userspace()), "lend or cache less");
}

} // namespace

class JoinedNode::Parts final : private Membership::Listener, private Peers::Events
{
public:
	Parts(const JoinOptions &options, PeerDevice device, std::unique_ptr<MasterChannel> channel)
		: options_(options), memory_(options.protocol == Protocol::latch ? 0 : options.node.bytes),
		  lines_(options.protocol == Protocol::latch ? 0 : lines_of(options) * block_size),
		  network_(std::move(device), peer_options(options), *this), membership_(std::move(channel))
	{
	}
	~Parts() override
	{
		watch_.end();
		membership_.cancel(); /* threads of this node ask the master, which may be silent */
		if (latch_)
			latch_->stop();
	}

	Result<void> join()
	{
		if (Result<void> opened = open_folder(); !opened)
			return opened;
		MeetingOptions meeting;
		meeting.address = options_.address;
		meeting.port = options_.port;
		meeting.protocol = options_.protocol;
		Result<std::unique_ptr<Meeting>> met = Meeting::create(network_, meeting);
		if (!met)
			return met.error();
		meeting_ = *std::move(met);
		Newcomer me;
		me.host = options_.address;
		me.port = meeting_->port();
		me.lent = options_.node.bytes;
		me.protocol = options_.protocol;
		if (folder_) {
			me.log = folder_->owner() ? claim_of(*folder_->owner()) : LogClaim();
			me.log->durable = options_.log.durable;
		}
		const Result<Admission> admitted = join_as(me);
		if (!admitted)
			return admitted.error();
		options_.node.self = admitted->life.node;
		options_.node.found_no_memory = [this] { watch_.found_no_memory(); };
		watch_.begin(*admitted, membership_);
		const Result<void> entered = enter(*admitted);
		if (!entered && check()) {
			/* Others that join would wait for this node until its lease is over. */
			watch_.end();
			(void)membership_.leave();
		}
		return entered;
	}

	Result<void> leave(const std::function<bool()> &hurries)
	{
		if (Result<void> member = check(); !member)
			return member;
		node_->flush(hurries);
		if (log_side_ && !(hurries && hurries()))
			(void)log_side_->settle_log(); /* recovering nodes will find its values there */
		watch_.end();
		if (Result<void> member = check(); !member)
			return member;
		return membership_.leave();
	}
	Result<void> check()
	{
		const std::scoped_lock guard(lock_);
		if (ended_)
			return *ended_;
		return {};
	}

	[[nodiscard]] RecoveryReport recovery() { return log_side_ ? log_side_->report() : RecoveryReport(); }
	[[nodiscard]] int log_error() const noexcept { return log_side_ ? log_side_->error() : 0; }
	[[nodiscard]] std::string log_trouble() const { return log_side_ ? log_side_->log_trouble() : std::string(); }
	[[nodiscard]] Node &node() noexcept { return *node_; }
	[[nodiscard]] std::uint16_t port() const noexcept { return meeting_->port(); }
	[[nodiscard]] Membership &membership() noexcept { return membership_; }
	[[nodiscard]] View view()
	{
		const std::scoped_lock guard(lock_);
		return view_;
	}

private:
	Result<void> open_folder()
	{
		if (options_.log.folder.empty())
			return {};
		if (options_.protocol != Protocol::directory)
			return make_error(EINVAL, "a log by the latch protocol",
				"the directory protocol has logs: docs/gam-recovery.md says why");
		if (!options_.through_home)
			return make_error(EINVAL, "a log, and blocks that do not go through their home");
		Result<LogFolder> folder = LogFolder::open(options_.log.folder);
		if (!folder)
			return folder.error();
		if (folder->is_unreadable())
			return make_error(EBADMSG,
				"the log in " + folder->path().string() + ": no segment says which node it is of",
				"restore it from a copy; or remove it, and what it has is lost");
		folder_ = *std::move(folder);
		return {};
	}
	static LogClaim claim_of(const LogOwner &owner)
	{
		return {owner.cluster, {owner.node, owner.incarnation}, false};
	}
	/** Becomes a node that others can use. */
	Result<void> enter(const Admission &me)
	{
		Result<void> made = meeting_->wait(options_.timeout);
		if (made)
			made = make_node(me);
		if (Result<void> member = check(); !member)
			return member;
		if (!made)
			return made;
		return membership_.serving();
	}
	/** Joins as soon as its number is free, or any: the lease of its last life may not be over. */
	Result<Admission> join_as(const Newcomer &me)
	{
		constexpr auto pause = std::chrono::milliseconds(20);
		const auto end = std::chrono::steady_clock::now() + options_.timeout;
		for (;;) {
			Result<Admission> admitted = membership_.join(me, *this);
			if (admitted || admitted.error().code != EBUSY || std::chrono::steady_clock::now() > end)
				return admitted;
			std::this_thread::sleep_for(pause);
		}
	}
	Result<std::unique_ptr<NodeLog>> open_log(const Admission &me)
	{
		LogOptions log;
		log.cluster = me.log_cluster;
		log.node = me.life.node;
		log.incarnation = me.life.incarnation;
		log.segment_bytes =
			std::clamp<std::size_t>(options_.node.bytes / 4, smallest_segment, log.segment_bytes);
		Result<std::unique_ptr<NodeLog>> opened = NodeLog::open(log, *std::exchange(folder_, std::nullopt));
		if (opened && (*opened)->cause())
			return make_error((*opened)->cause(), "the log in " + options_.log.folder.string(),
				((*opened)->cause() == EFBIG
						? "raise the limit of files' sizes (ulimit -f) to at least "
						: "make room for at least ") +
					std::to_string(log.segment_bytes) + " bytes");
		return opened;
	}

	Result<void> make_node(const Admission &me)
	{
		if (options_.protocol == Protocol::latch)
			return make_latch_node();
		std::unique_ptr<NodeLog> log;
		if (folder_) {
			Result<std::unique_ptr<NodeLog>> opened = open_log(me);
			if (!opened)
				return opened.error();
			log = *std::move(opened);
		}
		log_side_ = std::make_unique<LogSide>(
			network_, me.life, options_.node.bytes / block_size, std::move(log), options_.log.durable);
		options_.node.log = log_side_->log();
		auto node = std::make_unique<Node>(
			options_.node, *log_side_,
			[this](Coherence::Host &host, std::size_t shard) { return make_directory(host, shard); },
			lease_is_over());
		if (Result<void> started = log_side_->start(*node); !started)
			return started;
		if (Result<void> expected = expect_owners(); !expected)
			return expected;
		set_node(std::move(node));
		return log_side_->recover(options_.timeout, [this] { return !check().ok(); });
	}
	/** Tells a master that does not know them of the nodes whose logs this one may need. */
	Result<void> expect_owners()
	{
		const View known = view();
		std::uint64_t unknown = 0;
		for_each_node(
			log_side_->owners(), [&](NodeId owner) { unknown |= known.find(owner) ? 0 : bit(owner); });
		if (!unknown)
			return {};
		return membership_.expect(unknown);
	}
	/** Makes a node of the latch protocol; it is ready when all others have a queue pair to it, too. */
	Result<void> make_latch_node()
	{
		Result<std::unique_ptr<LatchSide>> side = LatchSide::create(
			network_, options_.node, lines_of(options_),
			[this](NodeId dead, std::uint64_t epoch) { (void)membership_.swept(dead, epoch); },
			[this](const NodeLife &life, bool is_broken) {
				is_broken ? watch_.broken(life) : watch_.mended(life);
			});
		if (!side)
			return side.error();
		latch_ = *std::move(side);
		auto node = std::make_unique<Node>(
			options_.node, *latch_,
			[this](Coherence::Host &host, std::size_t shard) { return latch_->make(host, shard); },
			lease_is_over());
		latch_->start(*node);
		set_node(std::move(node));
		return latch_->wait(options_.timeout);
	}
	void set_node(std::unique_ptr<Node> node)
	{
		std::vector<NodeId> dead;
		std::uint64_t epoch = 0;
		{
			const std::scoped_lock guard(lock_);
			node_ = std::move(node);
			dead = tell_node(View());
			epoch = view_.epoch;
		}
		sweep(dead, epoch);
	}
	Node::LeaseIsOver lease_is_over()
	{
		if (!options_.looks_at_lease)
			return {};
		return [this] {
			if (Membership::now() < membership_.lease_until())
				return false;
			/* For good: nobody may see what a thread leaves half done when it is told. */
			membership_.give_up(
				make_error(ESTALE, "the lease of this node was over when it used the memory",
					"start it again; if it happens often, found the cluster with longer leases"));
			return true;
		};
	}

	std::unique_ptr<Coherence> make_directory(Coherence::Host &host, std::size_t shard)
	{
		const std::size_t share = lines_.size() / block_size / options_.node.shards * block_size;
		directory::Options directory;
		directory.self = options_.node.self;
		directory.memory = memory_;
		directory.lines = std::span(lines_).subspan(shard * share, share);
		directory.shards = options_.node.shards;
		directory.shard = shard;
		directory.through_home = options_.through_home;
		return log_side_->make(directory, host, shard);
	}

	/* Membership::Listener */
	void changed(const Admission &me, const View &view) override
	{
		network_.outlast(me.lease); /* before the first pair */
		std::vector<NodeId> dead;
		{
			const std::scoped_lock guard(lock_);
			if (ended_)
				return;
			meeting_->adopt(me, view);
			watch_.adopt(view);
			const View before = std::exchange(view_, view);
			if (node_)
				dead = tell_node(before);
		}
		sweep(dead, view.epoch);
	}
	/** Treats all others as dead, so nothing waits for them any more. */
	void expelled(const Error &why) override
	{
		const std::scoped_lock guard(lock_);
		ended_ = why;
		meeting_->adopt({}, View());
		if (log_side_)
			log_side_->seal(); /* the values of live owners are newer than this memory */
		for (NodeId other = 0; node_ && other < max_nodes; other++)
			node_->lost(other);
		if (node_ && latch_)
			latch_->end_all();
		if (node_ && log_side_)
			log_side_->end_all();
	}
	/* Peers::Events */
	void completed(const Completion &completion) override
	{
		if (latch_)
			latch_->completed(completion);
	}
	void broken(NodeId node, int /*error*/) noexcept override
	{
		if (const std::optional<NodeLife> life = network_.peer(node))
			watch_.broken(*life);
	}

	/**
	 * Tells the node what has changed since @p before. Ended lives come first: others may have their numbers by
	 * now. Returns the dead nodes.
	 */
	std::vector<NodeId> tell_node(const View &before)
	{
		std::vector<NodeId> dead;
		if (latch_) { /* the farewells to the dead, and the meetings with new nodes, end later */
			for (const Member &member : before.members) {
				if (member.live() && member.life.node != node_->self() && !view_.find_live(member.life))
					node_->lost(member.life.node);
			}
			latch_->adopt(view_);
			return dead;
		}
		log_side_->adopt(view_);
		for (const Member &member : view_.members) {
			if (!member.live())
				dead.push_back(member.life.node);
		}
		return dead;
	}
	/** Reports dead nodes as swept: a home remembers nothing of them after lost(). Retried with the next view. */
	void sweep(const std::vector<NodeId> &dead, std::uint64_t epoch)
	{
		for (const NodeId node : dead)
			(void)membership_.swept(node, epoch);
	}

	JoinOptions options_;
	std::vector<std::byte> memory_;
	std::vector<std::byte> lines_;
	Watch watch_; /* its thread ends first: it uses the membership */
	Peers network_;
	std::optional<LogFolder> folder_;
	std::unique_ptr<LogSide> log_side_;
	std::unique_ptr<LatchSide> latch_;
	std::unique_ptr<Meeting> meeting_;
	std::mutex lock_;
	View view_;
	std::unique_ptr<Node> node_;
	std::optional<Error> ended_;
	Membership membership_; /* declared last: its thread uses the others */
};

JoinedNode::JoinedNode(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

JoinedNode::~JoinedNode()
{
	if (is_inherited())
		(void)parts_.release(); /* NOLINT: its threads, which would be waited for, are not in this process */
}

Result<void> JoinedNode::check_own() const
{
	if (is_inherited())
		return Error{ESTALE,
			"the node belongs to the process that this one was forked from; join with one of its own"};
	return {};
}

Result<std::unique_ptr<JoinedNode>> JoinedNode::join(const Context &context, const JoinOptions &options)
{
	if (options.node.bytes == 0 || options.node.bytes % block_size)
		return make_error(EINVAL, "the memory that a node lends is no whole number of blocks",
			"a multiple of " + std::to_string(block_size) + " bytes");
	if (Result<void> enough = check_memory_for(context, options); !enough)
		return enough.error();
	Result<std::unique_ptr<MasterChannel>> channel = reach_master(options.master, {.patience = options.timeout});
	if (!channel)
		return channel.error();
	const Result<ProtectionDomain> pd = ProtectionDomain::create(context);
	if (!pd)
		return pd.error();
	Result<PeerDevice> device = PeerDevice::create(*pd, peer_options(options));
	if (!device)
		return device.error();
	auto parts = std::make_unique<Parts>(options, *std::move(device), *std::move(channel));
	if (const Result<void> joined = parts->join(); !joined)
		return joined.error();
	return std::unique_ptr<JoinedNode>(new JoinedNode(std::move(parts))); /* private constructor */
}

Node &JoinedNode::node() noexcept
{
	return parts_->node();
}

std::uint16_t JoinedNode::port() const noexcept
{
	return parts_->port();
}

Result<void> JoinedNode::check() const
{
	const Result<void> own = check_own();
	return own ? parts_->check() : own;
}

Result<void> JoinedNode::put(const std::string &key, const std::string &value)
{
	const Result<void> own = check_own();
	return own ? parts_->membership().put(key, value) : own;
}

Result<std::string> JoinedNode::get(const std::string &key, std::chrono::milliseconds timeout)
{
	const Result<void> own = check_own();
	return own ? parts_->membership().get(key, timeout) : own.error();
}

Result<Address> JoinedNode::get_address(const std::string &key, std::chrono::milliseconds timeout)
{
	const Result<std::string> text = get(key, timeout);
	if (!text)
		return text.error();
	return Address(std::strtoull(text->c_str(), nullptr, 10));
}

View JoinedNode::view() const
{
	return parts_->view();
}

RecoveryReport JoinedNode::recovery() const
{
	return parts_->recovery();
}

int JoinedNode::log_error() const noexcept
{
	return parts_->log_error();
}

std::string JoinedNode::log_trouble() const
{
	return parts_->log_trouble();
}

Result<void> JoinedNode::give_up(NodeId node)
{
	const Result<void> own = check_own();
	return own ? parts_->membership().give_up_node(node) : own;
}

Result<void> JoinedNode::leave(const std::function<bool()> &hurries)
{
	const Result<void> own = check_own();
	return own ? parts_->leave(hurries) : own;
}

} // namespace prism::gam
