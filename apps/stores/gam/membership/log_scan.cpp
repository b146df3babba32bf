/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "gam/membership/log_scan.hpp"

#include <algorithm>
#include <optional>

namespace prism::gam
{

namespace
{

constexpr std::size_t alignment = 16; /* of entries: both sizes are multiples of it */
static_assert(Entry::header_size % alignment == 0 && block_size % alignment == 0 && SegmentHead::size % alignment == 0);

struct Found {
	Entry entry;
	std::size_t offset;
};

/* Finds the first good entry at or after @p offset with a sequence from @p least to @p most. */
std::optional<Found> find(std::span<const std::byte> file, std::size_t offset, std::uint64_t seed, std::uint64_t least,
	std::uint64_t most)
{
	for (; offset + Entry::header_size <= file.size(); offset += alignment) {
		const auto entry = Entry::parse(file.subspan(offset), seed);
		if (entry && entry->sequence >= least && entry->sequence <= most)
			return Found{*entry, offset};
	}
	return std::nullopt;
}

} // namespace

Scanned scan(std::span<const std::byte> file, const SegmentHead &head, std::uint64_t trusted, const VisitEntry &visit)
{
	Scanned scanned{std::min(SegmentHead::size, file.size()), head.first, {}};
	const std::uint64_t seed = head.seed();
	while (true) {
		std::optional<Found> found;
		if (const auto entry = Entry::parse(file.subspan(scanned.end), seed);
			entry && entry->sequence == scanned.next)
			found = Found{*entry, scanned.end};
		else if (scanned.next <= trusted)
			found = find(file, scanned.end, seed, scanned.next + 1, trusted);
		if (!found)
			break;
		if (found->entry.sequence != scanned.next)
			scanned.missing.push_back({head.number, scanned.end, scanned.next, found->entry.sequence});
		scanned.end = found->offset + found->entry.size();
		scanned.next = found->entry.sequence + 1;
		if (visit)
			visit(found->entry);
	}
	if (scanned.next <= trusted) {
		scanned.missing.push_back({head.number, scanned.end, scanned.next, trusted + 1});
		scanned.next = trusted + 1;
	}
	return scanned;
}

} // namespace prism::gam
