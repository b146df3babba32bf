/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* More requests than the device can handle: the number of waiting requests is bounded. */
#include <chrono>

#include <fmt/core.h>

#include "bench.hpp"

namespace prism::packet_peer
{

void run_backlog(Bench &bench)
{
	bench.section("backlog");
	const char *counter = "backlog_drops"; /* rxe's name: rx_backlog_drops */
	const std::uint64_t before = bench.device.counter(counter);
	/*
	 * One small packet needs hundreds of thousands of packets as its answer: requests that arrive meanwhile wait.
	 */
	const MemoryRegion large(bench.device.pd(), 64 << 20);
	WireTarget &target = bench.fresh(256, 0x100);
	Request request = plain_read(static_cast<std::uint32_t>(large.size()));
	request.op = reference::Op::plain_read;
	request.va = large.va();
	const WireNames names{large.key(), 0, 0};
	/* Again and again: a short one would be answered before the next arrives. */
	const Exchange exchange = target.encode(request, names, bench.random);
	constexpr unsigned batch = 100, most = 1'000'000;
	unsigned sent = 0;
	/*
	 * Requests that arrive faster than the network takes them are lost before they can wait. So the limit is a
	 * time.
	 */
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
