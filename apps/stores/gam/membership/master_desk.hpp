/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages between nodes and the master: one JSON object each way, on a line of its own. Sans-I/O.
 *
 *     {"ask": "join", "host", "port", "lent", "protocol", "block"}   {"node", "incarnation", "lease", "view"}
 *      and of a node that keeps a log: "log_cluster", "log_node",     and "log_cluster"
 *      "log_incarnation", all 0 if it is new, "log_node" then 65535;
 *      "log_durable": 0 or 1
 *     {"ask": "renew", WHO, "epoch"}                                 {"lease", "incarnation"}, and "view" if changed
 *     {"ask": "serving" | "leave", WHO}                              {}
 *     {"ask": "swept", WHO, "dead", "epoch"}                         {}
 *     {"ask": "give_up", WHO, "dead"}                                {}
 *     {"ask": "expect", WHO, "epoch", "nodes"}                       as of "renew"
 *     {"ask": "put", WHO, "key", "value"}                            {}
 *     {"ask": "find", WHO, "key"}                                    {"value"}, or {}
 *     {"ask": "view"}                                                {"view"}; for tools
 *     anything else, and what is refused                             {"error": errno, "message"}
 *
 * WHO is "cluster", "node", "incarnation". A lease is in nanoseconds; keys and values are hexadecimal. Views are those
 * of Master::announced(): a node finds itself there when it has renewed, as soon as it has joined, and has another
 * incarnation from then on.
 */
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "gam/membership/master.hpp"

namespace prism::gam
{

[[nodiscard]] std::string to_hex(std::string_view bytes);
/** Returns nothing if @p text is not hexadecimal. */
[[nodiscard]] std::optional<std::string> from_hex(std::string_view text);

/** Returns @p answer, or the error that it reports. Errors: EBADMSG (it is no object). */
Result<nlohmann::json> to_result(nlohmann::json answer);

/** The answers of the master. Not thread-safe. */
class MasterDesk
{
public:
	/** Longest question; a longer one is refused, and its sender cut off. */
	static constexpr std::size_t longest_question = 16384;
	/** Most bytes of all keys and values of the store together. */
	static constexpr std::size_t store_limit = std::size_t{4} << 20;

	explicit MasterDesk(Master &master) : master_(master) {}

	/** Returns the answer to @p question, which anybody may have sent. */
	[[nodiscard]] nlohmann::json answer(const nlohmann::json &question, Time now);

private:
	Result<nlohmann::json> join(const nlohmann::json &question, Time now);
	Result<nlohmann::json> act(const std::string &what, const nlohmann::json &question, Time now);
	Result<nlohmann::json> renew(const NodeLife &who, const nlohmann::json &question, Time now);
	static bool read_log(const nlohmann::json &question, Newcomer &who);
	Result<void> put(const nlohmann::json &question);
	[[nodiscard]] nlohmann::json find(const nlohmann::json &question) const;

	Master &master_;
	std::map<std::string, std::string> store_; /* hexadecimal */
	std::size_t stored_ = 0;                   /* bytes in it */
};

} // namespace prism::gam
