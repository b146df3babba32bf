#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-gam-master, prism-gam-node and prism-gam as a user runs them: writes of one node read by others, locks, nodes
# that die, and errors of usage. The argument is the protocol: directory or latch.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/gam_tools/support.sh
. "$(dirname "$0")/support.sh"
alone "$@"
need_program python3

protocol=${1:-directory}
other=latch
[ "$protocol" = directory ] || other=directory
lease=1
node_pid=() # by number

# gam ARGUMENT...
gam() {
	timeout -k 5 30 "$bin/prism-gam" -m "$master" --protocol "$protocol" "$@"
}

# start_node NUMBER [PATTERN]: starts a node, which must get NUMBER, or a number of PATTERN
start_node() {
	: >"$work/node-$1"
	start "$work/node-$1" "$bin/prism-gam-node" -m "$master" --protocol "$protocol" --memory 4
	node_pid[$1]=$started
	wait_for 20 grep -q "^node ${2:-$1} of a global memory, lends 4 MiB, port " "$work/node-$1" || {
		fail "node $1 does not start" "$work/node-$1"
		finish
	}
}

# allocate BYTES NODE: allocates; the address is in $address
allocate() {
	expect 0 "malloc on $2" gam malloc "$1" --on "$2"
	address=$(cat "$work/out")
	[ $((address >> 48)) -eq "$2" ] || fail "malloc on $2 gives $address"
}

# state NUMBER: prints the state of a node, as stat lists it
state() {
	gam stat --json >"$work/stat" 2>&1
	python3 - "$1" "$work/stat" <<-'END'
		import json, sys
		members = json.load(open(sys.argv[2]))["members"]
		print(*[member["state"] for member in members if member["node"] == int(sys.argv[1])] or ["none"])
	END
}

# is_gone NUMBER
# shellcheck disable=SC2317 # wait_for calls it
is_gone() {
	[[ "$(state "$1")" =~ ^(dead|none)$ ]]
}

memory() {
	local number
	expect 0 stat gam stat
	for number in 0 1 2; do
		grep -Eq "^ +$number serving +127.0.0.1:[0-9]+ +4194304 +[0-9]+$" "$work/out" ||
			fail "stat does not list node $number" "$work/out"
		[ "$(state $number)" = serving ] || fail "node $number does not serve" "$work/stat"
	done
	for number in 0 1 2; do
		allocate 100 $number
		expect 0 "read of new memory" gam read "$address" 4 --hex && prints 00000000
		expect 0 write gam write "$address" "hello node $number"
		expect 0 read gam read "$address" 12 && prints "hello node $number"
		[ $number != 1 ] || shows "hello node 1" "$bin/prism-gam" -m "$master" --protocol "$protocol" read "$address" 12
		expect 0 free gam free "$address"
	done
	allocate 200000 1
	head -c 200000 /dev/urandom >"$work/bytes"
	expect 0 "write from a pipe" gam write "$address" - <"$work/bytes"
	expect 0 "read of several pieces" gam read "$address" 200000
	cmp "$work/bytes" "$work/out" >"$work/cmp" || fail "large memory has other bytes" "$work/cmp"
	expect 0 "hexadecimal" gam read "$address" 100001 --hex
	[ "$(tr -d '\n' <"$work/out")" = "$(head -c 100001 "$work/bytes" | od -An -v -tx1 | tr -d ' \n')" ] ||
		fail "hexadecimal digits are others"
	expect 0 "free of it" gam free "$address"
	allocate 8 2
	expect 0 add gam add "$address" 40 && prints 0
	expect 0 "add again" gam add "$address" 2 && prints 40
	expect 0 "what they have added" gam read "$address" 8 --hex && prints 2a00000000000000
	for number in remote random; do
		expect 0 "malloc on $number" gam malloc 64 --on $number
	done
	pass "three nodes: what is written on one is read on others"
}

# free_on NODE: prints the number of bytes that are not allocated
free_on() {
	gam stat --json | python3 -c 'import json, sys
print(*[m["free"] for m in json.load(sys.stdin)["members"] if m["node"] == int(sys.argv[1])])' "$1"
}

full_output() {
	local arguments before
	allocate 100000 0
	before=$(free_on 0)
	for arguments in "read $address 100" "read $address 100000" "read $address 100000 --hex" "malloc 4096 --on 0" \
		stat "stat --json" "rlock $address"; do
		# shellcheck disable=SC2086
		gam $arguments >/dev/full 2>"$work/err"
		[ $? -eq 1 ] || fail "'$arguments' does not notice that the standard output is full" "$work/err"
		says "prism-gam: cannot write to the standard output"
	done
	gam add "$address" 1 >/dev/full 2>"$work/err"
	[ $? -eq 6 ] || fail "add whose output is lost does not end with 6" "$work/err"
	says "something was changed all the same, or may have been"
	expect 0 "what it has added" gam add "$address" 0 && prints 1
	gam malloc 4096 --on 0 2>"$work/err" | true
	[ "${PIPESTATUS[0]}" -eq 1 ] || fail "a reader that is gone ends a node before it has left" "$work/err"
	[ "$(free_on 0)" = "$before" ] || fail "memory whose address nobody has learnt is not given back"
	expect 0 "write" gam write "$address" "what was there"
	expect 1 "write of what cannot be read" gam write "$address" - <"$work" &&
		says "cannot read the standard input: Is a directory"
	expect 1 "write of a standard input that is closed" gam write "$address" - <&- && says "cannot read the standard input"
	expect 1 "write of an empty standard input" gam write "$address" - </dev/null &&
		says "nothing to write: the standard input is empty"
	expect 2 "write of an empty text" gam write "$address" "" && says "TEXT: its value is empty"
	expect 0 "read" gam read "$address" 14 && prints "what was there"
	expect 6 "write without end" gam write "$address" - </dev/zero && says "nothing is allocated at the address"
	expect 0 "free" gam free "$address"
	pass "a standard output that is full fails every command, and so does an input that cannot be read"
}

# hold KIND: locks $address in another shell, which keeps running; its pid is in $started
hold() {
	: >"$work/holder"
	start "$work/holder" "$bin/prism-gam" -m "$master" --protocol "$protocol" "$1" "$address" --hold 60
	wait_for 10 grep -q locked "$work/holder" || fail "$1 does not lock" "$work/holder"
}

locks() {
	local holder
	allocate 8 0
	hold rlock
	holder=$started
	expect 0 "a second reader" gam rlock --try "$address" && prints locked
	expect 3 "a writer beside a reader" gam wlock --try "$address" && says "another session holds the lock"
	end "$holder"
	expect 0 "a lock whose holder is gone" gam wlock "$address"
	hold wlock
	holder=$started
	expect 3 "a reader beside a writer" gam rlock --try "$address"
	end "$holder"
	expect 0 "a lock whose holder is gone" gam rlock "$address"
	allocate 4096 0
	expect 0 "many blocks" gam wlock "$address" 4096
	allocate 2097152 1
	expect 0 "more blocks than a small cache has" gam wlock "$address" 2097152
	expect 0 "their memory" gam free "$address"
	pass "locks: held by others, tried, and of holders that die"
}

wrong_addresses() {
	local code text arguments freed
	allocate 8 1
	freed=$address
	expect 0 free gam free "$freed"
	while IFS='|' read -r code text arguments; do
		# shellcheck disable=SC2086
		expect "$code" "$arguments" gam $arguments
		says "$text"
	done <<-END
		1|nothing is allocated at the address|read $freed 5
		1|nothing is allocated at the address|write $freed x
		1|nothing is allocated at the address|read $freed 99999999999999
		1|an argument is wrong|free $freed
		1|an argument is wrong|free $((freed + 8))
		1|an argument is wrong|read 0 1
		1|an argument is wrong|add $((freed + 1)) 1
		1|nothing is allocated at the address|read 0x1ffffffff0000 1
		1|an argument is wrong|read 0x1ffffffffffff 2
		1|the node with that memory is gone, or never was|read 0x30000000000000 1
		1|the node with that memory is gone, or never was|wlock 0xffff000000000200
		1|cannot allocate 8 bytes: there is no node 50 (waited 0.5 s): 'prism-gam stat' lists them|--timeout 0.5 malloc 8 --on 50
		1|no free memory of that size|malloc 5000000 --on 0
		1|no free memory of that size|malloc 18446744073709551615
		1|more than 65,536 blocks|wlock $freed 99999999
		2|'abc' is no address|read abc 1
		2|'-1' is no address|read -- -1 1
		2|'0x' is no address|read 0x 1
		2|'64' is not remote, random, or the number of a node|malloc 8 --on 64
		2|'65537' is not remote, random, or the number of a node|malloc 8 --on 65537
		2|'here' is not remote, random, or the number of a node|malloc 8 --on here
		2|BYTES|read $freed
		2|'-1' is no whole number from 0|malloc -1
		2|NODE: Value 99 not in range|forget 99
		2|--timeout|--timeout 0 stat
		2|subcommand|
	END
	pass "addresses and numbers that are wrong"
}

# In a cluster of its own, as these programs take numbers, too: memory that they lend for a moment is not given out.
malloc_before_there_are_nodes() {
	local place first
	start_master $lease 0
	expect 1 "malloc where nobody lends" gam --timeout 0.5 malloc 64
	says "cannot allocate 64 bytes: no node lends memory (waited 0.5 s): start prism-gam-node"
	for place in remote random; do
		: >"$work/$place"
		start "$work/$place" "$bin/prism-gam" -m "$master" --protocol "$protocol" malloc 64 --on $place
		[ $place = random ] || first=$started
	done
	sleep 0.5
	: >"$work/lender"
	set -- "$first" "$started"
	start "$work/lender" "$bin/prism-gam-node" -m "$master" --protocol "$protocol" --memory 4
	expect 0 "malloc before anybody lends" wait "$1"
	expect 0 "malloc before anybody lends, on a random node" wait "$2"
	first=$(sed -n 's/^node \([0-9]*\) of a global memory.*/\1/p' "$work/lender")
	for place in remote random; do
		address=$(cat "$work/$place")
		[ $((address >> 48)) -eq "${first:-64}" ] || fail "malloc on $place gives '$address'" "$work/lender"
	done
	end "$started" "$master_pid"
	pass "malloc waits for somebody who lends"
}

strangers() {
	local place
	for place in 127.0.0.1:0 127.0.0.1:65536 etcd://; do
		expect 2 "$place" timeout 20 "$bin/prism-gam" -m "$place" stat && says "--master: '$place' is no"
		expect 2 "node: $place" timeout 20 "$bin/prism-gam-node" -m "$place" && says "--master: '$place' is no"
	done
	expect 1 "another protocol" timeout 20 "$bin/prism-gam" -m "$master" --protocol "$other" stat
	says "a node of another protocol or block size"
	expect 1 "no master" timeout 20 "$bin/prism-gam" -m "127.0.0.1:$nobody" --timeout 1 stat
	says "cannot connect to 127.0.0.1 port $nobody: Connection refused"
	expect 1 "node: another protocol" timeout 20 "$bin/prism-gam-node" -m "$master" --memory 1 --protocol "$other"
	says "a node of another protocol or block size"
	expect 1 "node: no master" wait "$waiting"
	grep -q "Connection refused" "$work/alone" || fail "it does not say why" "$work/alone"
	expect 1 "a port that is taken" timeout 20 "$bin/prism-gam-master" -p "${master#*:}" --address 127.0.0.1
	says "Address already in use"
	expect 2 "a lease that is too short" timeout 20 "$bin/prism-gam-master" -p 0 --lease 0.01 && says "--lease: "
	expect 2 "a lease that is none" timeout 20 "$bin/prism-gam-master" -p 0 --lease soon
	expect 2 "no memory" timeout 20 "$bin/prism-gam-node" -m "$master" --memory 0
	python3 -c 'import socket, time
silent = socket.create_server(("127.0.0.1", 0))
print(silent.getsockname()[1], flush=True)
time.sleep(60)' >"$work/silent" &
	children+=("$!")
	wait_for 10 test -s "$work/silent" || fail "no silent master"
	start "$work/joins" "$bin/prism-gam-node" -m "127.0.0.1:$(cat "$work/silent")" --memory 1
	sleep 0.5
	kill "$started"
	wait_for 2 eval "! kill -0 $started 2>/dev/null" || fail "SIGTERM does not end a node that waits for its master" "$work/joins"
	pass "another protocol, no master, a master that is silent, a port that is taken"
}

# A node's lines about others obey --log-level, and have priorities for the journal.
log_levels() {
	local level
	for level in warning error; do
		# shellcheck disable=SC2016 # the other shell's variables
		start "$work/log-$level" bash -c 'exec 2>"$0"; JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr) exec "$@"' \
			"$work/log-$level-err" "$bin/prism-gam-node" -m "$master" --protocol "$protocol" --memory 4 --log-level $level
		wait_for 20 grep -q ' port ' "$work/log-$level" || fail "no node" "$work/log-$level" "$work/log-$level-err"
		exec 9<>"/dev/tcp/127.0.0.1/$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$work/log-$level")"
		head -c 5000 /dev/urandom >&9 2>/dev/null
		timeout 20 cat <&9 >/dev/null 2>&1 # until it ends the connection
		exec 9>&-
		kill "$started"
		wait "$started"
	done
	grep -q '^<4>refused a node: ' "$work/log-warning-err" || fail "no priorities for the journal" "$work/log-warning-err"
	[ ! -s "$work/log-error-err" ] || fail "a node logs more than it should" "$work/log-error-err"
	pass "what a node logs about others"
}

# has_members COUNT
# shellcheck disable=SC2317 # wait_for calls it
has_members() {
	gam stat >"$work/stat" 2>&1
	[ "$(wc -l <"$work/stat")" -eq $(($1 + 1)) ]
}

# Nobody waits for strangers that join and never connect.
forged_joins() {
	python3 - "${master#*:}" "$protocol" >"$work/forged" <<-'END' &
		import json, socket, sys, time
		protocol = ["", "directory", "latch"].index(sys.argv[2])
		with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as master, master.makefile("rw") as lines:
		    for _ in range(30):
		        lines.write(json.dumps({"ask": "join", "host": "127.0.0.1", "port": 1, "lent": 0,
		                                "protocol": protocol, "block": 512}) + "\n")
		        lines.flush()
		        print(lines.readline(), end="", flush=True)
		        time.sleep(0.1)
	END
	children+=("$!")
	wait_for 10 grep -q incarnation "$work/forged" || fail "no stranger has joined" "$work/forged"
	expect 0 "stat among strangers" gam --timeout 3 stat
	wait "${children[-1]}"
	[ "$(grep -c incarnation "$work/forged")" -eq 30 ] || fail "a stranger was refused" "$work/forged"
	wait_for 20 has_members 3 || fail "strangers stay" "$work/stat"
	pass "strangers that join and say no more hold nobody up"
}

# A dead node's memory is gone; memory of others stays, even if the dead node wrote it last.
a_death() {
	local lost kept
	allocate 8 2
	lost=$address
	expect 0 write gam write "$lost" lost
	allocate 8 0
	kept=$address
	expect 0 write gam write "$kept" kept
	end "${node_pid[2]}"
	expect 1 "read of what it lent" gam read "$lost" 4
	grep -Eq "the node with that memory is gone|nothing is allocated" "$work/err" || fail "it does not say why" "$work/err"
	wait_for 10 is_gone 2 || fail "stat does not show that node 2 is dead" "$work/stat"
	expect 0 "read of what others lend" gam read "$kept" 4 && prints kept
	allocate 8 1
	expect 0 "write to the others" gam write "$address" works
	expect 0 "read of it" gam read "$address" 5 && prints works
	expect 1 "malloc on the dead" gam --timeout 0.5 malloc 1000000 --on 2
	grep -Eq "there is no node 2|node 2 is dead" "$work/err" || fail "it does not say that node 2 is dead" "$work/err"
	: >"$work/another"
	start "$work/another" "$bin/prism-gam-node" -m "$master" --protocol "$protocol" --memory 4
	wait_for 20 grep -q "^node [1-9][0-9]* of a global memory" "$work/another" || fail "no node takes its place" "$work/another"
	pass "a node is killed: it is gone in seconds, and the rest works"
}

# A restarted master has forgotten all: the nodes are of another cluster.
another_cluster() {
	local port=${master#*:} status=0
	end "$master_pid"
	start_master $lease "$port"
	wait_for 10 grep -q "a node of another cluster" "$work/node-0" || fail "node 0 goes on" "$work/node-0"
	wait "${node_pid[0]}"
	status=$?
	[ $status -eq 1 ] || fail "node 0 ends with $status"
	start_node 0
	expect 0 "stat of the new cluster" gam stat
	[ "$(wc -l <"$work/out")" -eq 2 ] || fail "the new cluster has nodes of the old one" "$work/out"
	allocate 8 0
	expect 0 "write in the new cluster" gam write "$address" again
	kill "${node_pid[0]}"
	wait "${node_pid[0]}"
	status=$?
	[ $status -eq 0 ] || fail "a node that is told to end ends with $status" "$work/node-0"
	wait_for 5 is_gone 0 || fail "a node that has left is still there" "$work/stat"
	pass "a master that has forgotten its nodes takes none of them for its own"
}

# As at a shutdown of a machine: SIGTERM to the master and all nodes, one of which has died just before.
all_end() {
	local number began took status
	for number in 0 1 2; do
		start_node $number '[0-9]*' # the programs before have had numbers, too
	done
	end "${node_pid[2]}"
	began=$(date +%s%N)
	kill "$master_pid" "${node_pid[@]:0:2}"
	for number in "${node_pid[0]}" "${node_pid[1]}" "$master_pid"; do
		wait "$number"
		status=$?
		[ $status -eq 0 ] || fail "a program that is told to end with all others ends with $status" "$work"/node-[01]
	done
	took=$((($(date +%s%N) - began) / 1000000))
	[ $took -lt 2500 ] || fail "the nodes end after $took ms, when the master is told to end with them"
	pass "nodes and master end together"
}

# A node that lends stands still for longer than the usual lease, but not than this cluster's: whoever uses it waits.
# What is usual for a pair of nodes would end after 4.3 s.
a_long_lease() {
	local user status=0
	start_master 10 0
	start_node 0
	start_node 1
	start "$work/user" timeout -k 5 90 "$bin/prism-ycsb" --system "gam-$protocol" -p "${master#*:}" --records 1000 \
		--cache 50 --read-ratio 50 --timeout 30 -D 9
	user=$started
	sleep 2
	kill -STOP "${node_pid[0]}"
	sleep 6
	kill -CONT "${node_pid[0]}"
	wait "$user" || status=$?
	[ $status -eq 0 ] || fail "it is used by a program that ends with $status" "$work/user"
	kill "${node_pid[@]:0:2}"
	wait "${node_pid[0]}" || fail "the node that stood still ends with $?" "$work/node-0"
	wait "${node_pid[1]}" || fail "the other ends with $?" "$work/node-1"
	end "$master_pid"
	pass "a node stands still within a long lease: all go on"
}

# The page of each program lists all its options and commands, and no others
man_pages() {
	page_has_options prism-gam-master "$bin/prism-gam-master"
	page_has_options prism-gam-node "$bin/prism-gam-node"
	page_has_options prism-gam "$bin/prism-gam"
	"$bin/prism-gam" --help | sed -n 's/^  \([a-z]\+\) \+[a-z].*/\1/p' | sort >"$work/help"
	sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' "$PRISM_SOURCE/docs/man/prism-gam.1" | sed -n '/^\.TP/{n;s/^\.BI\? \([a-z]*\).*/\1/p}' |
		sort >"$work/page"
	diff "$work/help" "$work/page" >"$work/diff" || fail "prism-gam's commands (<) and its page (>) differ" "$work/diff"
	pass "manual pages have the options of the programs"
}

# The node tries for ten seconds: do all the other checks before looking at its end.
nobody=$(free_ports 1)
start "$work/alone" timeout 20 "$bin/prism-gam-node" -m "127.0.0.1:$nobody" --memory 1
waiting=$started
malloc_before_there_are_nodes
start_master $lease 0
for number in 0 1 2; do
	start_node $number
done
memory
full_output
locks
wrong_addresses
strangers
log_levels
forged_joins
a_death
another_cluster
all_end
a_long_lease
man_pages
finish
