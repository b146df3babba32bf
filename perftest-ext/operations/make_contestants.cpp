/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "operations/allocate.hpp"
#include "operations/cas.hpp"
#include "operations/chain.hpp"
#include "operations/read.hpp"

namespace prism::perftest
{

Contestants make_contestants(Client &client, Reclaim &reclaim)
{
	Contestants list;
	switch (client.parameters().tool.operation) {
	case Operation::read:
		add_read_contestants(client, list);
		break;
	case Operation::write:
		add_write_contestants(client, list);
		break;
	case Operation::cas:
		add_cas_contestants(client, list);
		break;
	case Operation::allocate:
		add_allocate_contestants(client, reclaim, list);
		break;
	case Operation::chain:
		add_chain_contestants(client, reclaim, list);
		break;
	}
	return list;
}

} // namespace prism::perftest
