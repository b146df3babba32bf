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

/** What a store needs of the simulation around it. */
class Surroundings
{
public:
	virtual ~Surroundings() = default;
	[[nodiscard]] virtual soft::Time time() const = 0;
	virtual prism::test::Random &random() = 0;
	/** Lets the clients and the network go on until @p done, at most a second: a server that waits. */
	virtual void go_on_until(const std::function<bool()> &done) = 0;
	/** Asks the client of a connection to settle; its answer comes back as Store::hear_settled(). */
	virtual void tell_to_settle(std::uint32_t connection, std::uint64_t value) = 0;
	/** The store has ended a connection. */
	virtual void tell_ended(std::uint32_t) {}
	virtual void find(const std::string &what) = 0;
};

} // namespace simulation
