/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "node.hpp"
#include "random.hpp"

namespace simulation
{

namespace soft = prism::soft;
namespace test = prism::test;

/** Services of the simulation that a store needs. */
class Surroundings
{
public:
	virtual ~Surroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	virtual prism::test::Random &random() = 0;
	/** Runs the clients and the network until @p done, for at most a second. For a server that waits. */
	virtual void go_on_until(const std::function<bool()> &done) = 0;
	/** Asks a connection's client to settle; its answer arrives at Store::hear_settled(). */
	virtual void tell_to_settle(std::uint32_t connection, std::uint64_t value) = 0;
	/** Tells that the store has ended a connection. */
	virtual void tell_ended(std::uint32_t) {}
	virtual void find(const std::string &what) = 0;
};

} // namespace simulation
