# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2086 # words without spaces
# The verbs suite of the userspace device (tests/verbs) on the kernel device: every test in both styles of posting, over
# IPv4 and IPv6. VERBS_FILTER: selects tests; SHORT: one style and one family, these if VERBS_FILTER names no others. On
# debug kernels every second test; VERBS_ALL: every test there, too.

# On debug kernels every second test: all of them take four minutes there, and other kernels run them all.
half_a_suite() { [ "$TIME_FACTOR" -ne 1 ] && [ -z "${VERBS_ALL:-}" ]; }

# verbs_tests FILTER
verbs_tests() {
	check "no provider tree: set PRISM_BUILD" test -n "$PRISM_BUILD"
	"$PRISM_BUILD/bin/prism-verbs-test" --device "$DEVICE" --gtest_brief=1 --gtest_filter="$1"
}

verbs_suite() {
	local variants='*/ipv4_builder:*/ipv6_list'
	[ -z "${SHORT:-}" ] || variants='*/ipv4_builder'
	if half_a_suite; then
		export GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=0
	fi
	verbs_tests "${VERBS_FILTER:-$variants}"
}

# Faults that were found in one line of kernels may return in that line alone: their tests are in either half.
verbs_faults() {
	local names='Memory.WindowIsInvalidatedByItsQueuePairAlone FailedDatagrams.CompleteOnceEach
		FreeLists.TooShortABufferIsNoneAndStays'
	set -o pipefail
	verbs_tests "$(printf 'Each/%s/ipv4_builder:' $names)" | tee /tmp/faults || fail "they are there"
	check "not all of them were run" grep -q ' 3 tests from 3 ' /tmp/faults
}

# As if libibverbs had another private ABI than all installed plug-ins
without_plugin() {
	local driver=/etc/libibverbs.d/prism.driver
	mv $driver /tmp
	"$PRISM_BUILD/bin/prism-run" ibv_devices >/tmp/devices 2>&1
	mv /tmp/prism.driver $driver
	cat /tmp/devices
	check "nothing says that the plug-in is missing" grep -q 'libprism: the module rxe_prism is loaded, but' /tmp/devices
	check "the userspace devices are gone, too" grep -q prism_lo /tmp/devices
	"$PRISM_BUILD/bin/prism-run" ibv_devices 2>&1 | grep -q 'libprism:' && fail "it is there, and missed"
	link_delete "$DEVICE" || fail "the device stays"
	"$PRISM_BUILD/bin/prism-run" ibv_devices 2>&1 | grep -q 'libprism:' && fail "it is missed where no device needs it"
	return 0
}

group_verbs() {
	part "$KIND verbs device" base_device
	PART_SECONDS=240 part "verbs suite" verbs_suite
	[ "$KIND" != stock ] || return 0
	if half_a_suite; then
		part "verbs suite: faults of stock rxe" verbs_faults
	fi
	part "verbs suite: nothing dropped" no_backlog
	part "verbs without the plug-in" without_plugin
}
