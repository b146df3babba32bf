/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects, which cells point at. A header { timestamp of the writer 16, bytes in all 4, records 4 }, then the records
 * one behind the other: { bytes of the key 4, of the value 4, key, value }.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tx/store/timestamp.hpp"

namespace prism::tx
{

struct ObjectHeader {
	Timestamp written;
	std::uint32_t size = 0; /**< bytes of the whole object */
	std::uint32_t records = 0;
};
constexpr std::size_t object_header_size = 24;

/**
 * Returns the tag of the pointer to the object that @p written has written: it tells this object from others that were
 * in the same cell. It is a hash, since consecutive timestamps are alike: clocks one apart, of neighbouring lanes.
 */
constexpr std::uint32_t tag_of(const Timestamp &written) noexcept
{
	std::uint64_t mixed = written.clock * 0x9e3779b97f4a7c15;
	mixed = (mixed ^ mixed >> 32 ^ written.writer) * 0xd1342543de82ef95;
	return static_cast<std::uint32_t>((mixed ^ mixed >> 29) >> 32);
}

/** One key and its value, in the object. */
struct Record {
	static constexpr std::size_t header_size = 8;

	Bytes key;
	Bytes value;

	[[nodiscard]] std::size_t size() const noexcept { return header_size + key.size() + value.size(); }
};

/** An object as it was read. Whoever wrote it is not trusted: it is checked when this is made. */
class ObjectView
{
public:
	/** Returns nothing if these bytes are no object. */
	static std::optional<ObjectView> parse(Bytes bytes) noexcept;
	/** Makes the view of a cell without keys. */
	ObjectView() = default;

	[[nodiscard]] const ObjectHeader &header() const noexcept { return header_; }
	[[nodiscard]] std::optional<Bytes> find(Bytes key) const noexcept;

	/** Calls @p each with every record. */
	template <typename Each>
	void for_each(Each each) const
	{
		for (Bytes rest = records_; !rest.empty();)
			each(take(rest));
	}

private:
	static Record take(Bytes &rest) noexcept;

	ObjectHeader header_;
	Bytes records_;
};

/** Returns the bytes of the whole object that begins with @p bytes, at least object_header_size of them. */
std::uint32_t object_size(Bytes bytes) noexcept;

/** Builder of an object. */
class ObjectWriter
{
public:
	/** Builds in @p room, which has at least object_header_size bytes. */
	explicit ObjectWriter(std::span<std::byte> room) noexcept : room_(room) {}

	/** Returns false if there is no room for @p record. */
	bool add(const Record &record) noexcept;
	/** Returns the size of the object so far. */
	[[nodiscard]] std::size_t size() const noexcept { return size_; }
	[[nodiscard]] bool empty() const noexcept { return records_ == 0; }
	/** Completes the object. Another call may change its timestamp. */
	void finish(const Timestamp &written) noexcept;

private:
	std::span<std::byte> room_;
	std::size_t size_ = object_header_size;
	std::uint32_t records_ = 0;
};

} // namespace prism::tx
