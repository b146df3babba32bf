/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Calls of a chain to the work request builders, recorded by fake ones. */
#include <prism/chain.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace
{

using namespace prism;

/* A queue pair whose builders record each call as one line. */
class Recorder
{
public:
	Recorder()
	{
		current_ = this;
		qp.wr_start = [](ibv_qp_ex *) { current_->note("start"); };
		qp.wr_complete = [](ibv_qp_ex *) {
			current_->note("complete");
			return current_->answer;
		};
		qp.wr_rdma_read = [](ibv_qp_ex *, std::uint32_t rkey, std::uint64_t addr) {
			current_->operation("rdma_read", rkey, addr);
		};
		qp.wr_rdma_write = [](ibv_qp_ex *, std::uint32_t rkey, std::uint64_t addr) {
			current_->operation("rdma_write", rkey, addr);
		};
		qp.wr_atomic_cmp_swp = [](ibv_qp_ex *, std::uint32_t rkey, std::uint64_t addr, std::uint64_t expected,
					       std::uint64_t wanted) {
			current_->operation("cmp_swp", rkey, addr);
			current_->note("operands ", expected, ' ', wanted);
		};
		qp.wr_set_sge = [](ibv_qp_ex *, std::uint32_t lkey, std::uint64_t addr, std::uint32_t length) {
			current_->note("sge ", lkey, ' ', addr, ' ', length);
		};
		qp.wr_set_sge_list = [](ibv_qp_ex *, std::size_t count, const ibv_sge *) {
			current_->note("sges ", count);
		};
		qp.wr_set_inline_data = [](ibv_qp_ex *, void *data, std::size_t length) {
			current_->note("inline ", std::string(static_cast<const char *>(data), length));
		};
		prism.wr_read = [](prismdv_qp_ex *, std::uint32_t rkey, std::uint64_t addr) {
			current_->operation("read", rkey, addr);
		};
		prism.wr_write = [](prismdv_qp_ex *, std::uint32_t rkey, std::uint64_t addr) {
			current_->operation("write", rkey, addr);
		};
		prism.wr_cas = [](prismdv_qp_ex *, std::uint32_t rkey, std::uint64_t addr,
				       const prismdv_cas *operands) {
			current_->operation("cas", rkey, addr);
			current_->take_cas(*operands);
		};
		prism.wr_allocate = [](prismdv_qp_ex *, std::uint32_t list, std::uint32_t tag) {
			current_->operation("allocate", list, tag);
		};
		prism.wr_set_flags = [](prismdv_qp_ex *, std::uint32_t flags) { current_->note("flags ", flags); };
		prism.wr_set_aux = [](prismdv_qp_ex *, std::uint32_t flag, std::uint32_t rkey, std::uint64_t addr,
					   std::uint32_t length) {
			current_->note("aux ", flag, ' ', rkey, ' ', addr, ' ', length);
		};
		prism.wr_set_result = [](prismdv_qp_ex *, std::uint32_t lkey, std::uint64_t addr) {
			current_->note("result ", lkey, ' ', addr);
		};
	}

	std::vector<std::string> text;
	ibv_qp_ex qp{};
	prismdv_qp_ex prism{};
	int answer = 0;
	prismdv_cas cas{};
	Cas::Operand compare{}, swap{}, compare_mask{}, swap_mask{};

private:
	template <typename... Parts>
	void note(const Parts &...parts)
	{
		std::ostringstream line;
		(line << ... << parts);
		text.push_back(line.str());
	}

	void operation(const char *name, std::uint32_t key, std::uint64_t where)
	{
		note(name, ' ', key, ' ', where, " id=", qp.wr_id,
			(qp.wr_flags & IBV_SEND_SIGNALED) ? " signalled" : "");
	}

	void take_cas(const prismdv_cas &from)
	{
		cas = from;
		std::memcpy(compare.data(), from.compare, from.length);
		std::memcpy(swap.data(), from.swap, from.length);
		std::memcpy(compare_mask.data(), from.compare_mask, from.length);
		std::memcpy(swap_mask.data(), from.swap_mask, from.length);
	}

	static inline Recorder *current_ = nullptr;
};

using Lines = std::vector<std::string>;

std::span<const std::byte> bytes_of(const char *text)
{
	return std::as_bytes(std::span(text, std::strlen(text)));
}

TEST(Chain, UpdateIsOneDoorbell)
{
	Recorder recorder;
	const RemoteAddress scratch{64, 7};
	const int error = Chain{}.allocate(5, bytes_of("value"))
				  .redirect_bounded(scratch, 9)
				  .cas({4096, 3}, Cas::equal(1, 2))
				  .data_indirect(scratch)
				  .conditional()
				  .post(&recorder.qp, &recorder.prism, 42);
	EXPECT_EQ(error, 0);
	EXPECT_EQ(recorder.text,
		(Lines{"start", "allocate 5 9 id=42", "aux 10 7 64 0", "inline value", "cas 3 4096 id=42 signalled",
			"flags 4", "aux 16 7 64 0", "sges 0", "complete"}));
}

TEST(Chain, LengthsOfDataThatIsElsewhere)
{
	Recorder recorder;
	Chain chain;
	chain.read({100, 1}, 24).indirect_bounded().redirect({200, 2}).write({300, 3}, 16).data_indirect({400, 4});
	EXPECT_EQ(chain.post(&recorder.qp, &recorder.prism, 1), 0);
	EXPECT_EQ(recorder.text, (Lines{"start", "read 1 100 id=1", "flags 3", "aux 8 2 200 24", "sges 0",
					 "write 3 300 id=1 signalled", "aux 16 4 400 16", "sges 0", "complete"}));
}

TEST(Chain, SignalledStepsHaveIdsOfTheirOwn)
{
	Recorder recorder;
	Chain chain;
	chain.rdma_read({1, 2}, {3, 4, 5}).signal(10).rdma_write({6, 7}, {8, 9, 10});
	EXPECT_EQ(chain.post(&recorder.qp, nullptr, 11), 0);
	EXPECT_EQ(recorder.text, (Lines{"start", "rdma_read 2 1 id=10 signalled", "sge 5 3 4",
					 "rdma_write 7 6 id=11 signalled", "sge 10 8 9", "complete"}));
}

TEST(Chain, StandardCompareAndSwapNeedsNoPrism)
{
	Recorder recorder;
	Chain chain;
	chain.rdma_cas({64, 2}, 5, 6, {32, 8, 4}).rdma_read({72, 2}, {40, 16, 4});
	EXPECT_EQ(chain.post(&recorder.qp, nullptr, 7), 0);
	EXPECT_EQ(recorder.text, (Lines{"start", "cmp_swp 2 64 id=7", "operands 5 6", "sge 4 32 8",
					 "rdma_read 2 72 id=7 signalled", "sge 4 40 16", "complete"}));
}

TEST(Chain, ResultOfAllocate)
{
	Recorder recorder;
	const int error =
		Chain{}.allocate(1, LocalSlice{16, 32, 2}).result({8, 8, 3}).post(&recorder.qp, &recorder.prism, 0);
	EXPECT_EQ(error, 0);
	EXPECT_EQ(recorder.text,
		(Lines{"start", "allocate 1 0 id=0 signalled", "result 3 8", "sge 2 16 32", "complete"}));
}

TEST(Chain, OperandsAreCopiedIntoTheChain)
{
	Recorder recorder;
	std::array<std::uint8_t, 16> compare, swap;
	std::iota(compare.begin(), compare.end(), std::uint8_t{1});
	std::iota(swap.begin(), swap.end(), std::uint8_t{101});
	Chain chain;
	chain.cas({0, 0}, Cas::bytes(CasMode::greater, compare, swap).compare_only(8, 8).swap_only(0, 4));
	compare.fill(0);
	swap.fill(0);
	EXPECT_EQ(chain.post(&recorder.qp, &recorder.prism, 0), 0);
	EXPECT_EQ(recorder.cas.mode, PRISMDV_CAS_GT);
	EXPECT_EQ(recorder.cas.length, 16);
	EXPECT_EQ(recorder.cas.flags, 0);
	EXPECT_EQ(recorder.compare[0], std::byte{1});
	EXPECT_EQ(recorder.swap[15], std::byte{116});
	EXPECT_EQ(recorder.compare_mask[7], std::byte{0});
	EXPECT_EQ(recorder.compare_mask[8], std::byte{0xff});
	EXPECT_EQ(recorder.compare_mask[15], std::byte{0xff});
	EXPECT_EQ(recorder.swap_mask[3], std::byte{0xff});
	EXPECT_EQ(recorder.swap_mask[4], std::byte{0});
}

TEST(Chain, WordsAreLittleEndianInMemory)
{
	const Cas cas = Cas::word(CasMode::less, 0x0102030405060708, 0xff);
	EXPECT_EQ(cas.length, 8);
	EXPECT_EQ(cas.compare[0], std::byte{8});
	EXPECT_EQ(cas.compare[7], std::byte{1});
	EXPECT_EQ(cas.swap[0], std::byte{0xff});
}

TEST(Chain, CompareOperandFromData)
{
	Recorder recorder;
	Chain chain;
	chain.cas({0, 0}, Cas::equal(0, 0).use_data_as_compare()).data_indirect({8, 1});
	EXPECT_EQ(chain.post(&recorder.qp, &recorder.prism, 0), 0);
	EXPECT_EQ(recorder.cas.flags, PRISMDV_CAS_COMPARE_DATA);
}

TEST(Chain, CanBePostedAgainAndReportsTheBuildersError)
{
	Recorder recorder;
	Chain chain;
	chain.read({0, 1}, {0, 8, 1});
	EXPECT_EQ(chain.post(&recorder.qp, &recorder.prism, 0), 0);
	recorder.answer = ENOMEM;
	EXPECT_EQ(chain.post(&recorder.qp, &recorder.prism, 0), ENOMEM);
}

/* Whatever the error, no request may reach the queue pair. */
void expect_refused(const Chain &chain, int error, std::size_t step)
{
	Recorder recorder;
	EXPECT_EQ(chain.post(&recorder.qp, &recorder.prism, 0), error);
	EXPECT_EQ(chain.error(), error);
	EXPECT_EQ(chain.bad_step(), step);
	EXPECT_TRUE(recorder.text.empty());
}

TEST(Chain, SeveralGoWithOneDoorbellOrNone)
{
	Recorder recorder;
	Chain first, second, wrong;
	first.read({1, 10}, {20, 30, 2});
	second.rdma_read({3, 40}, {50, 60, 4});
	wrong.read({1, 10}, {20, 30, 2}).redirect({1, 1}).data_indirect({1, 1});
	const std::array<Chain::Posting, 2> both{{{&first, 7}, {&second, 8}}};
	EXPECT_EQ(Chain::post(&recorder.qp, &recorder.prism, both), 0);
	EXPECT_EQ(recorder.text, (Lines{"start", "read 10 1 id=7 signalled", "sge 2 20 30",
					 "rdma_read 40 3 id=8 signalled", "sge 4 50 60", "complete"}));

	recorder.text.clear();
	const std::array<Chain::Posting, 2> one_wrong{{{&first, 7}, {&wrong, 8}}};
	EXPECT_EQ(Chain::post(&recorder.qp, &recorder.prism, one_wrong), EINVAL);
	EXPECT_EQ(Chain::post(&recorder.qp, nullptr, both), EOPNOTSUPP);
	EXPECT_TRUE(recorder.text.empty()) << "nothing is posted of several of which one is wrong";
}

TEST(Chain, RefusesModifiersThatAnOperationDoesNotTake)
{
	const LocalSlice slice{0, 8, 1};
	expect_refused(Chain{}.read({}, slice).data_indirect({}), EINVAL, 0);
	expect_refused(Chain{}.write({}, slice).redirect({}), EINVAL, 0);
	expect_refused(Chain{}.cas({}, Cas{}).redirect({}), EINVAL, 0);
	expect_refused(Chain{}.cas({}, Cas{}).indirect_bounded(), EINVAL, 0);
	expect_refused(Chain{}.allocate(1, slice).indirect(), EINVAL, 0);
	expect_refused(Chain{}.allocate(1, slice).data_indirect({}), EINVAL, 0);
	expect_refused(Chain{}.read({}, 8).redirect_bounded({}), EINVAL, 0);
	expect_refused(Chain{}.read({}, slice).rdma_read({}, slice).conditional(), EINVAL, 1);
	expect_refused(Chain{}.rdma_write({}, bytes_of("x")).indirect(), EINVAL, 0);
	expect_refused(Chain{}.rdma_cas({}, 0, 1, slice).conditional(), EINVAL, 0);
	expect_refused(Chain{}.read({}, slice).result(slice), EINVAL, 0);
	expect_refused(Chain{}.allocate(1, slice).result({0, 4, 1}), EINVAL, 0);
}

TEST(Chain, RefusesLengthsWithoutTheirPlace)
{
	const LocalSlice slice{0, 8, 1};
	expect_refused(Chain{}.read({}, slice).read({}, 8), EINVAL, 1);
	expect_refused(Chain{}.write({}, 8), EINVAL, 0);
	expect_refused(Chain{}.read({}, slice).redirect({}), EINVAL, 0);
	expect_refused(Chain{}.write({}, slice).data_indirect({}), EINVAL, 0);
	expect_refused(Chain{}.cas({}, Cas::equal(0, 0).use_data_as_compare()), EINVAL, 0);
	expect_refused(Chain{}.rdma_cas({}, 0, 1, {}), EINVAL, 0);
	expect_refused(Chain{}.rdma_read({}, slice).rdma_cas({}, 0, 1, {0, 4, 1}), EINVAL, 1);
}

TEST(Chain, RefusesWhatIsNotThere)
{
	expect_refused(Chain{}, EINVAL, 0);
	expect_refused(Chain{}.conditional(), EINVAL, 0);
	expect_refused(Chain{}.redirect_bounded({}), EINVAL, 0);
	expect_refused(Chain{}.signal(1), EINVAL, 0);
	Recorder recorder;
	EXPECT_EQ(Chain{}.read({}, LocalSlice{0, 8, 1}).post(&recorder.qp, nullptr, 0), EOPNOTSUPP);
	EXPECT_TRUE(recorder.text.empty());
}

TEST(Chain, HasAFixedCapacity)
{
	Chain chain;
	for (std::size_t i = 0; i < Chain::capacity; i++)
		chain.read({}, LocalSlice{0, 8, 1});
	EXPECT_EQ(chain.error(), 0);
	EXPECT_EQ(chain.size(), Chain::capacity);
	chain.read({}, LocalSlice{0, 8, 1});
	expect_refused(chain, E2BIG, Chain::capacity);
}

} // namespace
