/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The scan of a log's segment with any damage. Input: four bytes that say what is trusted and how the rest is used,
 * then bytes that are mixed into a segment with good entries, so that the checksums do not keep the fuzzer out. Entries
 * that the scan returns must be in order, inside the file and without gaps but for those that it reports.
 */
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gam/membership/log_scan.hpp"

namespace
{

using namespace prism::gam;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

/* Returns a segment with entries of both sizes */
std::vector<std::byte> good_segment(const SegmentHead &head)
{
	std::vector<std::byte> file(4096);
	head.serialize(file.data());
	std::size_t end = SegmentHead::size;
	const std::array<std::byte, block_size> data{std::byte{7}};
	for (std::uint64_t sequence = head.first; sequence < head.first + 10; sequence++) {
		Entry entry{EntryKind::transfer, 3, Address(2, sequence * block_size), sequence, sequence, sequence, {},
			sequence % 4 == 0};
		if (sequence % 2) {
			entry.kind = EntryKind::data;
			entry.data = data;
		}
		entry.serialize(&file[end], head.seed());
		end += entry.size();
	}
	return file;
}

void check(std::span<const std::byte> file, const SegmentHead &head, std::uint64_t trusted)
{
	std::uint64_t next = head.first;
	std::uint64_t seen = 0;
	const Scanned scanned = scan(file, head, trusted, [&](const Entry &entry) {
		require(entry.sequence >= next && entry.order <= entry.sequence);
		require(entry.data.empty() ||
			(entry.data.data() >= file.data() &&
				entry.data.data() + entry.data.size() <= file.data() + file.size()));
		next = entry.sequence + 1;
		seen++;
	});
	std::uint64_t missing = 0;
	for (const Missing &gap : scanned.missing) {
		require(gap.first < gap.until && gap.until <= trusted + 1);
		missing += gap.until - gap.first;
	}
	require(scanned.end <= file.size());
	require(scanned.next == head.first + seen + missing);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	if (size < 4)
		return 0;
	const SegmentHead head{5, 6, 2, 1, 1, {}, 9};
	const std::uint64_t trusted = data[0] % 32;
	std::vector<std::byte> file = data[1] % 4 ? good_segment(head) : std::vector<std::byte>{};
	const auto bytes = std::as_bytes(std::span(data, size).subspan(4));
	if (file.empty()) {
		file.assign(bytes.begin(), bytes.end());
		(void)SegmentHead::parse(file);
	} else {
		const std::size_t at = (data[2] << 8 | data[3]) % file.size();
		const std::size_t count = std::min(bytes.size(), file.size() - at);
		std::copy_n(bytes.begin(), count, &file[at]);
		if (data[1] % 4 == 2)
			file.resize(at + count); /* the file ends there */
	}
	check(file, head, trusted);
	return 0;
}
