/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests for memory, and the memory that machines of all kinds have. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>

#include <unistd.h>

#include "service/memory.hpp"

namespace
{

using namespace prism;
using namespace prism::apps;

constexpr std::uint64_t mib = 1 << 20;

/** Folder that stands for a machine's root. */
class Machine : public testing::Test
{
protected:
	Machine() { std::filesystem::create_directories(root / "proc/self"); }
	~Machine() override { std::filesystem::remove_all(root); }

	void write(const std::string &file, const std::string &text) const
	{
		std::filesystem::create_directories((root / file).parent_path());
		std::ofstream(root / file) << text;
	}
	[[nodiscard]] std::uint64_t least() const
	{
		std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
		for (const MemoryLimit &limit : memory_limits(false, root))
			bytes = std::min(bytes, limit.bytes);
		return bytes;
	}

	const std::filesystem::path root =
		std::filesystem::temp_directory_path() / ("prism-memory-test." + std::to_string(getpid()));
};

TEST_F(Machine, HasWhatIsAvailable)
{
	write("proc/meminfo", "MemTotal:  4096 kB\nMemFree:  1024 kB\nMemAvailable:  2048 kB\n");
	EXPECT_EQ(least(), 2 * mib);
}

TEST_F(Machine, HasNoLimitThatItDoesNotTell)
{
	EXPECT_EQ(least(), std::numeric_limits<std::uint64_t>::max());
	write("proc/meminfo", "MemAvailable:  much\n");
	write("proc/self/cgroup", "rubbish\n0::\n:::\n");
	EXPECT_EQ(least(), std::numeric_limits<std::uint64_t>::max());
}

TEST_F(Machine, HasTheLimitOfItsGroup)
{
	write("proc/self/cgroup", "0::/system.slice/store.service\n");
	write("sys/fs/cgroup/system.slice/store.service/memory.max", "104857600\n");
	write("sys/fs/cgroup/system.slice/store.service/memory.current", "20971520\n");
	EXPECT_EQ(least(), 80 * mib);
	write("sys/fs/cgroup/system.slice/store.service/memory.stat",
		"anon 10485760\ninactive_file 5242880\nactive_file 5242880\n");
	EXPECT_EQ(least(), 90 * mib) << "pages of files are given up";
}

TEST_F(Machine, HasTheLimitsOfTheGroupsAround)
{
	write("proc/self/cgroup", "0::/system.slice/store.service\n");
	write("sys/fs/cgroup/system.slice/store.service/memory.max", "max\n");
	write("sys/fs/cgroup/system.slice/store.service/memory.current", "0\n");
	write("sys/fs/cgroup/system.slice/memory.max", "1048576\n");
	write("sys/fs/cgroup/system.slice/memory.current", "2097152\n");
	EXPECT_EQ(least(), 0u) << "nothing is left where more is used than the limit allows";
}

TEST_F(Machine, HasNumbersThatAreTooLargeForItsUnits)
{
	write("proc/meminfo", "MemAvailable: 18014398509481985 kB\n"); /* 2^54 + 1 */
	EXPECT_EQ(least(), std::numeric_limits<std::uint64_t>::max());
	write("proc/self/cgroup", "0::/store\n");
	write("sys/fs/cgroup/store/memory.max", "100\n");
	write("sys/fs/cgroup/store/memory.current", "50\n");
	write("sys/fs/cgroup/store/memory.stat", "inactive_file 18446744073709551615\nactive_file 20\n");
	EXPECT_EQ(least(), 100u) << "no sum wraps around";
}

TEST_F(Machine, HasTheLimitOfAGroupOfVersionOne)
{
	write("proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/box/1\n0::/\n");
	write("sys/fs/cgroup/memory/box/1/memory.limit_in_bytes", "52428800\n");
	write("sys/fs/cgroup/memory/box/1/memory.usage_in_bytes", "10485760\n");
	write("sys/fs/cgroup/memory/box/1/memory.stat", "cache 0\ntotal_inactive_file 1048576\ntotal_active_file 0\n");
	EXPECT_EQ(least(), 41 * mib);
}

TEST(MemoryPlans, AreTheSumOfTheirParts)
{
	MemoryPlan plan;
	plan.add("table", 3 * mib);
	plan.add("1000 buffers of 512 bytes", 512000);
	EXPECT_EQ(plan.total(), 3 * mib + 512000);
	EXPECT_EQ(plan.text(), "3.5 MiB: table 3.0 MiB, 1000 buffers of 512 bytes 500.0 KiB");
	plan.add("much", std::numeric_limits<std::uint64_t>::max() - 5);
	EXPECT_EQ(plan.total(), std::numeric_limits<std::uint64_t>::max()) << "no sum wraps around";
}

TEST(MemoryPlans, AreRefusedAboveTheLeastLimit)
{
	MemoryPlan plan;
	plan.add("table", 3 * mib);
	EXPECT_TRUE(check_memory(plan, {}, "").ok());
	EXPECT_TRUE(check_memory(plan, {{3 * mib, "exactly"}}, "").ok());
	const Result<void> refused = check_memory(plan, {{4 * mib, "much"}, {2 * mib, "little"}}, "take less");
	ASSERT_FALSE(refused.ok());
	EXPECT_EQ(refused.error().code, ENOMEM);
	for (const char *part : {"table 3.0 MiB", "2.0 MiB, little", "take less"})
		EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
}

TEST(MemoryPlans, OfTheLimitsOfThisProcess)
{
	EXPECT_FALSE(memory_limits(false).empty());
	for (const MemoryLimit &limit : memory_limits(true))
		EXPECT_FALSE(limit.what.empty());
}

TEST(SpareBuffers, AreFewIfTheyAreLarge)
{
	EXPECT_EQ(spare_buffers(100'000, 640), 4096u);
	EXPECT_EQ(spare_buffers(10, 640), 4096u) << "many clients with small objects";
	EXPECT_EQ(spare_buffers(10, mib), 64u);
	EXPECT_EQ(spare_buffers(1000, mib), 250u);
	EXPECT_EQ(spare_buffers(1'000'000, mib), 4096u);
	EXPECT_EQ(spare_buffers(0, 8 * mib), 16u);
}

TEST(ReadableBytes, HaveAUnit)
{
	EXPECT_EQ(readable_bytes(0), "0 bytes");
	EXPECT_EQ(readable_bytes(1023), "1023 bytes");
	EXPECT_EQ(readable_bytes(1536), "1.5 KiB");
	EXPECT_EQ(readable_bytes(std::numeric_limits<std::uint64_t>::max()), "16.0 EiB");
}

} // namespace
