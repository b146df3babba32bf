/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/log_entry.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "service/self_verifying.hpp"

namespace prism::gam
{

namespace
{

static_assert(std::endian::native == std::endian::little, "logs are little-endian");

constexpr std::uint64_t magic = 0x474f4c4d53495250;          /* "PRISMLOG" */
constexpr std::size_t checked_head = 88;                     /* bytes; their checksum follows */
constexpr unsigned began_at = 16;                            /* bit, above the node */
constexpr std::uint64_t failed_gap = std::uint64_t{1} << 63; /* beside the sequence of the gap */

template <typename T>
void put(std::byte *to, T value) noexcept
{
	std::memcpy(to, &value, sizeof(value));
}

template <typename T>
T get(std::span<const std::byte> from, std::size_t at) noexcept
{
	T value;
	std::memcpy(&value, &from[at], sizeof(value));
	return value;
}

bool objects_fit(std::uint64_t bytes, std::uint64_t objects) noexcept
{
	constexpr std::uint64_t most = 32;
	if (bytes >= block_size)
		return objects == 1;
	return bytes >= block_size / most && !(objects >> block_size / bytes);
}

bool is_sound(const Entry &entry, std::size_t length) noexcept
{
	if (!entry.sequence || !entry.order || entry.order > entry.sequence)
		return false;
	switch (entry.kind) {
	case EntryKind::data:
		return length == block_size && !entry.block.in_block();
	case EntryKind::transfer:
		return !entry.block.in_block() && entry.node < max_nodes;
	case EntryKind::piece:
		return !length;
	case EntryKind::allocation:
		return !entry.block.in_block() && (!length || objects_fit(entry.counter, length));
	}
	return false;
}

/* Returns the life of the new owner above bit 0, which says if it keeps a log. */
std::uint32_t owner_word(const Entry &entry) noexcept
{
	const std::uint64_t life = entry.owner_life >> 31 ? 0 : entry.owner_life;
	return static_cast<std::uint32_t>(life << 1 | (entry.owner_logs ? 1 : 0));
}

std::uint32_t word_of_kind(const Entry &entry) noexcept
{
	if (entry.kind == EntryKind::allocation)
		return entry.objects;
	return entry.kind == EntryKind::transfer ? owner_word(entry) : static_cast<std::uint32_t>(entry.data.size());
}

} // namespace

void Entry::serialize(std::byte *to, std::uint64_t seed) const noexcept
{
	put(to + 8, sequence);
	put(to + 16, order);
	put(to + 24, block.value);
	put(to + 32, counter);
	put(to + 40, static_cast<std::uint16_t>(kind));
	put(to + 42, node);
	put(to + 44, word_of_kind(*this));
	std::copy(data.begin(), data.end(), to + header_size);
	put(to, apps::crc64({to + 8, size() - 8}, seed));
}

std::optional<Entry> Entry::parse(std::span<const std::byte> bytes, std::uint64_t seed) noexcept
{
	if (bytes.size() < header_size)
		return std::nullopt;
	Entry entry;
	const std::size_t length = get<std::uint32_t>(bytes, 44);
	const auto kind = get<std::uint16_t>(bytes, 40);
	if (kind > static_cast<std::uint16_t>(EntryKind::allocation))
		return std::nullopt;
	entry.kind = static_cast<EntryKind>(kind);
	entry.sequence = get<std::uint64_t>(bytes, 8);
	entry.order = get<std::uint64_t>(bytes, 16);
	entry.block = Address(get<std::uint64_t>(bytes, 24));
	entry.counter = get<std::uint64_t>(bytes, 32);
	entry.node = get<NodeId>(bytes, 42);
	const std::size_t data_size = entry.kind == EntryKind::data ? length : 0;
	if (!is_sound(entry, length) || bytes.size() - header_size < data_size)
		return std::nullopt;
	if (entry.kind == EntryKind::transfer) {
		entry.owner_logs = length & 1;
		entry.owner_life = length >> 1;
	} else if (entry.kind == EntryKind::allocation) {
		entry.objects = static_cast<std::uint32_t>(length);
	}
	entry.data = bytes.subspan(header_size, data_size);
	if (apps::crc64(bytes.subspan(8, entry.size() - 8), seed) != get<std::uint64_t>(bytes, 0))
		return std::nullopt;
	return entry;
}

void SegmentHead::serialize(std::byte *to) const noexcept
{
	std::fill_n(to, size, std::byte{});
	put(to, magic);
	put(to + 8, std::uint32_t{1}); /* version */
	put(to + 12, static_cast<std::uint32_t>(size));
	put(to + 16, cluster);
	put(to + 24, incarnation);
	put(to + 32, number);
	put(to + 40, first);
	put(to + 48, node | began << began_at);
	std::copy(boot.begin(), boot.end(), to + 56);
	put(to + 72, salt);
	put(to + 80, gap | (failed ? failed_gap : 0));
	put(to + checked_head, apps::crc64({to, checked_head}));
}

std::uint64_t SegmentHead::seed() const noexcept
{
	std::array<std::byte, size> bytes;
	serialize(bytes.data());
	return get<std::uint64_t>(bytes, checked_head);
}

std::optional<SegmentHead> SegmentHead::parse(std::span<const std::byte> bytes) noexcept
{
	if (bytes.size() < size || get<std::uint64_t>(bytes, 0) != magic || get<std::uint32_t>(bytes, 8) != 1 ||
		get<std::uint32_t>(bytes, 12) != size ||
		get<std::uint64_t>(bytes, checked_head) != apps::crc64(bytes.first(checked_head)))
		return std::nullopt;
	SegmentHead head;
	head.cluster = get<std::uint64_t>(bytes, 16);
	head.incarnation = get<std::uint64_t>(bytes, 24);
	head.number = get<std::uint64_t>(bytes, 32);
	head.first = get<std::uint64_t>(bytes, 40);
	head.node = get<NodeId>(bytes, 48);
	head.began = get<std::uint64_t>(bytes, 48) >> began_at;
	if (head.node >= max_nodes || !head.first)
		return std::nullopt;
	std::copy_n(&bytes[56], head.boot.size(), head.boot.begin());
	head.salt = get<std::uint64_t>(bytes, 72);
	head.gap = get<std::uint64_t>(bytes, 80) & ~failed_gap;
	head.failed = get<std::uint64_t>(bytes, 80) & failed_gap;
	return head;
}

} // namespace prism::gam
