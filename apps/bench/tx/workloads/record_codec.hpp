/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Records as values of a store: the fields one after another, numbers in network order, texts with their length before
 * them and no longer than they are. A record has a function fields(self) that ties its members.
 */
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/wire.hpp"
#include "tx/transaction/transaction.hpp"

namespace prism::tx
{

/** A text of at most @p N bytes, in place. */
template <std::size_t N>
class Text
{
public:
	using Length = std::conditional_t<N <= 255, std::uint8_t, std::uint16_t>;
	static constexpr std::size_t capacity = N;

	/** Cuts off the part that does not fit. */
	void assign(std::string_view text) noexcept
	{
		length_ = static_cast<Length>(std::min(text.size(), N));
		std::memcpy(chars_.data(), text.data(), length_);
	}
	[[nodiscard]] std::string_view view() const noexcept { return {chars_.data(), length_}; }

private:
	Length length_ = 0;
	std::array<char, N> chars_{};
};

class Encoder
{
public:
	explicit Encoder(std::byte *to) noexcept : begin_(to), to_(to) {}

	template <std::integral T>
	void operator()(T number) noexcept
	{
		apps::store(to_, static_cast<std::make_unsigned_t<T>>(number));
		to_ += sizeof(T);
	}
	template <std::size_t N>
	void operator()(const Text<N> &text) noexcept
	{
		const std::string_view chars = text.view();
		(*this)(static_cast<typename Text<N>::Length>(chars.size()));
		std::memcpy(to_, chars.data(), chars.size());
		to_ += chars.size();
	}

	[[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(to_ - begin_); }

private:
	std::byte *begin_;
	std::byte *to_;
};

class Decoder
{
public:
	explicit Decoder(Bytes from) noexcept : from_(from) {}

	template <std::integral T>
	void operator()(T &number) noexcept
	{
		if (!has(sizeof(T)))
			return;
		number = static_cast<T>(apps::load<std::make_unsigned_t<T>>(from_.data()));
		from_ = from_.subspan(sizeof(T));
	}
	template <std::size_t N>
	void operator()(Text<N> &text) noexcept
	{
		typename Text<N>::Length length = 0;
		(*this)(length);
		if (length > N || !has(length)) {
			whole_ = false;
			return;
		}
		text.assign({reinterpret_cast<const char *>(from_.data()), length});
		from_ = from_.subspan(length);
	}

	/** Returns true if the fields took exactly all of the value. */
	[[nodiscard]] bool done() const noexcept { return whole_ && from_.empty(); }

private:
	bool has(std::size_t size) noexcept
	{
		whole_ = whole_ && from_.size() >= size;
		return whole_;
	}

	Bytes from_;
	bool whole_ = true;
};

template <std::integral T>
constexpr std::size_t largest_field(const T *) noexcept
{
	return sizeof(T);
}
template <std::size_t N>
constexpr std::size_t largest_field(const Text<N> *) noexcept
{
	return sizeof(typename Text<N>::Length) + N;
}

/** Returns the bytes of the largest value of a @p Record. */
template <typename Record>
constexpr std::size_t largest_record() noexcept
{
	using Fields = decltype(Record::fields(std::declval<Record &>()));
	return []<typename... Field>(std::type_identity<std::tuple<Field &...>>) {
		return (largest_field(static_cast<const Field *>(nullptr)) + ...);
	}(std::type_identity<Fields>());
}

/**
 * Encodes @p record into @p buffer, which has at least largest_record() bytes.
 * @return the used part of @p buffer.
 */
template <typename Record>
[[nodiscard]] Bytes encode(const Record &record, std::span<std::byte> buffer) noexcept
{
	Encoder encoder(buffer.data());
	std::apply([&](const auto &...field) { (encoder(field), ...); }, Record::fields(record));
	return buffer.first(encoder.size());
}

/** Returns true if @p value is exactly one @p record. If not, @p record has unspecified contents. */
template <typename Record>
[[nodiscard]] bool decode(Bytes value, Record &record) noexcept
{
	Decoder decoder(value);
	std::apply([&](auto &...field) { (decoder(field), ...); }, Record::fields(record));
	return decoder.done();
}

} // namespace prism::tx
