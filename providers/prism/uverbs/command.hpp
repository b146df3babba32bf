/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands and responses for libibverbs's ibv_cmd_* functions: its own part first, then the driver's. The kernel's
 * structures end in flexible arrays for the driver's part, so they appear here as bytes.
 */
#pragma once

#include <cstddef>

#include <rdma/ib_user_verbs.h>

namespace prism::uverbs
{

/** Driver's part without members. */
struct Nothing {
};

template <typename Core, typename Driver = Nothing>
struct Command {
	alignas(8) std::byte header[sizeof(ib_uverbs_cmd_hdr)]{};
	std::byte core[sizeof(Core)]{};
	Driver driver{};

	/** Converts to the parameter of an ibv_cmd_* function: a structure that only libibverbs knows. */
	template <typename Opaque>
	operator Opaque *()
	{
		return reinterpret_cast<Opaque *>(this);
	}
	static constexpr std::size_t size = sizeof(ib_uverbs_cmd_hdr) + sizeof(Core) + sizeof(Driver);
	static_assert(
		(sizeof(ib_uverbs_cmd_hdr) + sizeof(Core)) % alignof(Driver) == 0, "no padding before the driver's");
};

template <typename Core>
struct Command<Core, Nothing> {
	alignas(8) std::byte header[sizeof(ib_uverbs_cmd_hdr)]{};
	std::byte core[sizeof(Core)]{};

	template <typename Opaque>
	operator Opaque *()
	{
		return reinterpret_cast<Opaque *>(this);
	}
	static constexpr std::size_t size = sizeof(ib_uverbs_cmd_hdr) + sizeof(Core);
};

template <typename Core, typename Driver>
struct Response {
	alignas(Core) std::byte core[sizeof(Core)]{};
	Driver driver{};

	operator Core *() { return reinterpret_cast<Core *>(this); }
	static constexpr std::size_t size = sizeof(Core) + sizeof(Driver);
	static_assert(sizeof(Core) % alignof(Driver) == 0, "no padding before the driver's");
};

} // namespace prism::uverbs
