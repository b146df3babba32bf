#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# perftest's programs with its options, by rings and by UDP: every run ends, and none loses a message. With PRISM_ALL
# all combinations that it accepts, else so many that each two values of its options occur together once
# (perftest_matrix.py).
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
alone "$@"
need_program python3 ss ethtool ib_send_bw ib_write_lat ib_read_bw ib_atomic_lat
[ -e /dev/infiniband/rdma_cm ] && skip "this host has a connection manager of the kernel's"
[ -z "${PRISM_LOCAL:-}" ] || skip "PRISM_LOCAL is set"

matrix=$PRISM_SOURCE/tests/integration/perftest_matrix.py
port=${PRISM_TEST_PORT:-23100}
longest=${PRISM_TEST_SECONDS:-60} # of one run
row='^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+'

listens() {
	[ -n "$(ss -Hltn "sport = :$port")" ] || grep -aq "@prism-cm/01../$port/" /proc/net/unix
}

# A child that has not been waited for is a zombie.
ended() {
	local pid state
	for pid in "$@"; do
		read -r state < <(sed -n 's/^State:\s*//p' "/proc/$pid/status" 2>/dev/null) || continue
		[ "${state:0:1}" = Z ] || return 1
	done
}

has_row() {
	grep -Eq "$row" "$work/client"
}

# lost PID...: prints the packets that their sockets had no room for
lost() {
	local pid
	for pid in "$@"; do
		"$bin/prism-stat" -1 -z -p "$pid" 2>/dev/null
	done | awk '$1 == "rx_socket_drops" { lost += $2 } END { print lost + 0 }'
}

end() {
	kill -9 "$@" 2>/dev/null
	wait "$@" 2>/dev/null
}

# judge NAME: expects that the server and the client end well, unless they run for ever
judge() {
	local name=$1
	if [[ $name = *--run_infinitely* ]]; then
		wait_for "$longest" has_row && ! ended "$client_pid" "$server_pid" || fail "$name: no result" "$work/client" "$work/server"
		end "$client_pid" "$server_pid"
	elif wait_for "$longest" ended "$client_pid" "$server_pid"; then
		wait "$client_pid" && wait "$server_pid" && has_row || fail "$name" "$work/client" "$work/server"
	elif [[ $name = udp*-c\ U[CD]* ]] && [ "$(lost "$client_pid" "$server_pid")" -gt 0 ]; then
		echo "$name: a socket was full, which UC and UD do not mend"
		end "$client_pid" "$server_pid"
	else
		"$bin/prism-stat" -1 -p "$client_pid" >"$work/client.stat" 2>&1
		"$bin/prism-stat" -1 -p "$server_pid" >"$work/server.stat" 2>&1
		fail "$name: does not end" "$work"/{client,server}{,.stat}
		end "$client_pid" "$server_pid"
	fi
}

# limits CARRIER PROGRAM ARGUMENT...: prints the options that limit how much is sent
limits() {
	local count=500
	case "$*" in
	*-D\ 1*) return ;;
	# All sizes: for each, perftest measures its clock, which takes longer.
	*-a*) count=5 ;;
	*_lat*) count=200 ;;
	*-q*) count=100 ;;
	esac
	# Losses of UC and UD are never repaired: over sockets send no more than surely fits one.
	case "$*" in
	udp*-c\ U[CD]*-a*) ;;
	udp*_bw*-c\ U[CD]*-q*) count='10 -s 512' ;;
	udp*_bw*-c\ U[CD]*) count='100 -s 512' ;;
	esac
	echo "-n $count"
}

# run CARRIER PROGRAM ARGUMENT...
run() {
	local name="$*" local=1 before=$failures
	[ "$1" = rings ] || local=0
	local limits
	read -ra limits < <(limits "$@")
	shift
	port=$((port + 1))
	local command=(env PRISM_LOCAL="$local" "$bin/prism-run" "$@" -d prism_lo -F -p "$port" "${limits[@]}")
	[[ $name = *-R* ]] || command+=(-x 0)
	# A row a second: without this forty rows pass before there is one to be seen.
	[[ $name != *--run_infinitely* ]] || command=(stdbuf -oL "${command[@]}")
	start "$work/server" "${command[@]}"
	server_pid=$started
	wait_for 20 listens || fail "$name: the server does not listen" "$work/server"
	: >"$work/client" # the output of the last run is still there
	start "$work/client" "${command[@]}" 127.0.0.1
	client_pid=$started
	judge "$name"
	[ "$failures" -ne "$before" ] || pass "$name"
}

# perftest refuses the combinations that are listed as refused, before it looks for a device.
check_refusals() {
	local arguments
	"$matrix" refused | cut -d' ' -f2- >"$work/refused"
	while read -r arguments; do
		# shellcheck disable=SC2086
		$arguments -F -d none >"$work/out" 2>&1 </dev/null
		! grep -q 'Did not detect devices' "$work/out" || fail "perftest takes $arguments"
	done <"$work/refused"
	pass "what perftest refuses"
}

# A fault that rings once had: both fill them, and neither checks for room.
for _ in 1 2 3; do
	run rings ib_send_bw -c UC -b
done
if [ -n "${PRISM_ALL:-}" ]; then
	check_refusals
	list=all
fi
"$matrix" "${list:-pairs}" >"$work/runs"
while read -ra arguments; do
	run "${arguments[@]}"
done <"$work/runs"
# A reply and its acknowledgement then arrive one by one, and the client sleeps until it has both.
if [ -n "${IN_NAMESPACE:-}" ] && ethtool -K lo tx-udp-segmentation off; then
	run udp ib_send_lat -e
else
	echo "left out: loopback without segmentation offload, for want of a namespace"
fi
finish
