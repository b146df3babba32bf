/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Scans for lost buffers: their times, and clients that do not answer. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "service/recovery.hpp"

namespace
{

using namespace prism;
using namespace prism::apps;
using namespace std::chrono_literals;

/** Host that records its calls. */
struct FakeHost : RecoveryHost {
	[[nodiscard]] bool can_ask_all() const override { return !half_connected; }
	Result<void> note_handed_out() override
	{
		begun++;
		if (in_doubt)
			return make_error(EBUSY, "buffers are in doubt");
		return {};
	}
	void ask_to_settle(std::uint32_t client, std::uint64_t value) override { asked.emplace_back(client, value); }
	void cut_off(std::uint32_t client) override { silent.push_back(client); }
	[[nodiscard]] std::uint64_t slots() const override { return 10; }
	void look_at(std::uint64_t) override { looked++; }
	bool take_reports() override { return true; }
	std::optional<std::uint64_t> collect() override
	{
		return taken_back ? std::nullopt : std::optional<std::uint64_t>(lost);
	}
	void put_off(const std::string &) override { told++; }

	bool half_connected = false;
	bool in_doubt = false;
	bool taken_back = false;
	std::uint64_t lost = 3;
	unsigned begun = 0, told = 0, looked = 0;
	std::vector<std::pair<std::uint32_t, std::uint64_t>> asked;
	std::vector<std::uint32_t> silent;
};

RecoveryOptions test_options()
{
	return {10s, 1s, 4};
}

class ScansForLostBuffers : public testing::Test
{
protected:
	/** Lets a client answer its last question. */
	void answer(std::uint32_t client)
	{
		const auto its = [client](const auto &question) { return question.first == client; };
		const auto last = std::find_if(host.asked.rbegin(), host.asked.rend(), its);
		ASSERT_NE(last, host.asked.rend());
		recovery.settled(client, last->second);
	}

	/** Runs some turns without time passing; those of @p clients that are asked answer. */
	void go_on(std::chrono::nanoseconds now, const std::vector<std::uint32_t> &clients = {})
	{
		for (unsigned turn = 0; turn < 20; turn++) {
			recovery.go_on(now);
			for (const std::uint32_t client : std::exchange(host.silent, {})) {
				cut_off.push_back(client);
				recovery.left(client);
			}
			for (const std::uint32_t client : clients) {
				if (!host.asked.empty())
					answer(client);
			}
		}
	}

	FakeHost host;
	BufferRecovery recovery{host, test_options()};
	std::vector<std::uint32_t> cut_off;
};

TEST_F(ScansForLostBuffers, OneForEachClientThatLeaves)
{
	recovery.entered(1);
	recovery.entered(2);
	go_on(1s);
	EXPECT_TRUE(recovery.idle());
	EXPECT_EQ(host.begun, 0u);
	recovery.left(2);
	EXPECT_FALSE(recovery.idle());
	go_on(1s);
	go_on(4s, {1});
	EXPECT_TRUE(recovery.idle());
	EXPECT_EQ(recovery.stats().scans, 1u);
	EXPECT_EQ(recovery.stats().durations.count(), 1u);
	EXPECT_EQ(std::chrono::nanoseconds(recovery.stats().durations.sum()), 3s);
	EXPECT_EQ(recovery.stats().recovered, 3u);
	EXPECT_EQ(host.looked, 10u);
	EXPECT_EQ(host.asked.size(), 2u) << "before and after the table was looked at";
}

TEST_F(ScansForLostBuffers, WhoLeavesDuringOneIsLookedForInAnother)
{
	recovery.entered(1);
	recovery.entered(2);
	recovery.want();
	go_on(1s);
	EXPECT_EQ(recovery.stats().scans, 0u) << "nobody has answered";
	recovery.left(2);
	go_on(1s, {1});
	EXPECT_EQ(recovery.stats().scans, 2u);
}

TEST_F(ScansForLostBuffers, WhoDoesNotAnswerIsCutOff)
{
	recovery.entered(1);
	recovery.entered(2);
	recovery.want();
	go_on(1s, {1});
	go_on(11s, {1});
	EXPECT_TRUE(cut_off.empty()) << "it has ten seconds";
	EXPECT_EQ(recovery.stats().scans, 0u);
	go_on(11s + 1ns, {1});
	EXPECT_EQ(cut_off, std::vector<std::uint32_t>{2});
	EXPECT_EQ(recovery.stats().cut_off, 1u);
	EXPECT_EQ(recovery.stats().scans, 2u) << "what it held is looked for too";
	EXPECT_TRUE(recovery.idle());
}

TEST_F(ScansForLostBuffers, NobodyIsCutOffWithoutALimit)
{
	RecoveryOptions options = test_options();
	options.answer_timeout = 0s;
	BufferRecovery patient(host, options);
	patient.entered(1);
	patient.want();
	patient.go_on(1s);
	patient.go_on(100'000s);
	EXPECT_TRUE(host.silent.empty());
	EXPECT_FALSE(patient.idle());
}

TEST_F(ScansForLostBuffers, AnAnswerToAnotherQuestionIsNone)
{
	recovery.entered(1);
	recovery.want();
	go_on(1s);
	ASSERT_EQ(host.asked.size(), 1u);
	recovery.settled(1, host.asked[0].second + 1);
	recovery.settled(2, host.asked[0].second);
	go_on(1s);
	EXPECT_EQ(host.looked, 0u);
	go_on(1s, {1});
	EXPECT_EQ(recovery.stats().scans, 1u);
}

TEST_F(ScansForLostBuffers, OneThatIsPutOffIsTriedAgain)
{
	recovery.entered(1);
	recovery.want();
	host.in_doubt = true;
	go_on(1s);
	EXPECT_EQ(host.begun, 1u) << "not before a second is over";
	go_on(2s);
	go_on(3s);
	EXPECT_EQ(host.begun, 3u);
	EXPECT_EQ(recovery.stats().put_off, 3u);
	EXPECT_EQ(host.told, 1u) << "once, not each time";
	host.in_doubt = false;
	go_on(4s, {1});
	EXPECT_TRUE(recovery.idle());
	EXPECT_EQ(recovery.stats().scans, 1u);
}

TEST_F(ScansForLostBuffers, ADeathInTheMiddleOfOneIsTriedAgain)
{
	recovery.entered(1);
	recovery.want();
	host.taken_back = true;
	go_on(1s, {1});
	EXPECT_EQ(recovery.stats().put_off, 1u);
	EXPECT_FALSE(recovery.idle());
	host.taken_back = false;
	go_on(2s, {1});
	EXPECT_EQ(recovery.stats().scans, 1u);
	EXPECT_EQ(host.looked, 20u) << "the whole table again";
}

TEST_F(ScansForLostBuffers, AClientMayAskForOne)
{
	EXPECT_EQ(recovery.request(1s), 0);
	EXPECT_EQ(recovery.request(1s), EBUSY) << "one is under way";
	go_on(1s);
	EXPECT_TRUE(recovery.idle());
	host.in_doubt = true;
	EXPECT_EQ(recovery.request(1s), EBUSY);
	EXPECT_FALSE(recovery.idle()) << "it is tried again";
}

TEST_F(ScansForLostBuffers, NoneBeginsWhileAClientIsHalfConnected)
{
	host.half_connected = true;
	EXPECT_EQ(recovery.request(1s), 0);
	go_on(5s);
	EXPECT_EQ(host.begun, 0u);
	host.half_connected = false;
	go_on(5s);
	EXPECT_EQ(recovery.stats().scans, 1u);
}

} // namespace
