/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The main() of a gtest program that has the tests of several files: "--of FILE" runs those of one. */
#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace
{

/** Returns a filter that passes the tests of @p file and no others; empty if it has none. */
std::string tests_of(std::string_view file)
{
	const testing::UnitTest &all = *testing::UnitTest::GetInstance();
	std::string filter;
	for (int i = 0; i < all.total_test_suite_count(); i++) {
		const testing::TestSuite &suite = *all.GetTestSuite(i);
		for (int j = 0; j < suite.total_test_count(); j++) {
			const testing::TestInfo &test = *suite.GetTestInfo(j);
			if (test.file() == file)
				filter += std::string(filter.empty() ? "" : ":") + suite.name() + "." + test.name();
		}
	}
	return filter;
}

} // namespace

int main(int argc, char **argv)
{
	testing::InitGoogleTest(&argc, argv);
	if (argc == 1)
		return RUN_ALL_TESTS();
	const std::string filter = argc == 3 && std::string_view(argv[1]) == "--of" ? tests_of(argv[2]) : "";
	if (filter.empty()) {
		std::fprintf(stderr,
			"usage: %s [--of FILE]: the tests of this file, one of those that it was made of\n", argv[0]);
		return 2;
	}
	testing::GTEST_FLAG(filter) = filter;
	return RUN_ALL_TESTS();
}
