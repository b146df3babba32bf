/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "history.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/clock.hpp"

namespace prism::test
{

namespace
{

static_assert(std::endian::native == std::endian::little, "records are little-endian");

/* Header before the records, of the size of one record. */
struct Header {
	std::array<char, 8> magic{'P', 'R', 'I', 'S', 'M', 'H', 'I', 'S'};
	std::uint32_t version = 1;
	std::uint32_t record_size = sizeof(Operation);
	std::array<std::uint64_t, 4> reserved{};

	bool operator==(const Header &) const = default;
};
static_assert(sizeof(Header) == sizeof(Operation));

constexpr std::size_t pieces_of = 1 << 16; /* records to read at a time */

Error system_error(const std::filesystem::path &path, std::string_view next_step)
{
	return make_error(errno, path.string(), next_step);
}

std::string_view name_of(Kind kind)
{
	switch (kind) {
	case Kind::none:
		return "nothing";
	case Kind::get:
		return "get";
	case Kind::put:
		return "put";
	case Kind::erase:
		return "erase";
	case Kind::conditional_put:
		return "conditional put";
	case Kind::conditional_erase:
		return "conditional erase";
	case Kind::clear:
		return "clear";
	}
	return "an unknown kind";
}

std::string_view name_of(Outcome outcome)
{
	switch (outcome) {
	case Outcome::unknown:
		return "unknown";
	case Outcome::ok:
		return "ok";
	case Outcome::not_found:
		return "not found";
	case Outcome::mismatch:
		return "mismatch";
	case Outcome::no_effect:
		return "no effect";
	}
	return "an unknown outcome";
}

} // namespace

Timestamp now() noexcept
{
	return static_cast<Timestamp>(monotonic_ns());
}

std::string describe(const Operation &operation)
{
	const bool responded = operation.responded != never;
	std::string text = fmt::format("client {} [{}, {}] {}", operation.client, operation.invoked,
		responded ? std::to_string(operation.responded) : "...", name_of(operation.kind));
	if (operation.kind == Kind::put || operation.kind == Kind::conditional_put)
		text += fmt::format(" {}", operation.value);
	if (operation.kind == Kind::conditional_put || operation.kind == Kind::conditional_erase)
		text += operation.expected == absent ? " if absent" : fmt::format(" if {}", operation.expected);
	if (operation.kind == Kind::get && operation.outcome == Outcome::ok)
		return text + fmt::format(" -> {}", operation.value);
	return text + fmt::format(" -> {}", name_of(operation.outcome));
}

Result<HistoryWriter> HistoryWriter::create(const std::filesystem::path &path, std::size_t capacity)
{
	/* A file with the final name has a whole header, whenever the writer is killed. */
	std::filesystem::path unfinished = path;
	unfinished += ".unfinished";
	const auto refuse = [&](const char *next) {
		Error error = system_error(path, next);
		::unlink(unfinished.c_str());
		return error;
	};
	const int descriptor = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (descriptor < 0)
		return system_error(path, "name a file that can be written");
	const std::size_t size = sizeof(Header) + capacity * sizeof(Operation);
	void *mapping = MAP_FAILED;
	if (::ftruncate(descriptor, static_cast<off_t>(size)) == 0)
		mapping = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	if (mapping == MAP_FAILED) {
		Error error = refuse("choose a smaller capacity or another file system");
		::close(descriptor);
		return error;
	}
	const Header header;
	std::memcpy(mapping, &header, sizeof(header));
	HistoryWriter writer(descriptor, mapping, capacity);
	if (::rename(unfinished.c_str(), path.c_str()) != 0)
		return refuse("name a file that can be replaced");
	return writer;
}

HistoryWriter::HistoryWriter(int descriptor, void *mapping, std::size_t capacity) noexcept
	: descriptor_(descriptor), mapping_(mapping), capacity_(capacity)
{
}

HistoryWriter::HistoryWriter(HistoryWriter &&other) noexcept
	: descriptor_(std::exchange(other.descriptor_, -1)), mapping_(std::exchange(other.mapping_, nullptr)),
	  capacity_(other.capacity_), used_(other.used_)
{
}

HistoryWriter &HistoryWriter::operator=(HistoryWriter &&other) noexcept
{
	if (this != &other) {
		close();
		descriptor_ = std::exchange(other.descriptor_, -1);
		mapping_ = std::exchange(other.mapping_, nullptr);
		capacity_ = other.capacity_;
		used_ = other.used_;
	}
	return *this;
}

HistoryWriter::~HistoryWriter()
{
	close();
}

void HistoryWriter::close() noexcept
{
	if (descriptor_ < 0)
		return;
	::munmap(mapping_, sizeof(Header) + capacity_ * sizeof(Operation));
	/* If this fails, the file merely keeps its unused end, which readers skip. */
	if (::ftruncate(descriptor_, static_cast<off_t>(sizeof(Header) + used_ * sizeof(Operation))) != 0)
		errno = 0;
	::close(descriptor_);
	descriptor_ = -1;
}

HistoryWriter::Handle HistoryWriter::begin(const Operation &operation) noexcept
{
	if (used_ == capacity_)
		return none;
	auto &record = static_cast<Operation *>(mapping_)[1 + used_];
	Operation begun = operation;
	begun.responded = never;
	begun.outcome = Outcome::unknown;
	begun.kind = Kind::none;
	if (begun.invoked == 0)
		begun.invoked = now();
	/* The kind last: a record cut off before is skipped. The operation itself starts after all of these stores. */
	record = begun;
	std::atomic_signal_fence(std::memory_order_seq_cst);
	record.kind = operation.kind;
	std::atomic_signal_fence(std::memory_order_seq_cst);
	return used_++;
}

void HistoryWriter::end(Handle handle, Outcome outcome, Value value, Timestamp at) noexcept
{
	if (handle >= used_)
		return;
	auto &record = static_cast<Operation *>(mapping_)[1 + handle];
	if (record.kind == Kind::get)
		record.value = value;
	record.responded = at == never ? now() : at;
	/* The outcome last: a record cut off here reads as one of unknown outcome. */
	std::atomic_signal_fence(std::memory_order_seq_cst);
	record.outcome = outcome;
}

Result<std::vector<Operation>> read_history(const std::filesystem::path &path)
{
	std::ifstream file(path, std::ios::binary);
	if (!file)
		return system_error(path, "name a file that a HistoryWriter has written");
	Header header;
	file.read(reinterpret_cast<char *>(&header), sizeof(header));
	if (!file || header != Header{})
		return make_error(EINVAL, path.string(), "name a file that a HistoryWriter has written");

	/* Records are used in order: after a piece without any there are none. */
	std::vector<Operation> history, piece(pieces_of);
	bool more = true;
	while (more) {
		file.read(reinterpret_cast<char *>(piece.data()),
			static_cast<std::streamsize>(piece.size() * sizeof(Operation)));
		if (file.bad())
			return make_error(EIO, path.string(), "copy the file to a disk that can be read");
		const auto whole =
			static_cast<std::ptrdiff_t>(static_cast<std::size_t>(file.gcount()) / sizeof(Operation));
		const std::size_t before = history.size();
		std::copy_if(piece.begin(), piece.begin() + whole, std::back_inserter(history),
			[](const Operation &operation) { return operation.kind != Kind::none; });
		more = file && history.size() != before;
	}
	for (Operation &operation : history) {
		if (operation.outcome == Outcome::unknown)
			operation.responded = never;
	}
	return history;
}

Result<std::vector<Operation>> read_histories(const std::vector<std::filesystem::path> &files)
{
	std::vector<Operation> history;
	for (const std::filesystem::path &file : files) {
		const auto part = read_history(file);
		if (!part)
			return part.error();
		history.insert(history.end(), part->begin(), part->end());
	}
	return history;
}

std::vector<std::filesystem::path> histories_in(const std::filesystem::path &folder)
{
	std::vector<std::filesystem::path> files;
	for (const auto &entry : std::filesystem::directory_iterator(folder)) {
		if (entry.path().extension() == ".history")
			files.push_back(entry.path());
	}
	return files;
}

Result<void> write_history(const std::filesystem::path &path, const std::vector<Operation> &history)
{
	std::ofstream file(path, std::ios::binary | std::ios::trunc);
	const Header header;
	file.write(reinterpret_cast<const char *>(&header), sizeof(header));
	file.write(reinterpret_cast<const char *>(history.data()),
		static_cast<std::streamsize>(history.size() * sizeof(Operation)));
	file.close();
	if (!file)
		return system_error(path, "make room, or name another file");
	return {};
}

} // namespace prism::test
