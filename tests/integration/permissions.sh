#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A user without permission for the RoCE port, in a network namespace that reserves it, is told which permission is
# missing. The same user with the permission, and one in a namespace that does not reserve the port, have a device.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program setpriv unshare sysctl ip ss ibv_rc_pingpong python3

[ "$(id -u)" -eq 0 ] || skip "becoming another user needs root"
[ -n "${IN_NAMESPACE:-}" ] || unshare -n true 2>/dev/null || skip "no network namespaces here"
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -n "$0" "$@"
ip link set lo up
chmod 755 "$work"

# as_nobody LOG SETPRIV-OPTION... -- COMMAND...
as_nobody() {
	local log=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups "${options[@]}" "$@" >"$log" 2>&1
}

# Copies to a place that others can read, as they cannot read a home folder
mkdir "$work/bin" "$work/lib"
cp "$bin/prism-run" "$work/bin"
cp -a "$PRISM_BUILD"/lib/*.so* "$work/lib"
run=(env LD_LIBRARY_PATH="$work/lib" "$work/bin/prism-run")
as_nobody "$work/can" -- "${run[@]}" ibv_devinfo && pass "a user without any permission has a device" ||
	fail "a user without any permission has no device" "$work/can"

# Programs into which the dynamic linker preloads nothing still run, with a message about it.
# told_of WORDS LOG: expects a message of one cause alone, or of none
told_of() {
	[ "$(grep -c '^prism-run: ' "$2")" -eq 1 ] && grep -q "^prism-run: .* $1.*it sees no userspace device; " "$2" &&
		pass "$1: told" || fail "$1: not told" "$2"
}
cp /bin/true "$work/bin/raised"
cp /bin/true "$work/bin/able"
chmod 4755 "$work/bin/raised"
python3 -c 'import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)) # CAP_NET_RAW' "$work/bin/able"
for program in raised able; do
	as_nobody "$work/told" -- "${run[@]}" "$work/bin/$program" || fail "$program does not run" "$work/told"
	told_of "gains privileges" "$work/told"
done
"$bin/prism-run" ldconfig --version >"$work/told" 2>&1 || fail "a static program does not run" "$work/told"
told_of "linked statically" "$work/told"
"$bin/prism-run" "$work/bin/raised" >"$work/told" 2>&1 && [ ! -s "$work/told" ] || fail "root gains nothing" "$work/told"

if timeout -k 5 90 "$bin/prism-run" "$bin/dropped" >"$work/dropped" 2>&1; then
	pass "a daemon that drops its privileges is reached still"
else
	fail "a daemon that drops its privileges" "$work/dropped"
fi

# Two users cannot share an address: the second one is told the owner, by the first address that fails.
ip link add one type veth peer name two && ip link set one up && ip link set two up || fail "no veth"
for address in 10.79.0.1/24 fd79::1/64; do
	case $address in
	*:*) ip address add $address dev one nodad 2>/dev/null || continue ;; # a host without IPv6
	*) ip address add $address dev one ;;
	esac
	start "$work/first" timeout -k 5 60 "$bin/prism-run" ibv_rc_pingpong -d prism_one -g 0
	wait_listening 18515 "$started" || fail "root has no device of $address" "$work/first"
	if as_nobody "$work/second" -- "${run[@]}" ibv_rc_pingpong -d prism_one -g 0; then
		fail "two users have $address" "$work/second"
	fi
	told="UDP port 4791 of ${address%/*} belongs to user 0 (Address already in use): run as that user"
	grep -Fq "$told" "$work/second" && pass "$told" || fail "the second user of $address is not told" "$work/second"
	kill "$started"
	wait "$started"
	ip address flush dev one
done

sysctl -qw net.ipv4.ip_unprivileged_port_start=5000 || skip "the reserved ports cannot be set here"
if as_nobody "$work/may_not" -- "${run[@]}" ibv_devinfo; then
	fail "a device without the port that it needs" "$work/may_not"
fi
for cause in 'UDP port 4791' 'Permission denied' CAP_NET_BIND_SERVICE net.ipv4.ip_unprivileged_port_start; do
	grep -q "$cause" "$work/may_not" || fail "the message does not name $cause" "$work/may_not"
done
pass "without the port: $(grep -m1 'cannot bind' "$work/may_not")"

as_nobody "$work/may" --inh-caps=+net_bind_service --ambient-caps=+net_bind_service -- "${run[@]}" ibv_devinfo &&
	pass "with CAP_NET_BIND_SERVICE" || fail "no device with CAP_NET_BIND_SERVICE" "$work/may"
finish
