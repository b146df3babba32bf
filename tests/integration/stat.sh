#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-stat beside running programs, dying ones, hostile ones and a kernel device's counters.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ss python3 pgrep

port=${PRISM_TEST_PORT:-19400}
stat=("$bin/prism-stat" --sysfs="$work/no_kernel_devices")
mkdir "$work/no_kernel_devices"

# see EXPRESSION FILE [ARGUMENT...]: true if the expression is true of d, the last JSON object in the file; of() finds
# the sources of a process, a is the list of arguments
see() {
	python3 - "$@" <<-'END'
		import json, sys
		d = [json.loads(line) for line in open(sys.argv[2])][-1]
		a = sys.argv[3:]
		def of(pid):
		    return [s for s in d["sources"] if not s["kernel"] and s["pid"] == int(pid)]
		sys.exit(0 if eval("(" + sys.argv[1] + ")") else 1)
	END
}

# look [ARGUMENT...]: puts one JSON object into $work/now, and other output into $work/said
look() {
	timeout 20 "${stat[@]}" --once --json "$@" >"$work/now" 2>"$work/said" ||
		fail "prism-stat $* ends with $?" "$work/said"
}

# check TEXT EXPRESSION [ARGUMENT...]: checks the output of look()
check() {
	local text=$1 expression=$2
	shift 2
	see "$expression" "$work/now" "$@" && pass "$text" || fail "$text" "$work/now" "$work/said"
}

sees() {
	look -p "$1" && see 'len(of(a[0])) == 1' "$work/now" "$1"
}

# sees_only PID OTHER
sees_only() {
	look && see 'of(a[0]) and not of(a[1])' "$work/now" "$@"
}

child_of() {
	child=$(pgrep -P "$1")
}

# begin ARGUMENT...: starts server and client of ib_prism_read_bw with these; pids in $server_pid, $client_pid
begin() {
	port=$((port + 1))
	start "$work/server" timeout 60 "$bin/ib_prism_read_bw" -d prism_lo -p "$port"
	wait_listening "$port" "$started" || fail "the server does not listen" "$work/server"
	jobs=("$started")
	child_of "$started"
	server_pid=$child
	start "$work/client" timeout 60 "$bin/ib_prism_read_bw" -d prism_lo -p "$port" "$@" 127.0.0.1
	jobs+=("$started")
	wait_for 10 child_of "$started" || fail "the client does not run" "$work/client"
	client_pid=$child
	wait_for 10 sees "$client_pid" || fail "the client has no context" "$work/client" "$work/now"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

kill_child() {
	kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# end: kills the programs that begin() started
end() {
	local job
	kill -9 "$server_pid" "$client_pid" 2>/dev/null
	for job in "${jobs[@]}"; do
		wait "$job" 2>/dev/null
	done
}

running() {
	begin -D 30 -t 64
	look
	check "both processes are seen" 'len(of(a[0])) == len(of(a[1])) == 1' "$server_pid" "$client_pid"
	check "who they are" 'of(a[0])[0]["device"] == "prism_lo" and of(a[0])[0]["command"] == "ib_prism_read_b" and
		of(a[0])[0]["gauges"]["qps"] == 1 and any(x.startswith("127.47.") for x in of(a[0])[0]["addresses"]) and
		of(a[0])[0]["first_qpn"] >> 14 == of(a[0])[0]["slot"] == of(a[0])[0]["last_qpn"] >> 14' "$server_pid"
	timeout 20 "${stat[@]}" --json 0.5 3 >"$work/now" 2>"$work/said" || fail "three intervals" "$work/said"
	[ "$(wc -l <"$work/now")" -eq 3 ] && pass "three reports" || fail "not three reports" "$work/now"
	check "rates of the server" 'of(a[0])[0]["rates"]["prism_reads"] > 100 and of(a[0])[0]["rates"]["rx_bytes"] > 1000' \
		"$server_pid"
	check "rates of the client" 'of(a[0])[0]["rates"]["rx_packets"] > 100 and of(a[0])[0]["rates"]["prism_reads"] == 0' \
		"$client_pid"
	check "a rate is what a counter grew by" '(lambda l, s: abs((s(l[2])["counters"]["prism_reads"] -
		s(l[1])["counters"]["prism_reads"]) / (l[2]["time"] - l[1]["time"]) - s(l[2])["rates"]["prism_reads"]) < 1)(
		[json.loads(x) for x in open(sys.argv[2])], lambda o: [s for s in o["sources"] if s["pid"] == int(a[0])][0])' \
		"$server_pid"
	look -p "$client_pid"
	check "filter by process" 'len(d["sources"]) == 1 and of(a[0])' "$client_pid"
	look -d prism_lo
	check "filter by device" 'len(of(a[0])) == 1' "$server_pid"
	look -d prism_nosuch
	check "filter by another device" 'd["sources"] == []'
	timeout 20 "${stat[@]}" -p "$server_pid" 0.2 2 >"$work/rows" 2>&1
	grep -Eq "^device +process +QPs" "$work/rows" && [ "$(grep -Ec "^prism_lo +$server_pid/ib_prism_read_b +1 +[0-9]{3}" \
		"$work/rows")" -eq 2 ] && pass "a line each interval" || fail "a line each interval" "$work/rows"
	timeout 20 "${stat[@]}" -p "$server_pid" -c 0.2 1 >"$work/rows" 2>&1
	grep -Eq "^ +prism_reads +[0-9]+ +[0-9.]+/s" "$work/rows" && ! grep -q prism_cas "$work/rows" &&
		pass "counters that move" || fail "counters that move" "$work/rows"
	died
}

died() {
	end
	look
	check "dead processes vanish" 'not of(a[0]) and not of(a[1])' "$server_pid" "$client_pid"
	timeout 20 "${stat[@]}" --once -p "$server_pid" >"$work/rows" 2>&1
	[ $? -eq 1 ] && grep -q "process $server_pid: there is none" "$work/rows" &&
		pass "a process that is gone" || fail "a process that is gone" "$work/rows"
}

# A process that may read the page may also keep it: this one holds the server's page, so that the last numbers outlive
# the server.
hold() {
	exec python3 -c '
import os, sys, time
folder = f"/proc/{sys.argv[1]}/fd/"
page = [n for n in os.listdir(folder) if os.readlink(folder + n).startswith("/memfd:prism:")]
file = os.open(folder + page[0], os.O_RDWR)
try:
    os.pwrite(file, b"x" * 8, 0)
except PermissionError:
    print("held", flush=True)
time.sleep(60)' "$1"
}

exact() {
	local iterations=500000 # which take longer than it takes to see the client
	begin -n $iterations -t 1
	kill -STOP "$client_pid" # so that the run lasts while we look
	start "$work/holder" hold "$server_pid"
	local holder=$started
	wait_for 10 grep -qs held "$work/holder" &&
		pass "nobody else can write to the page" || fail "the page can be written to" "$work/holder"
	look
	check "the page is shown once, with its owner" 'of(a[0]) and not of(a[1])' "$server_pid" "$holder"
	kill -CONT "$client_pid"
	wait_for 40 gone "$client_pid" && wait_for 10 gone "$server_pid" || fail "the run does not end" "$work/client"
	grep -Eq "^ *64 +$iterations +" "$work/client" || fail "the tool does not say $iterations" "$work/client"
	look -p "$holder"
	check "the READs are those of the tool" \
		'0 <= of(a[0])[0]["counters"]["prism_reads"] - int(a[1]) <= of(a[0])[0]["counters"]["rx_duplicate"]' \
		"$holder" $iterations
	check "no queue pair is left" 'of(a[0])[0]["gauges"]["qps"] == 0' "$holder"
	kill_child "$holder"
	look
	check "nothing is left behind" 'not of(a[0])' "$holder"
}

# forge KIND: starts a process with a file that is called a counter page
forge() {
	exec python3 -c '
import ctypes, fcntl, os, struct, sys, time
kind = sys.argv[1]
file = os.memfd_create("prism:\33[31mforged" if kind == "name" else "prism:forged", os.MFD_ALLOW_SEALING)
header = {"garbage": os.urandom(4096), "many": os.urandom(4096), "name": os.urandom(4096), "magic": b"PRSMCNT0" + bytes(4088),
          "empty": b"", "short": b"PRSMCNT1", "huge": bytes(1 << 20)}.get(kind)
if header is None:
    name = {"device": b"x" * 64}.get(kind, b"prism_forged")
    count, gauges, values, names, addresses, size, version = 2, 0, 1024, 2048, 0, 4096, 1
    if kind == "counters": count = 0xffffffff
    if kind == "offset": values = 4090
    if kind == "wrap": names = 0xfffffff8
    if kind == "header": values = 0
    if kind == "gauges": gauges = 3
    if kind == "addresses": addresses = 33
    if kind == "size": size = 8192
    if kind == "version": version = 99
    header = struct.pack("<8sII64s8I", b"PRSMCNT1", version, size, name, 7, 16, 17, addresses, count, gauges, values,
                         names)
    header = header.ljust(1024, b"\0") + struct.pack("<QQ", 5, 2**64 - 1)
    label = b"A" * 32 if kind == "label" else b"prism_reads\33[1m" if kind == "escape" else b"prism_reads"
    header = header.ljust(2048, b"\0") + label.ljust(32, b"\0") + b"rx_packets".ljust(32, b"\0")
    header = header.ljust(4096, b"\0")
os.write(file, header)
if kind != "unsealed":
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
for _ in range(40 if kind == "many" else 0):
    os.dup(file)
    file = os.memfd_create("prism:forged")
    os.write(file, header)
print("ready", flush=True)
time.sleep(60)' "$1"
}

# forged KIND REASON: expects that the page is refused, for this reason, and nothing else happens
forged() {
	start "$work/forger.$1" forge "$1"
	local forger=$started
	wait_for 10 grep -qs ready "$work/forger.$1" || fail "no forged page $1" "$work/forger.$1"
	look -p "$forger"
	check "forged page, $1: refused" 'd["sources"] == [] and len(d["refused"]) == 1 and a[0] in d["refused"][0] and
		d["refused"][0].isprintable()' "$2"
	[ "$(wc -l <"$work/said")" -eq 1 ] && grep -q "process $forger .*is not a counter page: .*$2" "$work/said" &&
		! grep -q $'\33' "$work/said" || fail "forged page, $1: not one clear line" "$work/said"
	kill_child "$forger"
}

forgeries() {
	forged garbage "wrong magic number"
	forged magic "wrong magic number"
	forged name "wrong magic number"
	forged many "wrong magic number" # of 41 files, reported once
	forged empty "0 bytes long"
	forged short "8 bytes long"
	forged huge "1048576 bytes long"
	forged unsealed "not sealed"
	forged version "version 99"
	forged size "shorter than it says"
	forged counters "impossible number of counters"
	forged gauges "impossible number of counters"
	forged addresses "impossible number of addresses"
	forged offset "counters outside of the page"
	forged wrap "counters outside of the page"
	forged header "counters outside of the page"
	forged device "no name of a device"
	forged label "a counter without a name"
	forged escape "a counter without a name"
}

# The layout in the page suffices: a page with other counters than ours is shown as it is.
other_library() {
	start "$work/forger" forge right
	local forger=$started
	wait_for 10 grep -qs ready "$work/forger" || fail "no page" "$work/forger"
	look -p "$forger"
	check "a page of another library" 'of(a[0])[0]["counters"] == {"prism_reads": 5, "rx_packets": 2**64 - 1,
		"rx_socket_drops": 0} and of(a[0])[0]["device"] == "prism_forged"' "$forger"
	kill_child "$forger"
}

kernel_device() {
	local counters=$work/sysfs/prism7/ports/1/hw_counters
	mkdir -p "$counters" "$work/sysfs/mlx9/ports/1/hw_counters"
	ln -s loop "$work/sysfs/loop"
	echo 10 >"$counters/lifespan"
	echo 41 >"$counters/prism_reads"
	echo 1000 >"$counters/rcvd_pkts"
	echo 3 >"$counters/completer_retry_err"
	echo 5 >"$work/sysfs/mlx9/ports/1/hw_counters/rcvd_pkts"
	mkfifo "$counters/pipe"
	ln -s /dev/zero "$counters/zero"
	stat=("$bin/prism-stat" --sysfs="$work/sysfs")
	look
	check "a kernel device, by our names" '[s["counters"] for s in d["sources"] if s["kernel"]] ==
		[{"prism_reads": 41, "retransmits": 3, "rx_packets": 1000}]'
	check "not a device without PRISM" '"mlx9" not in [s["device"] for s in d["sources"]]'
	start "$work/growth" timeout 20 "${stat[@]}" -d prism7 -j 0.5 4
	local watcher=$started
	wait_for 10 grep -qs '^{' "$work/growth" || fail "prism-stat -d prism7" "$work/growth"
	echo 141 >"$counters/prism_reads"
	wait "$watcher" || fail "prism-stat -d prism7" "$work/growth"
	python3 -c '
import json, sys
reports = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]  # skips the messages for users
grown = [o["sources"][0]["rates"]["prism_reads"] for o in reports]
assert len(grown) == 4 and grown[0] == 0 and 150 < max(grown) < 250 and sorted(grown)[:3] == [0, 0, 0], grown
' "$work/growth" 2>"$work/said" && pass "rates of a kernel device" ||
		fail "rates of a kernel device" "$work/growth" "$work/said"
}

# A process of root is not visible to other users; it is counted, and that is reported.
other_user() {
	[ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || {
		echo "not checked without root and setpriv: other users"
		return
	}
	begin -D 20 -t 16
	cp "$bin/prism-stat" "$work/prism-stat"
	chmod 755 "$work" "$work/prism-stat"
	timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups "$work/prism-stat" --once --json \
		>"$work/now" 2>"$work/said"
	check "another user sees nothing of it" 'not of(a[0]) and d["hidden_processes"] >= 2' "$server_pid"
	grep -Eq '^prism-stat: [0-9]+ processes may not be looked at' "$work/said" &&
		pass "and is told so" || fail "hidden processes are not told of" "$work/said"
	timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups "$work/prism-stat" --once -p "$server_pid" \
		>"$work/rows" 2>&1
	[ $? -eq 1 ] && grep -q "process $server_pid: Permission denied" "$work/rows" &&
		pass "nor by its number" || fail "another user's process by its number" "$work/rows"
	end
}

# If memory files are forbidden, devices work as ever, but have no counter pages.
forbidden() {
	command -v cc >/dev/null || {
		echo "not checked without a compiler: forbidden memory files"
		return
	}
	printf '%s\n' '#include <errno.h>' 'int memfd_create(const char *n, unsigned f)' \
		'{ (void)n; (void)f; errno = EACCES; return -1; }' >"$work/forbid.c"
	cc -shared -fPIC -o "$work/forbid.so" "$work/forbid.c" 2>"$work/said" || {
		fail "the library that forbids memory files" "$work/said"
		return
	}
	port=$((port + 1))
	start "$work/server" env LD_PRELOAD="$work/forbid.so" timeout 60 "$bin/ib_prism_read_bw" -d prism_lo -p "$port"
	wait_listening "$port" "$started" || fail "the server does not listen" "$work/server"
	child_of "$started"
	server_pid=$child
	start "$work/client" timeout 60 "$bin/ib_prism_read_bw" -d prism_lo -p "$port" -D 2 127.0.0.1
	local client=$started
	wait_for 10 child_of "$client" && wait_for 10 sees_only "$child" "$server_pid" && pass "without memory files: not seen" ||
		fail "without memory files: not seen" "$work/now" "$work/client"
	wait "$client" && pass "without memory files: works" || fail "without memory files" "$work/client" "$work/server"
}

usage() {
	local arguments
	for arguments in "-d" "-p x" "0" "1 -3" "0.1 0" "--nosuch" "-c -j"; do
		# shellcheck disable=SC2086
		timeout 20 "${stat[@]}" $arguments >"$work/rows" 2>&1
		[ $? -eq 2 ] || fail "prism-stat $arguments is accepted" "$work/rows"
	done
	pass "wrong arguments"
	for arguments in "$work/nothing" "$work/rows"; do
		timeout 20 "$bin/prism-stat" --once --sysfs "$arguments" >"$work/said" 2>&1
		[ $? -eq 2 ] && grep -q "$arguments: No" "$work/said" && pass "--sysfs $arguments" ||
			fail "--sysfs $arguments is accepted" "$work/said"
	done
}

running
exact
forgeries
other_library
kernel_device
other_user
forbidden
usage
finish
