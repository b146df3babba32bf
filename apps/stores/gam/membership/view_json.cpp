/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/view_json.hpp"

#include <algorithm>

#include "gam/membership/master.hpp"

namespace prism::gam
{

namespace
{

enum Logs : unsigned {
	no_log,
	usual_log,
	durable_log,
};

unsigned logs_of(const Member &member) noexcept
{
	if (!member.keeps_log)
		return no_log;
	return member.durable ? durable_log : usual_log;
}

bool from_json(const nlohmann::json &text, Member &member)
{
	std::uint64_t node = 0, state = 0, port = 0, logs = 0;
	if (!text.is_object() || !take_number(text, "node", node, max_nodes - 1) ||
		!take_number(text, "incarnation", member.life.incarnation) ||
		!take_number(text, "state", state, static_cast<std::uint64_t>(NodeState::dead)) ||
		!take_number(text, "changed", member.changed) || !take_host(text, member.host) ||
		!take_number(text, "port", port, UINT16_MAX) || !take_number(text, "lent", member.lent) ||
		!take_number(text, "logs", logs, durable_log))
		return false;
	member.life.node = static_cast<NodeId>(node);
	member.state = static_cast<NodeState>(state);
	member.port = static_cast<std::uint16_t>(port);
	member.keeps_log = logs != no_log;
	member.durable = logs == durable_log;
	return true;
}

} // namespace

bool take_number(const nlohmann::json &object, const char *name, std::uint64_t &value, std::uint64_t most)
{
	const auto found = object.find(name);
	if (found == object.end() || !found->is_number_unsigned())
		return false;
	value = found->get<std::uint64_t>();
	return value <= most;
}

bool take_text(const nlohmann::json &object, const char *name, std::string &value, std::size_t longest)
{
	const auto found = object.find(name);
	if (found == object.end() || !found->is_string() || found->get_ref<const std::string &>().size() > longest)
		return false;
	value = found->get<std::string>();
	return true;
}

bool take_host(const nlohmann::json &object, std::string &host)
{
	return take_text(object, "host", host, Master::longest_host) &&
	       std::all_of(host.begin(), host.end(), [](char one) { return one > ' ' && one <= '~'; });
}

nlohmann::json to_json(const View &view)
{
	nlohmann::json members = nlohmann::json::array();
	for (const Member &member : view.members)
		members.push_back({{"node", member.life.node}, {"incarnation", member.life.incarnation},
			{"state", static_cast<unsigned>(member.state)}, {"changed", member.changed},
			{"host", member.host}, {"port", member.port}, {"lent", member.lent},
			{"logs", logs_of(member)}});
	return {{"cluster", view.cluster}, {"epoch", view.epoch}, {"members", std::move(members)}};
}

bool from_json(const nlohmann::json &text, View &view)
{
	if (!text.is_object() || !take_number(text, "cluster", view.cluster) ||
		!take_number(text, "epoch", view.epoch) || !text.contains("members") || !text["members"].is_array() ||
		text["members"].size() > max_nodes)
		return false;
	view.members.clear();
	for (const nlohmann::json &one : text["members"]) {
		Member member;
		if (!from_json(one, member) || member.changed > view.epoch || member.life.incarnation > view.epoch ||
			(!view.members.empty() && view.members.back().life.node >= member.life.node))
			return false;
		view.members.push_back(std::move(member));
	}
	return true;
}

} // namespace prism::gam
