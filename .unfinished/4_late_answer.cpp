/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* For tests/unit/core_read_stream.cpp (or a file of its own with craft.hpp and pair.hpp). */
/** Both were repeated, and the first answer to the second READ comes after the second answer to the first one. */
TEST(LateAnswer, OfAReadIsNotOlderThanThatOfTheReadBeforeIt)
{
	Pair pair(without_timer());
	pair.post_read(0, 64);
	prism_request second{};
	second.op = PRISM_READ;
	second.va = Pair::va + 64;
	second.length = 64;
	pair.post(second, 64, {}, 64);
	pair.client_node.engine.progress(pair.now);
	pair.client_node.outbox.clear();
	const auto answer = [&pair](std::uint32_t psn, std::uint32_t resolution, std::uint8_t fill) {
		pair.deliver(pair.client_node,
			craft_data(pair.client.qp, PRISM_OP_READ_RESPONSE_ONLY, psn, resolution, 64, 64, fill));
	};
	ibv_wc wc;
	answer(0, 3, 0xbb); /* resolutions 1 and 2 were the first ones; 1 was lost */
	ASSERT_EQ(pair.client.send_cq.poll(1, &wc), 1);
	answer(1, 2, 0xaa); /* had a detour */
	EXPECT_EQ(pair.client.send_cq.poll(1, &wc), 0); /* today it completes, with what was there before the first READ */
	answer(1, 4, 0xbb);
	ASSERT_EQ(pair.client.send_cq.poll(1, &wc), 1);
	EXPECT_EQ(pair.local[64], 0xbb);
}

/** A READ whose chain has run keeps its old number for good (S.9.3). */
TEST(LateAnswer, OfAReadWithAChainIsTaken)
{
	Pair pair(without_timer());
	pair.post_read(0, 64);
	pair.post_read(64, 64);
	pair.post_cas(128, 1, PRISM_FLAG_C);
	pair.client_node.engine.progress(pair.now);
	pair.client_node.outbox.clear();
	for (const auto &[psn, resolution] : {std::pair{0u, 3u}, {1u, 2u}})
		pair.deliver(pair.client_node,
			craft_data(pair.client.qp, PRISM_OP_READ_RESPONSE_ONLY, psn, resolution, 64, 64));
	ibv_wc wc[2];
	EXPECT_EQ(pair.client.send_cq.poll(2, wc), 2);
}
