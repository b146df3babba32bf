#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# librdmacm's programs, and perftest's with -R, unmodified, over the userspace devices: no /dev/infiniband/rdma_cm is
# needed. On loopback as any user; between network namespaces as root.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program python3 ss mckey rping ucmatose udaddy rdma_server rdma_client rstream cmtime ib_read_lat ib_send_bw ib_send_lat
[ -e /dev/infiniband/rdma_cm ] && skip "this host has a connection manager of the kernel's"

run=("$bin/prism-run")
port=${PRISM_TEST_CM_PORT:-17100}
udaddy_port=7174 # it has no option for another
results='^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+'
hosts=prism-cm-$$ # names of the namespaces; a run that was killed has left its own behind
server_in=()      # namespaces that servers and clients run in
client_in=()

# listens PORT [SPACE]: true if there is a listener at the port, on any address
listens() {
	"${server_in[@]}" grep -aq "@prism-cm/${2:-0106}/$1/" /proc/net/unix
}

# cm_pair NAME PORT SPACE PATTERN SERVER-COMMAND -- CLIENT-COMMAND: both must end with 0, the client must print PATTERN
cm_pair() {
	local name=$1 on=$2 space=$3 pattern=$4 server=() client_status server_status
	shift 4
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	start "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" "${server[@]}"
	local server_pid=$started
	wait_for 20 listens "$on" "$space" || {
		fail "$name: the server does not listen" "$work/server"
		return
	}
	ends_well "$work/client" timeout -k 5 60 "${client_in[@]}" "${run[@]}" "$@"
	client_status=$?
	[ $client_status -eq 0 ] || kill "$server_pid" 2>/dev/null
	ended_well "$server_pid" "$work/server"
	server_status=$?
	if [ $client_status -ne 0 ] || [ $server_status -ne 0 ]; then
		fail "$name: client ended with $client_status, server with $server_status" "$work/client" "$work/server"
	elif ! grep -Eq -- "$pattern" "$work/client"; then
		fail "$name: no result in the client's output" "$work/client"
	else
		pass "$name"
	fi
}

# Before rdma-core 59, rping closes its channel at the end while its other thread may be about to ask it for an event,
# and then fails although all is done, on any device (rdma-core's commit f3ae6534a). Callers check the results
# themselves. rping's other output is buffered and may follow later.
# forgive STATUS LOG: prints the status, or 0 for that failure
forgive() {
	[ "$1" -eq 255 ] && grep -q '^rdma_get_cm_event: Bad file descriptor' "$2" && return 0
	return "$1"
}

# ended_well PID LOG
ended_well() {
	local status=0
	wait "$1" || status=$?
	forgive $status "$2"
}

# ends_well LOG COMMAND...
ends_well() {
	local log=$1 status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	forgive $status "$log"
}

# ping ADDRESS [SERVER-ADDRESS]
ping() {
	port=$((port + 1))
	cm_pair "rping $1" "$port" 0106 'rdma-ping-4' rping -s -C 5 -a "${2:-$1}" -p "$port" -- \
		rping -c -C 5 -v -a "$1" -p "$port"
}

# perftest ADDRESS PROGRAM ARGUMENT...
perftest() {
	local address=$1 program=$2
	shift 2
	port=$((port + 1))
	cm_pair "$program -R $* $address" "$port" 01.. "$results" "$program" -R -F -p "$port" "$@" -- \
		"$program" -R -F -p "$port" "$@" "$address"
}

six() {
	grep -q '^00000000000000000000000000000001 ' /proc/net/if_inet6 2>/dev/null
}

programs() {
	ping 127.0.0.1
	ping 127.0.0.1 0.0.0.0
	if six; then
		ping ::1
		ping 127.0.0.1 ::
	else
		echo "not run: IPv6, which this host does not have"
	fi
	port=$((port + 1))
	cm_pair "ucmatose" "$port" 0106 'return status 0' ucmatose -p "$port" -- ucmatose -p "$port" -s 127.0.0.1
	port=$((port + 1))
	cm_pair "ucmatose, 50 connections" "$port" 0106 'return status 0' ucmatose -p "$port" -c 50 -- \
		ucmatose -p "$port" -c 50 -s 127.0.0.1
	cm_pair "udaddy" "$udaddy_port" 0111 'return status 0' udaddy -- udaddy -s 127.0.0.1
	port=$((port + 1))
	cm_pair "rdma_server, rdma_client: synchronous calls" "$port" 0106 'end 0' rdma_server -p "$port" -- \
		rdma_client -p "$port" -s 127.0.0.1
	port=$((port + 1))
	cm_pair "rstream: rsockets" "$port" 0106 '^custom' rstream -p "$port" -S 4000 -C 200 -- \
		rstream -p "$port" -S 4000 -C 200 -s 127.0.0.1
	perftest 127.0.0.1 ib_read_lat -n 200
	perftest 127.0.0.1 ib_send_bw -n 500
	perftest 127.0.0.1 ib_send_lat -n 200 -e
	perftest 127.0.0.1 ib_write_bw -n 200 -q 3
	perftest 127.0.0.1 ib_send_lat -n 200 -c UD
}

# A client that gets no answer, or no longer one, reports that, and in time.
# ends_within SECONDS NAME PATTERN COMMAND...
ends_within() {
	local limit=$1 name=$2 pattern=$3 begun=$SECONDS status
	shift 3
	timeout -k 5 60 "$@" >"$work/client" 2>&1 </dev/null
	status=$?
	# 124: our limit; 129 to 143: a signal. Some programs return an event's status, which is negative.
	if [ $status -eq 0 ] || [ $status -eq 124 ] || { [ $status -gt 128 ] && [ $status -le 143 ]; }; then
		fail "$name: ended with $status" "$work/client"
	elif [ $((SECONDS - begun)) -gt "$limit" ]; then
		fail "$name: took $((SECONDS - begun)) s" "$work/client"
	elif ! grep -Eq -- "$pattern" "$work/client"; then
		fail "$name: no $pattern" "$work/client"
	else
		pass "$name"
	fi
}

refused() {
	port=$((port + 1))
	ends_within 5 "connection refused: ucmatose" 'RDMA_CM_EVENT_REJECTED, error: 8' \
		"${run[@]}" ucmatose -p "$port" -s 127.0.0.1
	ends_within 5 "connection refused: rping" 'RDMA_CM_EVENT_REJECTED, error 8' \
		"${run[@]}" rping -c -a 127.0.0.1 -p "$port"
	# a link-local address without the link
	ends_within 5 "no route" 'RDMA_CM_EVENT_ADDR_ERROR' "${run[@]}" ucmatose -p "$port" -s fe80::47
}

# The server is stopped before it can answer, and killed while the client waits.
killed_while_connecting() {
	port=$((port + 1))
	start "$work/server" "${run[@]}" rping -s -a 127.0.0.1 -p "$port"
	local server_pid=$started
	wait_for 20 listens "$port" || fail "the server does not listen" "$work/server"
	kill -STOP "$server_pid"
	(sleep 1.5 && kill -9 "$server_pid") &
	ends_within 10 "server killed while connecting" 'REJECTED|UNREACHABLE' \
		"${run[@]}" rping -c -a 127.0.0.1 -p "$port"
	wait $!
	wait_for 5 not_listening "$port" && pass "a killed server's port is free" || fail "the port is still taken"
}

not_listening() {
	! listens "$1"
}

# A client learns that its server is gone although no process is left to tell it.
killed_while_connected() {
	port=$((port + 1))
	start "$work/server" timeout -k 5 60 "${run[@]}" rping -s -P -a 127.0.0.1 -p "$port"
	local launcher=$started
	wait_for 20 listens "$port" || fail "the server does not listen" "$work/server"
	start "$work/client" timeout -k 5 60 "${run[@]}" rping -c -a 127.0.0.1 -p "$port"
	local client=$started
	sleep 1
	kill -0 "$client" 2>/dev/null || fail "the client does not run" "$work/client"
	pkill -9 -P "$launcher"
	wait_for 20 ended "$client" && pass "server killed while connected" ||
		fail "server killed while connected: the client does not end" "$work/client"
	wait "$launcher" 2>/dev/null
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

two_servers() {
	local first second server_pid
	for first in 127.0.0.1 0.0.0.0; do
		port=$((port + 1))
		start "$work/server" "${run[@]}" rping -s -a "$first" -p "$port"
		server_pid=$started
		wait_for 20 listens "$port" || fail "the server does not listen" "$work/server"
		for second in 127.0.0.1 0.0.0.0; do
			ends_within 5 "second server, $second beside $first" 'rdma_bind_addr: Address already in use' \
				"${run[@]}" rping -s -a "$second" -p "$port"
		done
		kill "$server_pid"
		wait "$server_pid" 2>/dev/null
	done
}

# may_be_taken NAME: true if another process can take the name of a listener
may_be_taken() {
	"${server_in[@]}" python3 -c '
import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).bind("\0prism-cm/" + sys.argv[1])' "$1" 2>/dev/null
}

# A process that took the name of one address of a server on all addresses would get the server's messages.
stolen_name() {
	port=$((port + 1))
	start "$work/server" "${run[@]}" rping -s -a 0.0.0.0 -p "$port"
	local server_pid=$started
	wait_for 20 listens "$port" || fail "the server does not listen" "$work/server"
	if may_be_taken "0106/$port/127.0.0.1"; then
		fail "somebody else gets the name of an address of a server on all addresses"
	else
		pass "nobody else gets the name of an address of a server on all addresses"
	fi
	kill "$server_pid"
	wait "$server_pid" 2>/dev/null
	wait_for 5 may_be_taken "0106/$port/127.0.0.1" && pass "the name is free again" || fail "the name is still taken"
}

# before_a_connection NAME: runs the Python program on standard input, which sends something to a server; the server's
# port is its argument
before_a_connection() {
	port=$((port + 1))
	start "$work/server" timeout -k 5 60 "${run[@]}" rping -s -C 3 -a 127.0.0.1 -p "$port"
	local server_pid=$started status
	wait_for 20 listens "$port" || fail "the server does not listen" "$work/server"
	python3 - "$port" >"$work/client" 2>&1 || fail "$1 cannot be sent" "$work/client"
	ends_well "$work/client" timeout 20 "${run[@]}" rping -c -C 3 -v -a 127.0.0.1 -p "$port"
	status=$?
	wait "$server_pid"
	[ $status -eq 0 ] && grep -q 'rdma-ping-2' "$work/client" && pass "$1 before a connection" ||
		fail "$1 before a connection: client ended with $status" "$work/client" "$work/server"
}

# Garbage that any process of the host may send to a server's sockets: none of it is a request, so rping's only client
# is still to come.
garbage() {
	before_a_connection "garbage" <<'PYTHON'
import random
import socket
import struct
import sys

random.seed(47)
names = [line.split("@")[1].strip() for line in open("/proc/net/unix") if "@prism-cm/" in line]
listeners = [name for name in names if f"/{sys.argv[1]}/" in name]
processes = [name for name in names if "/process/" in name]
assert listeners and processes
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)


def envelope():
    attribute = random.choice([0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x18, 0x19])
    header = struct.pack(">BBBBIQHHI", 1, 7, 2, 3, 0, random.getrandbits(64), attribute, 0, 0)
    owner = int(random.choice(processes).rsplit("/", 1)[1])
    ids = struct.pack(">II", random.getrandbits(32), owner << 16 | random.getrandbits(16))
    known = struct.pack("=IB3x", 0x70636D31, random.getrandbits(1))
    return known + random.randbytes(32) + header + ids + random.randbytes(256 - 24 - 8)


for _ in range(3000):
    data = envelope() if random.random() < 0.8 else random.randbytes(random.choice([0, 1, 295, 296, 297, 3000]))
    to = random.choice(listeners + processes)
    try:
        sender.sendto(data, "\0" + to)
    except ConnectionRefusedError:
        processes.remove(to)  # of another test, which has ended
PYTHON
}

# Requests that another user of the host may forge, and which would make the server's rdma_accept() fail, or which claim
# to be from another host: rping serves one client, which is still to come.
forged_requests() {
	before_a_connection "forged requests" <<'PYTHON'
import socket
import struct
import sys

port = int(sys.argv[1])
mine = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
mine.bind("\0prism-cm/process/65535")  # a live process is needed for an answer


def gid(address):
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


def request(number, mtu=3, transport=0, source="127.0.0.1", sender=gid("127.47.1.1")):
    header = struct.pack(">BBBBIQHHI", 1, 7, 2, 3, 0, number, 0x10, 0, 0)
    body = bytearray(232)
    struct.pack_into(">IIQ", body, 0, 0xFFFF0000 | number, 0, 0x0106 << 16 | port)
    body[32:35] = b"\x00\x40\x05"
    body[43] = 18 << 3 | transport << 1
    body[47] = 18 << 3 | 7
    body[50] = mtu << 4
    private = bytes([0, 0x40]) + struct.pack(">H", 4000) + bytes(12) + socket.inet_aton(source)
    private += bytes(12) + socket.inet_aton("127.0.0.1")
    body[140 : 140 + len(private)] = private
    return struct.pack("=IB3x", 0x70636D31, 0) + sender + gid("127.0.0.1") + header + bytes(body)


forged = [
    request(1, mtu=0),
    request(2, mtu=15),
    request(3, transport=1),
    request(4, source="10.99.99.99"),
    request(5, sender=gid("10.99.99.99")),
    request(6, sender=gid("239.1.1.1")),
    request(7, sender=bytes(16)),
]
for datagram in forged:
    assert len(datagram) == 296
    mine.sendto(datagram, f"\0prism-cm/0106/{port}/127.0.0.1")
mine.settimeout(20)
for _ in forged:
    answer = mine.recv(1000)
    assert struct.unpack_from(">H", answer, 40 + 16)[0] == 0x12, answer.hex()  # REJ
PYTHON
}

# members ADDRESS COUNT: true if so many sockets receive packets to the group
members() {
	[ "$("${server_in[@]}" ss -Huan | grep -cF "$1")" -eq "$2" ]
}

# group ADDRESS RECEIVER-ADDRESS SENDER-ADDRESS: two members of a multicast group receive a message of a third process
group() {
	local pids=() each status=0
	for each in 1 2; do
		start "$work/member$each" timeout -k 5 30 "${server_in[@]}" "${run[@]}" mckey -m "$1" -b "$2" -C 20
		pids+=("$started")
		wait_for 10 members "$1" "$each" || fail "group $1: member $each does not join" "$work/member$each"
	done
	timeout -k 5 30 "${client_in[@]}" "${run[@]}" mckey -m "$1" -b "$3" -s -C 20 >"$work/client" 2>&1 || status=$?
	for each in "${pids[@]}"; do
		wait "$each" || status=$?
	done
	[ $status -eq 0 ] && pass "mckey $1: sender and two members" || fail "mckey $1: $status" "$work/client" "$work/member1" "$work/member2"
}

# Between hosts: REQ and all later messages are packets of QP 1, which the servers of one host share.
between_hosts() {
	ip netns add "$hosts-a" && ip netns add "$hosts-b" &&
		ip link add veth0 netns "$hosts-a" type veth peer name veth0 netns "$hosts-b" || {
		fail "cannot make network namespaces"
		return
	}
	local at=a number=1
	for at in a b; do
		ip -n "$hosts-$at" link set lo up
		ip -n "$hosts-$at" address add 10.47.0.$number/24 dev veth0
		six && ip -n "$hosts-$at" address add fd47::$number/64 dev veth0 nodad
		ip -n "$hosts-$at" link set veth0 up
		number=$((number + 1))
	done
	server_in=(ip netns exec "$hosts-a")
	client_in=(ip netns exec "$hosts-b")
	wait_for 10 "${client_in[@]}" bash -c ': >/dev/udp/10.47.0.1/4791' || fail "no way between the namespaces"
	ping 10.47.0.1 0.0.0.0
	six && ping fd47::1
	cm_pair "udaddy between hosts" "$udaddy_port" 0111 'return status 0' udaddy -- udaddy -s 10.47.0.1
	perftest 10.47.0.1 ib_send_bw -n 200
	perftest 10.47.0.1 ib_send_bw -n 200 -c UD -d prism_veth0 # by its MTU, not prism_lo's
	group 239.47.0.7 10.47.0.1 10.47.0.2
	six && group ff0e::4707 fd47::1 fd47::2
	several_servers
	many_connections
	more_than_wait
	children_of_who_is_asked
	six && tentative_addresses
	larger_mtu
	changed_mtu
	ends_within 15 "host without a server" 'UNREACHABLE' \
		"${client_in[@]}" "${run[@]}" rping -c -a 10.47.0.1 -p "$port"
	new_interface
}

# has_address FLAG ADDRESS: true if the server's host has the address, in that state
has_address() {
	ip -n "$hosts-a" -6 address show dev veth0 "$1" | grep -qF " $2/"
}

not_tentative() {
	! has_address tentative "$1"
}

# Starts a program that uses the connection manager, in the server's host, and waits for its GID table to change.
watch_gids() {
	start "$work/watcher" timeout -k 5 60 "${server_in[@]}" "${run[@]}" /usr/bin/python3 -c '
import os
from pyverbs.device import Context
os.open("/dev/infiniband/rdma_cm", os.O_RDWR)
context = Context(name="prism_veth0")
def table():
    gids = [str(context.query_gid(1, i).gid) for i in range(context.query_port(1).gid_tbl_len)]
    return [gid for gid in gids if gid.strip("0:")]
before = table()
print("watching", flush=True)
event = context.get_async_event()
after = table()
print("event", event.event_type, before, after)
assert event.event_type == 18 and after[:-1] == before'
	watcher=$started
	wait_for 20 grep -q watching "$work/watcher" || fail "the GID table cannot be watched" "$work/watcher"
}

# The kernel lists a new IPv6 address before it can be bound, until it is sure that no other host on the link has it.
# Addresses before it in the list must keep their index, and once it is usable, clients that may use it must reach it.
tentative_addresses() {
	local server_pid watcher=
	"${server_in[@]}" sysctl -qw net.ipv6.conf.veth0.dad_transmits=12 # of a second each
	ip -n "$hosts-b" address add fd48::2/64 dev veth0 nodad
	port=$((port + 1))
	start "$work/early" timeout -k 5 120 "${server_in[@]}" "${run[@]}" rping -s -C 4 -a :: -p "$port"
	server_pid=$started
	wait_for 20 listens "$port" || fail "the server does not listen" "$work/early"
	local early=$port
	/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null && watch_gids || echo "not run: events of the GID table, without pyverbs"
	ip -n "$hosts-a" address add fd48::1/64 dev veth0
	ping fd47::1 ::
	has_address tentative fd48::1 || echo "note: the new address did not remain tentative long enough to be in the way"
	wait_for 30 not_tentative fd48::1 || fail "the address remains tentative"
	ends_well "$work/client" timeout 30 "${client_in[@]}" "${run[@]}" rping -c -C 4 -v -a fd48::1 -p "$early"
	grep -q 'rdma-ping-3' "$work/client" && pass "an address that came after the server" ||
		fail "an address that came after the server" "$work/client" "$work/early"
	ended_well "$server_pid" "$work/early"
	if [ -n "$watcher" ]; then
		wait "$watcher" && pass "the GID table of an open context gets it" ||
			fail "the GID table of an open context" "$work/watcher"
	fi

	"${server_in[@]}" sysctl -qw net.ipv6.conf.veth0.dad_transmits=1
	ip -n "$hosts-b" address add fd48::3/64 dev veth0 nodad
	ip -n "$hosts-a" address add fd48::3/64 dev veth0
	wait_for 10 has_address dadfailed fd48::3 || fail "the kernel does not find the other one"
	ends_within 5 "an address that another host has" 'rdma_bind_addr: Cannot assign requested address' \
		"${server_in[@]}" "${run[@]}" rping -s -a fd48::3 -p "$port"
}

# The client's interface allows larger packets than the server's, which must not fail for it.
larger_mtu() {
	"${client_in[@]}" ip link set veth0 mtu 9000
	start "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" rping -s -C 3 -a 10.47.0.1 -p "$port"
	local pid=$started bad=0
	wait_for 20 listens "$port" || bad=1
	timeout -k 5 20 "${client_in[@]}" "${run[@]}" rping -c -C 3 -v -a 10.47.0.1 -p "$port" >"$work/client" 2>&1 </dev/null
	grep -q 'REJECTED, error 26' "$work/client" || bad=1
	"${client_in[@]}" ip link set veth0 mtu 1500
	ends_well "$work/client2" timeout 20 "${client_in[@]}" "${run[@]}" rping -c -C 3 -v -a 10.47.0.1 -p "$port" || bad=1
	ended_well "$pid" "$work/server" || bad=1
	port=$((port + 1))
	[ $bad -eq 0 ] && pass "a client of too large an MTU is refused, the next one served" ||
		fail "a client of too large an MTU" "$work/client" "$work/client2" "$work/server"
}

# reaches ADDRESS
reaches() {
	timeout -k 5 30 "${client_in[@]}" "${run[@]}" rping -c -C 3 -v -a "$1" -p "$port" >"$work/client" 2>&1 </dev/null
	grep -q rdma-ping-2 "$work/client"
}

# The MTU of both interfaces grows while the server's device is open.
changed_mtu() {
	start "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" rping -s -P -a 10.47.0.1 -p "$port"
	local pid=$started bad=0 mtu
	wait_for 20 listens "$port" || bad=1
	for mtu in 1500 9000 1500; do
		"${server_in[@]}" ip link set veth0 mtu $mtu
		"${client_in[@]}" ip link set veth0 mtu $mtu
		reaches 10.47.0.1 || {
			fail "the MTU becomes $mtu while the server's device is open" "$work/client" "$work/server"
			bad=1
		}
	done
	kill "$pid" 2>/dev/null
	port=$((port + 1))
	[ $bad -eq 0 ] && pass "the MTU of both interfaces changes while the server's device is open"
}

# An interface of a server on all addresses is deleted, and one of the same name is made with another address.
new_interface() {
	start "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" rping -s -P -a 0.0.0.0 -p "$port"
	local pid=$started bad=0 at number=1
	wait_for 20 listens "$port" || bad=1
	reaches 10.47.0.1 || bad=1
	ip -n "$hosts-a" link delete veth0
	ip link add veth0 netns "$hosts-a" type veth peer name veth0 netns "$hosts-b"
	for at in a b; do
		ip -n "$hosts-$at" address add 10.48.0.$number/24 dev veth0
		ip -n "$hosts-$at" link set veth0 up
		number=$((number + 1))
	done
	wait_for 10 "${client_in[@]}" bash -c ': >/dev/udp/10.48.0.1/4791' || bad=1
	may_be_taken "0106/$port/10.48.0.1" && bad=1
	reaches 10.48.0.1 || bad=1
	kill "$pid" 2>/dev/null
	port=$((port + 1))
	[ $bad -eq 0 ] && pass "a server is reached by an interface that is made anew" ||
		fail "an interface that is made anew" "$work/client" "$work/server"
}

# count_of PID COUNTER: prints the sum over all contexts of a server
count_of() {
	"${server_in[@]}" "$bin/prism-stat" -1 -p "$1" | awk -v name="$2" '$1 == name { sum += $2 } END { print sum + 0 }'
}

# Many at once: a server gets a REQ, an RTU and a DREQ for each, once. A sender repeats one only after a second. On a
# busy host that may happen, so one good try is enough; but nothing is dropped, not even while librdmacm opens the
# device for the first REQ and packets may arrive at the new context.
many_connections() {
	local connections=300 try server packets dropped
	for try in 1 2 3; do
		port=$((port + 1))
		start "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" cmtime -p "$port"
		wait_for 20 listens "$port"
		ends_well "$work/client" timeout -k 5 30 "${client_in[@]}" "${run[@]}" \
			cmtime -p "$port" -c "$connections" -s 10.47.0.1 || break
		server=$(pgrep -P "$started" cmtime)
		packets=$(count_of "$server" rx_packets)
		dropped=$(count_of "$server" rx_management_dropped)
		kill "$started"
		[ "$dropped" -eq 0 ] || break
		if [ "$packets" -eq $((3 * connections)) ]; then
			pass "$connections connections between hosts begin and end without a message too many"
			return
		fi
		echo "try $try: $packets packets for $connections connections"
	done
	fail "$connections connections between hosts: ${dropped:-?} messages dropped" "$work/client" "$work/server"
}

# More at once than the server's backlog: none is turned away, as with the kernel's connection manager.
more_than_wait() {
	port=$((port + 1))
	start "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" cmtime -p "$port"
	wait_for 20 listens "$port"
	ends_well "$work/client" timeout -k 5 30 "${client_in[@]}" "${run[@]}" cmtime -p "$port" -c 3000 -s 10.47.0.1 &&
		! grep -q REJECTED "$work/client" &&
		pass "3000 connections at once, of which 1024 may wait" || fail "3000 connections at once" "$work/client"
	kill "$started"
}

# Packets to QP 1 are handled under a lock that fork() takes, too.
children_of_who_is_asked() {
	start "$work/client" timeout -k 5 60 "${client_in[@]}" "${run[@]}" "$bin/connections" asks 10.47.0.1
	ends_well "$work/server" timeout -k 5 60 "${server_in[@]}" "${run[@]}" "$bin/connections" forks 10.47.0.1
	kill "$started"
}

several_servers() {
	local pids=() first=$((port + 1)) last=$((port + 3)) each bad=0
	for ((each = first; each <= last; each++)); do
		start "$work/server$each" timeout -k 5 60 "${server_in[@]}" "${run[@]}" rping -s -C 3 -p "$each"
		pids+=("$started")
		wait_for 20 listens "$each" || bad=1
	done
	for ((each = last; each >= first; each--)); do
		ends_well "$work/client" timeout 20 "${client_in[@]}" "${run[@]}" rping -c -C 3 -v -a 10.47.0.1 -p "$each" || bad=1
		grep -q 'rdma-ping-2' "$work/client" || bad=1
	done
	for each in "${!pids[@]}"; do
		ended_well "${pids[each]}" "$work/server$((first + each))" || bad=1
	done
	port=$((last + 1))
	[ $bad -eq 0 ] && pass "three servers share a host's QP 1" || fail "three servers on one host" "$work/client"
}

clean_up_more() {
	ip netns delete "$hosts-a" 2>/dev/null
	ip netns delete "$hosts-b" 2>/dev/null
}

programs
refused
killed_while_connecting
killed_while_connected
two_servers
stolen_name
garbage
forged_requests
group 239.47.0.8 127.0.0.1 127.0.0.1
if [ "$(id -u)" -eq 0 ] && command -v ip >/dev/null; then
	between_hosts
else
	echo "not run: between network namespaces, which takes root"
fi
finish
