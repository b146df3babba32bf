/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "rpc/server/incoming.hpp"

namespace prism::rpc
{

int Receives::flush() noexcept
{
	if (used_.empty())
		return 0;
	const int error = pool_.post(used_);
	used_.clear();
	return error;
}

} // namespace prism::rpc
