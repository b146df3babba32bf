#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Devices that speak version 1 of the wire protocol and devices that bundle, each with each: all work, and bundles are
# sent if both support them, and never else (W.12.3).
# shellcheck disable=SC2015,SC2317 # "A && B || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ss python3 pgrep

port=${PRISM_TEST_PORT:-19900}

# counters PID: writes the process's counters as "NAME VALUE" lines into $work/counters
counters() {
	timeout 20 "$bin/prism-stat" --once --json -p "$1" 2>"$work/said" | python3 -c '
import json, sys
for source in json.load(sys.stdin)["sources"]:
    for name, value in source["counters"].items():
        print(name, value)' >"$work/counters" 2>>"$work/said"
}

value() {
	awk -v name="$1" '$1 == name { sum = $2 } END { print sum + 0 }' "$work/counters"
}

executes() {
	counters "$1" && [ "$(value prism_cas)" -gt 100 ]
}

# meet SERVER-VERSION CLIENT-VERSION PATH TOOL: runs a chain, again and again, between two devices
meet() {
	local name="server of version $1, client of version $2, $3" server client bundled=no
	[ "$1$2" = 22 ] && bundled=yes
	port=$((port + 1))
	start "$work/server" env PRISM_WIRE_VERSION="$1" timeout -k 5 60 "$bin/$4" -d prism_lo -p "$port"
	server=$started
	wait_listening "$port" "$server" || fail "$name: the server does not listen" "$work/server"
	start "$work/client" env PRISM_WIRE_VERSION="$2" timeout -k 5 60 "$bin/$4" -d prism_lo -p "$port" \
		--path "$3" --chain=write-alloc-cas -D 2 127.0.0.1
	client=$started
	wait_for 20 executes "$(pgrep -P "$server")" || fail "$name: nothing is executed" "$work/server" "$work/said"
	[ "$(value rx_unknown_opcode)" -eq 0 ] || fail "$name: the server does not understand" "$work/counters"
	if [ $bundled = yes ]; then
		[ "$(value rx_bundled)" -ge 200 ] && [ "$(value tx_bundles)" -gt 0 ] || fail "$name: no bundles" "$work/counters"
	else
		[ "$(value rx_bundles)" -eq 0 ] && [ "$(value tx_bundles)" -eq 0 ] || fail "$name: bundles" "$work/counters"
	fi
	wait "$client" || fail "$name: the client ends with $?" "$work/client"
	wait "$server" || fail "$name: the server ends with $?" "$work/server"
	pass "$name: bundles: $bundled"
}

for server in 1 2; do
	for client in 1 2; do
		meet $server $client udp ib_prism_chain_lat
		# On rings the first requests of a doorbell are sent alone, as long as nothing is under way.
		meet $server $client local ib_prism_chain_bw
	done
done
finish
