/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The queues that this process shares with the kernel, found without the provider, and rubbish for them. */
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "prism_abi.h"
#include "random.hpp"

namespace prism::hostile
{

/** Part of the address space that a uverbs device is mapped to. */
struct Mapping {
	std::uintptr_t start = 0;
	std::size_t size = 0;
	bool operator==(const Mapping &) const = default;
};

std::vector<Mapping> uverbs_mappings();

enum class Kind {
	completions,
	receives,
	sends,
	prism_sends,
	free_list, /* struct prism_abi_free_list */
};

/** A queue as it was before its header was spoilt. */
struct Ring {
	Kind kind = Kind::completions;
	Mapping mapping;
	std::uint32_t log2_entry_size = 0, mask = 0;

	[[nodiscard]] prism_abi_queue *header() const { return reinterpret_cast<prism_abi_queue *>(mapping.start); }
	[[nodiscard]] std::uint8_t *entry(std::uint32_t index) const
	{
		return header()->data + (std::size_t{index & mask} << log2_entry_size);
	}
	[[nodiscard]] std::size_t entry_size() const { return std::size_t{1} << log2_entry_size; }
};

/** Finds the mappings that have appeared since the last call. */
class Finder
{
public:
	Finder() : known_(uverbs_mappings()) {}
	/** Returns the queues that have appeared since. */
	std::vector<Ring> take(Kind kind, Kind also);
	/** Returns the queue of @p kind, which is receives or @p sends, of the queue pair that has appeared since. */
	Ring take_queue(Kind sends, Kind kind);

private:
	std::vector<Mapping> known_;
};

/** Valid names, which appear in the rubbish now and then. */
struct ValidNames {
	std::uint64_t va = 0;
	std::uint32_t length = 0;
	std::vector<std::uint32_t> keys, ah_numbers, qpns, lists;
};

/** Writes rubbish of all sorts, random and structured. */
class Spoiler
{
public:
	/** @p opcode: the only one in send queues, or any if negative */
	Spoiler(const ValidNames &names, std::uint64_t seed, std::int64_t opcode)
		: names_(names), random_(seed), opcode_(opcode)
	{
	}

	void spoil(const Ring &ring);

private:
	void send_entry(const Ring &ring, std::uint8_t *entry);
	void receive_entry(const Ring &ring, std::uint8_t *entry);
	void sges(prism_abi_sge *to, std::size_t count);
	void indices(const Ring &ring);
	std::uint32_t some(const std::vector<std::uint32_t> &values);
	std::uint32_t number();
	void noise(std::uint8_t *to, std::size_t size);

	const ValidNames &names_;
	test::Random random_;
	const std::int64_t opcode_;
};

/**
 * Does what ibv_post_send does after it has written the ring: no work request in the command, the kernel reads the
 * ring.
 */
void ring_doorbell(ibv_qp *qp);

struct DestroyHandle {
	void operator()(ibv_ah *ah) const { ibv_destroy_ah(ah); }
};
using Handle = std::unique_ptr<ibv_ah, DestroyHandle>;
/** Makes and destroys an address handle, with @p rest behind the command that makes it. Returns 0 or errno. */
int pass_handle(const conformance::Device &device, const conformance::Rest &rest, conformance::Answer &answer);
/** Makes an address handle of the device itself. */
Handle own_handle(const conformance::Device &device);
inline constexpr std::uint32_t datagram_qkey = 0x11111111;
/** Brings a queue pair of datagrams from any state to RTS by way of RESET. */
void set_up_datagrams(ibv_qp *qp);

/** Throws unless everything that prism_abi.h reserves is refused. */
void unknown_is_refused(const conformance::Device &device);
/** Throws unless queue pairs reach ERROR and RESET while their user posts receives as fast as they are flushed. */
void flushes_end(const conformance::Device &device);
/** Throws if the answer to a command has bytes that the module did not write. */
void answers_are_clean(const conformance::Device &device);
/** Throws unless a receive is as the module has checked it, whatever the ring says later. */
void receives_are_checked(const conformance::Device &device);
/** Throws unless each datagram completes once, whatever fails, and none behind a reset. */
void failures_complete_once(const conformance::Device &device);
/** Throws unless a duplicate is answered from the state of its own request, and nothing else. */
void duplicates_find_their_own(const conformance::Device &device);
/** Throws if destruction waits for a reference that something keeps. */
void nothing_is_waited_for_in_vain(const conformance::Device &device);
/** Throws unless an SRQ's queue pair in ERROR raises IBV_EVENT_QP_LAST_WQE_REACHED once. */
void last_receive_is_told_once(const conformance::Device &device);
/** Throws unless a region of more than 1 GiB is registered. */
void large_regions_are_taken(const conformance::Device &device);
/** Sends to the address handles that others make at the time; throws if there are none. */
void name_handles_of_others(const conformance::Device &device, unsigned seconds, std::uint64_t seed);

} // namespace prism::hostile
