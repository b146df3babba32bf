/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include "base/descriptor.hpp"
#include "gam/membership/log_entry.hpp"

namespace prism::gam
{

/** A file of the log, mapped into memory: stores there survive the process; after sync() they survive the machine. */
class Segment
{
public:
	/** Makes @p path with @p bytes of allocated disk space. Errors: ENOSPC, EIO, those of open(2). */
	static Result<Segment> create(const std::filesystem::path &path, std::size_t bytes);
	/** Opens an existing file with any content. */
	static Result<Segment> open(const std::filesystem::path &path);

	Segment(Segment &&other) noexcept;
	Segment &operator=(Segment &&other) noexcept;
	~Segment();

	[[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_, size_}; }
	[[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_, size_}; }

	/** Returns a changing word of the head: kept_at, written_at, committed_at or failed_at. */
	[[nodiscard]] std::uint64_t word(std::size_t at) const noexcept;
	/**
	 * Stores with release order: a reader after a crash of this process that sees the value sees all earlier
	 * stores.
	 */
	void set_word(std::size_t at, std::uint64_t value) noexcept;

	/** Waits until the disk has all. Returns 0 or an errno value. */
	int sync() noexcept;

private:
	Segment(Descriptor file, std::byte *bytes, std::size_t size) noexcept
		: file_(std::move(file)), bytes_(bytes), size_(size)
	{
	}
	static Result<Segment> map(Descriptor file, const std::filesystem::path &path, std::size_t size);

	Descriptor file_;
	std::byte *bytes_; /* a mapping; null: none */
	std::size_t size_;
};

/**
 * Returns the number in the name of a segment, finished (`.log`) or not (`.new`, `.next`). Nothing: the file is not of
 * a log, as the folder may have others.
 */
[[nodiscard]] std::optional<std::uint64_t> number_of(const std::filesystem::path &path);

/** Returns the file system's error for @p path. */
inline Error failed(const std::error_code &code, const std::filesystem::path &path)
{
	return make_error(code.value(), path.string());
}

/** Waits until the disk has the names in @p folder. Returns 0 or an errno value. */
int sync_folder(const std::filesystem::path &folder) noexcept;

} // namespace prism::gam
