/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Founding of a volume: a founder must have promised nothing in an earlier life. */
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "rs/store/founding.hpp"
#include "rs/volume/founding_record.hpp"

namespace
{

using prism::rs::Founders;
using prism::rs::Founding;

/** Checks that a full disk does not make replicas look old that have never served. */
TEST(FoundingRecord, ThatCannotBeWrittenIsNotThere)
{
	std::string folder = testing::TempDir() + "founding-XXXXXX";
	ASSERT_TRUE(::mkdtemp(folder.data()));
	const prism::rs::FoundingRecord record(folder + "/volume.json", prism::rs::Configuration{}, 0);
	rlimit usual{};
	ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
	const rlimit full{0, usual.rlim_max};
	const auto handler = ::signal(SIGXFSZ, SIG_IGN);
	ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
	const prism::Result<void> failed = record.create();
	ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
	::signal(SIGXFSZ, handler);
	EXPECT_FALSE(failed.ok());
	EXPECT_TRUE(record.check_absent().ok());
	EXPECT_TRUE(record.create().ok());
	EXPECT_FALSE(record.check_absent().ok());
	std::filesystem::remove_all(folder);
}

TEST(Founding, AloneIsAtOnce)
{
	EXPECT_TRUE(Founding(0, 1, 5).may_serve());
}

TEST(Founding, NeedsTheAnswersOfAllOthersInOneRound)
{
	Founding founding(0, 3, 5);
	founding.hear_new(1, 6);
	EXPECT_FALSE(founding.founded());
	founding.begin_round();
	founding.hear_new(2, 7);
	EXPECT_FALSE(founding.founded());
	founding.hear_new(1, 8);
	EXPECT_TRUE(founding.founded());
	EXPECT_FALSE(founding.may_serve()) << "it may be the only one that knows";
	founding.hear_founded(2, {5, 8, 7});
	EXPECT_TRUE(founding.may_serve());
	EXPECT_EQ(founding.answer(1, 8), (Founders{5, 8, 7}));
	EXPECT_FALSE(founding.answer(1, 6));
	EXPECT_FALSE(founding.answer(1, 9)) << "replica 1 has been started once more";
}

TEST(Founding, FollowsAFounderThatHasItAmongThem)
{
	Founding founding(1, 3, 6);
	founding.hear_new(2, 7);
	founding.hear_founded(0, {5, 9, 7});
	EXPECT_FALSE(founding.founded()) << "that was an earlier incarnation";
	founding.hear_founded(0, {5, 6});
	EXPECT_FALSE(founding.founded());
	founding.hear_founded(0, {5, 6, 7});
	EXPECT_TRUE(founding.founded());
	EXPECT_TRUE(founding.may_serve());
}

TEST(Founding, NeedsTheOthersToAgreeWithAFounder)
{
	Founding founding(1, 3, 6);
	founding.hear_founded(0, {5, 6, 7});
	EXPECT_FALSE(founding.founded()) << "replica 2 may know better";
	founding.hear_founded(2, {5, 6, 7});
	EXPECT_TRUE(founding.may_serve());
}

TEST(Founding, AskersThatCannotBe)
{
	Founding founding(0, 3, 5);
	EXPECT_FALSE(founding.answer(3, 8));
	EXPECT_FALSE(founding.answer(0, 8));
	EXPECT_FALSE(founding.answer(1, 0));
	founding.hear_new(3, 8);
	EXPECT_FALSE(founding.founded());
}

/**
 * Replicas that ask and answer in any order, and one that ends and comes back without a record. Once an incarnation has
 * served, it may have acknowledged a write: afterwards no other incarnation of the replica may serve as a founder.
 */
class Life
{
public:
	explicit Life(std::uint64_t seed) : random_(seed)
	{
		for (unsigned replica = 0; replica < count; replica++)
			start(replica);
	}

	/** Runs it. Returns true if a promise was forgotten. */
	bool run()
	{
		for (int step = 0; step < 120 && !forgotten_; step++) {
			const auto replica = static_cast<unsigned>(random_() % count);
			const auto other = (replica + 1 + static_cast<unsigned>(random_() % 2)) % count;
			if (random_() % 12 == 0 && restarts_++ < 3)
				start(mortal);
			else if (!answers_.empty() && random_() % 2)
				deliver(random_() % answers_.size());
			else
				ask(replica, other);
			acknowledge();
		}
		return forgotten_;
	}

	static bool alone_serves; /* flaw of the control */

private:
	static constexpr unsigned count = 3;
	static constexpr unsigned mortal = 2; /* f = 1 */

	struct Answer {
		unsigned to = 0;
		unsigned from = 0;
		std::uint64_t incarnation = 0; /* of the asker */
		std::uint64_t own = 0;
		std::optional<Founders> founders;
	};

	void start(unsigned replica) { replicas_[replica] = std::make_unique<Founding>(replica, count, ++last_); }

	/* An answer may take any time, even if its sender ends meanwhile. */
	void ask(unsigned replica, unsigned other)
	{
		Founding &asked = *replicas_[other];
		const std::uint64_t incarnation = replicas_[replica]->incarnation();
		answers_.push_back(
			{replica, other, incarnation, asked.incarnation(), asked.answer(replica, incarnation)});
	}

	void deliver(std::size_t index)
	{
		const Answer answer = answers_[index];
		answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(index));
		Founding &asker = *replicas_[answer.to];
		if (asker.incarnation() != answer.incarnation || !answer.founders)
			return;
		if (answer.founders->empty())
			asker.hear_new(answer.from, answer.own);
		else
			asker.hear_founded(answer.from, *answer.founders);
	}

	void acknowledge()
	{
		for (unsigned replica = 0; replica < count; replica++) {
			if (alone_serves ? !replicas_[replica]->founded() : !replicas_[replica]->may_serve())
				continue;
			const std::uint64_t now = replicas_[replica]->incarnation();
			served_[replica] = served_[replica] ? served_[replica] : now;
			forgotten_ |= served_[replica] != now;
		}
	}

	std::mt19937_64 random_;
	std::array<std::unique_ptr<Founding>, count> replicas_;
	std::deque<Answer> answers_;
	std::array<std::uint64_t, count> served_{}; /* first incarnation that served */
	std::uint64_t last_ = 0;
	int restarts_ = 0;
	bool forgotten_ = false;
};

bool Life::alone_serves = false;

TEST(Founding, ForgetsNoPromiseInAnyOrder)
{
	for (std::uint64_t seed = 1; seed <= 5000; seed++)
		ASSERT_FALSE(Life(seed).run()) << "seed " << seed;
}

TEST(Founding, ControlThatServesAloneForgets)
{
	Life::alone_serves = true;
	bool found = false;
	for (std::uint64_t seed = 1; seed <= 5000 && !found; seed++)
		found = Life(seed).run();
	Life::alone_serves = false;
	EXPECT_TRUE(found);
}

} // namespace
