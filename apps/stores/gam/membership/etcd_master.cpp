/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/etcd_master.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "gam/membership/view_json.hpp"

namespace prism::gam
{

namespace
{

/* The longest wait before another turn. Doubled each time, until all competing members have had a turn. */
constexpr unsigned first_rest_us = 5000;
constexpr unsigned longest_rest_us = 320000;

Error no_question()
{
	return make_error(EBADMSG, "what is asked of the master is no question");
}

} // namespace

Result<nlohmann::json> EtcdMaster::ask(const nlohmann::json &question, Time longest)
{
	std::string what;
	if (!take_text(question, "ask", what, 16))
		return no_question();
	const auto patience = std::min(patience_, std::chrono::duration_cast<std::chrono::milliseconds>(longest));
	key_.set_patience(patience);
	const Time end = Membership::now() + patience;
	unsigned rest = first_rest_us;
	do {
		bool lost = false;
		Result<nlohmann::json> answer = turn(what, question, lost);
		if (!lost)
			return answer;
		std::this_thread::sleep_for(std::chrono::microseconds(random_() % rest));
		rest = std::min(2 * rest, longest_rest_us);
	} while (!cancelled_ && Membership::now() < end);
	return make_error(ETIMEDOUT, "others change the members all the time", "give the cluster longer leases");
}

/* Takes one turn. @p lost: another member has stored the state meanwhile. */
Result<nlohmann::json> EtcdMaster::turn(const std::string &what, const nlohmann::json &question, bool &lost)
{
	const Result<apps::EtcdKey::Revision> stored = key_.read();
	if (!stored)
		return stored.error();
	/* Now, not earlier: a beat may have been stored until the answer was made. */
	const Time now = Membership::now();
	if (!stored->number) {
		master_ = Master(random_number(), lease_);
	} else if (Result<void> loaded = master_.load(stored->value, now); !loaded) {
		return loaded.error();
	}
	Result<nlohmann::json> answer = to_result(MasterDesk(master_).answer(question, now));
	/* The desk has found that a member asks. It keeps no values: they have keys of their own. */
	if (answer && what == "put")
		return put(question, stored->number, lost);
	if (answer && what == "find")
		return find(question);
	const std::string changed = master_.serialize();
	if (changed == stored->value || (!answer && !stored->number))
		return answer;
	const Result<std::uint64_t> replaced = key_.replace(stored->number, changed);
	if (!replaced)
		return replaced.error();
	lost = !*replaced;
	if (!lost)
		forget_history(stored->number, *replaced);
	return answer;
}

/*
 * Has etcd forget old states, which would fill it: each renewal leaves one. Done in the turn whose revision @p now
 * begins another history_ of them, after @p before, so that one member does it for all. If it fails, nothing is
 * wrong yet: others have done it, or the next one does.
 */
void EtcdMaster::forget_history(std::uint64_t before, std::uint64_t now)
{
	if (now / history_ != before / history_ && before > history_)
		(void)key_.compact(before - history_);
}

/* Returns the key of the value that @p question names. */
Result<apps::EtcdKey> EtcdMaster::value_key(const nlohmann::json &question) const
{
	std::string name;
	std::uint64_t cluster = 0;
	if (!take_text(question, "key", name, 2 * Membership::longest_key) || !from_hex(name) || name.empty() ||
		!take_number(question, "cluster", cluster))
		return no_question();
	return key_.beside("/" + std::to_string(cluster) + "/" + name);
}

/**
 * Stores a value, unless the members have changed since revision @p number of the state: else a node that was stopped
 * could change what others have put since its death.
 */
Result<nlohmann::json> EtcdMaster::put(const nlohmann::json &question, std::uint64_t number, bool &lost)
{
	const Result<apps::EtcdKey> key = value_key(question);
	if (!key)
		return key.error();
	std::string value;
	if (!take_text(question, "value", value, 2 * Membership::longest_value))
		return no_question();
	const Result<std::uint64_t> stored = key->replace_while(key_, number, value);
	if (!stored)
		return stored.error();
	lost = !*stored;
	return nlohmann::json::object();
}

Result<nlohmann::json> EtcdMaster::find(const nlohmann::json &question)
{
	const Result<apps::EtcdKey> key = value_key(question);
	if (!key)
		return key.error();
	const Result<apps::EtcdKey::Revision> found = key->read();
	if (!found)
		return found.error();
	if (!found->number)
		return nlohmann::json::object();
	return nlohmann::json{{"value", found->value}};
}

} // namespace prism::gam
