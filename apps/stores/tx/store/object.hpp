/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects: what a cell points at. A header { timestamp of the writer 16, bytes in all 4, records 4 }, then the records
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
 * Of the pointer to the object that @p written has written: tells it from others that were in the same cell. It is a
 * hash, since timestamps that follow each other are alike: clocks one apart, of lanes side by side.
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

/** An object as it was read, by anyone who may have written anything: checked when it is made. */
class ObjectView
{
public:
	/** Nothing: these bytes are no object. */
	static std::optional<ObjectView> parse(Bytes bytes) noexcept;
	/** Of a cell without keys. */
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

/** The bytes of the whole object that begins with @p bytes, at least object_header_size of them. */
std::uint32_t object_size(Bytes bytes) noexcept;

/** Puts an object together. */
class ObjectWriter
{
public:
	/** In @p room, whose first object_header_size bytes are there. */
	explicit ObjectWriter(std::span<std::byte> room) noexcept : room_(room) {}

	/** False: there is no room for it. */
	bool add(const Record &record) noexcept;
	/** Of the object so far. */
	[[nodiscard]] std::size_t size() const noexcept { return size_; }
	[[nodiscard]] bool empty() const noexcept { return records_ == 0; }
	/** Completes it. Its timestamp may be changed by another call. */
	void finish(const Timestamp &written) noexcept;

private:
	std::span<std::byte> room_;
	std::size_t size_ = object_header_size;
	std::uint32_t records_ = 0;
};

} // namespace prism::tx
