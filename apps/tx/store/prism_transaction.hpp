/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Transactions of PRISM-TX as a client does them, whatever carries its requests: queue pairs, or the simulator. What
 * they rely on, and why they are serializable, is in docs/prism-tx.md; tests/models/tx.pml checks it.
 */
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "tx/store/object.hpp"
#include "tx/store/resolver.hpp"

namespace prism::tx
{

/** What all lanes of a client have in common. Outlives them. */
struct ClientState {
	StoreView store;
	std::uint32_t incarnation = 0;
	LogicalClock clock;
	/** How long somebody may have prepared what others want before they take it for dead: it may be alive. */
	Time patience = std::chrono::milliseconds(10);
	/** Reads of one cell alone are validated too, for a round trip more: docs/prism-tx.md, "Isolation". */
	bool reads_in_session = false;
	std::uint64_t serial = 0;                /**< of the commits begun so far */
	std::vector<std::uint32_t> spare_places; /**< in the logs: of no lane */
};

/** What was done, by one lane. */
struct TransactionFigures {
	std::uint64_t one_chain = 0; /**< committed in one chain, a round trip */
	std::uint64_t prepared = 0;  /**< committed, prepared before */
	std::uint64_t read_only = 0; /**< committed, without a change */
	std::uint64_t resolved = 0;  /**< transactions of others that were ended */
	std::uint64_t no_buffer = 0; /**< attempts that found none */
	std::uint64_t requests = 0;  /**< PRISM requests posted */
};

/** A transaction on a lane. */
class PrismTransaction final : public Transaction
{
public:
	/** Registered memory of a lane: bytes that it needs, aligned to 64, for objects of up to @p room bytes. */
	static std::size_t memory_size(std::size_t room) noexcept;

	/** @p place: the lane's in the logs. @p memory: memory_size(@p room) bytes, cleared, under @p lkey. */
	PrismTransaction(ClientState &client, Carrier &carrier, Waiter &waiter, std::uint32_t lane, std::uint32_t place,
		std::byte *memory, std::size_t room, std::uint32_t lkey);
	PrismTransaction(const PrismTransaction &) = delete;
	PrismTransaction &operator=(const PrismTransaction &) = delete;

	using Transaction::fetch;
	apps::Task<int> fetch(std::span<const Bytes> keys) override;
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept override;
	int write(Bytes key, Bytes value) noexcept override;
	int erase(Bytes key) noexcept override;

	apps::Task<int> begin() override;
	apps::Task<Outcome> commit() override;
	apps::Task<int> roll_back() override;
	[[nodiscard]] int error() const noexcept override { return error_; }
	[[nodiscard]] Stamp stamp() const noexcept override { return timestamp_.stamp(); }
	[[nodiscard]] std::uint32_t round_trips() const noexcept override { return round_trips_; }

	/** Where a key is. */
	struct Place {
		std::size_t shard = 0;
		std::uint64_t cell = 0;
	};
	/** 0; EINVAL: no key of this store; EHOSTUNREACH: its shard is gone. */
	[[nodiscard]] int place_of(Bytes key, Place &place) const noexcept;

	/* For the carrier */

	/** Requests are numbered from 0 on. */
	static constexpr std::uint16_t request_numbers = 3 * max_accesses + 2;
	/** The request of this number; null: there is none. */
	[[nodiscard]] Request *request(std::uint16_t number) noexcept;
	/** It has ended: true if the lane is to be resumed. */
	bool ended(Request &request, const Completion &completion) noexcept;
	/** Serial number of the commit that may have buffers which are in no slot; the greatest number: there is none.
	 */
	[[nodiscard]] std::uint64_t holding() const noexcept;

	[[nodiscard]] Resolver &resolver() noexcept { return resolver_; }
	[[nodiscard]] const TransactionFigures &figures() const noexcept { return figures_; }

private:
	struct AccessMemory {
		std::span<std::byte> out;         /* the object to write */
		std::span<std::byte> in;          /* the object as it was read */
		Version *version = nullptr;       /* as it was read */
		Prepared *was_prepared = nullptr; /* before the own CAS */
		Version *was_version = nullptr;   /* likewise */
		std::uint64_t *allocated = nullptr;
	};
	struct Change {
		Bytes key;
		std::optional<Bytes> value; /* nothing: erase */
	};
	/* A cell that is read or written. */
	struct Access {
		std::uint32_t number = 0; /* and of its log entry */
		std::size_t shard = 0;
		std::uint64_t cell = 0;
		AccessMemory memory;
		Announcement announcement;
		Request request;           /* to read and to prepare it */
		Request object_ahead;      /* its ALLOCATE, where several are written in one chain */
		Request end;               /* to install or to give up the new version */
		bool with_version = false; /* is read together with it */
		bool fetched = false;
		bool raised = false;    /* this transaction is the prepared writer */
		bool installed = false; /* it was so, by this client or another */
		bool empties = false;   /* the new version has no keys */
		std::uint32_t free_list = 0;
		Timestamp read; /* version that was read */
		ObjectView object;
		std::size_t size = 0; /* of the new one */
		std::vector<Change> changes;

		[[nodiscard]] bool is_write() const noexcept { return !changes.empty(); }
	};
	/* How a preparation went. */
	enum class Prepare : std::uint8_t {
		done,
		too_old, /* somebody later has read it */
		taken,   /* there is another writer */
		skipped, /* something before it in the chain was not done */
		no_buffer,
		failed,
	};
	static constexpr std::uint16_t decision_number = 2 * max_accesses;
	static constexpr std::uint16_t resolver_number = decision_number + 1;
	static constexpr std::uint16_t first_object_ahead = resolver_number + 1;

	struct Blocker {
		Timestamp who;
		std::size_t shard = 0;
		std::uint64_t cell = 0;
		Time since{};
	};

	/* Accesses */
	[[nodiscard]] const Access *find(Bytes key) const noexcept;
	int access(Bytes key, Access *&found) noexcept;
	int change(Bytes key, std::optional<Bytes> value) noexcept;
	Bytes keep(Bytes bytes);
	[[nodiscard]] std::span<Access> accesses() noexcept { return {accesses_.data(), count_}; }
	void post_fetch(Access &access, std::size_t length) noexcept;
	int take_object(Access &access, bool &longer) noexcept;
	int take_fetched(Access &access, bool &again) noexcept;
	apps::Task<int> fetch_all(bool changed_only);

	/* Parts of chains */
	[[nodiscard]] RemoteAddress entry_of(const Access &access) const noexcept
	{
		const ShardView *const view = carrier_.view(access.shard);
		return view ? view->entry(place_, access.number) : RemoteAddress{};
	}
	void validate(Chain &chain, Access &access, bool conditional) noexcept;
	void stage_object(Chain &chain, Access &access, bool conditional) noexcept;
	void announce(Chain &chain, Access &access, bool conditional) noexcept;
	void install(Chain &chain, Access &access, bool conditional) noexcept;
	void decide(Chain &chain, bool conditional) noexcept;
	void post(Request &request) noexcept;
	void post_validation(Access &access, bool conditional) noexcept;
	bool post_reads() noexcept;
	void post_writes(std::span<Access *const> writes, bool conditional) noexcept;
	void post_writes(std::size_t shard, bool conditional) noexcept;

	/* Commits */
	int compose(Access &access) noexcept;
	int choose_free_list(Access &access) noexcept;
	int compose_all() noexcept;
	bool take_timestamp(std::uint32_t home) noexcept;
	Prepare judge(Access &access) noexcept;
	Outcome judge_all(bool one_chain, bool &only_too_old) noexcept;
	apps::Task<Outcome> commit_reads();
	apps::Task<Outcome> commit_in_one_chain(bool &only_too_old);
	apps::Task<Outcome> commit_prepared(bool &only_too_old);
	apps::Task<Outcome> attempt();
	apps::Task<Outcome> commit_as_in_paper();
	apps::Task<Outcome> decide_and_install();
	apps::Task<int> give_up();
	apps::Task<int> give_up_as_in_paper(Access &access);
	apps::Task<int> look_after_blocker();
	void release_staged(Access &access) noexcept;
	void blocked_by(const Access &access, const Timestamp &who) noexcept;
	[[nodiscard]] bool on_one_shard() noexcept;
	Access *first_write() noexcept;
	Outcome failed(int error) noexcept;
	[[nodiscard]] bool is_blind(const Access &access) const noexcept
	{
		return !access.fetched && client_.store.numbered && client_.store.as_in_paper;
	}

	template <typename T>
	[[nodiscard]] LocalSlice slice(const T *place, std::size_t length) const noexcept
	{
		return {reinterpret_cast<std::uintptr_t>(place), static_cast<std::uint32_t>(length), lkey_};
	}

	ClientState &client_;
	Carrier &carrier_;
	Waiter &waiter_;
	Requests requests_;
	std::uint32_t place_;
	const std::uint32_t lkey_;
	std::vector<Access> accesses_;
	std::size_t count_ = 0;
	std::vector<Access *> writes_; /* of the chain that is made */
	Request decision_;
	Decision *was_decided_;
	Resolver resolver_;
	std::vector<std::byte> room_to_keep_;
	std::pmr::monotonic_buffer_resource kept_; /* keys and values of changes */
	Timestamp timestamp_;
	std::optional<Blocker> blocker_;
	std::size_t usual_size_ = 1024; /* bytes that a fetch asks for: grows with what it meets */
	unsigned careful_ = 0;          /* so many commits to come read versions, too */
	std::uint64_t serial_ = 0;
	bool committing_ = false;
	bool leaves_traces_ = false; /* what is posted now prepares or installs something */
	bool retired_ = false;       /* what it has left on a shard needs its log: see commit() */
	bool no_buffer_ = false;
	unsigned without_buffer_ = 0; /* attempts one after another that have found none */
	int error_ = 0;
	std::uint32_t round_trips_ = 0;
	TransactionFigures figures_;
};

} // namespace prism::tx
