/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#pragma once

namespace prism
{

/** Pauses briefly, in a thread that polls: the processor's other thread runs faster meanwhile. */
inline void cpu_relax() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield" ::: "memory");
#endif
}

} // namespace prism
