# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# The verbs suite of the userspace device (tests/verbs) on the kernel device: every test in both styles of posting, over
# IPv4 and IPv6. VERBS_FILTER: which tests; SHORT: one style and one family,
# these if VERBS_FILTER names no others. VERBS_SHARDS: on debug kernels, one test of so many (default 2).
# VERBS_ALL: every test there, too.

verbs_suite() {
	check "no provider tree: set PRISM_BUILD" test -n "$PRISM_BUILD"
	local variants='*/ipv4_builder:*/ipv6_list'
	[ -z "${SHORT:-}" ] || variants='*/ipv4_builder'
	# On debug kernels every second test: all of them take four minutes there, and other kernels run them all.
	if [ "${TIME_FACTOR:-1}" -ne 1 ] && [ -z "${VERBS_ALL:-}" ]; then
		export GTEST_TOTAL_SHARDS=${VERBS_SHARDS:-2} GTEST_SHARD_INDEX=0
	fi
	"$PRISM_BUILD/bin/prism-verbs-test" --device "$DEVICE" --gtest_brief=1 \
		--gtest_filter="${VERBS_FILTER:-$variants}"
}

group_verbs() {
	part "$KIND verbs device" base_device
	PART_SECONDS=240 part "verbs suite" verbs_suite
	[ "$KIND" = stock ] || part "verbs suite: nothing dropped" no_backlog
}
