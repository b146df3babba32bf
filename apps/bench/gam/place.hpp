/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <string>

#include <prism/result.hpp>

#include "gam/coherence/address.hpp"
#include "gam/node/node.hpp"

namespace prism::gam::micro
{

/** A measured node, with the means to find the data of other nodes. */
class Place
{
public:
	virtual ~Place() = default;

	[[nodiscard]] virtual Node &node() noexcept = 0;
	/** Announces an address to all others. Errors: ECANCELED (the run has ended by another node's fault). */
	virtual Result<void> put(const std::string &key, Address address) = 0;
	/** Waits until a node has put @p key. Errors: ETIMEDOUT, ECANCELED. */
	virtual Result<Address> get(const std::string &key) = 0;

	/**
	 * Waits until all nodes have come to @p step; this thread does not work for the node meanwhile. Errors: as
	 * get().
	 */
	Result<void> meet(const std::string &step, std::size_t nodes);
	/**
	 * Returns at the same moment on all nodes of one host, as nodes learn late of a start while others already
	 * work. On other hosts, returns when the node learns of it. Errors: as get().
	 */
	Result<void> begin_together();
};

} // namespace prism::gam::micro
