/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "object.hpp"

#include <algorithm>
#include <cstring>

namespace prism::tx
{

namespace
{

template <typename T>
T load(Bytes bytes, std::size_t offset) noexcept
{
	T value;
	std::memcpy(&value, bytes.data() + offset, sizeof(value));
	return value;
}

} // namespace

std::uint32_t object_size(Bytes bytes) noexcept
{
	return load<std::uint32_t>(bytes, sizeof(Timestamp));
}

std::optional<ObjectView> ObjectView::parse(Bytes bytes) noexcept
{
	if (bytes.size() < object_header_size)
		return std::nullopt;
	ObjectView view;
	view.header_.written = load<Timestamp>(bytes, 0);
	view.header_.size = object_size(bytes);
	view.header_.records = load<std::uint32_t>(bytes, 20);
	if (view.header_.size < object_header_size || view.header_.size > bytes.size())
		return std::nullopt;
	view.records_ = bytes.subspan(object_header_size, view.header_.size - object_header_size);
	std::uint64_t records = 0;
	for (Bytes rest = view.records_; !rest.empty(); records++) {
		if (rest.size() < Record::header_size)
			return std::nullopt;
		const std::uint64_t size = Record::header_size + std::uint64_t{load<std::uint32_t>(rest, 0)} +
					   load<std::uint32_t>(rest, 4);
		if (size > rest.size())
			return std::nullopt;
		rest = rest.subspan(size);
	}
	if (records != view.header_.records)
		return std::nullopt;
	return view;
}

Record ObjectView::take(Bytes &rest) noexcept
{
	const auto key = load<std::uint32_t>(rest, 0);
	const auto value = load<std::uint32_t>(rest, 4);
	const Record record{rest.subspan(Record::header_size, key), rest.subspan(Record::header_size + key, value)};
	rest = rest.subspan(record.size());
	return record;
}

std::optional<Bytes> ObjectView::find(Bytes key) const noexcept
{
	for (Bytes rest = records_; !rest.empty();) {
		const Record record = take(rest);
		if (std::ranges::equal(record.key, key))
			return record.value;
	}
	return std::nullopt;
}

bool ObjectWriter::add(const Record &record) noexcept
{
	if (record.size() > room_.size() - size_)
		return false;
	std::byte *to = room_.data() + size_;
	const std::uint32_t sizes[] = {
		static_cast<std::uint32_t>(record.key.size()), static_cast<std::uint32_t>(record.value.size())};
	std::memcpy(to, sizes, sizeof(sizes));
	to += Record::header_size;
	if (!record.key.empty())
		std::memcpy(to, record.key.data(), record.key.size());
	if (!record.value.empty())
		std::memcpy(to + record.key.size(), record.value.data(), record.value.size());
	size_ += record.size();
	records_++;
	return true;
}

void ObjectWriter::finish(const Timestamp &written) noexcept
{
	const std::uint32_t sizes[] = {static_cast<std::uint32_t>(size_), records_};
	std::memcpy(room_.data(), &written, sizeof(written));
	std::memcpy(room_.data() + sizeof(written), sizes, sizeof(sizes));
}

} // namespace prism::tx
