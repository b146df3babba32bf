#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Programs that are told no device, between two hosts: they take the first one, which must not be that of the loopback interface.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ip ss ucx_perftest ib_send_bw
[ "$(id -u)" -eq 0 ] || skip "network namespaces take root"
hosts=(prism-default-$$-a prism-default-$$-b)
clean_up_more() {
	ip netns delete "${hosts[0]}" 2>/dev/null
	ip netns delete "${hosts[1]}" 2>/dev/null
}
port=${PRISM_TEST_PORT:-19800}

build_network() {
	local at
	ip netns add "${hosts[0]}" && ip netns add "${hosts[1]}" &&
		ip link add veth0 netns "${hosts[0]}" type veth peer name veth0 netns "${hosts[1]}" || return
	for at in 0 1; do
		ip -n "${hosts[at]}" link set lo up
		ip -n "${hosts[at]}" address add 10.47.1.$((at + 1))/24 dev veth0
		ip -n "${hosts[at]}" link set veth0 up
	done
	wait_for 10 ip netns exec "${hosts[1]}" bash -c ': >/dev/udp/10.47.1.1/4791'
}

listening_there() {
	[ -n "$(ip netns exec "${hosts[0]}" ss -Hltn "sport = :$port")" ]
}

# between NAME PATTERN PROGRAM ARGUMENT...: both ends with 0, the client's output with the pattern
between() {
	local name=$1 pattern=$2 server
	shift 2
	start "$work/server" ip netns exec "${hosts[0]}" timeout -k 5 30 "$bin/prism-run" "$@" -p "$port"
	server=$started
	if ! wait_for 20 listening_there; then
		fail "$name: the server does not listen" "$work/server"
	elif ! ip netns exec "${hosts[1]}" timeout -k 5 30 "$bin/prism-run" "$@" -p "$port" 10.47.1.1 >"$work/client" 2>&1; then
		kill "$server" 2>/dev/null
		fail "$name" "$work/client" "$work/server"
	elif ! wait "$server" || ! grep -Eq -- "$pattern" "$work/client"; then
		fail "$name: no result" "$work/client" "$work/server"
	else
		pass "$name"
	fi
	port=$((port + 1))
}

build_network || skip "cannot make network namespaces"
# One that knows MPI takes standard input that is no terminal for its sign.
ucx=(ucx_perftest)
! ucx_perftest -h 2>&1 | grep -q -- '-P <0|1>' || ucx+=(-P 0)
between "ib_send_bw without -d" '^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+' ib_send_bw -F -n 200
for transport in rc_v ud_v; do
	export UCX_TLS=$transport
	between "ucx_perftest without UCX_NET_DEVICES, $transport" '^Final: +[0-9]+' "${ucx[@]}" -t tag_lat -s 512 -n 200
done
finish
