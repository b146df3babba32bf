#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The verbs programs that Debian ships, unmodified, over the userspace device of the loopback interface.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ibv_devices ibv_devinfo ibv_rc_pingpong ibv_srq_pingpong ibv_ud_pingpong ibv_uc_pingpong ib_read_lat ib_atomic_bw ss

device=prism_lo
run=("$bin/prism-run" --device="$device")
port=${PRISM_TEST_PORT:-19100}

list_devices() {
	"$bin/prism-run" ibv_devices >"$work/devices" 2>&1 || fail "ibv_devices" "$work/devices"
	grep -q "$device" "$work/devices" || fail "ibv_devices does not list $device" "$work/devices"
	"${run[@]}" ibv_devinfo -v -d "$device" >"$work/devinfo" 2>&1 || fail "ibv_devinfo -v" "$work/devinfo"
	local line
	for line in 'state:.*PORT_ACTIVE' 'link_layer:.*Ethernet' 'transport:.*InfiniBand' 'GID\[ *0\]:.*127\.47\.'; do
		grep -Eq "$line" "$work/devinfo" || fail "ibv_devinfo -v does not print $line" "$work/devinfo"
	done
	pass "ibv_devices, ibv_devinfo -v"
}

# Prints the index of the GID ::1; empty if the interface has no such address
ipv6_index() {
	sed -nE 's/.*GID\[ *([0-9]+)\]:[[:space:]]*(::1|0000:0000:0000:0000:0000:0000:0000:0001)([^0-9a-f].*)?$/\1/p' \
		"$work/devinfo" | head -n 1
}

# pingpong PROGRAM GID-INDEX ARGUMENT...
pingpong() {
	local program=$1 gid=$2
	shift 2
	port=$((port + 1))
	local command=("${run[@]}" "$program" -d "$device" -g "$gid" -p "$port" "$@")
	pair "$program -g $gid $*" "$port" '[0-9.]+ usec/iter' "${command[@]}" -- "${command[@]}" 127.0.0.1
}

# perftest PROGRAM GID-INDEX ARGUMENT...: a row of numbers must stand under the header
perftest() {
	local program=$1 gid=$2
	shift 2
	port=$((port + 1))
	local command=("${run[@]}" "$program" -d "$device" -x "$gid" -F -p "$port" "$@")
	pair "$program -x $gid $*" "$port" '^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+' "${command[@]}" -- "${command[@]}" 127.0.0.1
}

list_devices
for arguments in '' '-e' '-s 1' '-s 65536 -n 50' '-m 4096 -s 40000 -n 50' '-c'; do
	# shellcheck disable=SC2086
	pingpong ibv_rc_pingpong 0 -n 100 $arguments
done
pingpong ibv_srq_pingpong 0 -n 100
pingpong ibv_srq_pingpong 0 -n 100 -e -q 4

for program in ibv_ud_pingpong ibv_uc_pingpong; do
	pingpong $program 0 -n 100
	pingpong $program 0 -n 100 -e -s 1024
done

for program in ib_read_lat ib_write_lat ib_send_lat; do
	perftest $program 0 -n 200
	perftest $program 0 -n 50 -s 20000
done
perftest ib_send_lat 0 -n 200 -e
perftest ib_atomic_lat 0 -n 200
for program in ib_read_bw ib_write_bw ib_send_bw; do
	perftest $program 0 -n 500
	perftest $program 0 -n 100 -q 3 -s 2048
done
perftest ib_write_bw 0 -n 200 -b
perftest ib_atomic_bw 0 -n 500
# Losses of UC and UD are never repaired: keep no more under way than a receiver surely takes.
for program in ib_send_lat ib_write_lat; do
	perftest $program 0 -n 200 -c UC
done
perftest ib_send_lat 0 -n 200 -c UD
perftest ib_send_bw 0 -n 100 -c UD -s 1024 -t 16
perftest ib_send_bw 0 -n 100 -c UC -s 2048 -t 16
perftest ib_write_bw 0 -n 500 -c UC

six=$(ipv6_index)
if [ -n "$six" ]; then
	pingpong ibv_rc_pingpong "$six" -n 100
	pingpong ibv_ud_pingpong "$six" -n 100
	perftest ib_read_lat "$six" -n 200
	perftest ib_write_bw "$six" -n 200
	perftest ib_atomic_lat "$six" -n 100
else
	grep -q . /proc/net/if_inet6 2>/dev/null && fail "the device has no GID ::1, though the host has IPv6" "$work/devinfo"
	echo "not run: IPv6, which this host does not have"
fi
finish
