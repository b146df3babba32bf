/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * prism-verbs-test [--device NAME [--peer-device NAME]] [options of gtest]
 *
 * Without a device, tests the userspace device of the loopback interface. With one of the kernel module, tests of
 * features that only the userspace device has are skipped; the reasons, and how often each, are printed at the end.
 */
#include "harness.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <string_view>

namespace
{

using verbs_test::devices;

/** Reasons for which tests were skipped. */
class SkipReasons : public testing::EmptyTestEventListener
{
	void OnTestEnd(const testing::TestInfo &test) override
	{
		const testing::TestResult &result = *test.result();
		for (int i = 0; i < result.total_part_count(); i++) {
			const testing::TestPartResult &part = result.GetTestPartResult(i);
			if (!part.skipped())
				continue;
			reasons_[part.message()]++;
			break;
		}
	}

	void OnTestProgramEnd(const testing::UnitTest &) override
	{
		for (const auto &[reason, count] : reasons_)
			std::printf("%d skipped: %s\n", count, reason.c_str());
		for (const auto &[name, count] : verbs_test::missing_counters)
			std::printf("%d times not compared: no counter %s\n", count, name.c_str());
	}

	std::map<std::string, int> reasons_;
};

int usage(const char *program)
{
	std::fprintf(stderr, "usage: %s [--device NAME [--peer-device NAME]] [options of gtest]\n", program);
	return 2;
}

/** Parses the options that gtest left; returns false if one is not ours. */
bool parse(int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		const std::string_view option = argv[i];
		if (i + 1 == argc || (option != "--device" && option != "--peer-device"))
			return false;
		if (option == "--device")
			devices.client = argv[i + 1];
		devices.server = argv[i + 1];
	}
	return true;
}

/** Returns how long the kernel caches counters: not at all, if this user may set that; else 10 ms, in whole ticks. */
std::chrono::milliseconds counters_lifespan()
{
	for (const std::string &name : {devices.client, devices.server}) {
		std::ofstream file("/sys/class/infiniband/" + name + "/ports/1/hw_counters/lifespan");
		if (!(file << 0 << std::flush))
			return std::chrono::milliseconds(20);
	}
	return {};
}

/** Returns true if both devices exist, speak PRISM and are of one kind. */
bool inspect()
{
	bool kernel[2];
	int i = 0;
	for (const std::string &name : {devices.client, devices.server}) {
		const auto context = verbs_test::open_device(name, PRISMDV_PROGRESS_DEFAULT);
		prismdv_device_attr attr;
		if (prismdv_query_device(context.get(), &attr))
			return false;
		kernel[i++] = !(attr.flags & PRISMDV_DEVICE_USERSPACE);
	}
	devices.kernel = kernel[0];
	if (devices.kernel)
		devices.counters_lifespan = counters_lifespan();
	return kernel[0] == kernel[1];
}

} // namespace

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	if (!parse(argc, argv))
		return usage(argv[0]);
	try {
		if (!inspect()) {
			std::fprintf(stderr, "%s and %s cannot be tested together\n", devices.client.c_str(),
				devices.server.c_str());
			return 2;
		}
	} catch (const std::exception &error) {
		std::fprintf(stderr, "%s, %s: %s\n", devices.client.c_str(), devices.server.c_str(), error.what());
		return 2;
	}
	testing::UnitTest::GetInstance()->listeners().Append(new SkipReasons);
	return RUN_ALL_TESTS();
}
