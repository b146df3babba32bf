#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Tests for which loopback does not suffice, on a veth interface: the verbs suite's tests of groups of both families,
# and of the interface's MTU.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ip

[ "$(id -u)" -eq 0 ] || skip "making network namespaces needs root"
host=prism-ethernet-$$
clean_up_more() { ip netns delete "$host" 2>/dev/null; }

ip netns add "$host" 2>"$work/netns" &&
	ip -n "$host" link add ethernet0 type veth peer name ethernet1 2>>"$work/netns" ||
	skip "no network namespaces with veth here: $(cat "$work/netns")"
ip -n "$host" link set lo up &&
	ip -n "$host" link set ethernet1 up &&
	ip -n "$host" address add 10.78.0.1/24 dev ethernet0 &&
	ip -n "$host" address add fd78::1/64 dev ethernet0 nodad &&
	ip -n "$host" link set ethernet0 up || fail "the network cannot be set up"

if timeout 120 ip netns exec "$host" "$bin/prism-verbs-test" --device prism_ethernet0 \
	--gtest_filter='*Groups*:*PathMtuIs*' >"$work/suite" 2>&1; then
	pass "$(grep -E 'PASSED' "$work/suite" | sed 's/.*PASSED *\] *//') on ethernet0"
else
	fail "the verbs suite on ethernet0" "$work/suite"
fi
if grep -q SKIPPED "$work/suite"; then
	fail "none of these may be skipped here" "$work/suite"
fi
finish
