/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/node/log_side.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>

namespace prism::gam
{

namespace
{

/** Flag of RecoveryMessage::present: the sender keeps a log, so it can be asked when it says that it has recovered. */
constexpr std::uint8_t keeps_log = 1;

Message message_of(RecoveryMessage type, std::uint64_t incarnation)
{
	Message message;
	message.type = static_cast<std::uint8_t>(type);
	message.request = incarnation;
	return message;
}

/** Flag of Message::request: a recovery of orphans of a live home. Incarnations are smaller. */
constexpr std::uint64_t of_orphans = std::uint64_t{1} << 63;

/** Returns how many blocks of this node's memory @p logged tells of: the last one's number, and 1. */
std::uint64_t blocks_needed(const LoggedBlocks &logged)
{
	std::uint64_t end = 0;
	for (const auto &[number, block] : logged.blocks())
		end = std::max(end, number + 1);
	for (const auto &[address, bytes] : logged.allocated()) {
		if (bytes)
			end = std::max(end, (address + (bytes - 1)).block_number() + 1);
	}
	return end;
}

/** A gap that covers everything: the log is of no help. */
constexpr Missing everything{0, 0, 1, 0, false};

} // namespace

LogSide::LogSide(Peers &peers, const NodeLife &self, std::uint64_t blocks, std::unique_ptr<NodeLog> log, bool durable)
	: peers_(peers), self_(self), blocks_(blocks), log_(std::move(log)), witness_(*this)
{
	if (!log_)
		return;
	/* Compacts as often as the memory has been written twice */
	keeper_ = std::make_unique<LogKeeper>(
		*log_, LogKeeperOptions{2 * blocks * block_size / log_->segment_bytes() + 2});
	policy_.emplace(*log_, durable, keeper_.get());
}

std::unique_ptr<Coherence> LogSide::make(directory::Options options, Coherence::Host &host, std::size_t shard)
{
	options.log = log();
	auto made = std::make_unique<Directory>(options, host);
	made->set_loggers(0);
	shards_.resize(std::max(shards_.size(), shard + 1));
	shards_[shard] = made.get();
	return made;
}

Result<void> LogSide::start(gam::Node &node)
{
	const std::scoped_lock guard(lock_);
	if (log_) {
		auto blocks = std::make_unique<LoggedBlocks>(self_.node);
		if (auto scanned = log_->scan([&](const Entry &entry) { blocks->add(entry); }); !scanned)
			return scanned;
		if (const std::uint64_t needed = blocks_needed(*blocks); needed > blocks_)
			return make_error(EINVAL, "the log is of a node with more memory",
				"start it with at least " + std::to_string(needed * block_size) + " bytes");
		blocks->miss(log_->missing());
		node_.store(&node, std::memory_order_release);
		restore_allocations(*blocks);
		owners_ = blocks->owners_with_logs();
		recovery_ = std::make_unique<HomeRecovery>(self_.node, self_.incarnation, blocks_,
			HomeRecovery::Scope::all, std::move(blocks), static_cast<HomeRecovery::Home &>(*this));
		/* Without the gaps that an earlier recovery has reported: nothing has been lost since. */
		report_.damaged = recovery_->doubtful() ? log_->missing().size() : 0;
		report_.lost = log_->untold();
	} else {
		recovered_ = true;
		node_.store(&node, std::memory_order_release);
	}
	return {};
}

void LogSide::stop()
{
	const std::scoped_lock guard(lock_);
	node_.store(nullptr, std::memory_order_release);
}

/**
 * Restores the allocations. A free missing from the log leaves memory allocated; a missing allocation leaves it free.
 */
void LogSide::restore_allocations(const LoggedBlocks &logged)
{
	gam::Home &home = node_.load()->home();
	std::uint64_t used = logged.is_incomplete() ? blocks_ : 0;
	for (const auto &[number, block] : logged.blocks())
		used = std::max(used, number + 1);
	for (const auto &[address, bytes] : logged.allocated())
		(void)home.restore(address, bytes);
	home.set_used_below(used);
}

std::size_t LogSide::poll(Network::Listener &listener) noexcept
{
	if (!node_.load(std::memory_order_acquire))
		return 0;
	listener_ = &listener; /* one thread at a time */
	return peers_.poll(*this);
}

/* Present nodes -------------------------------------------------------------------------------------------------- */

void LogSide::adopt(const View &view)
{
	const std::scoped_lock guard(lock_);
	gam::Node *const node = node_.load();
	if (!node)
		return;
	view_ = view;
	const std::uint64_t before = loggers_;
	std::uint64_t loggers = 0;
	for (const Member &member : view.members)
		loggers |= member.keeps_log && member.life.node < max_nodes ? bit(member.life.node) : 0;
	set_loggers(loggers);
	for (NodeId id = 0; id < max_nodes; id++) {
		const Member *const member = view.find(id);
		const std::uint64_t live = member && member->live() ? member->life.incarnation : 0;
		if (lives_[id] && lives_[id] != live && lives_[id] <= view.epoch)
			end_life(id); /* a later life than this view knows has already come */
		if (!live && (before & ~loggers_ & bit(id)))
			forget(id);
		if (live && live != self_.incarnation && !lives_[id])
			lives_[id] = live;
		if (lives_[id] && !(loggers_ & bit(id)) && is_connected(*member))
			welcome(id);
	}
	give_up_the_lost();
	finish_if_done();
	peers_.flush();
}

bool LogSide::is_connected(const Member &member)
{
	return lives_[member.life.node] == member.life.incarnation && peers_.connected(member.life);
}

void LogSide::set_loggers(std::uint64_t nodes)
{
	loggers_ = nodes;
	node_.load()->for_each_shard([&](std::size_t shard) { shards_[shard]->set_loggers(nodes); });
}

/** Notes that there is a pair to @p life, so an earlier life with its number is dead, and cut off. */
void LogSide::notice(const NodeLife &life)
{
	if (lives_[life.node] == life.incarnation)
		return;
	if (lives_[life.node])
		end_life(life.node);
	lives_[life.node] = life.incarnation;
}

void LogSide::end_life(NodeId node)
{
	lives_[node] = 0;
	there_.fetch_and(~bit(node));
	greeted_ &= ~bit(node);
	asked_ &= ~bit(node);
	told_ &= ~bit(node);
	node_.load()->lost(node, loggers_ & bit(node));
	witness_.lost(node);
	orphans_.erase(node);
	if (recovery_)
		recovery_->lost(node);
}

/** Drops cached blocks of @p home, which will not return. */
void LogSide::forget(NodeId home)
{
	node_.load()->for_each_shard([&](std::size_t shard) {
		std::vector<Address> kept;
		shards_[shard]->for_each_line(home, [&](Address block, directory::LineState, std::uint64_t,
							    const std::byte *) { kept.push_back(block); });
		for (const Address block : kept)
			shards_[shard]->drop(block);
		shards_[shard]->give_up(home);
	});
	node_.load()->lost(home);
}

void LogSide::end_all()
{
	const std::scoped_lock guard(lock_);
	recovery_.reset();
	orphans_.clear();
	for (NodeId id = 0; id < max_nodes; id++)
		node_.load()->lost(id);
}

void LogSide::welcome(NodeId node)
{
	if (policy_)
		policy_->set_life(node, lives_[node]);
	there_.fetch_or(bit(node));
	if (recovered_)
		meet(node);
}

/** Lets the node meet @p node, as both have recovered. Its messages come after the one that says so. */
void LogSide::meet(NodeId node)
{
	if (has_log() && !(told_ & bit(node)))
		tell_recovered(node);
	node_.load()->joined(node);
}

/** Announces this node to @p node. */
void LogSide::greet(NodeId node)
{
	Message message = message_of(RecoveryMessage::present, self_.incarnation);
	message.flags = has_log() ? keeps_log : 0;
	peers_.send(node, message);
	greeted_ |= bit(node);
}

void LogSide::tell_recovered(NodeId node)
{
	peers_.send(node, message_of(RecoveryMessage::recovered, self_.incarnation));
	told_ |= bit(node);
}

/** Gives up on nodes that are dead, and neither present nor away: they answer no more. */
void LogSide::give_up_the_lost()
{
	if (!recovery_)
		return;
	for (NodeId id = 0; id < max_nodes; id++) {
		if (id != self_.node && !lives_[id] && !(loggers_ & bit(id)))
			recovery_->give_up(id);
	}
}

/* Messages ------------------------------------------------------------------------------------------------------- */

void LogSide::heard(NodeId from, const Message &message)
{
	if (is_recovery_message(message.type))
		hear_own(from, message);
	else if ((there_.load(std::memory_order_relaxed) & bit(from)) || admits(from))
		listener_->heard(from, message);
}

/**
 * Decides about messages of a node without a log that the membership has not reported yet, or that breaks the rules.
 */
bool LogSide::admits(NodeId from)
{
	const std::scoped_lock guard(lock_);
	const std::optional<NodeLife> life = peers_.peer(from);
	if (!life || !recovered_ || (loggers_ & bit(from)))
		return false;
	notice(*life);
	welcome(from);
	return true;
}

void LogSide::hear_own(NodeId from, const Message &message)
{
	const std::scoped_lock guard(lock_);
	const std::optional<NodeLife> life = peers_.peer(from);
	if (!life || !node_.load())
		return;
	notice(*life);
	const bool is_of_this_life = (message.request & ~of_orphans) == life->incarnation;
	switch (static_cast<RecoveryMessage>(message.type)) {
	case RecoveryMessage::present:
		return hear_present(from, message);
	case RecoveryMessage::have:
	case RecoveryMessage::value:
		if (HomeRecovery *const recovery = recovery_of(from, message))
			(void)recovery->hear(from, message);
		return finish_if_done();
	case RecoveryMessage::recovered:
		if (!is_of_this_life)
			return;
		(void)witness_.hear(from, message);
		return message.request & of_orphans ? void() : welcome(from);
	default:
		if (is_of_this_life)
			(void)witness_.hear(from, message);
	}
}

void LogSide::hear_present(NodeId from, const Message &message)
{
	if (!(message.flags & keeps_log))
		welcome(from);
	else if (!(loggers_ & bit(from)))
		set_loggers(loggers_ | bit(from)); /* the view that says so is about to be adopted */
	if (!has_log())
		return;
	if (message.flags & keeps_log)
		adopt_orphans(from);
	if (recovery_ && !(asked_ & bit(from)) && (recovered_ || greeted_)) {
		asked_ |= bit(from);
		recovery_->returned(from);
		finish_if_done();
	} else if (recovered_) {
		tell_recovered(from);
	}
}

/* Recovery ------------------------------------------------------------------------------------------------------- */

HomeRecovery *LogSide::recovery_of(NodeId from, const Message &message)
{
	if (!(message.request & of_orphans))
		return recovery_.get();
	const auto found = orphans_.find(from);
	return found == orphans_.end() ? nullptr : found->second.get();
}

/** Recovers the orphans of @p owner, which has returned with its log: their values here are in this home's memory. */
void LogSide::adopt_orphans(NodeId owner)
{
	auto blocks = std::make_unique<LoggedBlocks>(self_.node);
	node_.load()->for_each_shard([&](std::size_t shard) {
		shards_[shard]->for_each_orphan(
			owner, [&](Address block, std::uint64_t term, std::span<const std::byte, block_size> bytes) {
				blocks->set_value(block.block_number(), term - 1, bytes);
				blocks->add({EntryKind::transfer, owner, block, term, 0, 0, {}});
			});
	});
	if (blocks->blocks().empty())
		return;
	auto &recovery = orphans_[owner];
	recovery = std::make_unique<HomeRecovery>(self_.node, self_.incarnation | of_orphans, blocks_,
		HomeRecovery::Scope::logged, std::move(blocks), static_cast<HomeRecovery::Home &>(*this));
	recovery->begin(bit(owner));
}

Result<void> LogSide::recover(std::chrono::milliseconds timeout, const std::function<bool()> &is_over)
{
	constexpr auto pause = std::chrono::microseconds(100);
	gam::Node &node = *node_.load();
	{
		const std::scoped_lock guard(lock_);
		for (const Member &member : view_.members) {
			if (member.life != self_ && member.live() && is_connected(member))
				greet(member.life.node);
		}
		greeted_ |= bit(self_.node);
		asked_ |= greeted_ & ~bit(self_.node);
		if (recovery_)
			recovery_->begin(asked_);
		give_up_the_lost();
		finish_if_done();
	}
	peers_.flush();
	const auto end = std::chrono::steady_clock::now() + timeout;
	for (;;) {
		if (is_over())
			return make_error(ESTALE, "the membership of this node has ended while it recovered");
		const bool is_late = std::chrono::steady_clock::now() > end;
		std::unique_lock guard(lock_);
		if (!recovered_) { /* recovery may take as long as it makes progress */
			if (recovery_ && recovery_->failure())
				return *recovery_->failure();
		} else {
			const Member *const last = missing();
			if (!last)
				return {};
			if (is_late)
				return make_error(ETIMEDOUT, "node " + std::to_string(last->life.node) +
								     " does not say that it has recovered");
		}
		guard.unlock();
		if (!node.poll())
			std::this_thread::sleep_for(pause);
	}
}

const Member *LogSide::missing() const
{
	for (const Member &member : view_.members) {
		if (member.life != self_ && member.state == NodeState::serving &&
			!(there_.load() & bit(member.life.node)))
			return &member;
	}
	return nullptr;
}

void LogSide::settled(Address block, const Verdict &verdict, std::span<const std::byte, block_size> value)
{
	const bool is_lost = verdict.kind == Verdict::Kind::lost;
	if (is_lost)
		log_->note_loss(); /* before the entry that takes the loss for granted */
	directory::Restored restored;
	restored.term = verdict.is_to_log() ? verdict.next : verdict.next - 1;
	restored.sharers = verdict.sharers;
	restored.data = value;
	restored.is_logged = !verdict.is_to_log() || policy_->wrote(block, restored.term, value) == 0;
	restored.waits = verdict.kind == Verdict::Kind::waits;
	if (verdict.kind == Verdict::Kind::owned) {
		restored.owner = verdict.node;
		restored.sharers = 0;
	}
	report_.lost += is_lost;
	report_.recovered += !is_lost && !restored.waits;
	node_.load()->with_shard(block, [&](std::size_t shard) { (void)shards_[shard]->restore(block, restored); });
}

void LogSide::finish_if_done()
{
	std::erase_if(orphans_, [](const auto &orphans) { return orphans.second->is_over(); });
	if (!recovery_ || !recovery_->is_done())
		return;
	if (!recovered_.exchange(true))
		for_each_node(there_.load(), [this](NodeId node) { meet(node); });
	report_.waiting = recovery_->waiting();
	if (recovery_->is_over())
		recovery_.reset();
}

RecoveryReport LogSide::report()
{
	const std::scoped_lock guard(lock_);
	if (log_)
		log_->told();
	return report_;
}

Result<void> LogSide::settle_log()
{
	if (!log_)
		return {};
	node_.load()->for_each_shard([this](std::size_t shard) { shards_[shard]->log_all(); });
	if (const int error = log_->commit())
		return make_error(error, "the log");
	return {};
}

/* Answers to others ---------------------------------------------------------------------------------------------- */

void LogSide::for_each_line(NodeId home, const std::function<void(Address block, const HeldLine &line)> &visit)
{
	node_.load()->for_each_shard([&](std::size_t shard) {
		shards_[shard]->for_each_line(home,
			[&](Address block, directory::LineState state, std::uint64_t term, const std::byte *data) {
				visit(block, {state == directory::LineState::dirty, term, {data, block_size}});
			});
	});
}

std::optional<HeldLine> LogSide::line(Address block)
{
	std::optional<HeldLine> found;
	node_.load()->with_shard(block, [&](std::size_t shard) {
		const std::byte *data = nullptr;
		const std::optional<std::uint64_t> term = shards_[shard]->term_of_line(block, data);
		if (!term)
			return;
		line_.assign(data, data + block_size);
		found = {shards_[shard]->line(block) == directory::LineState::dirty, *term, line_};
	});
	return found;
}

void LogSide::drop(Address block)
{
	node_.load()->with_shard(block, [&](std::size_t shard) { shards_[shard]->drop(block); });
}

std::unique_ptr<LoggedBlocks> LogSide::logged(NodeId home, std::uint64_t since)
{
	auto blocks = std::make_unique<LoggedBlocks>(home, since);
	const bool is_whole = log_ && log_->scan([&](const Entry &entry) { blocks->add(entry); }).ok();
	if (log_)
		blocks->miss(log_->missing());
	if (!is_whole)
		blocks->miss(std::span(&everything, 1));
	return blocks;
}

} // namespace prism::gam
