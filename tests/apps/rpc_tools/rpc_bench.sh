#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-rpc-bench as a user runs it, by every way: features, and messages for all that fails.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/rpc_tools/support.sh
. "$(dirname "$0")/support.sh"
need_program python3

# by_way WAY: checks latencies and rates of all kinds of calls
by_way() {
	local way=$1
	serve "$way" --connections 8
	expect 0 "$way: one call at a time" bench --way "$way" -n 500 --json "$work/json"
	holds 'r["clean"] and r["calls"] == r["latency"]["n_iterations"] == 500 and r["rate"] > 0'
	holds 'i["way"] == "'"$way"'" and r["server"]["after"]["calls"] - r["server"]["before"]["calls"] >= 500'
	holds 'r["latency"]["t_min"] <= r["latency"]["t_typical"] <= r["latency"]["t_max"]'
	holds 'r["client"]["traffic"]["tx_packets"] > 0 and r["server"]["traffic"]["tx_bytes"] > 0'
	holds 'r["server"]["after"]["touched"] > 0 and r["server"]["after"]["planned"] > 0'
	grep -Eq '^ 32 +500 ' "$work/out" || fail "no line of its latency" "$work/out"

	expect 0 "$way: many calls, sizes and threads" bench --way "$way" -n 6000 -t 16 --threads 2 --connections 2 \
		-s 0,1,8:2,700,8192 --request-size 3000 --json "$work/json"
	holds 'r["clean"] and r["calls"] == 6000 and len(r["latency_by_size"]) == 5'
	holds 'sum(size["n_iterations"] for size in r["latency_by_size"].values()) == 6000'
	holds 'all(size["n_iterations"] > 0 for size in r["latency_by_size"].values())'

	expect 0 "$way: a server that is busy" bench --way "$way" -n 300 -t 2 -P 40 --slow-share 0.05 --slow-time 300 \
		--json "$work/json"
	holds 'r["clean"] and r["latency"]["t_min"] >= 40 and 0 < r["slow_calls"] < 300'
	expect 0 "$way: a time, after a warm-up" bench --way "$way" -D 0.3 --warm-up 0.1 -t 4 --json "$work/json"
	holds 'r["clean"] and r["calls"] > 0 and abs(r["seconds"] - 0.3) < 1e-6'

	expect 1 "$way: messages that are too long" bench --way "$way" -s 32,8193 -n 1
	says "with a larger --message-size"
	expect 1 "$way: more calls at once than the server takes" bench --way "$way" -t 65 -n 1
	says "this server takes 1 to 64"
	stop
}

# crowd WAY: makes more calls at once than the server has buffers, for ways that do not promise each client its own
crowd() {
	serve "$1" --connections 16 --depth 4 --receive-buffers 4
	expect 0 "$1: more calls than buffers" bench --way "$1" -t 4 --connections 16 -n 600 -s 0,2000 --json "$work/json"
	holds 'r["clean"] and r["calls"] == 600'
	stop
}

# deaths WAY: kills the server with calls under way
deaths() {
	local way=$1 client
	serve "$way"
	bench --way "$way" -D 30 -t 4 >"$work/out" 2>"$work/err" &
	client=$!
	sleep 0.7
	kill -9 "$started"
	wait "$started" 2>/dev/null
	wait "$client"
	[ $? -eq 1 ] || fail "$way: nothing is said of a server that dies" "$work/out" "$work/err"
	says "see what the server says"

	serve "$way"
	bench --way "$way" -D 1 -t 4 --drain 0.5 >"$work/out" 2>"$work/err" &
	client=$!
	sleep 0.5
	kill -STOP "$started"
	wait "$client"
	[ $? -eq 1 ] || fail "$way: nothing is said of a server that stands still" "$work/out" "$work/err"
	grep -q 'given up: 4 calls' "$work/out" || fail "$way: calls are not given up" "$work/out" "$work/err"
	kill -CONT "$started"
	stop
	pass "$way: a server that dies, and one that stands still"
}

# stand_still: stops a server for three seconds, then its client, with a call under way, by every way at once. A
# userspace device stops with its process; neither side takes the other for dead, and no call is lost.
stand_still() {
	local way number=0
	local servers=() clients=()
	for way in "${ways[@]}"; do
		serve "$way"
		servers+=("$started")
		"$bin/prism-rpc-bench" 127.0.0.1 -p "$port" --way "$way" -D 8 >"$work/$way.out" 2>"$work/$way.err" &
		clients+=($!)
		children+=($!)
	done
	sleep 0.5
	kill -STOP "${servers[@]}"
	sleep 3
	kill -CONT "${servers[@]}"
	sleep 0.5
	kill -STOP "${clients[@]}"
	sleep 3
	kill -CONT "${clients[@]}"
	for way in "${ways[@]}"; do
		wait "${clients[number]}" || fail "$way: a side that stood still is lost" "$work/$way.out" "$work/$way.err"
		kill "${servers[number]}"
		wait "${servers[number]}" || fail "$way: the server does not end well"
		number=$((number + 1))
	done
	pass "a server and a client that stand still for three seconds"
}

usage() {
	expect 2 "no host" "$bin/prism-rpc-bench"
	says "host"
	expect 2 "no way" "$bin/prism-rpc-bench" localhost --way none
	says "none"
	expect 2 "no such way of a server" "$bin/prism-rpc-bench" --server --way none
	expect 2 "a size that is none" "$bin/prism-rpc-bench" localhost -s 32,x
	says "'x' is no size"
	expect 2 "slow calls, but none" "$bin/prism-rpc-bench" localhost --slow-time 100
	says "--slow-share"
	expect 2 "no calls" "$bin/prism-rpc-bench" localhost -t 0
	expect 2 "a time and a number" "$bin/prism-rpc-bench" localhost -D 1 -n 1
	expect 1 "a server that is not there" timeout -k 5 30 "$bin/prism-rpc-bench" 127.0.0.1 -p 1 -n 1 --timeout 1
	expect 2 "a server's messages of no size" "$bin/prism-rpc-bench" --server -p 0 --message-size 0
	says "are possible"
	expect 0 "help" "$bin/prism-rpc-bench" --help
	expect 0 "help of the server" "$bin/prism-rpc-bench" --server --help
	grep -q -- --message-size "$work/out" || fail "it is not that of the server" "$work/out"
}

# others WAY: a server of this way, and clients of the other ways
others() {
	local way=$1 other
	serve "$way"
	for other in "${ways[@]}"; do
		[ "$other" != "$way" ] || continue
		expect 1 "$other at a server of $way" bench --way "$other" -n 1
		says "give both the same way"
	done
	expect 0 "$way after them" bench --way "$way" -n 1
	stop
}

usage
stand_still
for way in "${ways[@]}"; do
	by_way "$way"
	deaths "$way"
	others "$way"
done
crowd slots
crowd datagram
finish
