/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* prism-tx-bench: measures transactional stores under YCSB-T, SmallBank and TPC-C's NewOrder and Payment. */
#include "bench/tx/bench.hpp"
#include "bench/tx/gam_systems.hpp"
#include "bench/tx/rdma_systems.hpp"

int main(int argc, char **argv)
{
	prism::tx::Systems systems;
	prism::tx::add_rdma_systems(systems);
	prism::tx::add_gam_systems(systems);
	return prism::tx::bench(systems, argc, argv);
}
