/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

#include <cstdint>

namespace prism::apps
{

/** The applications. Each has 256 numbers, from its own on: for its kinds of store, and for its control messages. */
enum class Application : std::uint16_t {
	kv = 0x100,
	rs = 0x200,
	tx = 0x300,
	rpc = 0x400,
	gam = 0x500,
};

} // namespace prism::apps
