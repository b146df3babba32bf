#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Processes that die by SIGKILL in the middle of traffic: the peer learns of it in bounded time, no other process is
# disturbed, and everything that the dead one leaves can be used again.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
alone "$@" # the same ports serve the run by UDP
need_program ib_read_bw ib_write_bw ib_read_lat ss

run=("$bin/prism-run" --device=prism_lo)
port=${PRISM_TEST_PORT:-19300}

# tool PROGRAM PORT ARGUMENT...: makes the command line, in $command
tool() {
	local program=$1 on=$2
	shift 2
	command=("${run[@]}" "$program" -d prism_lo -x 0 -F -p "$on" "$@")
}

# begin NAME: starts a server and a client that run for 60 seconds; pids in $server_pid, $client_pid
begin() {
	tool ib_read_bw "$port" -D 60 -u 10
	start "$work/$1.server" "${command[@]}"
	server_pid=$started
	wait_listening "$port" "$server_pid" || fail "$1: the server does not listen" "$work/$1.server"
	start "$work/$1.client" "${command[@]}" 127.0.0.1
	client_pid=$started
	port=$((port + 1))
	sleep 1
	kill -0 "$client_pid" 2>/dev/null || fail "$1: the client is not running" "$work/$1.client"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}


kill_child() {
	kill -9 "$1"
	wait "$1" 2>/dev/null
}

short_run() {
	tool ib_read_lat "$port" -n 200
	pair "$1" "$port" '^ *[0-9]+ +[0-9]+ +[0-9.]+' "${command[@]}" -- "${command[@]}" 127.0.0.1
	port=$((port + 1))
}

# Timeout 10 is 4.2 ms, seven retries: well below a second; perftest then reports the failed completion and ends.
server_dies() {
	begin server_dies
	kill_child "$server_pid"
	if wait_for 15 gone "$client_pid"; then
		wait "$client_pid" && fail "the client of a dead server ended with 0" "$work/server_dies.client"
		grep -Eqi 'retry exceeded|status 12|completion with error|retry counter' "$work/server_dies.client" ||
			fail "the client does not report that its retries ran out" "$work/server_dies.client"
		pass "the client learns of its server's death"
	else
		fail "the client of a dead server runs on" "$work/server_dies.client"
	fi
	short_run "a new server at once"
}

client_dies() {
	begin dying
	local dying=$client_pid its_server=$server_pid
	tool ib_read_bw "$port" -D 5
	start "$work/other.server" "${command[@]}"
	local other_server=$started
	wait_listening "$port" "$other_server" || fail "the other server does not listen" "$work/other.server"
	start "$work/other.client" "${command[@]}" 127.0.0.1
	local other=$started
	port=$((port + 1))
	sleep 1
	kill_child "$dying"
	if wait "$other" && wait "$other_server"; then
		pass "the other client is not disturbed"
	else
		fail "the other client is disturbed" "$work/other.client" "$work/other.server"
	fi
	kill -0 "$its_server" 2>/dev/null && kill_child "$its_server"
	short_run "after a client's death"
}

# More processes die than there are addresses and slots of the loopback interface, of which each takes one: a leak would
# show.
stale_state() {
	local round
	for round in 1 2 3 4 5 6 7 8; do
		tool ib_read_lat "$port" -n 200
		start "$work/stale" "${command[@]}"
		wait_listening "$port" "$started" || fail "stale server $round does not listen" "$work/stale"
		kill_child "$started"
		port=$((port + 1))
	done
	short_run "after eight servers died"
}

# Whoever has a message and ends has acknowledged it. By UDP an acknowledgement may wait for the reply, so that of a killed
# process may be lost.
end_with_a_message() {
	local way ways=(exit close)
	[ "${PRISM_LOCAL:-1}" = 0 ] || ways+=(killed)
	for way in "${ways[@]}"; do
		if timeout -k 5 60 "$bin/prism-run" --device=prism_lo "$bin/partings" "$way" 20 >"$work/out" 2>&1; then
			pass "a message to a process that ends: $way"
		else
			fail "a message to a process that ends: $way" "$work/out"
		fi
	done
}

server_dies
client_dies
stale_state
end_with_a_message
finish
