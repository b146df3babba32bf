/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/master_desk.hpp"

#include <cerrno>

#include "base/printable.hpp"
#include "gam/membership/membership.hpp"
#include "gam/membership/view_json.hpp"

namespace prism::gam
{

namespace
{

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t longest_message = 512;

Error malformed()
{
	return make_error(EBADMSG, "what is asked of the master is no question");
}

nlohmann::json refusal(const Error &why)
{
	return {{"error", static_cast<unsigned>(why.code)}, {"message", why.message}};
}

Result<nlohmann::json> done(const Result<void> &result)
{
	if (!result)
		return result.error();
	return nlohmann::json::object();
}

} // namespace

std::string to_hex(std::string_view bytes)
{
	std::string text;
	text.reserve(2 * bytes.size());
	for (const char byte : bytes) {
		text += digits[static_cast<unsigned char>(byte) >> 4];
		text += digits[static_cast<unsigned char>(byte) & 15];
	}
	return text;
}

std::optional<std::string> from_hex(std::string_view text)
{
	if (text.size() % 2)
		return std::nullopt;
	std::string bytes;
	bytes.reserve(text.size() / 2);
	for (std::size_t i = 0; i < text.size(); i += 2) {
		const std::size_t high = digits.find(text[i]), low = digits.find(text[i + 1]);
		if (high == std::string_view::npos || low == std::string_view::npos)
			return std::nullopt;
		bytes += static_cast<char>(high << 4 | low);
	}
	return bytes;
}

Result<nlohmann::json> to_result(nlohmann::json answer)
{
	if (!answer.is_object())
		return make_error(EBADMSG, "the master answers with what is no answer");
	if (!answer.contains("error"))
		return answer;
	std::uint64_t code = 0;
	std::string message;
	if (!take_number(answer, "error", code, 4095) || !code ||
		!take_text(answer, "message", message, longest_message))
		return make_error(EBADMSG, "the master refuses for a reason that cannot be");
	return Error{static_cast<int>(code), apps::printable(message)};
}

nlohmann::json MasterDesk::answer(const nlohmann::json &question, Time now)
{
	std::string what;
	if (!question.is_object() || !take_text(question, "ask", what, 16))
		return refusal(malformed());
	if (what == "view")
		return {{"view", to_json(master_.announced())}};
	const Result<nlohmann::json> answer = what == "join" ? join(question, now) : act(what, question, now);
	return answer ? *answer : refusal(answer.error());
}

Result<nlohmann::json> MasterDesk::join(const nlohmann::json &question, Time now)
{
	Newcomer who;
	std::uint64_t port = 0, protocol = 0, block = 0;
	if (!take_host(question, who.host) || !take_number(question, "port", port, UINT16_MAX) ||
		!take_number(question, "lent", who.lent) || !take_number(question, "protocol", protocol, UINT16_MAX) ||
		!take_number(question, "block", block, UINT32_MAX) || !read_log(question, who))
		return malformed();
	who.port = static_cast<std::uint16_t>(port);
	who.protocol = static_cast<Protocol>(protocol);
	who.block_bytes = static_cast<std::uint32_t>(block);
	const Result<NodeLife> life = master_.join(who, now);
	if (!life)
		return life.error();
	return nlohmann::json{{"node", life->node}, {"incarnation", life->incarnation},
		{"log_cluster", master_.log_cluster()}, {"lease", static_cast<std::uint64_t>(master_.lease().count())},
		{"view", to_json(master_.announced())}};
}

/* Returns false if it has a log with impossible data. */
bool MasterDesk::read_log(const nlohmann::json &question, Newcomer &who)
{
	if (!question.contains("log_cluster"))
		return true;
	LogClaim log;
	std::uint64_t node = 0, durable = 0;
	if (!take_number(question, "log_cluster", log.cluster) || !take_number(question, "log_node", node, no_node) ||
		!take_number(question, "log_incarnation", log.last.incarnation) ||
		!take_number(question, "log_durable", durable, 1))
		return false;
	log.durable = durable != 0;
	log.last.node = static_cast<NodeId>(node);
	who.log = log;
	return true;
}

Result<nlohmann::json> MasterDesk::act(const std::string &what, const nlohmann::json &question, Time now)
{
	NodeLife who;
	std::uint64_t cluster = 0, node = 0, dead = 0, epoch = 0, nodes = 0;
	if (!take_number(question, "cluster", cluster) || !take_number(question, "node", node, max_nodes - 1) ||
		!take_number(question, "incarnation", who.incarnation))
		return malformed();
	who.node = static_cast<NodeId>(node);
	if (cluster != master_.view().cluster)
		return make_error(ESTALE, "a node of another cluster",
			"its master was started anew, or is another: start the node again");
	if (what == "renew")
		return renew(who, question, now);
	if (what == "serving")
		return done(master_.serving(who, now));
	if (what == "leave")
		return done(master_.leave(who, now));
	if (what == "swept") {
		if (!take_number(question, "dead", dead, max_nodes - 1) || !take_number(question, "epoch", epoch))
			return malformed();
		return done(master_.swept(who, static_cast<NodeId>(dead), epoch, now));
	}
	if (what == "give_up") {
		if (!take_number(question, "dead", dead, max_nodes - 1))
			return malformed();
		return done(master_.give_up(who, static_cast<NodeId>(dead), now));
	}
	if (what == "expect") {
		if (!take_number(question, "nodes", nodes))
			return malformed();
		const Result<void> expected = master_.expect(who, nodes, now);
		return expected ? renew(who, question, now) : expected.error();
	}
	master_.on_time(now);
	if (!master_.view().find_live(who))
		return make_error(ESTALE, "this node is no member of the cluster any more");
	if (what == "put")
		return done(put(question));
	if (what == "find")
		return find(question);
	return malformed();
}

Result<nlohmann::json> MasterDesk::renew(const NodeLife &who, const nlohmann::json &question, Time now)
{
	std::uint64_t epoch = 0;
	if (!take_number(question, "epoch", epoch))
		return malformed();
	const Result<NodeLife> renewed = master_.renew(who, now);
	if (!renewed)
		return renewed.error();
	nlohmann::json answer = {
		{"lease", static_cast<std::uint64_t>(master_.lease().count())}, {"incarnation", renewed->incarnation}};
	if (epoch != master_.view().epoch)
		answer["view"] = to_json(master_.announced());
	return answer;
}

Result<void> MasterDesk::put(const nlohmann::json &question)
{
	std::string key, value;
	if (!take_text(question, "key", key, 2 * Membership::longest_key) ||
		!take_text(question, "value", value, 2 * Membership::longest_value) || key.empty() || !from_hex(key) ||
		!from_hex(value))
		return malformed();
	const auto before = store_.find(key);
	const std::size_t freed = before == store_.end() ? 0 : key.size() + before->second.size();
	const std::size_t wanted = stored_ - freed + key.size() + value.size();
	if (wanted > store_limit)
		return make_error(ENOSPC, "the master's store is full");
	stored_ = wanted;
	store_[key] = value;
	return {};
}

nlohmann::json MasterDesk::find(const nlohmann::json &question) const
{
	std::string key;
	if (!take_text(question, "key", key, 2 * Membership::longest_key))
		return refusal(malformed());
	const auto found = store_.find(key);
	if (found == store_.end())
		return nlohmann::json::object();
	return {{"value", found->second}};
}

} // namespace prism::gam
