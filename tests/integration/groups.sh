#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Multicast of both families, for which loopback is too little: the verbs suite's tests of groups on a veth interface.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ip

[ "$(id -u)" -eq 0 ] || skip "making network namespaces needs root"
host=prism-groups-$$
clean_up_more() { ip netns delete "$host" 2>/dev/null; }

ip netns add "$host" 2>"$work/netns" &&
	ip -n "$host" link add groups0 type veth peer name groups1 2>>"$work/netns" ||
	skip "no network namespaces with veth here: $(cat "$work/netns")"
ip -n "$host" link set lo up &&
	ip -n "$host" link set groups1 up &&
	ip -n "$host" address add 10.78.0.1/24 dev groups0 &&
	ip -n "$host" address add fd78::1/64 dev groups0 nodad &&
	ip -n "$host" link set groups0 up || fail "the network cannot be set up"

if timeout 120 ip netns exec "$host" "$bin/prism-verbs-test" --device prism_groups0 --gtest_filter='*Groups*' >"$work/suite" 2>&1; then
	pass "$(grep -E 'PASSED' "$work/suite" | sed 's/.*PASSED *\] *//') on groups0"
else
	fail "groups on groups0" "$work/suite"
fi
if grep -q SKIPPED "$work/suite"; then
	fail "none of these may be skipped here" "$work/suite"
fi
finish
