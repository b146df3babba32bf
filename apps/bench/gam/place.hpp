/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstddef>
#include <string>

#include <prism/result.hpp>

#include "gam/coherence/address.hpp"
#include "gam/memory/node.hpp"

namespace prism::gam::micro
{

/** A node that is measured, and how the program there finds those of the other nodes. */
class Place
{
public:
	virtual ~Place() = default;

	[[nodiscard]] virtual Node &node() noexcept = 0;
	/** Tells all others an address. Errors: ECANCELED (the run is over for another one's fault). */
	virtual Result<void> put(const std::string &key, Address address) = 0;
	/** Waits until somebody has put it. Errors: ETIMEDOUT, ECANCELED. */
	virtual Result<Address> get(const std::string &key) = 0;

	/** Waits until all nodes have come to @p step, without use of this thread for the node. Errors: as get(). */
	Result<void> meet(const std::string &step, std::size_t nodes);
	/**
	 * Returns at the same moment on all nodes of one host: when some of them work already, the others hear of it
	 * late. On others, when it hears of it. Errors: as get().
	 */
	Result<void> begin_together();
};

} // namespace prism::gam::micro
