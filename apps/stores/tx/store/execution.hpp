/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The first half of a transaction: the reads and changes of its body. Nothing of it is visible to others. */
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

/** Shard and cell of a key. */
struct KeyPlace {
	std::size_t shard = 0;
	std::uint64_t cell = 0;
};

/**
 * Finds the place of @p key. Returns 0; EINVAL if this store cannot have the key; EHOSTUNREACH if its shard is gone.
 */
int find_place(const StoreView &store, const Carrier &carrier, Bytes key, KeyPlace &place) noexcept;

/** Registered memory of an access. */
struct AccessMemory {
	std::span<std::byte> out;         /**< the object to write; empty before the access is first used */
	std::span<std::byte> in;          /**< the object as it was read; likewise */
	std::uint32_t object_lkey = 0;    /**< of these two */
	Cell *cell = nullptr;             /**< as it was read */
	Prepared *was_prepared = nullptr; /**< as it was before this transaction's CAS */
	Version *was_version = nullptr;   /**< likewise */
	std::uint64_t *allocated = nullptr;
};

/** A new value of a key. */
struct Change {
	Bytes key;
	std::optional<Bytes> value; /**< nothing: erase */
};

/** A cell that a transaction reads or writes, and the state of its commit. */
struct Access {
	std::uint32_t number = 0;
	std::size_t shard = 0;
	std::uint64_t cell = 0;
	AccessMemory memory;
	Request request;        /**< to read and to prepare it */
	Request object_ahead;   /**< its ALLOCATE, if that is not in the chain of another request */
	Request end;            /**< to install or to give up the new version */
	std::size_t asked = 0;  /**< bytes of the object that a fetch has asked for */
	bool with_cell = false; /**< the cell is read together with the object */
	bool fetched = false;
	/** True if, at some moment since the attempt began, this was the version and nobody had prepared another. */
	bool settled = false;
	/** True if the value was still valid when the previous attempt ended: the next one need not read it. */
	bool kept = false;
	Timestamp read; /**< version that was read */
	ObjectView object;
	std::vector<Change> changes;

	/* For the commit */
	std::uint32_t entry = 0; /**< number of its log entry */
	Announcement announcement;
	bool holds = false;     /**< when it was validated, nobody had prepared another version */
	bool valid = false;     /**< holds, and is prepared if it is to be written */
	bool raised = false;    /**< this transaction is the prepared writer */
	bool installed = false; /**< the new version was installed, by this client or another */
	bool empties = false;   /**< the new version has no keys */
	std::uint32_t free_list = 0;
	std::uint64_t staged_over = 0; /**< number of the connection over which the new object was staged */
	std::size_t size = 0;          /**< of the new object */

	[[nodiscard]] bool is_write() const noexcept { return !changes.empty(); }
};

/** The reads and changes of one attempt. */
class Execution
{
public:
	/** Returns the bytes of registered memory that it needs, aligned to 64, beside those for objects. */
	static std::size_t memory_size() noexcept;
	/**
	 * Returns the bytes that it takes of ClientState::memory for the objects, of up to @p room bytes, of its first
	 * accesses.
	 */
	static std::size_t first_rooms(std::size_t room) noexcept;

	/** @p memory: memory_size() bytes, cleared. @p room: bytes of the largest object. */
	Execution(Lane &lane, std::byte *memory, std::size_t room);
	Execution(const Execution &) = delete;
	Execution &operator=(const Execution &) = delete;

	/** Starts a new, empty attempt. Nothing may be under way. */
	void begin() noexcept;
	/** Drops all values kept for the next attempt: it is of another job. */
	void forget() noexcept;
	/** As Transaction's functions of the same names. */
	apps::Task<int> fetch(std::span<const Bytes> keys);
	[[nodiscard]] std::optional<Bytes> value(Bytes key) const noexcept;
	/** As Transaction::write(). No @p value: erases. */
	int change(Bytes key, std::optional<Bytes> value) noexcept;

	/** Reads the cells that are written and were not read. Returns 0 or errno. */
	apps::Task<int> fetch_changed() { return fetch_all(true); }

	[[nodiscard]] std::span<Access> accesses() noexcept { return {accesses_.data(), count_}; }
	/** Returns all accesses, used or not, by number. */
	[[nodiscard]] std::span<Access> all_accesses() noexcept { return accesses_; }
	[[nodiscard]] Access *first_write() noexcept;

private:
	[[nodiscard]] const Access *find(Bytes key) const noexcept;
	int access(Bytes key, Access *&found) noexcept;
	int make_rooms() noexcept;
	Bytes keep(Bytes bytes);
	void post_fetch(Access &access, std::size_t length) noexcept;
	[[nodiscard]] static bool is_of_its_cell(const Access &access) noexcept;
	int take_object(Access &access, bool &longer) noexcept;
	int take_fetched(Access &access, bool &again) noexcept;
	apps::Task<int> fetch_all(bool changed_only);

	Lane &lane_;
	std::vector<Access> accesses_;
	std::size_t count_ = 0;
	const std::size_t room_;
	std::size_t with_rooms_ = 0; /* accesses with room for objects */
	std::vector<std::byte> room_to_keep_;
	std::pmr::monotonic_buffer_resource kept_; /* keys and values of changes */
	std::size_t usual_size_ = 1024;            /* bytes that a fetch asks for: grows with the objects */
};

} // namespace prism::tx
