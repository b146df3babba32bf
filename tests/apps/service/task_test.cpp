/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Coroutines, and the allocation of their frames. */
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/task.hpp"

namespace
{

using namespace prism;
using apps::FramePool;

TEST(Task, AThreadOnWhichCoroutinesOfOthersEndKeepsSomeOfThem)
{
	constexpr std::size_t size = 200;
	std::vector<void *> frames(FramePool::most + 1000);
	for (void *&frame : frames)
		frame = FramePool::take(size);
	std::thread([&frames] {
		for (void *const frame : frames)
			FramePool::give_back(frame, size);
		EXPECT_EQ(FramePool::spare(size), FramePool::most);
	}).join();
	EXPECT_EQ(FramePool::spare(size), 0u);
}

} // namespace
