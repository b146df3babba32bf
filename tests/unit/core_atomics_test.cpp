/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Atomics of two device contexts of one process on the same memory: they are atomic for both (S.4.2). */
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include "craft.hpp"
#include "node.hpp"

namespace
{

using namespace prism::test;
namespace soft = prism::soft;

constexpr std::uint64_t base = 0x10000;
constexpr std::size_t words_of_cas = PRISM_MAX_CAS / sizeof(std::uint64_t);
using Words = std::array<std::uint64_t, words_of_cas>;

/** A context with a queue pair that the test speaks to in a peer's place. */
class Context
{
public:
	/** @p memory of 32 bytes has the address @p base here. */
	Context(std::uint8_t host, std::uint64_t *memory) : node_(host), peer_node_(host + 1)
	{
		key_ = node_.engine.memory.add_region(
			reinterpret_cast<std::uint8_t *>(memory), base, PRISM_MAX_CAS, rights, 1);
		target_.connect(peer_, {});
	}

	void add_one(std::size_t word)
	{
		const std::size_t size = soft::bth_size + soft::atomic_eth_size;
		std::vector<std::uint8_t> packet = craft(target_.qp, soft::rc_fetch_add, next(), size);
		put_unaligned_be64(base + 8 * word, &packet[soft::bth_size]);
		put_unaligned_be32(key_, &packet[soft::bth_size + 8]);
		put_unaligned_be64(1, &packet[soft::bth_size + 12]);
		deliver(packet);
	}

	/** Compares and swaps; @return the words before; they are @p fresh now if they were @p known. */
	Words compare_and_swap(const Words &known, const Words &fresh)
	{
		prism_request request{};
		request.op = PRISM_CAS;
		request.first = request.last = true;
		request.cas_size = PRISM_MAX_CAS;
		request.va = base;
		request.rkey = key_;
		std::vector<std::uint8_t> packet = craft_request(target_.qp, next(), request);
		std::uint8_t *const operands = &packet[packet.size() - 4 * PRISM_MAX_CAS];
		std::memcpy(operands, known.data(), PRISM_MAX_CAS);
		std::memcpy(operands + PRISM_MAX_CAS, fresh.data(), PRISM_MAX_CAS);
		std::fill_n(operands + 2 * PRISM_MAX_CAS, 2 * PRISM_MAX_CAS, 0xff);
		const std::vector<std::uint8_t> &answer = deliver(packet);
		prism_response response{};
		prism_response_decode(answer.data(), static_cast<std::uint32_t>(answer.size()), &response);
		Words old;
		std::memcpy(old.data(), response.result, PRISM_MAX_CAS);
		return old;
	}

	[[nodiscard]] bool works() const { return target_.qp.state == IBV_QPS_RTS; }

private:
	static constexpr std::uint32_t rights = soft::access_local_write | soft::access_remote_write |
						soft::access_remote_read | soft::access_remote_atomic;

	std::uint32_t next() const { return target_.qp.resp.expected_psn; }

	const std::vector<std::uint8_t> &deliver(const std::vector<std::uint8_t> &packet)
	{
		node_.outbox.clear();
		node_.engine.receive({peer_node_.address, {}}, packet, 1);
		return node_.outbox.at(0).bytes;
	}

	Node node_, peer_node_;
	Endpoint target_{node_, {}}, peer_{peer_node_, {}};
	std::uint32_t key_ = 0;
};

/** Offset of the memory from the start of a block; its address here is that of a block (S.4.1). */
class AtomicsOfContexts : public testing::TestWithParam<std::size_t>
{
protected:
	static constexpr int rounds = 200'000;

	void add()
	{
		for (int i = 0; i < rounds; i++)
			adder.add_one(static_cast<std::size_t>(i) % words_of_cas);
	}

	/** Adds by comparing and swapping all words; @return the number of successful additions of each. */
	Words swap()
	{
		Words known{}, hits{};
		for (int i = 0; i < rounds; i++) {
			const std::size_t word = static_cast<std::size_t>(i) % words_of_cas;
			Words fresh = known;
			fresh[word]++;
			const Words old = swapper.compare_and_swap(known, fresh);
			hits[word] += old == known;
			known = old == known ? fresh : old;
		}
		return hits;
	}

	alignas(2 * PRISM_MAX_CAS) std::array<std::uint64_t, 2 * words_of_cas> memory{};
	std::uint64_t *const words = &memory[GetParam()];
	Context adder{1, words}, swapper{3, words};
};

TEST_P(AtomicsOfContexts, LoseNothing)
{
	Words hits;
	std::thread other([&] { hits = swap(); });
	add();
	other.join();
	ASSERT_TRUE(adder.works() && swapper.works());
	for (std::size_t i = 0; i < words_of_cas; i++)
		EXPECT_EQ(words[i], rounds / words_of_cas + hits[i]) << "word " << i;
}

INSTANTIATE_TEST_SUITE_P(WordsBehindABlock, AtomicsOfContexts, testing::Values(0, 3));

} // namespace
