/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The operator new of programs whose allocations are to fail. */
#include "allocations.hpp"

#include <cstdlib>
#include <new>

thread_local int prism::test::allocations_left = -1;
thread_local void (*prism::test::at_the_last)() = nullptr;

void *operator new(std::size_t size)
{
	using prism::test::allocations_left;
	if (allocations_left == 0) {
		if (!prism::test::at_the_last)
			throw std::bad_alloc();
		allocations_left = -1;
		prism::test::at_the_last();
	}
	if (allocations_left > 0)
		allocations_left--;
	if (void *memory = std::malloc(size))
		return memory;
	throw std::bad_alloc();
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
	try {
		return operator new(size);
	} catch (const std::bad_alloc &) {
		return nullptr;
	}
}

void operator delete(void *memory) noexcept
{
	std::free(memory);
}

void operator delete(void *memory, std::size_t) noexcept
{
	std::free(memory);
}
