/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Datagrams whose requester finds an error, and resets while they are processed. */
#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/core.h>

#include "rings.hpp"

namespace prism::hostile
{

using namespace prism::conformance;

namespace
{

constexpr unsigned batch = 16;

class Datagrams
{
public:
	explicit Datagrams(const Device &device)
		: memory_(device.pd(), 4096), cq_(create_cq(device)), handle_(own_handle(device))
	{
		QpLimits limits;
		limits.prism = false;
		limits.type = IBV_QPT_UD;
		qp_ = create_qp(device, device.pd(), cq_.get(), limits);
	}

	/** Posts a batch; the one with number @p bad names memory that does not exist. */
	void post(unsigned bad)
	{
		std::array<ibv_send_wr, batch> wrs{};
		std::array<ibv_sge, batch> data;
		for (unsigned i = 0; i < batch; i++) {
			data[i] = memory_.sge(0, 64);
			if (i == bad)
				data[i].lkey = ~0u;
			wrs[i].wr_id = i;
			wrs[i].next = i + 1 < batch ? &wrs[i + 1] : nullptr;
			wrs[i].opcode = IBV_WR_SEND;
			wrs[i].send_flags = IBV_SEND_SIGNALED;
			wrs[i].sg_list = &data[i];
			wrs[i].num_sge = 1;
			wrs[i].wr.ud = {handle_.get(), qp_->qp_num, datagram_qkey};
		}
		ibv_send_wr *refused;
		check(ibv_post_send(qp_.get(), wrs.data(), &refused), "ibv_post_send");
	}

	void connect() { set_up_datagrams(qp_.get()); }
	void reset() { check(set_state(qp_.get(), IBV_QPS_RESET), "to RESET"); }

	/** Returns how many completions arrive within the time, each of another request. */
	unsigned completions(unsigned enough, std::chrono::milliseconds limit)
	{
		std::array<unsigned, batch> seen{};
		unsigned count = 0;
		wait_until(
			[&] {
				ibv_wc wc;
				while (ibv_poll_cq(cq_.get(), 1, &wc) > 0) {
					count++;
					if (wc.wr_id < batch && seen[wc.wr_id]++)
						throw std::runtime_error("a datagram completes twice");
				}
				return count >= enough;
			},
			limit);
		return count;
	}

private:
	MemoryRegion memory_;
	Owned<ibv_cq> cq_;
	Owned<ibv_qp> qp_;
	Handle handle_;
};

} // namespace

void failures_complete_once(const Device &device)
{
	Datagrams datagrams(device);
	for (unsigned round = 0; round < 100; round++) {
		datagrams.connect();
		datagrams.post(round % batch);
		if (datagrams.completions(batch, patience) != batch)
			throw std::runtime_error("a datagram does not complete");
		if (datagrams.completions(1, std::chrono::milliseconds(1)))
			throw std::runtime_error("more completions than datagrams");
		/* No completion from before a reset arrives after it. */
		datagrams.connect();
		datagrams.post(batch - 1 - round % batch);
		datagrams.reset();
		datagrams.completions(batch + 1, std::chrono::milliseconds(0));
		if (datagrams.completions(1, std::chrono::milliseconds(2)))
			throw std::runtime_error("a datagram completes behind the reset");
	}
}

} // namespace prism::hostile
