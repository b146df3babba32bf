/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "exchange.hpp"

#include <algorithm>
#include <bit>
#include <concepts>

namespace prism::perftest
{

namespace
{

constexpr std::uint32_t frame_magic = 0x50525054; /* "PRPT" */
constexpr std::size_t longest_refusal = 500;

class Writer
{
public:
	explicit Writer(FrameType type)
	{
		put(frame_magic);
		put(exchange_version);
		put(static_cast<std::uint16_t>(type));
		put(std::uint32_t{0}); /* the length, filled in at the end */
	}

	template <std::unsigned_integral T>
	void put(T value)
	{
		for (int shift = 8 * (sizeof(T) - 1); shift >= 0; shift -= 8)
			bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
	}

	void put(std::span<const std::uint8_t> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }

	Bytes finish()
	{
		const std::size_t length = bytes_.size() - frame_header_size;
		for (std::size_t i = 0; i < 4; i++)
			bytes_[8 + i] = static_cast<std::uint8_t>(length >> (24 - 8 * i));
		return std::move(bytes_);
	}

private:
	Bytes bytes_;
};

/* Reads fields. Past the end it returns zeros and remembers that: one check at the end covers all fields. */
class Reader
{
public:
	explicit Reader(std::span<const std::uint8_t> data) : rest_(data) {}

	template <std::unsigned_integral T>
	T get()
	{
		T value = 0;
		for (std::size_t i = 0; i < sizeof(T); i++)
			value = static_cast<T>(value << 8 | next());
		return value;
	}

	template <std::unsigned_integral T>
	void get(T &value)
	{
		value = get<T>();
	}

	template <std::size_t N>
	void get(std::array<std::uint8_t, N> &value)
	{
		for (std::uint8_t &byte : value)
			byte = next();
	}

	[[nodiscard]] bool complete() const { return !failed_ && rest_.empty(); }

private:
	std::uint8_t next()
	{
		if (rest_.empty()) {
			failed_ = true;
			return 0;
		}
		const std::uint8_t byte = rest_.front();
		rest_ = rest_.subspan(1);
		return byte;
	}

	std::span<const std::uint8_t> rest_;
	bool failed_ = false;
};

void put_side(Writer &writer, const Side &side)
{
	writer.put(side.capability);
	writer.put(side.gid);
	writer.put(side.mtu);
	writer.put(side.max_rd_atomic);
	writer.put(static_cast<std::uint16_t>(side.qps.size()));
	for (const QueuePairAddress &qp : side.qps) {
		writer.put(qp.number);
		writer.put(qp.psn);
	}
}

bool get_side(Reader &reader, Side &side)
{
	reader.get(side.capability);
	reader.get(side.gid);
	reader.get(side.mtu);
	reader.get(side.max_rd_atomic);
	const std::size_t count = reader.get<std::uint16_t>();
	if (count > most_qps)
		return false;
	bool fits = true;
	for (std::size_t i = 0; i < count; i++) {
		QueuePairAddress qp;
		reader.get(qp.number);
		reader.get(qp.psn);
		fits &= qp.number < 1 << 24 && qp.psn < 1 << 24;
		side.qps.push_back(qp);
	}
	return fits && std::has_single_bit(side.mtu) && side.mtu >= 256 && side.mtu <= 4096;
}

void put_geometry(Writer &writer, const Geometry &plan)
{
	for (const std::uint32_t value :
		{plan.largest_message, plan.qps, plan.depth, plan.contestants, plan.objects, plan.ring, plan.buffers})
		writer.put(value);
}

void get_geometry(Reader &reader, Geometry &plan)
{
	for (std::uint32_t *value : {&plan.largest_message, &plan.qps, &plan.depth, &plan.contestants, &plan.objects,
		     &plan.ring, &plan.buffers})
		reader.get(*value);
}

/* Reads an enumerator from the wire, checked against the last one. */
template <typename Enum>
bool get_enum(Reader &reader, Enum &value, Enum first, Enum last)
{
	value = static_cast<Enum>(reader.get<std::uint8_t>());
	return value >= first && value <= last;
}

std::span<const std::uint8_t> as_bytes(const std::string &text)
{
	return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

} // namespace

Bytes encode(const Hello &hello)
{
	Writer writer(FrameType::hello);
	writer.put(static_cast<std::uint8_t>(hello.tool.operation));
	writer.put(static_cast<std::uint8_t>(hello.tool.metric));
	writer.put(static_cast<std::uint8_t>(hello.chain));
	writer.put(static_cast<std::uint8_t>(hello.cas_mode));
	put_geometry(writer, hello.geometry);
	put_side(writer, hello.side);
	return writer.finish();
}

Bytes encode(const Welcome &welcome)
{
	Writer writer(FrameType::welcome);
	writer.put(welcome.base);
	writer.put(welcome.rkey);
	writer.put(welcome.scratch);
	writer.put(welcome.scratch_rkey);
	writer.put(welcome.free_list);
	put_side(writer, welcome.side);
	return writer.finish();
}

Bytes encode_refusal(const std::string &reason)
{
	Writer writer(FrameType::refusal);
	writer.put(as_bytes(reason.substr(0, longest_refusal)));
	return writer.finish();
}

Bytes encode_returned(std::span<const std::uint64_t> addresses)
{
	Writer writer(FrameType::returned);
	for (const std::uint64_t address : addresses)
		writer.put(address);
	return writer.finish();
}

Bytes encode_finished(const std::string &results)
{
	Writer writer(FrameType::finished);
	writer.put(as_bytes(results));
	return writer.finish();
}

std::optional<FrameHeader> decode_header(std::span<const std::uint8_t, frame_header_size> bytes)
{
	Reader reader(bytes);
	if (reader.get<std::uint32_t>() != frame_magic || reader.get<std::uint16_t>() != exchange_version)
		return {};
	FrameHeader header{};
	header.type = static_cast<FrameType>(reader.get<std::uint16_t>());
	header.length = reader.get<std::uint32_t>();
	if (header.type < FrameType::hello || header.type > FrameType::finished || header.length > largest_frame)
		return {};
	return header;
}

std::optional<Hello> decode_hello(std::span<const std::uint8_t> body)
{
	Reader reader(body);
	Hello hello;
	bool good = get_enum(reader, hello.tool.operation, Operation::read, Operation::chain);
	good &= get_enum(reader, hello.tool.metric, Metric::latency, Metric::bandwidth);
	good &= get_enum(reader, hello.chain, ChainKind::alloc_cas, ChainKind::write_alloc_cas);
	good &= get_enum(reader, hello.cas_mode, CasMode::equal, CasMode::less);
	get_geometry(reader, hello.geometry);
	good &= get_side(reader, hello.side);
	if (!good || !reader.complete() || hello.side.qps.size() != hello.geometry.qps)
		return {};
	return hello;
}

std::optional<Welcome> decode_welcome(std::span<const std::uint8_t> body)
{
	Reader reader(body);
	Welcome welcome;
	reader.get(welcome.base);
	reader.get(welcome.rkey);
	reader.get(welcome.scratch);
	reader.get(welcome.scratch_rkey);
	reader.get(welcome.free_list);
	if (!get_side(reader, welcome.side) || !reader.complete())
		return {};
	return welcome;
}

std::optional<std::vector<std::uint64_t>> decode_returned(std::span<const std::uint8_t> body)
{
	if (body.size() % sizeof(std::uint64_t) || body.size() > most_returned * sizeof(std::uint64_t))
		return {};
	Reader reader(body);
	std::vector<std::uint64_t> addresses(body.size() / sizeof(std::uint64_t));
	for (std::uint64_t &address : addresses)
		reader.get(address);
	return addresses;
}

std::string printable(std::span<const std::uint8_t> text)
{
	std::string result(
		text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), longest_refusal)));
	std::replace_if(
		result.begin(), result.end(), [](char byte) { return byte < ' ' || byte > '~'; }, '?');
	return result;
}

} // namespace prism::perftest
