/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/home_recovery.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace prism::gam
{

namespace
{

constexpr std::array<std::byte, block_size> zeros{};

/* Blocks that addresses can name */
constexpr std::uint64_t most_blocks = (std::uint64_t{1} << Address::offset_bits) / block_size;

constexpr bool is_line(Holding holding) noexcept
{
	return holding == Holding::dirty || holding == Holding::shared;
}

} // namespace

HomeRecovery::HomeRecovery(NodeId self, std::uint64_t recovery, std::uint64_t blocks, Scope scope,
	std::unique_ptr<LoggedBlocks> log, Home &home)
	: self_(self), recovery_(recovery), blocks_(blocks), scope_(scope), log_(std::move(log)), home_(home)
{
	if (log_->is_incomplete())
		doubt();
	allocated_ = log_->possibly_allocated(blocks_);
	for (const auto &[number, logged] : log_->blocks()) {
		if (number >= blocks_)
			continue;
		Evidence &evidence = known_[number].evidence;
		if (logged.has_value)
			evidence.own = logged.counter;
		evidence.transfers = logged.transfers;
	}
	unsettled_ = known_.size();
}

/* Marks as doubtful all blocks that may have a missing entry. */
void HomeRecovery::doubt()
{
	const std::vector<bool> used = log_->possibly_allocated(blocks_);
	for (std::uint64_t number = 0; number < blocks_; number++) {
		if (!used[number] || !log_->is_doubtful(log_->find(number)))
			continue;
		known_[number].evidence.doubtful = true;
		doubtful_++;
	}
}

void HomeRecovery::begin(std::uint64_t nodes)
{
	for_each_node(nodes & ~bit(self_), [this](NodeId node) { ask(node, 0); });
	if (!awaited_)
		judge_all();
}

void HomeRecovery::ask(NodeId node, std::uint64_t from)
{
	awaited_ |= bit(node);
	told_ |= bit(node);
	asked_[node].from = from;
	Message message;
	message.type = static_cast<std::uint8_t>(RecoveryMessage::ask);
	message.request = recovery_;
	message.block = Address(self_, std::min(home_.since(), DataCounter::most_life) * block_size);
	message.counter = from;
	home_.send(node, message);
}

bool HomeRecovery::hear(NodeId from, const Message &message)
{
	bool allowed = from < max_nodes && message.request == recovery_;
	const auto type = static_cast<RecoveryMessage>(message.type);
	const bool is_awaited =
		allowed && (type == RecoveryMessage::have ? (awaited_ & bit(from)) != 0 : asked_[from].fetching != 0);
	if (allowed && type == RecoveryMessage::have)
		allowed = have(from, message);
	else if (allowed && type == RecoveryMessage::value)
		allowed = value(from, message);
	else
		allowed = false;
	refused_ += !allowed;
	/* It will not say it again. */
	if (!allowed && is_awaited)
		fail(make_error(EPROTO, "node " + std::to_string(from) + " says what no rule of recovery allows",
			"end that node, or give it the release of the others, then start this one again"));
	return allowed;
}

/* Ends the recovery; the first cause counts. */
void HomeRecovery::fail(const Error &why)
{
	if (!failure_)
		failure_ = why;
}

bool HomeRecovery::have(NodeId from, const Message &message)
{
	const auto items = parse_items(message.data, most_blocks);
	Asked &asked = asked_[from];
	const bool is_last = message.flags & have_last;
	if (!(awaited_ & bit(from)) || !items ||
		(!is_last && (message.counter <= asked.from || message.counter > most_blocks)))
		return false;
	for (const Item &item : *items) {
		if (item.block < asked.from || (!is_last && item.block >= message.counter))
			return false;
	}
	for (const Item &item : *items) {
		if (scope_ == Scope::logged && !known_.contains(item.block))
			continue;
		if (item.block >= blocks_) {
			hear_beyond(from, item);
			continue;
		}
		const auto [at, is_new] = known_.try_emplace(item.block);
		unsettled_ += is_new;
		at->second.evidence.allocated = allocated_[item.block];
		auto &claims = at->second.evidence.claims;
		/* A node has at most a line and a value of a block; a node that was away has no valid line. */
		const bool again = std::any_of(claims.begin(), claims.end(), [&](const Claim &claim) {
			return claim.node == from && is_line(claim.holding) == is_line(item.holding);
		});
		if (!again && !(judging_ && is_line(item.holding)))
			claims.push_back({from, item.holding, item.counter});
	}
	if (message.flags & have_incomplete)
		witnesses_.incomplete |= bit(from);
	if (!is_last) {
		ask(from, message.counter);
		return true;
	}
	awaited_ &= ~bit(from);
	witnesses_.answered |= bit(from);
	witnesses_.since[from] = message.counter;
	witnesses_.life[from] = home_.life_of(from);
	if (judging_)
		judge_waiting(from);
	else if (!awaited_)
		judge_all();
	return true;
}

/*
 * Hears of a block beyond the end of the memory, which was larger in an earlier life. A copy is of memory that was
 * free, and must not be taken for the block's value when the memory is as large again.
 */
void HomeRecovery::hear_beyond(NodeId from, const Item &item)
{
	if (item.holding == Holding::shared) {
		Message message;
		message.type = static_cast<std::uint8_t>(RecoveryMessage::drop);
		message.request = recovery_;
		message.block = Address(self_, item.block * block_size);
		home_.send(from, message);
	} else if (!judging_ && item.block >= needed_) {
		needed_ = item.block + 1;
		needed_by_ = from;
	}
}

void HomeRecovery::judge_all()
{
	if (needed_) {
		fail(make_error(EINVAL,
			"node " + std::to_string(needed_by_) +
				" has values of blocks beyond the end of this node's memory",
			"start it with at least " + std::to_string(needed_ * block_size) + " bytes"));
		return;
	}
	judging_ = true;
	for (auto &[number, block] : known_)
		judge(number, block);
	for_each_node(told_, [this](NodeId node) { fetch_more(node); });
	finish_if_done();
}

/* Judges a block; a new verdict may replace one reported before. */
void HomeRecovery::judge(std::uint64_t number, Block &block)
{
	if (std::exchange(block.settled, false)) {
		unsettled_++;
		waiting_ -= block.verdict.kind == Verdict::Kind::waits;
	}
	block.verdict = decide(block.evidence, witnesses_);
	block.fetching = block.verdict.kind != Verdict::Kind::waits && block.verdict.node != no_node;
	if (block.fetching)
		asked_[block.verdict.node].to_ask.push_back(number);
	else
		settle(number, block, own_value(number));
}

std::span<const std::byte, block_size> HomeRecovery::own_value(std::uint64_t number) const
{
	const LoggedBlocks::Block *const logged = log_->find(number);
	return logged && logged->has_value ? logged->value : zeros;
}

void HomeRecovery::settle(std::uint64_t number, Block &block, std::span<const std::byte, block_size> value)
{
	block.fetching = false;
	block.settled = true;
	unsettled_--;
	waiting_ += block.verdict.kind == Verdict::Kind::waits;
	home_.settled(Address(self_, number * block_size), block.verdict, value);
}

void HomeRecovery::fetch_more(NodeId node)
{
	Asked &asked = asked_[node];
	while (asked.fetching < window && !asked.to_ask.empty()) {
		const std::uint64_t number = asked.to_ask.back();
		asked.to_ask.pop_back();
		const Block &block = known_.at(number);
		if (!block.fetching || block.verdict.node != node)
			continue;
		Message message;
		message.type = static_cast<std::uint8_t>(RecoveryMessage::fetch);
		message.request = recovery_;
		message.block = Address(self_, number * block_size);
		message.flags = static_cast<std::uint8_t>(block.verdict.holding);
		asked.fetching++;
		home_.send(node, message);
	}
}

bool HomeRecovery::value(NodeId from, const Message &message)
{
	const auto found = known_.find(message.block.block_number());
	if (message.block.home() != self_ || found == known_.end() || !asked_[from].fetching)
		return false;
	asked_[from].fetching--;
	Block &block = found->second;
	const bool is_awaited = block.fetching && block.verdict.node == from &&
				message.flags == static_cast<std::uint8_t>(block.verdict.holding);
	if (!is_awaited) {
		/* it was judged again meanwhile */
	} else if (!message.error && message.counter == block.verdict.counter && message.data.size() == block_size) {
		settle(found->first, block, message.data.first<block_size>());
	} else {
		/* A copy may have been dropped since; a log that has lost the value is worth nothing. */
		if (!is_line(block.verdict.holding))
			witnesses_.incomplete |= bit(from);
		std::erase_if(block.evidence.claims, [&](const Claim &claim) {
			return claim.node == from && claim.holding == block.verdict.holding;
		});
		judge(found->first, block);
		for_each_node(told_, [this](NodeId node) { fetch_more(node); });
	}
	fetch_more(from);
	finish_if_done();
	return true;
}

void HomeRecovery::lost(NodeId node)
{
	if (node >= max_nodes)
		return;
	const std::uint64_t others = ~bit(node);
	told_ &= others;
	awaited_ &= others;
	witnesses_.answered &= others;
	witnesses_.incomplete &= others;
	asked_[node] = {};
	for (auto &[number, block] : known_) {
		std::erase_if(block.evidence.claims, [&](const Claim &claim) { return claim.node == node; });
		const bool is_its = block.verdict.node == node &&
				    (block.fetching || (!done_ && block.verdict.kind == Verdict::Kind::owned));
		if (judging_ && (is_its || (!block.settled && !block.fetching)))
			judge(number, block);
	}
	if (!judging_ && !awaited_)
		judge_all();
	for_each_node(told_, [this](NodeId other) { fetch_more(other); });
	finish_if_done();
}

void HomeRecovery::returned(NodeId node)
{
	if (node >= max_nodes || node == self_)
		return;
	lost(node);
	ask(node, 0);
}

void HomeRecovery::give_up(NodeId node)
{
	if (node >= max_nodes)
		return;
	witnesses_.given_up |= bit(node);
	if (judging_)
		judge_waiting(node);
}

/* Judges the blocks that wait for @p node, which has said what it has, or never will. */
void HomeRecovery::judge_waiting(NodeId node)
{
	for (auto &[number, block] : known_) {
		if ((!block.settled && !block.fetching) ||
			(block.verdict.kind == Verdict::Kind::waits && block.verdict.node == node))
			judge(number, block);
	}
	for_each_node(told_, [this](NodeId other) { fetch_more(other); });
	const bool was_done = done_;
	finish_if_done();
	if (was_done && (told_ & bit(node))) {
		Message message;
		message.type = static_cast<std::uint8_t>(RecoveryMessage::recovered);
		message.request = recovery_;
		home_.send(node, message);
	}
}

/* Has invalid lines dropped; the others can be used again. */
void HomeRecovery::finish_if_done()
{
	if (done_ || !judging_ || unsettled_)
		return;
	done_ = true;
	Message message;
	message.request = recovery_;
	message.type = static_cast<std::uint8_t>(RecoveryMessage::drop);
	for (auto &[number, block] : known_) {
		const Verdict &verdict = block.verdict;
		message.block = Address(self_, number * block_size);
		std::erase_if(block.evidence.claims, [&](const Claim &claim) {
			const bool is_valid =
				verdict.kind == Verdict::Kind::owned
					? claim.node == verdict.node
					: claim.holding == Holding::shared && (verdict.sharers & bit(claim.node));
			const bool drops = is_line(claim.holding) && !is_valid;
			if (drops && (told_ & bit(claim.node)))
				home_.send(claim.node, message);
			/* It cannot be an owner's any more; one of a later term says that the log is an old copy. */
			return drops && claim.counter <= block.evidence.transfers[0].counter;
		});
	}
	message.block = {};
	message.type = static_cast<std::uint8_t>(RecoveryMessage::recovered);
	/* Other nodes are told when they have said what they have. */
	for_each_node(told_ & witnesses_.answered, [&](NodeId node) { home_.send(node, message); });
}

} // namespace prism::gam
