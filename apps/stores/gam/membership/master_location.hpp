/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "gam/membership/membership.hpp"

namespace prism::gam
{

/** Default TCP port of prism-gam-master. */
constexpr std::uint16_t default_master_port = 18660;

struct MasterAccess {
	std::chrono::milliseconds patience{1000}; /**< for each question */
	std::chrono::milliseconds lease{2000};    /**< with etcd: leases of a cluster that this node founds */
	std::uint64_t history = 1000;             /**< with etcd: see EtcdMaster */
};

/**
 * Returns a channel to the master at @p location: HOST:PORT of a prism-gam-master, or etcd://HOST:PORT/KEY, with
 * ?lease=SECONDS behind it for the leases of a cluster that this node founds. Sends nothing yet. Errors: EINVAL.
 */
Result<std::unique_ptr<MasterChannel>> reach_master(const std::string &location, const MasterAccess &access = {});

/** Returns what is wrong with @p location as such a place; empty if nothing is. For options. */
[[nodiscard]] std::string check_master(const std::string &location);

} // namespace prism::gam
