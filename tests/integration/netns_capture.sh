#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two hosts, network namespaces joined by a veth pair, speak PRISM; every packet that arrives is captured, decoded by
# tshark, and compared byte by byte with what the independent encoder of the test vectors makes of the same request.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ip ethtool tcpdump tshark python3 ss

[ "$(id -u)" -eq 0 ] || skip "making network namespaces needs root"
port=${PRISM_TEST_PORT:-19500}
hosts=("prism-a-$$" "prism-b-$$")
links=("pva$$" "pvb$$")

clean_up_more() {
	ip netns delete "${hosts[0]}" 2>/dev/null
	ip netns delete "${hosts[1]}" 2>/dev/null
}

on() {
	local host=${hosts[$1]}
	shift
	ip netns exec "$host" "$@"
}

# configure INDEX: sets addresses 10.77.0.1 and fd77::1, or 2; GSO trains leave the sender as the packets they stand for
configure() {
	ip link set "${links[$1]}" netns "${hosts[$1]}" &&
		on "$1" ip link set lo up &&
		on "$1" ip address add "10.77.0.$(($1 + 1))/24" dev "${links[$1]}" &&
		on "$1" ip address add "fd77::$(($1 + 1))/64" dev "${links[$1]}" nodad &&
		on "$1" ethtool -K "${links[$1]}" gso off tso off gro off &&
		on "$1" ip link set "${links[$1]}" gso_max_segs 1 up
}

build_network() {
	ip netns add "${hosts[0]}" 2>"$work/netns" && ip netns add "${hosts[1]}" 2>>"$work/netns" &&
		ip link add "${links[0]}" type veth peer name "${links[1]}" 2>>"$work/netns" ||
		skip "no network namespaces with veth here: $(cat "$work/netns")"
	configure 0 >"$work/netns" 2>&1 && configure 1 >>"$work/netns" 2>&1 || {
		fail "the network cannot be set up" "$work/netns"
		finish
	}
}

# gid_index INDEX ADDRESS
gid_index() {
	on "$1" env PRISM_DEVICES="${links[$1]}" "$bin/prism-run" ibv_devinfo -v -d "prism_${links[$1]}" >"$work/devinfo" 2>&1
	sed -nE "s/.*GID\[ *([0-9]+)\]:[[:space:]]*([0-9a-f:.]+).*/\1 \2/p" "$work/devinfo" |
		python3 -c '
import ipaddress, sys
wanted = ipaddress.ip_address(sys.argv[1])
for line in sys.stdin:
    index, gid = line.split()
    gid = ipaddress.IPv6Address(gid)
    if wanted in (gid, gid.ipv4_mapped):
        print(index)
        break' "$2"
}

# capture INDEX FILE: captures the packets that arrive there
capture() {
	start "$2.log" ip netns exec "${hosts[$1]}" tcpdump -i "${links[$1]}" -Q in --immediate-mode -Z root -U -s 0 -w "$2" udp port 4791
	wait_for 10 grep -qs 'listening on' "$2.log" || fail "tcpdump does not start" "$2.log"
}

# compare NAME: a first run, which must succeed, and runs on damaged copies, which must not
compare() {
	local tool=("$(dirname "$0")/netns_capture.py" --encoder "$PRISM_SOURCE/tests/vectors/encode.py"
		--posted "$work/$1.posted" "$work/$1.requests" "$work/$1.responses") damage
	if python3 "${tool[@]}" >"$work/compared" 2>&1; then
		pass "$1: $(tail -n 1 "$work/compared")"
	else
		fail "$1: the packets are not what was posted" "$work/compared"
		return
	fi
	for damage in 1 2 3 4 5; do
		python3 "${tool[@]}" --damage "$damage" >"$work/compared" 2>&1
		[ $? -eq 1 ] || fail "$1: a flipped bit is not noticed" "$work/compared"
	done
	pass "$1: flipped bits are noticed"
}

# family NAME ADDRESS-OF-A ADDRESS-OF-B
family() {
	local name=$1 gid_a gid_b
	gid_a=$(gid_index 0 "$2")
	gid_b=$(gid_index 1 "$3")
	[ -n "$gid_a" ] && [ -n "$gid_b" ] || {
		fail "$name: no GID for $2 or $3" "$work/devinfo"
		return
	}
	capture 1 "$work/$name.requests"
	local first=$started
	capture 0 "$work/$name.responses"
	local second=$started
	start "$work/server" ip netns exec "${hosts[1]}" env PRISM_DEVICES="${links[1]}" \
		timeout 60 "$bin/wire_probe" "prism_${links[1]}" "$gid_b" "$port"
	local server_pid=$started
	wait_for 10 listening_there || fail "$name: the server does not listen" "$work/server"
	on 0 env PRISM_DEVICES="${links[0]}" timeout 60 "$bin/wire_probe" "prism_${links[0]}" "$gid_a" "$port" "$3" \
		>"$work/$name.posted" 2>"$work/client" || fail "$name: client" "$work/client"
	wait "$server_pid" || fail "$name: server" "$work/server"
	port=$((port + 1))
	sleep 0.3
	kill -INT "$first" "$second"
	wait "$first" "$second"
	compare "$name"
}

listening_there() {
	[ -n "$(on 1 ss -Hltn "sport = :$port")" ]
}

build_network
family ipv4 10.77.0.1 10.77.0.2
family ipv6 fd77::1 fd77::2
finish
