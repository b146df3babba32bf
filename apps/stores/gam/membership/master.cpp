/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/master.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "gam/membership/log_entry.hpp"
#include "gam/membership/view_json.hpp"

namespace prism::gam
{

namespace
{

/** The last epoch in which nodes with logs may join: later lives are alike to logs. */
constexpr std::uint64_t last_epoch = DataCounter::most_life - 1;

constexpr std::uint64_t bit_of(NodeId node) noexcept
{
	return std::uint64_t{1} << node;
}

Error stale(const NodeLife &who)
{
	return make_error(ESTALE, "node " + std::to_string(who.node) + " is no member of this cluster any more",
		"its lease was over, or the master was started anew: start the node again");
}

Error other_cluster()
{
	return make_error(EINVAL, "the log is of another cluster than those of the members",
		"give each node the folder of its log; or begin a new log");
}

} // namespace

Member *Master::find_live(const NodeLife &who) noexcept
{
	return const_cast<Member *>(view_.find_live(who));
}

Result<Member *> Master::identify(const NodeLife &who, Time now)
{
	on_time(now);
	Member *const member = find_live(who);
	if (!member)
		return stale(who);
	return member;
}

void Master::change(Member &member, NodeState state)
{
	view_.epoch++;
	member.state = state;
	member.changed = view_.epoch;
}

/** Declares @p member dead. One that has only joined was never there: nobody waits for its log. */
void Master::declare_dead(Member &member)
{
	if (only_joined(member))
		member.keeps_log = false;
	change(member, NodeState::dead);
}

/** Refuses another protocol than the members'. One that has only joined, perhaps a stranger, decides nothing. */
Result<void> Master::check_protocol(std::uint16_t protocol, std::uint32_t block_bytes) const
{
	const bool same = protocol_ == protocol && block_bytes_ == block_bytes;
	if (same || std::all_of(view_.members.begin(), view_.members.end(),
			    [this](const Member &member) { return only_joined(member); }))
		return {};
	return make_error(EPROTONOSUPPORT, "a node of another protocol or block size",
		"start all nodes of a cluster with the same");
}

/*
 * Refuses a log, which had the number @p last, of another policy than the members': a home without a durable log does
 * not wait for a dead node, so writes that a durable one has fenced would be lost. One that has only joined decides
 * nothing.
 */
Result<void> Master::check_policy(bool durable, NodeId last) const
{
	const auto differs = [&](const Member &member) {
		return member.live() && member.keeps_log && member.durable != durable && member.life.node != last &&
		       !only_joined(member);
	};
	if (std::none_of(view_.members.begin(), view_.members.end(), differs))
		return {};
	return make_error(EINVAL,
		durable ? "a durable log, and those of the members are not"
			: "a log that is not durable, and those of the members are",
		"start all nodes that keep logs with --durable, or none");
}

/*
 * Finds a number for @p who. A new log does not get the last one: whoever has a log keeps the number when it is dead,
 * and to give up such nodes takes a number.
 */
Result<NodeId> Master::number_for(const Newcomer &who)
{
	if (who.log) {
		if (view_.epoch > last_epoch)
			return make_error(ERANGE, "a log cannot tell further lives of nodes apart",
				"start the master anew; by etcd, with another key");
		if (Result<void> same = check_policy(who.log->durable, who.log->last.node); !same)
			return same.error();
	}
	if (who.log && who.log->last.node != no_node)
		return number_of_log(*who.log);
	const bool is_last_for_others = who.log && numbers_in_use() >= max_nodes - 1;
	NodeId free = is_last_for_others ? max_nodes : number_free_longest();
	if (free == max_nodes)
		free = first_that_only_joined(is_last_for_others);
	if (free == max_nodes)
		return no_number(is_last_for_others);
	if (who.log && !log_cluster_)
		log_cluster_ = view_.cluster;
	given_last_ = free;
	return free;
}

/** Returns the refusal of a node for which there is no number: EBUSY if one will be free when the others have swept. */
Error Master::no_number(bool is_last_for_others) const
{
	const bool is_soon = std::any_of(view_.members.begin(), view_.members.end(),
		[](const Member &member) { return !member.live() && !member.keeps_log; });
	return make_error(is_soon ? EBUSY : EUSERS,
		is_last_for_others ? "the last number of a node is not for one that keeps a log"
				   : "all 64 numbers of nodes are in use",
		"end a node without a log; or give up one that is away: prism-gam forget NUMBER");
}

/**
 * Returns the first free number behind the one given last, or max_nodes: addresses of a dead node's memory lead to
 * another's as late as possible.
 */
NodeId Master::number_free_longest() const
{
	for (NodeId i = 1; i <= max_nodes; i++) {
		const auto node = static_cast<NodeId>((given_last_ + i) % max_nodes);
		if (!accounts_.contains(node))
			return node;
	}
	return max_nodes;
}

/** Returns true if @p member has joined and not renewed since. */
bool Master::only_joined(const Member &member) const
{
	return member.state == NodeState::joining && !accounts_.at(member.life.node).beat;
}

/**
 * Returns the first node that has only joined, and if @p with_log keeps a log; it has left nothing for others to sweep.
 * max_nodes: there is none.
 */
NodeId Master::first_that_only_joined(bool with_log) const
{
	const Member *first = nullptr;
	for (const Member &member : view_.members) {
		if (only_joined(member) && (member.keeps_log || !with_log) &&
			(!first || member.life.incarnation < first->life.incarnation))
			first = &member;
	}
	return first ? first->life.node : max_nodes;
}

/** Returns the numbers in use, but for those of nodes that have only joined and keep no log. */
std::size_t Master::numbers_in_use() const
{
	return static_cast<std::size_t>(std::count_if(view_.members.begin(), view_.members.end(),
		[this](const Member &member) { return member.keeps_log || !only_joined(member); }));
}

/** Returns true if a member keeps a log. One that has only joined may be a stranger's invention. */
bool Master::has_logs() const
{
	return std::any_of(view_.members.begin(), view_.members.end(),
		[this](const Member &member) { return member.keeps_log && !only_joined(member); });
}

View Master::announced() const
{
	View view = view_;
	std::erase_if(view.members, [this](const Member &member) { return only_joined(member); });
	return view;
}

/** Returns the number that the log's node had. */
Result<NodeId> Master::number_of_log(const LogClaim &log)
{
	if (log.last.node >= max_nodes || !log.cluster || (log_cluster_ != log.cluster && has_logs()))
		return other_cluster();
	const std::string number = "number " + std::to_string(log.last.node) + ", which is that of the log,";
	if (const Member *const there = view_.find(log.last.node)) {
		if (there->live())
			return make_error(EBUSY, number + " is in use",
				"wait until the lease of the node's last life is over; to a new master the nodes that "
				"have logs come first");
		if (there->is_away() && !may_be_log_of(*there, log))
			return make_error(EINVAL, number + " is another node's: that log's node was given up",
				"begin a new log; or restore that of the other node, if this is an older copy of it");
		if (!is_swept(*there))
			return make_error(EBUSY, number + " is not swept by all nodes", "try again");
	}
	/* An invented number must not use up the incarnations. Members never change so often while a node is away. */
	constexpr std::uint64_t too_far = std::uint64_t{1} << 24;
	if (log.last.incarnation > last_epoch)
		return make_error(EINVAL, "the log is of a life that cannot have been",
			"restore it from a copy; or begin a new log");
	if (has_logs() && log.last.incarnation > view_.epoch && log.last.incarnation - view_.epoch >= too_far)
		return make_error(EINVAL, "the log is of a life too far ahead of those of the members",
			"start the master anew, and this node first; or restore its log from a copy");
	log_cluster_ = log.cluster;
	return log.last.node;
}

/** Returns true if a life of @p away, which has its number still, may have written @p log last. */
bool Master::may_be_log_of(const Member &away, const LogClaim &log) const
{
	const std::uint64_t first = accounts_.at(away.life.node).first_life;
	return !first || (log.last.incarnation >= first && log.last.incarnation <= away.life.incarnation);
}

Result<NodeLife> Master::join(const Newcomer &who, Time now)
{
	on_time(now);
	if (who.host.empty() || who.host.size() > longest_host || !who.port)
		return make_error(EINVAL, "a node without a host or port");
	const auto protocol = static_cast<std::uint16_t>(who.protocol);
	if (Result<void> same = check_protocol(protocol, who.block_bytes); !same)
		return same.error();
	const Result<NodeId> number = number_for(who);
	if (!number)
		return number.error();
	const NodeId free = *number;
	const Member *const before = view_.find(free);
	const bool returns = before && before->is_away();
	if (returns)
		follow(who.log->last.incarnation);
	std::erase_if(view_.members, [free](const Member &member) { return member.life.node == free; });
	given_up_ &= who.log ? ~bit_of(free) : ~std::uint64_t{0};
	Member made;
	made.life.node = free;
	made.host = who.host;
	made.port = who.port;
	made.lent = who.lent;
	made.keeps_log = who.log.has_value();
	made.durable = who.log && who.log->durable;
	const NodeLife life = insert(std::move(made), NodeState::joining);
	std::uint64_t first_life = life.incarnation;
	if (returns)
		first_life = accounts_[free].first_life;
	else if (who.log && who.log->last.node != no_node)
		first_life = who.log->last.incarnation;
	/* The members know a node that returns. */
	accounts_[free] = {life.incarnation, returns, 0, now, first_life, log_cluster_, protocol, who.block_bytes};
	return life;
}

/** Raises the epoch to that of an earlier life, so that new incarnations are above all that an earlier master has
 * given. */
void Master::follow(std::uint64_t life) noexcept
{
	view_.epoch = std::max(view_.epoch, life);
}

/** Inserts a member whose number is free, and returns its new life. */
NodeLife Master::insert(Member made, NodeState state)
{
	change(made, state);
	made.life.incarnation = view_.epoch;
	const NodeLife life = made.life;
	const auto place = std::find_if(view_.members.begin(), view_.members.end(),
		[&life](const Member &other) { return other.life.node > life.node; });
	view_.members.insert(place, std::move(made));
	return life;
}

Result<NodeLife> Master::renew(const NodeLife &who, Time now)
{
	const Result<Member *> member = identify(who, now);
	if (!member)
		return member.error();
	Account &account = accounts_[who.node];
	if (only_joined(**member)) {
		/* Another may have come between. Who has only joined decides nothing. */
		Result<void> same = check_protocol(account.protocol, account.block_bytes);
		if (same && (*member)->keeps_log)
			same = check_policy((*member)->durable, who.node);
		if (!same)
			return same.error();
		if ((*member)->keeps_log && account.log_cluster != log_cluster_ && has_logs())
			return make_error(EINVAL, "a node with a log of another cluster has come meanwhile",
				"start this node again");
		if ((*member)->keeps_log)
			log_cluster_ = account.log_cluster;
		protocol_ = account.protocol;
		block_bytes_ = account.block_bytes;
		follow(account.first_life);
		change(**member, NodeState::joining);
		account.incarnation = (*member)->life.incarnation = view_.epoch;
	}
	account.beat++;
	account.granted = now;
	return (*member)->life;
}

Result<void> Master::serving(const NodeLife &who, Time now)
{
	const Result<Member *> member = identify(who, now);
	if (!member)
		return member.error();
	if (only_joined(**member))
		return make_error(EINVAL, "a node that has not renewed its lease serves");
	if ((*member)->state == NodeState::joining)
		change(**member, NodeState::serving);
	return {};
}

Result<void> Master::leave(const NodeLife &who, Time now)
{
	const Result<Member *> member = identify(who, now);
	if (!member)
		return member.error();
	declare_dead(**member);
	bury();
	return {};
}

Result<void> Master::swept(const NodeLife &by, NodeId dead, std::uint64_t epoch, Time now)
{
	const Result<Member *> member = identify(by, now);
	if (!member)
		return member.error();
	const Member *const gone = view_.find(dead);
	if (gone && (gone->live() ? gone->life.incarnation <= epoch : gone->changed > epoch))
		return make_error(EINVAL, "node " + std::to_string(dead) + " was not dead in that epoch");
	if (gone && !gone->live())
		accounts_[dead].swept_by |= bit_of(by.node);
	bury();
	return {};
}

Result<void> Master::give_up(const NodeLife &by, NodeId node, Time now)
{
	const Result<Member *> member = identify(by, now);
	if (!member)
		return member.error();
	auto *const gone = const_cast<Member *>(view_.find(node));
	if (!gone || !gone->is_away())
		return make_error(EINVAL, "node " + std::to_string(node) + " is none that is dead and keeps a log");
	given_up_ |= bit_of(node);
	gone->keeps_log = false;
	accounts_[node].swept_by = 0; /* what they have cached of its memory goes before another has the number */
	change(*gone, NodeState::dead);
	bury();
	return {};
}

Result<void> Master::expect(const NodeLife &by, std::uint64_t nodes, Time now)
{
	const Result<Member *> member = identify(by, now);
	if (!member)
		return member.error();
	if (!(*member)->keeps_log)
		return make_error(EINVAL, "node " + std::to_string(by.node) + " keeps no log that could need others");
	const bool durable = (*member)->durable;
	for_each_node(nodes & ~given_up_, [&](NodeId node) {
		if (accounts_.contains(node))
			return;
		Member away;
		away.life.node = node;
		away.keeps_log = true;
		away.durable = durable;
		accounts_[node] = {insert(std::move(away), NodeState::dead).incarnation, 0, 0, now, 0, log_cluster_};
	});
	return {};
}

bool Master::is_swept(const Member &dead) const
{
	const Account &account = accounts_.at(dead.life.node);
	if (!account.beat) /* nobody has heard of it */
		return true;
	return std::all_of(view_.members.begin(), view_.members.end(), [&](const Member &member) {
		return !member.live() || only_joined(member) || (account.swept_by & bit_of(member.life.node));
	});
}

/* Frees the numbers of dead nodes that all live nodes have swept, and that will not return. */
void Master::bury()
{
	const auto removed = std::erase_if(view_.members, [&](const Member &member) {
		if (member.live() || member.keeps_log || !is_swept(member))
			return false;
		accounts_.erase(member.life.node);
		return true;
	});
	if (removed)
		view_.epoch++;
}

void Master::on_time(Time now)
{
	const Time late = uncounted(std::exchange(looked_, now), now, lease_);
	for (auto &[node, account] : accounts_)
		account.granted = std::min(now, account.granted + late);
	bool died = false;
	for (Member &member : view_.members) {
		if (!member.live() || now - accounts_[member.life.node].granted <= lease_ + lease_ / margin_share)
			continue;
		declare_dead(member);
		died = true;
	}
	if (died)
		bury();
}

std::string Master::serialize() const
{
	nlohmann::json accounts = nlohmann::json::array();
	for (const auto &[node, account] : accounts_)
		accounts.push_back({{"node", node}, {"beat", account.beat}, {"swept_by", account.swept_by},
			{"first_life", account.first_life}, {"log_cluster", account.log_cluster},
			{"protocol", account.protocol}, {"block", account.block_bytes}});
	return nlohmann::json{{"view", to_json(view_)}, {"lease", lease_.count()}, {"protocol", protocol_},
		{"block", block_bytes_}, {"log_cluster", log_cluster_}, {"given_up", given_up_},
		{"given_last", given_last_}, {"accounts", std::move(accounts)}}
		.dump();
}

Result<void> Master::load(const std::string &text, Time now)
{
	const nlohmann::json found = nlohmann::json::parse(text, nullptr, false);
	const auto damaged = [] { return make_error(EBADMSG, "what is stored is no state of a master"); };
	View view;
	std::uint64_t lease = 0, protocol = 0, block = 0, log_cluster = 0, given_up = 0, given_last = max_nodes - 1;
	if (!found.is_object() || !found.contains("view") || !from_json(found["view"], view) ||
		!take_number(found, "lease", lease, INT64_MAX) ||
		!take_number(found, "protocol", protocol, UINT16_MAX) ||
		!take_number(found, "block", block, UINT32_MAX) || !take_number(found, "log_cluster", log_cluster) ||
		(found.contains("given_up") && !take_number(found, "given_up", given_up)) ||
		(found.contains("given_last") && !take_number(found, "given_last", given_last, max_nodes - 1)) ||
		!found.contains("accounts") || !found["accounts"].is_array() ||
		found["accounts"].size() != view.members.size())
		return damaged();
	std::map<NodeId, Account> accounts;
	for (const nlohmann::json &account : found["accounts"]) {
		std::uint64_t node = 0, beat = 0, swept = 0, first_life = 0, cluster = log_cluster;
		std::uint64_t its_protocol = protocol, its_block = block;
		if (!account.is_object() || !take_number(account, "node", node, max_nodes - 1) ||
			!take_number(account, "beat", beat) || !take_number(account, "swept_by", swept) ||
			(account.contains("first_life") && !take_number(account, "first_life", first_life)) ||
			(account.contains("log_cluster") && !take_number(account, "log_cluster", cluster)) ||
			(account.contains("protocol") && !take_number(account, "protocol", its_protocol, UINT16_MAX)) ||
			(account.contains("block") && !take_number(account, "block", its_block, UINT32_MAX)))
			return damaged();
		const auto id = static_cast<NodeId>(node);
		const Member *const member = view.find(id);
		if (!member)
			return damaged();
		/* Seen before with this very beat: its lease counts from then on. */
		const auto before = accounts_.find(id);
		const bool same = before != accounts_.end() && view.cluster == view_.cluster &&
				  before->second.incarnation == member->life.incarnation && before->second.beat == beat;
		const Time granted = same ? before->second.granted : now;
		accounts[id] = {member->life.incarnation, beat, swept, granted, first_life, cluster,
			static_cast<std::uint16_t>(its_protocol), static_cast<std::uint32_t>(its_block)};
	}
	if (accounts.size() != view.members.size())
		return damaged();
	lease_ = Time(static_cast<Time::rep>(lease));
	protocol_ = static_cast<std::uint16_t>(protocol);
	block_bytes_ = static_cast<std::uint32_t>(block);
	log_cluster_ = log_cluster;
	given_up_ = given_up;
	given_last_ = static_cast<NodeId>(given_last);
	view_ = std::move(view);
	accounts_ = std::move(accounts);
	return {};
}

} // namespace prism::gam
