/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <prism/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <system_error>

#include "base/descriptor.hpp"
#include "gam/log/entry.hpp"

namespace prism::gam
{

/** A file of the log in memory: what is stored there survives the process; sync() has it survive the machine. */
class Segment
{
public:
	/** Makes @p path with @p bytes that are really there. Errors: ENOSPC, EIO, those of open(2). */
	static Result<Segment> create(const std::filesystem::path &path, std::size_t bytes);
	/** An existing one, whatever is in it. */
	static Result<Segment> open(const std::filesystem::path &path);

	Segment(Segment &&other) noexcept;
	Segment &operator=(Segment &&other) noexcept;
	~Segment();

	[[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_, size_}; }
	[[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_, size_}; }

	/** A word of the head that the writer keeps changing: written_at, committed_at or failed_at. */
	[[nodiscard]] std::uint64_t word(std::size_t at) const noexcept;
	/** Not before what was stored until now, for who looks after this process has been killed. */
	void set_word(std::size_t at, std::uint64_t value) noexcept;

	/** Waits until the disk has all. 0 or errno. */
	int sync() noexcept;

private:
	Segment(apps::Descriptor file, std::byte *bytes, std::size_t size) noexcept
		: file_(std::move(file)), bytes_(bytes), size_(size)
	{
	}
	static Result<Segment> map(apps::Descriptor file, const std::filesystem::path &path, std::size_t size);

	apps::Descriptor file_;
	std::byte *bytes_; /* a mapping; null: of nothing */
	std::size_t size_;
};

/** What the file system says of @p path. */
inline Error failed(const std::error_code &code, const std::filesystem::path &path)
{
	return make_error(code.value(), path.string());
}

/** Waits until the disk has the names in @p folder. 0 or errno. */
int sync_folder(const std::filesystem::path &folder) noexcept;

} // namespace prism::gam
