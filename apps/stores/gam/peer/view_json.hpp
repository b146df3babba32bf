/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Views as JSON: what the master tells, and what etcd keeps. What comes in is hostile until it is checked. */
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "gam/peer/view.hpp"

namespace prism::gam
{

/** The whole number @p name of @p object, at most @p most. False: there is none. */
bool take_number(const nlohmann::json &object, const char *name, std::uint64_t &value, std::uint64_t most = UINT64_MAX);
/** The text @p name of @p object, of at most @p longest bytes. False: there is none. */
bool take_text(const nlohmann::json &object, const char *name, std::string &value, std::size_t longest);
/** The text "host" of @p object: of printable ASCII without spaces, as it is shown on terminals. False: it is none. */
bool take_host(const nlohmann::json &object, std::string &host);

[[nodiscard]] nlohmann::json to_json(const View &view);
/** False: it is no view, or one that cannot be. */
bool from_json(const nlohmann::json &text, View &view);

} // namespace prism::gam
