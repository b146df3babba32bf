/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* More requests than the device can handle: those that wait are bounded. */
#include <chrono>

#include <fmt/core.h>

#include "bench.hpp"

namespace prism::packet_peer
{

void run_backlog(Bench &bench)
{
	bench.section("backlog");
	const char *counter = "backlog_drops"; /* as rxe calls it: rx_backlog_drops */
	const std::uint64_t before = bench.device.counter(counter);
	/* A packet of a few bytes, and hundreds of thousands of packets to answer it: what comes meanwhile waits. */
	const MemoryRegion large(bench.device.pd(), 64 << 20);
	WireTarget &target = bench.fresh(256, 0x100);
	Request request = plain_read(static_cast<std::uint32_t>(large.size()));
	request.op = reference::Op::plain_read;
	request.va = large.va();
	const WireNames names{large.key(), 0, 0};
	/* Again and again: a short one would be answered in the time that it takes to come. */
	const Exchange exchange = target.encode(request, names, bench.random);
	constexpr unsigned batch = 100, most = 1'000'000;
	unsigned sent = 0;
	/* What comes faster than the network takes it is lost before it can wait. So it is time that counts. */
	const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(100);
	while (sent < most && std::chrono::steady_clock::now() < deadline && bench.device.counter(counter) == before) {
		for (unsigned i = 0; i < batch; i++)
			target.send(exchange);
		sent += batch;
	}
	fmt::print("{} requests until one was dropped\n", sent);
	bench.expect(bench.device.counter(counter) > before, "requests are queued without a bound");
	bench.expect_alive(bench.fresh(), "a backlog");
}

} // namespace prism::packet_peer
