/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include "operations/contestant.hpp"

namespace prism::perftest
{

/** PRISM CAS against CMP_AND_SWP, and for operands above 8 bytes against a lock around READ and WRITE. */
void add_cas_contestants(Client &client, Contestants &list);

/** Makes one PRISM CAS of @p operand_size bytes, whatever the message size, for comparison with a chain. */
[[nodiscard]] std::unique_ptr<Contestant> make_single_cas(
	Client &client, std::uint32_t index, std::size_t operand_size);

} // namespace prism::perftest
