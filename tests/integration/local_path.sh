#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets between processes of one user go through shared memory, packets to any other process do not; and a process
# that dies or stops harms no other. docs/local-path.md has the statements.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
alone "$@"
need_program python3 ss ip

port=${PRISM_TEST_PORT:-19700}
device=prism_lo

# value PID EXPRESSION: evaluates the expression with the context s of that process, by prism-stat
value() {
	"$bin/prism-stat" -1 -z -j -p "$1" 2>/dev/null | python3 -c '
import json, sys
for s in json.load(sys.stdin)["sources"]:
    c = s["counters"]
    print(eval(sys.argv[1]))' "$2" 2>/dev/null
}

holds() {
	[ "$(value "$1" "$2")" = True ]
}

# begin NAME [COMMAND...]: starts a server, and a client under the command, for up to 60 seconds
begin() {
	local name=$1
	shift
	start "$work/$name.server" "$bin/ib_prism_read_bw" -d $device -p "$port" -D 60 -u 10
	server_pid=$started
	wait_listening "$port" "$server_pid" || fail "$name: the server does not listen" "$work/$name.server"
	start "$work/$name.client" "$@" "$bin/ib_prism_read_bw" -d $device -p "$port" -D 60 -u 10 "${host:-127.0.0.1}"
	client_pid=$started
	port=$((port + 1))
}

end() {
	local pid
	for pid in "$@"; do
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

busy() {
	holds "$1" 'c["rx_packets"] > 1000'
}

# by_rings NAME, by_udp NAME: expect that the pair that was begun exchanges packets that way
by_rings() {
	wait_for 20 holds "$server_pid" 'c["local_rx_packets"] > 1000 and len(s["local_peers"]) == 1' &&
		wait_for 20 holds "$client_pid" 'c["local_tx_packets"] > 1000 and len(s["local_peers"]) == 1' &&
		pass "$1" || fail "$1: not by shared memory" "$work"/*.client
}

by_udp() {
	wait_for 20 busy "$server_pid" && holds "$server_pid" 'c["local_rx_packets"] == 0 and not s["local_peers"]' &&
		pass "$1" || fail "$1: not by UDP" "$work"/*.client
}

# unacknowledged SERVICE: a sender to a stopped receiver loses packets that the receiver has no room for, counts them
# and takes no memory for them; when the receiver goes on, so do the messages
unacknowledged() {
	local messages=("$bin/prism-run" ib_send_bw -c "$1" -s 4096 -d "$device" -x 0 -p "$port" -D 60) was most sent lost
	start "$work/stopped.server" "${messages[@]}"
	server_pid=$started
	wait_listening "$port" "$server_pid" || fail "ib_send_bw does not listen" "$work/stopped.server"
	start "$work/stopped.client" "${messages[@]}" 127.0.0.1
	client_pid=$started
	port=$((port + 1))
	by_rings "messages of $1"
	lost=$(value "$client_pid" 'c["local_tx_dropped"], c["local_tx_waited"]')
	[ "$lost" = "(0, 0)" ] && pass "none is lost" || fail "dropped, waited: $lost"
	was=$(size "$client_pid")
	kill -STOP "$server_pid"
	wait_for 20 holds "$client_pid" 'c["local_tx_dropped"] > 1000' && pass "a stopped receiver stops nobody" ||
		fail "a stopped receiver stops its peer" "$work/stopped.client"
	most=$(size "$client_pid")
	[ $((most - was)) -lt 2000 ] && pass "nor does it take memory" || fail "the client grew by $((most - was)) KiB"
	sent=$(value "$client_pid" 'c["local_tx_packets"]')
	kill -CONT "$server_pid"
	wait_for 20 holds "$client_pid" "c['local_tx_packets'] > $sent + 1000" && pass "it goes on" || fail "it does not go on"
	end "$client_pid" "$server_pid"
}

size() {
	awk '/^VmRSS/ { print $2 }' "/proc/$1/status" 2>/dev/null || echo 0
}

claims() {
	grep -c '@prism-rdma' /proc/net/unix || true
}

before=$(claims)

begin usual
by_rings "two processes of one user"

# The first packets used UDP; none since.
by_socket=$(value "$server_pid" 'c["rx_packets"] - c["local_rx_packets"]')
packets=$(value "$server_pid" 'c["rx_packets"]')
wait_for 20 holds "$server_pid" "c['rx_packets'] > $packets + 5000"
[ "$(value "$server_pid" 'c["rx_packets"] - c["local_rx_packets"]')" = "$by_socket" ] &&
	pass "no packets beside it" || fail "packets beside it"
[ "$(value "$client_pid" 'c["local_tx_dropped"] + c["local_broken"]')" = 0 ] || fail "packets were dropped"

start "$work/other.server" "$bin/ib_prism_read_bw" -d $device -p "$port" -D 3
other=$started
wait_listening "$port" "$other"
kill -9 "$client_pid"
wait "$client_pid" 2>/dev/null
let_go() {
	gone "$server_pid" || holds "$server_pid" 'not s["local_peers"]'
}
wait_for 20 let_go && pass "a dead client is let go" || fail "a dead client is kept" "$work/usual.server"
timeout 60 "$bin/ib_prism_read_bw" -d $device -p "$port" -D 3 127.0.0.1 >"$work/other.client" 2>&1 &&
	pass "others go on" || fail "others do not go on" "$work/other.client"
port=$((port + 1))
end "$server_pid" "$other"

if command -v ib_send_lat >/dev/null; then
	datagrams=("$bin/prism-run" ib_send_lat -c UD -d "$device" -p "$port" -D 20)
	start "$work/datagrams.server" "${datagrams[@]}"
	server_pid=$started
	wait_listening "$port" "$server_pid" || fail "ib_send_lat does not listen" "$work/datagrams.server"
	start "$work/datagrams.client" "${datagrams[@]}" 127.0.0.1
	client_pid=$started
	port=$((port + 1))
	by_rings "datagrams"
	end "$client_pid" "$server_pid"
	for service in UC UD; do
		unacknowledged $service
	done
else
	echo "left out: datagrams, as perftest is not installed"
fi

begin server_dies
by_rings "the next pair"
kill -9 "$server_pid"
wait "$server_pid" 2>/dev/null
wait_for 20 gone "$client_pid" && ! wait "$client_pid" && pass "the client of a dead server ends" ||
	fail "the client of a dead server runs on" "$work/server_dies.client"
end "$client_pid"

begin stopped
by_rings "and the next"
was=$(size "$client_pid")
kill -STOP "$server_pid"
most=$was
for _ in {1..20}; do
	now=$(size "$client_pid")
	[ "${now:-0}" -le "$most" ] || most=$now
	sleep 0.05
done
[ $((most - was)) -lt 20000 ] && pass "a stopped server takes no memory of its client's" ||
	fail "the client grew by $((most - was)) KiB for a stopped server"
wait_for 20 gone "$client_pid" && ! wait "$client_pid" && pass "the client of a stopped server ends" ||
	fail "the client of a stopped server runs on" "$work/stopped.client"
kill -CONT "$server_pid"
end "$server_pid" "$client_pid"

begin no_local "$bin/prism-run" --no-local
by_udp "prism-run --no-local"
end "$server_pid" "$client_pid"
begin variable env PRISM_LOCAL=0
by_udp "PRISM_LOCAL=0"
end "$server_pid" "$client_pid"
PRISM_LOCAL=0 begin server_only env PRISM_LOCAL=1
by_udp "PRISM_LOCAL=0 of the server"
end "$server_pid" "$client_pid"

if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups test -x "$bin/ib_prism_read_bw" 2>/dev/null; then
	begin other_user setpriv --reuid 65534 --clear-groups
	by_udp "another user"
	end "$server_pid" "$client_pid"
else
	echo "left out: another user, for want of root or of a build folder that others may enter"
fi

# Two namespaces, whose contexts may have the same slots: names of the one do not exist in the other.
other_host() {
	start "$work/host" unshare -n sleep 120
	host_pid=$started
	wait_for 10 test "$(readlink /proc/self/ns/net)" != "$(readlink "/proc/$host_pid/ns/net" 2>/dev/null)" &&
		ip link add veth0 type veth peer name veth1 netns "$host_pid" &&
		ip addr add 10.47.0.1/24 dev veth0 && ip link set veth0 up &&
		nsenter -t "$host_pid" -n ip addr add 10.47.0.2/24 dev veth1 &&
		nsenter -t "$host_pid" -n ip link set veth1 up
}
if [ -n "${IN_NAMESPACE:-}" ] && other_host 2>"$work/host.error"; then
	device=prism_veth0
	start "$work/far.server" "$bin/ib_prism_read_bw" -d $device -p "$port" -D 60
	server_pid=$started
	wait_listening "$port" "$server_pid" || fail "the server on veth0 does not listen" "$work/far.server"
	start "$work/far.client" nsenter -t "$host_pid" -n "$bin/ib_prism_read_bw" -d prism_veth1 -p "$port" -D 60 10.47.0.1
	client_pid=$started
	by_udp "another network namespace"
	end "$client_pid" "$server_pid"
	port=$((port + 1))
	host=10.47.0.1 begin shared
	by_rings "an address that both share"
	end "$client_pid" "$server_pid"
else
	echo "left out: network namespaces, which this user may not have"
fi

wait_for 10 test "$(claims)" -le "$before" && pass "no name is left" || fail "names are left: $(grep @prism /proc/net/unix)"
[ -z "$(find /dev/shm /tmp -maxdepth 1 -name 'prism-[rb]*s' -o -maxdepth 1 -name 'prism-bell' 2>/dev/null)" ] || fail "files are left"
finish
