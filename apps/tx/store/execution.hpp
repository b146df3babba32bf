/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The first half of a transaction: what its body reads and changes. Nothing of it is visible to others. */
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "tx/store/lane.hpp"
#include "tx/store/object.hpp"

namespace prism::tx
{

/** Where a key is. */
struct KeyPlace {
	std::size_t shard = 0;
	std::uint64_t cell = 0;
};

/** 0; EINVAL: no key of this store; EHOSTUNREACH: its shard is gone. */
int find_place(const StoreView &store, const Carrier &carrier, Bytes key, KeyPlace &place) noexcept;

/** Registered memory of an access. */
struct AccessMemory {
	std::span<std::byte> out;         /**< the object to write */
	std::span<std::byte> in;          /**< the object as it was read */
	Version *version = nullptr;       /**< as it was read */
	Prepared *was_prepared = nullptr; /**< before the own CAS */
	Version *was_version = nullptr;   /**< likewise */
	std::uint64_t *allocated = nullptr;
};

/** A new value of a key. */
struct Change {
	Bytes key;
	std::optional<Bytes> value; /**< nothing: erase */
};

/** A cell that a transaction reads or writes, and what its commit does to it. */
struct Access {
	std::uint32_t number = 0; /**< and of its log entry */
	std::size_t shard = 0;
	std::uint64_t cell = 0;
	AccessMemory memory;
	Request request;           /**< to read and to prepare it */
	Request object_ahead;      /**< its ALLOCATE, where several are written in one chain */
	Request end;               /**< to install or to give up the new version */
	bool with_version = false; /**< is read together with it */
	bool fetched = false;
	Timestamp read; /**< version that was read */
	ObjectView object;
	std::vector<Change> changes;

	/* Of the commit */
	Announcement announcement;
	bool raised = false;    /**< this transaction is the prepared writer */
	bool installed = false; /**< it was so, by this client or another */
	bool empties = false;   /**< the new version has no keys */
	std::uint32_t free_list = 0;
	std::size_t size = 0; /**< of the new object */

	[[nodiscard]] bool is_write() const noexcept { return !changes.empty(); }
};

/** The reads and changes of one attempt. */
class Execution
{
public:
	/** Registered memory: bytes that it needs, aligned to 64, for objects of up to @p room bytes. */
	static std::size_t memory_size(std::size_t room) noexcept;

	/** @p memory: memory_size(@p room) bytes, cleared. */
	Execution(Lane &lane, std::byte *memory, std::size_t room);
	Execution(const Execution &) = delete;
	Execution &operator=(const Execution &) = delete;

	/** Forgets everything. Nothing is under way. */
	void begin() noexcept;
	/** As Transaction's of the same names. */
	apps::Task<int> fetch(std::span<const Bytes> keys);
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept;
	/** @p value: nothing erases. As Transaction::write(). */
	int change(Bytes key, std::optional<Bytes> value) noexcept;

	/** Reads what is written and was not read. 0 or errno. */
	apps::Task<int> fetch_changed() { return fetch_all(true); }

	[[nodiscard]] std::span<Access> accesses() noexcept { return {accesses_.data(), count_}; }
	/** Every access that there may be, by number. */
	[[nodiscard]] std::span<Access> all_accesses() noexcept { return accesses_; }
	[[nodiscard]] Access *first_write() noexcept;

private:
	[[nodiscard]] const Access *find(Bytes key) const noexcept;
	int access(Bytes key, Access *&found) noexcept;
	Bytes keep(Bytes bytes);
	void post_fetch(Access &access, std::size_t length) noexcept;
	int take_object(Access &access, bool &longer) noexcept;
	int take_fetched(Access &access, bool &again) noexcept;
	apps::Task<int> fetch_all(bool changed_only);

	Lane &lane_;
	std::vector<Access> accesses_;
	std::size_t count_ = 0;
	std::vector<std::byte> room_to_keep_;
	std::pmr::monotonic_buffer_resource kept_; /* keys and values of changes */
	std::size_t usual_size_ = 1024;            /* bytes that a fetch asks for: grows with what it meets */
};

} // namespace prism::tx
