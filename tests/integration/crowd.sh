#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Hundreds of processes at once on one address that they share, some of which are killed: the others are not affected,
# and nothing is left behind.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
alone "$@"
need_program ibv_rc_pingpong ibv_devinfo ss pgrep

pairs=${PRISM_CROWD:-100}
first_port=${PRISM_TEST_PORT:-21000}
run=("$bin/prism-run" --device=prism_lo)

# Claims of slots are abstract sockets, found by name (soft/net/slot.hpp).
claims() {
	grep -c '@prism' /proc/net/unix || true
}

shared_gid() {
	"${run[@]}" ibv_devinfo -v | sed -nE 's/.*GID\[ *([0-9]+)\]:[[:space:]]*::1(,.*)?$/\1/p' | head -n 1
}

gid=$(shared_gid)
[ -n "$gid" ] || skip "no address that processes share: this host has no ::1"
before=$(claims)


# tool I: makes the command line, in $command; it sleeps between messages, as so many on a few cores must
tool() {
	command=("${run[@]}" ibv_rc_pingpong -d prism_lo -g "$gid" -p $((first_port + $1)) -e -n 100)
}

servers=() clients=()
for ((i = 0; i < pairs; i++)); do
	tool $i
	start "$work/server.$i" timeout -k 5 120 "${command[@]}"
	servers[i]=$started
done
for ((i = 0; i < pairs; i++)); do
	wait_listening $((first_port + i)) "${servers[i]}" || fail "server $i does not listen" "$work/server.$i"
done
there=$(claims)
[ $((there - before)) -ge "$pairs" ] || fail "only $((there - before)) of $pairs servers hold a slot"
pass "$pairs servers at once"

# Every tenth server dies before its client starts, and its place in the group of sockets is gone.
for ((i = 0; i < pairs; i += 10)); do
	kill -9 "$(pgrep -P "${servers[i]}" | head -n 1)" 2>/dev/null || fail "server $i is gone already"
done
for ((i = 0; i < pairs; i++)); do
	tool $i
	start "$work/client.$i" timeout -k 5 120 "${command[@]}" localhost
	clients[i]=$started
done
# A side that is done leaves. If its last acknowledgement is lost, the other never learns: RC has no farewell.
done_well=0 without_farewell=0
for ((i = 0; i < pairs; i++)); do
	wait "${clients[i]}"
	client_status=$?
	wait "${servers[i]}"
	server_status=$?
	if ((i % 10 == 0)); then
		[ $client_status -ne 0 ] || fail "client $i of a dead server says that all went well" "$work/client.$i"
	elif [ $client_status -eq 0 ] && [ $server_status -eq 0 ]; then
		done_well=$((done_well + 1))
	elif [ $client_status -eq 0 ] || [ $server_status -eq 0 ]; then
		without_farewell=$((without_farewell + 1))
	else
		fail "pair $i: client $client_status, server $server_status" "$work/client.$i" "$work/server.$i"
	fi
done
[ $((without_farewell * 10)) -le "$pairs" ] || fail "$without_farewell pairs ended without the last acknowledgement"
pass "$done_well pairs did their work while others died, $without_farewell but for the last acknowledgement"

wait_for 5 test "$(claims)" -le "$before" || fail "$(($(claims) - before)) slots are still claimed"
pass "no slot is left claimed"
finish
