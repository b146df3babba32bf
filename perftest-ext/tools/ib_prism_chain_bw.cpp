/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "drivers/tool.hpp"

using namespace prism::perftest;

int main(int argc, char **argv)
{
	return run_tool({Operation::chain, Metric::bandwidth}, argc, argv);
}
