/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Views as JSON, as the master sends them and etcd keeps them. Input is hostile until checked. */
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "gam/membership/view.hpp"

namespace prism::gam
{

/** Gets the whole number @p name of @p object, at most @p most. Returns false if there is none. */
bool take_number(const nlohmann::json &object, const char *name, std::uint64_t &value, std::uint64_t most = UINT64_MAX);
/** Gets the text @p name of @p object, of at most @p longest bytes. Returns false if there is none. */
bool take_text(const nlohmann::json &object, const char *name, std::string &value, std::size_t longest);
/**
 * Gets the text "host" of @p object: printable ASCII without spaces, as terminals show it. Returns false if there is
 * none.
 */
bool take_host(const nlohmann::json &object, std::string &host);

[[nodiscard]] nlohmann::json to_json(const View &view);
/** Parses @p text. Returns false if it is no view, or an impossible one. */
bool from_json(const nlohmann::json &text, View &view);

} // namespace prism::gam
