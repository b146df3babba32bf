/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "history.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>

namespace prism::serializability
{

namespace
{

static_assert(std::endian::native == std::endian::little, "sizes of records are little-endian");

struct Header {
	std::array<char, 8> magic{'P', 'R', 'I', 'S', 'M', 'T', 'X', 'N'};
	std::uint32_t version = 1;
	HistoryKind kind = HistoryKind::registers;
	std::array<std::uint8_t, 3> reserved{};
};
static_assert(sizeof(Header) == 16);

using Size = std::uint32_t; /* in front of each record; 0: no more records */

constexpr std::size_t window_size = 2 * HistoryWriter::longest_record;
constexpr std::size_t page = 4096;
constexpr std::size_t longest_number = 10; /* bytes of a variable-length number */
constexpr std::uint64_t most_indices = std::numeric_limits<std::uint32_t>::max() / 2;

/* The first byte of a record: the outcome in two bits, and these. */
constexpr std::uint8_t outcome_mask = 3;
constexpr std::uint8_t intent_bit = 4;
constexpr std::uint8_t stamp_bit = 8;
constexpr std::uint8_t all_bits = outcome_mask | intent_bit | stamp_bit;

std::size_t worst_size(const Draft &transaction)
{
	constexpr std::size_t fixed = sizeof(Size) + 1 + 7 * longest_number;
	constexpr std::size_t operation = 1 + 2 * longest_number;
	return fixed + transaction.operations.size() * operation + transaction.elements.size() * longest_number;
}

/* Writes into a buffer with enough room. Numbers are little-endian in groups of 7 bits, the last one without bit 7. */
class Encoder
{
public:
	explicit Encoder(std::byte *at) : at_(at) {}

	void byte(std::uint8_t value) noexcept { *at_++ = std::byte{value}; }
	void number(std::uint64_t value) noexcept
	{
		for (; value >= 0x80; value >>= 7)
			byte(static_cast<std::uint8_t>(value | 0x80));
		byte(static_cast<std::uint8_t>(value));
	}
	[[nodiscard]] std::byte *at() const noexcept { return at_; }

private:
	std::byte *at_;
};

/* Reads untrusted bytes. After the first failure everything is 0. */
class Decoder
{
public:
	explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

	std::uint8_t byte() noexcept
	{
		if (bytes_.empty()) {
			failed_ = true;
			return 0;
		}
		const auto value = static_cast<std::uint8_t>(bytes_.front());
		bytes_ = bytes_.subspan(1);
		return value;
	}
	std::uint64_t number() noexcept
	{
		std::uint64_t value = 0;
		for (unsigned shift = 0; shift < 64; shift += 7) {
			const std::uint8_t group = byte();
			if (shift == 63 && group > 1)
				break;
			value |= static_cast<std::uint64_t>(group & 0x7f) << shift;
			if (group < 0x80)
				return value;
		}
		failed_ = true;
		bytes_ = {};
		return 0;
	}
	[[nodiscard]] bool failed() const noexcept { return failed_; }
	[[nodiscard]] std::size_t left() const noexcept { return bytes_.size(); }

private:
	std::span<const std::byte> bytes_;
	bool failed_ = false;
};

void encode(Encoder &encoder, const Draft &transaction, HistoryKind kind, bool intent) noexcept
{
	const bool stamped = transaction.stamp.known();
	const auto outcome = intent ? Outcome::unknown : transaction.outcome;
	encoder.byte(static_cast<std::uint8_t>(
		static_cast<unsigned>(outcome) | (intent ? intent_bit : 0U) | (stamped ? stamp_bit : 0U)));
	encoder.number(transaction.client);
	encoder.number(transaction.sequence);
	if (stamped) {
		encoder.number(transaction.stamp.clock);
		encoder.number(transaction.stamp.writer);
	}
	encoder.number(transaction.invoked);
	if (outcome != Outcome::unknown)
		encoder.number(transaction.responded - transaction.invoked);
	encoder.number(transaction.operations.size());
	for (const Operation &operation : transaction.operations) {
		encoder.byte(static_cast<std::uint8_t>(operation.action));
		encoder.number(operation.key);
		if (operation.action == Action::erase)
			continue;
		if (kind != HistoryKind::lists || operation.action != Action::read) {
			encoder.number(operation.value);
			continue;
		}
		encoder.number(operation.length);
		for (std::uint32_t i = 0; i < operation.length; i++)
			encoder.number(transaction.elements[operation.value + i]);
	}
}

/* Decodes an operation; returns why the record is invalid, or nullptr. */
const char *decode_operation(Decoder &decoder, Draft &into, HistoryKind kind)
{
	const auto action = static_cast<Action>(decoder.byte());
	const std::uint64_t key = decoder.number();
	if (action == Action::erase) {
		into.erase(key);
		return nullptr;
	}
	if (kind != HistoryKind::lists || action != Action::read) {
		into.operations.push_back({.key = key, .value = decoder.number(), .action = action});
		return nullptr;
	}
	const std::uint64_t length = decoder.number();
	if (length > decoder.left())
		return "a list that is longer than its record";
	into.operations.push_back({.key = key,
		.value = into.elements.size(),
		.length = static_cast<std::uint32_t>(length),
		.action = action});
	for (std::uint64_t i = 0; i < length; i++)
		into.elements.push_back(decoder.number());
	return nullptr;
}

const char *decode(Decoder &decoder, Draft &into, HistoryKind kind, bool &intent)
{
	into.clear();
	const std::uint8_t bits = decoder.byte();
	intent = (bits & intent_bit) != 0;
	into.outcome = static_cast<Outcome>(bits & outcome_mask);
	if ((bits & ~all_bits) != 0 || into.outcome > Outcome::aborted)
		return "an unknown outcome";
	if (intent && into.outcome != Outcome::unknown)
		return "an intention with an outcome";
	const std::uint64_t client = decoder.number();
	if (client > std::numeric_limits<std::uint32_t>::max())
		return "a client's number of more than 32 bits";
	into.client = static_cast<std::uint32_t>(client);
	into.sequence = decoder.number();
	if ((bits & stamp_bit) != 0) {
		into.stamp.clock = decoder.number();
		into.stamp.writer = decoder.number();
	}
	into.invoked = decoder.number();
	into.responded = 0;
	if (into.outcome != Outcome::unknown && __builtin_add_overflow(into.invoked, decoder.number(), &into.responded))
		return "a response after the end of time";
	const std::uint64_t count = decoder.number();
	if (count > decoder.left() / 2)
		return "more operations than its record has room for";
	for (std::uint64_t i = 0; i < count; i++) {
		if (const char *reason = decode_operation(decoder, into, kind))
			return reason;
	}
	if (decoder.failed())
		return "a record that ends too early, or a number of more than 64 bits";
	return decoder.left() == 0 ? nullptr : "bytes behind the end of a record";
}

/* Returns why an operation cannot be in a history of this kind, or nullptr. */
const char *find_fault(const Operation &operation, const Draft &transaction, HistoryKind kind) noexcept
{
	const bool lists = kind == HistoryKind::lists;
	switch (operation.action) {
	case Action::read: {
		if (!lists)
			return operation.length == 0 ? nullptr : "a list read in a history of registers";
		const std::size_t elements = transaction.elements.size();
		if (operation.value > elements || operation.length > elements - operation.value)
			return "a list that is not among the elements";
		return nullptr;
	}
	case Action::write:
	case Action::append:
		if (lists != (operation.action == Action::append))
			return lists ? "a write in a history of lists" : "an append in a history of registers";
		return operation.value == absent ? "a value 0, which stands for absent" : nullptr;
	case Action::erase:
		return lists ? "an erase in a history of lists" : nullptr;
	}
	return "an unknown action";
}

const char *find_fault(const Draft &transaction, HistoryKind kind, bool intent) noexcept
{
	if (!intent && transaction.outcome != Outcome::unknown &&
		(transaction.responded == 0 || transaction.responded < transaction.invoked))
		return "an outcome without a response after the invocation";
	for (const Operation &operation : transaction.operations) {
		if (const char *reason = find_fault(operation, transaction, kind))
			return reason;
	}
	return nullptr;
}

Error system_error(const std::filesystem::path &path, std::string_view next_step)
{
	return make_error(errno, path.string(), next_step);
}

Error bad_file(const std::filesystem::path &path, std::uint64_t offset, std::string_view reason)
{
	return {EINVAL, fmt::format("{}: at byte {}: {}", path.string(), offset, reason)};
}

/* Reads one file, record for record. */
class FileReader
{
public:
	explicit FileReader(const std::filesystem::path &path) : path_(path), file_(path, std::ios::binary) {}

	/* Errors: not one of ours. */
	Result<HistoryKind> read_header()
	{
		if (!file_)
			return system_error(path_, "name a file that a HistoryWriter has written");
		Header header;
		const Header ours;
		file_.read(reinterpret_cast<char *>(&header), sizeof(header));
		if (!file_ || header.magic != ours.magic)
			return bad_file(path_, 0, "not written by a HistoryWriter of transactions");
		if (header.version != ours.version)
			return bad_file(path_, 8, fmt::format("version {}, expected {}", header.version, ours.version));
		if ((header.kind != HistoryKind::registers && header.kind != HistoryKind::lists) ||
			header.reserved != ours.reserved)
			return bad_file(path_, 12, "an unknown kind of history");
		offset_ = sizeof(header);
		return header.kind;
	}

	Result<void> read_records(HistoryBuilder &builder)
	{
		for (;;) {
			Size size = 0;
			file_.read(reinterpret_cast<char *>(&size), sizeof(size));
			const auto got = static_cast<std::size_t>(file_.gcount());
			if (file_.bad())
				return make_error(EIO, path_.string(), "copy the file to a disk that can be read");
			if (size == 0)
				return read_padding(got);
			if (got < sizeof(size))
				return bad_file(path_, offset_, "the file is cut off in the size of a record");
			if (auto added = read_record(size, builder); !added)
				return added;
			offset_ += sizeof(size) + size;
		}
	}

private:
	Result<void> read_record(Size size, HistoryBuilder &builder)
	{
		if (size > HistoryWriter::longest_record)
			return bad_file(path_, offset_,
				fmt::format("a record of {} bytes, more than {}", size, HistoryWriter::longest_record));
		record_.resize(size);
		file_.read(reinterpret_cast<char *>(record_.data()), size);
		if (static_cast<std::size_t>(file_.gcount()) != size)
			return bad_file(path_, offset_, "the file is cut off in a record");
		Decoder decoder(record_);
		bool intent = false;
		const char *reason = decode(decoder, draft_, builder.kind(), intent);
		if (reason == nullptr)
			reason = find_fault(draft_, builder.kind(), intent);
		if (reason != nullptr)
			return bad_file(path_, offset_, reason);
		return builder.add(draft_, intent);
	}

	/* A writer that was killed leaves its window as it was: a record that was being written, and zeros. */
	Result<void> read_padding(std::size_t got)
	{
		std::uint64_t length = got;
		std::vector<char> piece(page);
		while (file_ && length <= window_size + page) {
			file_.read(piece.data(), static_cast<std::streamsize>(piece.size()));
			length += static_cast<std::uint64_t>(file_.gcount());
		}
		if (length > window_size + page)
			return bad_file(path_, offset_, "a record of size 0, and more behind it than a writer leaves");
		return {};
	}

	const std::filesystem::path &path_;
	std::ifstream file_;
	std::uint64_t offset_ = 0;
	std::vector<std::byte> record_;
	Draft draft_;
};

std::string_view name_of(Outcome outcome)
{
	constexpr std::array<std::string_view, 3> names{"unknown", "committed", "aborted"};
	return names[static_cast<std::size_t>(outcome)];
}

std::string describe_list(std::span<const Value> list)
{
	constexpr std::size_t shown = 8; /* elements at the end, which differ */
	std::string text = list.size() > shown ? fmt::format("[{} more", list.size() - shown) : "[";
	for (std::size_t i = list.size() > shown ? list.size() - shown : 0; i < list.size(); i++)
		text += fmt::format("{}{:#x}", text.size() > 1 ? " " : "", list[i]);
	return text + "]";
}

} // namespace

void Draft::clear() noexcept
{
	operations.clear();
	elements.clear();
	stamp = {};
	responded = 0;
	outcome = Outcome::unknown;
}

Draft &Draft::read(std::uint64_t key, Value value)
{
	operations.push_back({.key = key, .value = value, .action = Action::read});
	return *this;
}

Draft &Draft::read_list(std::uint64_t key, std::span<const Value> list)
{
	operations.push_back({.key = key,
		.value = elements.size(),
		.length = static_cast<std::uint32_t>(list.size()),
		.action = Action::read});
	elements.insert(elements.end(), list.begin(), list.end());
	return *this;
}

Draft &Draft::write(std::uint64_t key, Value value)
{
	operations.push_back({.key = key, .value = value, .action = Action::write});
	return *this;
}

Draft &Draft::append(std::uint64_t key, Value value)
{
	operations.push_back({.key = key, .value = value, .action = Action::append});
	return *this;
}

Draft &Draft::erase(std::uint64_t key)
{
	operations.push_back({.key = key, .action = Action::erase});
	return *this;
}

Result<HistoryWriter> HistoryWriter::create(const std::filesystem::path &path, HistoryKind kind)
{
	const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (descriptor < 0)
		return system_error(path, "name a file that can be written");
	HistoryWriter writer(descriptor, kind);
	if (const int error = writer.make_room(sizeof(Header)); error != 0)
		return make_error(error, path.string(), "make room, or name a file on another disk");
	const Header header{.kind = kind};
	std::memcpy(writer.window_, &header, sizeof(header));
	writer.position_ = sizeof(header);
	return writer;
}

HistoryWriter::HistoryWriter(HistoryWriter &&other) noexcept
{
	swap(other);
}

HistoryWriter &HistoryWriter::operator=(HistoryWriter &&other) noexcept
{
	HistoryWriter taken(std::move(other));
	swap(taken);
	return *this;
}

HistoryWriter::~HistoryWriter()
{
	close();
}

void HistoryWriter::swap(HistoryWriter &other) noexcept
{
	std::swap(descriptor_, other.descriptor_);
	std::swap(kind_, other.kind_);
	std::swap(error_, other.error_);
	std::swap(window_, other.window_);
	std::swap(base_, other.base_);
	std::swap(position_, other.position_);
}

int HistoryWriter::close() noexcept
{
	if (descriptor_ < 0)
		return error_;
	if (window_ != nullptr)
		::munmap(window_, window_size);
	window_ = nullptr;
	if (::ftruncate(descriptor_, static_cast<off_t>(position_)) != 0 && error_ == 0)
		error_ = errno;
	if (::close(descriptor_) != 0 && error_ == 0)
		error_ = errno;
	descriptor_ = -1;
	return error_;
}

int HistoryWriter::make_room(std::size_t size) noexcept
{
	if (window_ != nullptr && position_ - base_ + size <= window_size)
		return 0;
	if (window_ != nullptr)
		::munmap(window_, window_size);
	window_ = nullptr;
	base_ = position_ / page * page;
	/* Not a hole: without room on the disk the first store to one would raise a signal. */
	if (const int error = ::posix_fallocate(descriptor_, static_cast<off_t>(base_), window_size); error != 0)
		return error;
	void *mapping = ::mmap(
		nullptr, window_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, static_cast<off_t>(base_));
	if (mapping == MAP_FAILED)
		return errno;
	window_ = static_cast<std::byte *>(mapping);
	return 0;
}

int HistoryWriter::put(const Draft &transaction, bool intent) noexcept
{
	if (error_ != 0 || descriptor_ < 0)
		return error_ != 0 ? error_ : EBADF;
	if (find_fault(transaction, kind_, intent) != nullptr)
		return EINVAL;
	const std::size_t worst = worst_size(transaction);
	if (worst > longest_record)
		return E2BIG;
	error_ = make_room(worst);
	if (error_ != 0)
		return error_;
	std::byte *const record = window_ + (position_ - base_);
	Encoder encoder(record + sizeof(Size));
	encode(encoder, transaction, kind_, intent);
	const auto size = static_cast<Size>(encoder.at() - record - sizeof(Size));
	/* The size last: a writer that dies before has not written the record. */
	std::atomic_signal_fence(std::memory_order_seq_cst);
	std::memcpy(record, &size, sizeof(size));
	std::atomic_signal_fence(std::memory_order_seq_cst);
	position_ += sizeof(size) + size;
	return 0;
}

int HistoryWriter::intend(const Draft &transaction) noexcept
{
	return put(transaction, true);
}

int HistoryWriter::record(const Draft &transaction) noexcept
{
	return put(transaction, false);
}

std::string History::name_of(std::uint32_t transaction) const
{
	const Transaction &of = transactions_[transaction];
	return fmt::format("client {} #{}", of.client, of.sequence);
}

std::string History::describe(std::uint32_t transaction) const
{
	const Transaction &of = transactions_[transaction];
	std::string text = fmt::format("{} {}", name_of(transaction), serializability::name_of(of.outcome));
	if (of.stamp.known())
		text += fmt::format(" at {}.{:#x}", of.stamp.clock, of.stamp.writer);
	text += ":";
	constexpr std::size_t shown = 16;
	std::size_t left = shown;
	for (const Operation &operation : operations_of(of)) {
		if (left-- == 0)
			return text + fmt::format(" and {} more", of.count - shown);
		if (operation.action == Action::read && kind_ == HistoryKind::lists)
			text += fmt::format(" read {:#x} = {}", operation.key, describe_list(list_of(operation)));
		else if (operation.action == Action::read && operation.value == absent)
			text += fmt::format(" read {:#x} = absent", operation.key);
		else if (operation.action == Action::read)
			text += fmt::format(" read {:#x} = {:#x}", operation.key, operation.value);
		else if (operation.action == Action::erase)
			text += fmt::format(" erase {:#x}", operation.key);
		else
			text += fmt::format(" {} {:#x} {:#x}", operation.action == Action::write ? "write" : "append",
				operation.key, operation.value);
	}
	return text;
}

Result<void> HistoryBuilder::add(const Draft &transaction, bool intent)
{
	if (const char *reason = find_fault(transaction, history_.kind_, intent))
		return Error{
			EINVAL, fmt::format("client {} #{}: {}", transaction.client, transaction.sequence, reason)};
	const std::uint64_t elements = history_.elements_.size();
	Transaction added{.sequence = transaction.sequence,
		.stamp = transaction.stamp,
		.invoked = transaction.invoked,
		.responded = transaction.responded,
		.first = history_.operations_.size(),
		.count = static_cast<std::uint32_t>(transaction.operations.size()),
		.client = transaction.client,
		.outcome = transaction.outcome,
		.intent = intent};
	if (intent || added.outcome == Outcome::unknown) {
		added.outcome = Outcome::unknown;
		added.responded = 0;
	}
	history_.transactions_.push_back(added);
	for (Operation operation : transaction.operations) {
		if (operation.action == Action::read && history_.kind_ == HistoryKind::lists)
			operation.value += elements;
		history_.operations_.push_back(operation);
	}
	history_.elements_.insert(history_.elements_.end(), transaction.elements.begin(), transaction.elements.end());
	return {};
}

/* Keeps the most complete record of each transaction; a client does one thing after another. */
Result<void> HistoryBuilder::drop_superseded()
{
	std::vector<Transaction> &all = history_.transactions_;
	const auto order = [](const Transaction &of) { return std::tuple(of.client, of.sequence, of.intent); };
	if (!std::ranges::is_sorted(all, {}, order))
		std::ranges::sort(all, {}, order);
	std::size_t kept = 0;
	for (const Transaction &next : all) {
		const Transaction *before = kept > 0 && all[kept - 1].client == next.client ? &all[kept - 1] : nullptr;
		if (before != nullptr && before->sequence == next.sequence) {
			if (next.intent && !before->intent)
				continue;
			return Error{EINVAL, fmt::format("client {}: number {} was given to two transactions",
						     next.client, next.sequence)};
		}
		if (before != nullptr && next.invoked < std::max(before->invoked, before->responded))
			return Error{EINVAL, fmt::format("client {}: #{} was invoked before #{} had responded; who "
							 "does several at a time is as many clients",
						     next.client, next.sequence, before->sequence)};
		all[kept++] = next;
	}
	all.resize(kept);
	return {};
}

Result<History> HistoryBuilder::finish()
{
	if (history_.transactions_.size() > most_indices || history_.operations_.size() > most_indices)
		return make_error(EOVERFLOW, "more than 2^31 transactions or operations", "check a part of them");
	if (auto done = drop_superseded(); !done)
		return done.error();
	std::vector<Transaction> &all = history_.transactions_;
	std::ranges::sort(
		all, {}, [](const Transaction &of) { return std::tuple(of.invoked, of.client, of.sequence); });
	history_.sessions_.resize(all.size());
	std::iota(history_.sessions_.begin(), history_.sessions_.end(), 0U);
	/* Within a client they are in their order already. */
	std::ranges::stable_sort(history_.sessions_, {}, [&](std::uint32_t index) { return all[index].client; });
	return std::move(history_);
}

Result<History> read_histories(std::span<const std::filesystem::path> paths)
{
	std::optional<HistoryBuilder> builder;
	for (const std::filesystem::path &path : paths) {
		FileReader reader(path);
		const auto kind = reader.read_header();
		if (!kind)
			return kind.error();
		if (!builder)
			builder.emplace(*kind);
		if (builder->kind() != *kind)
			return bad_file(path, 12, "another kind of history than the files before");
		if (auto read = reader.read_records(*builder); !read)
			return read.error();
	}
	if (!builder)
		return make_error(EINVAL, "no history", "name a file that a HistoryWriter has written");
	return builder->finish();
}

} // namespace prism::serializability
