/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The client's side of PRISM-KV operations, on any carrier of requests: a queue pair, or the simulator.
 * docs/prism-kv.md explains what they rely on, and why they are linearizable; tests/models/kv.pml checks it.
 */
#pragma once

#include <prism/chain.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "common/task.hpp"
#include "fingerprint.hpp"
#include "hints.hpp"
#include "lane.hpp"
#include "layout.hpp"
#include "shard_name.hpp"

namespace prism::kv
{

/** Buffers of one size. */
struct SizeClass {
	std::uint32_t free_list = 0;
	std::uint32_t buffer_size = 0; /* bytes */
	RemoteRegion buffers;

	[[nodiscard]] bool holds(std::uint64_t address) const noexcept { return buffers.contains(address, 1); }
};

/** A server as one of its connections knows it. */
struct ServerView {
	HashKey secret{};
	Geometry geometry{2};
	RemoteAddress table;
	RemoteAddress scratch;            /* this connection's 32 bytes, aligned to 32 */
	std::vector<SizeClass> classes;   /* by ascending buffer size; never empty */
	std::uint32_t connection = 0;     /* its number in claims, not 0 */
	std::uint32_t max_key_size = 0;   /* bytes */
	std::uint32_t max_value_size = 0; /* bytes */
	std::uint64_t first_version = 0;  /* first version of LeasedVersions::first_lease */
	ShardName shard;

	[[nodiscard]] RemoteAddress slot(std::uint64_t index) const noexcept { return table + index * sizeof(Slot); }
};

/** The interface of the operations to their connection. */
class Carrier
{
public:
	virtual ~Carrier() = default;

	/**
	 * Posts @p chain with wr_id @p lane; its end resumes the lane's waiter, and until then it must stay unchanged.
	 * May be put off, to post several together. Returns 0 or an errno value.
	 */
	virtual int post(const Chain &chain, std::uint64_t lane) noexcept = 0;

	/** Reports, some time later, that the object at @p address is no longer reachable. */
	virtual void release(std::uint64_t address) noexcept = 0;

	/**
	 * Handles that the lane's operation has found no buffer in any suitable class, @p attempts times. Freed buffers
	 * return after a report, a grace period and the server's next turn, so this sends pending reports. Returns
	 * false when the operation has waited long enough.
	 */
	virtual bool buffers_may_come(Lane &lane, unsigned attempts) noexcept = 0;

	/** Returns a number that no other install has. */
	virtual std::uint64_t next_version() noexcept = 0;
};

/** The state of an object and its slot when they were read: the condition of a conditional PUT or ERASE. */
struct Version {
	std::uint64_t number = 0; /**< number of the object; 0: the key was absent */
	std::uint64_t slot_index = 0;
	Slot slot;
};

/**
 * Converts a failed request to the error of its connection: EBADMSG (a slot had an invalid pointer), ETIMEDOUT (the
 * server is gone), EIO (it could not be posted), ECONNRESET (the connection is lost).
 */
int errno_of(const Completion &completion) noexcept;

struct HintFigures {
	std::uint64_t followed = 0; /**< operations that began at a hinted slot */
	std::uint64_t wrong = 0;    /**< of these, those that did not find their key there */
};

/** The operations of one connection. One thread. */
class Protocol
{
public:
	using Outcome = apps::Outcome;

	/** @p hints: number of keys whose places it remembers (see Hints). */
	Protocol(const ServerView &server, Carrier &carrier, std::size_t hints)
		: server_(server), carrier_(carrier), hints_(hints)
	{
	}

	/**
	 * Runs lane.operation, on the condition lane.version if there is one, as the functions below do. Fills in its
	 * outcome, error and length.
	 */
	apps::Task<Outcome> run(Lane &lane);

	/** Runs a GET that also returns the version, at the price of one more slot read. */
	apps::Task<Outcome> get_versioned(Lane &lane, Version &version);

	/**
	 * Runs a PUT if the key's object is still the one of @p expected, or, if that has number 0, the key still
	 * absent. not_found: the condition does not hold, perhaps because of a concurrent insert.
	 */
	apps::Task<Outcome> put_if(Lane &lane, const Version &expected);

	/** Runs an ERASE on the same condition; of an absent key it misses. */
	apps::Task<Outcome> erase_if(Lane &lane, const Version &expected);

	/** Drops all hints, as the server has lost its memory. */
	void forget_hints() noexcept { hints_.clear(); }
	[[nodiscard]] const HintFigures &hint_figures() const noexcept { return hint_figures_; }

private:
	/* Each of these makes the lane's chain and posts it. */
	RoundTrip post(Lane &lane) noexcept { return {lane, carrier_.post(lane.chain, lane.number)}; }
	RoundTrip read_object(Lane &lane, std::uint64_t slot, std::uint32_t length) noexcept;
	RoundTrip read_versioned(Lane &lane, std::uint64_t slot, std::uint32_t length) noexcept;
	RoundTrip read_buckets(Lane &lane, const Fingerprint &key) noexcept;
	RoundTrip allocate(Lane &lane, const SizeClass &from, const ObjectHeader &header) noexcept;
	RoundTrip allocate_and_swap(Lane &lane, const SizeClass &from, const ObjectHeader &header, std::uint64_t slot,
		const Cas &cas) noexcept;
	RoundTrip compare_swap(Lane &lane, std::uint64_t slot, const Cas &cas) noexcept;
	RoundTrip claim_and_read(Lane &lane, std::uint64_t slot, const Slot &claim, const Fingerprint &key) noexcept;

	/* Parts of operations. A part has "missed" if it ends with Outcome::not_found. */
	struct Place {
		std::uint64_t slot = 0;
		bool found = false;
	};
	apps::Task<Outcome> get(Lane &lane, Version *version);
	apps::Task<Outcome> put(Lane &lane);
	apps::Task<Outcome> erase(Lane &lane);
	apps::Task<Outcome> put_if_same(Lane &lane, Version expected);
	apps::Task<Outcome> put_if_absent(Lane &lane);
	apps::Task<Outcome> insert_if_absent(Lane &lane, Fingerprint key, prismdv_bounded_ptr &object);
	apps::Task<Outcome> take_buffer(Lane &lane, prismdv_bounded_ptr &object);
	apps::Task<Outcome> get_at(Lane &lane, std::uint64_t slot, Version *version);
	apps::Task<Outcome> find(Lane &lane, Fingerprint key, Place &place);
	apps::Task<Outcome> update_or_insert(
		Lane &lane, Fingerprint key, prismdv_bounded_ptr object, bool home_has_missed);
	apps::Task<Outcome> change_member(Lane &lane, std::uint64_t slot, Cas cas);
	apps::Task<Outcome> insert(
		Lane &lane, Fingerprint key, prismdv_bounded_ptr object, std::uint64_t slot, bool yield);
	apps::Task<Outcome> settle_claims(Lane &lane, Fingerprint key, std::uint64_t own, bool yield);
	template <typename Attempt>
	apps::Task<Outcome> wherever_it_is(Lane &lane, Attempt attempt_at);

	[[nodiscard]] Fingerprint fingerprint(const Lane &lane) const noexcept;
	[[nodiscard]] ObjectHeader compose(Lane &lane) noexcept;
	[[nodiscard]] static prismdv_bounded_ptr allocated(const Lane &lane, const ObjectHeader &header) noexcept;
	[[nodiscard]] const SizeClass &class_of(std::uint64_t object_size, unsigned misses) const noexcept;
	bool look_again(Lane &lane, std::uint64_t object_size, unsigned misses) noexcept;
	[[nodiscard]] std::uint32_t read_length(const Lane &lane) const noexcept;
	[[nodiscard]] std::uint64_t index_of(const Fingerprint &key, std::size_t position) const noexcept;
	[[nodiscard]] std::uint32_t position_of(const Fingerprint &key, std::uint64_t index) const noexcept;
	[[nodiscard]] std::uint64_t first_slot(const Fingerprint &key) noexcept;
	bool was_hint(const Fingerprint &key, std::uint64_t slot) noexcept;
	void learn(const Fingerprint &key, std::uint64_t slot) noexcept;
	void learn_others(const Lane &lane, const Fingerprint &key) noexcept;
	[[nodiscard]] bool choose_empty(const Lane &lane, const Fingerprint &key, std::uint64_t &slot) const noexcept;
	Outcome failed(Lane &lane, const Completion &completion) noexcept;
	Outcome broken(Lane &lane, int error) noexcept;
	static Outcome beyond_limit(Lane &lane) noexcept;

	const ServerView &server_;
	Carrier &carrier_;
	Hints hints_;
	HintFigures hint_figures_;
	std::uint32_t usual_size_ = 1024; /* bytes that a GET asks for: grows with the objects that it finds */
};

} // namespace prism::kv
