/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* For tests/unit/core_duplicates.cpp. Contradicts ReadAgain.ItsNewStatusIsTheSavedOne as that stands: see the report. */
TEST_F(ReadAgain, ASecondCopyDoesNotUndoWhatTheClientWasTold)
{
	const std::vector<std::uint8_t> packet = read_by_pointer();
	ASSERT_EQ(status, unsigned{PRISM_STATUS_OK}); /* the client has seen it */
	point_at(0);
	pair.deliver(pair.server_node, packet); /* the network's second copy */
	pair.post_cas(0, 7, PRISM_FLAG_C);
	send_and_finish();
	EXPECT_EQ(status, unsigned{PRISM_STATUS_OK}); /* today SKIPPED, behind a READ that succeeded */
	EXPECT_EQ(pair.memory[0], 7);
}
