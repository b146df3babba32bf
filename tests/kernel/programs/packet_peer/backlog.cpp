/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* More requests than the device can handle: those that wait are bounded. */
#include <fmt/core.h>

#include "bench.hpp"

namespace prism::packet_peer
{

void run_backlog(Bench &bench)
{
	bench.section("backlog");
	const char *counter = "rx_backlog_drops";
	const std::uint64_t before = bench.device.counter(counter);
	/* A packet of a few bytes, and hundreds of thousands of packets to answer it: what comes meanwhile waits. */
	const MemoryRegion large(bench.device.pd(), 64 << 20);
	WireTarget &target = bench.fresh(256, 0x100);
	Request request = plain_read(static_cast<std::uint32_t>(large.size()));
	request.op = reference::Op::plain_read;
	request.va = large.va();
	const WireNames names{large.key(), 0, 0};
	target.send(target.encode(request, names, bench.random));
	request.length = 8;
	const Exchange further = target.encode(request, names, bench.random);
	constexpr unsigned batch = 1000, batches = 40;
	unsigned sent = 0;
	while (sent < batch * batches && bench.device.counter(counter) == before) {
		for (unsigned i = 0; i < batch; i++)
			target.send(further);
		sent += batch;
	}
	fmt::print("{} requests until one was dropped\n", sent);
	bench.expect(bench.device.counter(counter) > before, "requests are queued without a bound");
	bench.expect_alive(bench.fresh(), "a backlog");
}

} // namespace prism::packet_peer
