#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Nodes that keep logs, as a user runs them: one is killed and comes back; and the errors for useless logs.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/gam_tools/support.sh
. "$(dirname "$0")/support.sh"
alone "$@"
# A small file system that only this script sees
if [ -z "${IN_MOUNTS:-}" ] && unshare -m true 2>/dev/null; then
	IN_MOUNTS=1 exec unshare -m "$0" "$@"
fi

lease=1
node_pid=() # by number
logs=$work/logs

# gam ARGUMENT...
# shellcheck disable=SC2317 # is_away calls it
gam() {
	timeout -k 5 30 "$bin/prism-gam" -m "$master" "$@"
}

# start_node NUMBER FOLDER OPTION...: starts a node, which must get NUMBER
start_node() {
	: >"$work/node-$1"
	start "$work/node-$1" "$bin/prism-gam-node" -m "$master" --memory 4 --log "$2" "${@:3}"
	node_pid[$1]=$started
	wait_for 20 grep -q "^node $1 of a global memory, lends 4 MiB, port .*, recovered " "$work/node-$1" || {
		fail "node $1 does not start" "$work/node-$1"
		finish
	}
}

# start_any FOLDER OPTION...: starts a node with any number, which is then in $number
start_any() {
	: >"$work/node-any"
	start "$work/node-any" "$bin/prism-gam-node" -m "$master" --memory 4 --log "$@"
	wait_for 20 grep -q "^node [0-9]* of a global memory, .*, recovered " "$work/node-any" || {
		fail "a node does not start" "$work/node-any"
		finish
	}
	number=$(sed -n 's/^node \([0-9]*\) of .*/\1/p' "$work/node-any")
	node_pid[number]=$started
}

# is_away NUMBER
# shellcheck disable=SC2317 # wait_for calls it
is_away() {
	gam stat | grep -Eq "^ +$1 away "
}

# refused TEXT OPTION...: expects that a node with these options ends and says TEXT
refused() {
	expect 1 "prism-gam-node ${*:2}" timeout 20 "$bin/prism-gam-node" -m "$master" --memory 4 "${@:2}"
	says "$1"
}

a_return() {
	local number address
	for number in 0 1 2; do
		start_node $number "$logs/$number"
	done
	expect 0 malloc gam malloc 100 --on 2
	address=$(cat "$work/out")
	expect 0 write gam write "$address" "hello world"
	end "${node_pid[2]}"
	expect 1 "read while its home is away" gam read "$address" 5 && says "the node with that memory is gone"
	wait_for 10 is_away 2 || fail "stat does not show that node 2 is away" "$work/out"
	: >"$work/node-3"
	start "$work/node-3" "$bin/prism-gam-node" -m "$master" --memory 4
	wait_for 20 grep -q "^node [3-9]" "$work/node-3" || fail "another node has taken the number" "$work/node-3"
	end "$started"
	start_node 2 "$logs/2"
	grep -Eq "recovered [1-9][0-9]* blocks, 0 wait, 0 lost" "$work/node-2" || fail "node 2 has not recovered" "$work/node-2"
	expect 0 "read of what is back" gam read "$address" 11 && prints "hello world"
	expect 0 "write to it" gam write "$address" "again"
	expect 0 free gam free "$address"
	expect 1 "free twice" gam free "$address"
	pass "a node is killed, comes back by its log, and has what others have seen"
}

a_new_master() {
	local number address
	expect 0 malloc gam malloc 100 --on 1
	address=$(cat "$work/out")
	expect 0 write gam write "$address" "all die"
	for number in 0 1 2; do
		end "${node_pid[number]}"
	done
	end "$master_pid"
	start_master $lease
	for number in 2 0 1; do
		start_node $number "$logs/$number"
	done
	expect 0 "read after the death of all" gam read "$address" 7 && prints "all die"
	pass "all nodes and the master die, and come back"
}

folders() {
	local segment
	refused "another node uses it" --log "$logs/0"
	expect 2 "a log by the latch protocol" timeout 20 "$bin/prism-gam-node" -m "$master" --log "$work/latch" --protocol latch
	says "--log: the directory protocol alone has logs"
	expect 2 "--durable alone" timeout 20 "$bin/prism-gam-node" -m "$master" --durable
	says "--durable without --log"
	refused "start all nodes that keep logs with --durable, or none" --log "$work/durable" --durable
	refused "Not a directory" --log "$work/master/log"
	end "${node_pid[2]}"
	end "${node_pid[1]}"
	unset 'node_pid[1]' # it does not come back
	segment=$(find "$logs/2" -name '*.log' | sort | head -n 1)
	printf 'X' | dd of="$segment" bs=1 seek=200 conv=notrunc 2>/dev/null
	start_node 2 "$logs/2"
	grep -q "its log has [1-9][0-9]* gaps" "$work/node-2" || fail "damage is not told" "$work/node-2"
	for segment in "$logs"/1/*.log; do
		printf 'X' | dd of="$segment" bs=1 seek=20 conv=notrunc 2>/dev/null
	done
	refused "no segment says which node it is of" --log "$logs/1"
	expect 0 forget gam forget 1
	expect 1 "forget one that lives" gam forget 0 && says "is none that is dead and keeps a log"
	pass "folders in use, of the other protocol, damaged"
}

# begin_anew: ends all nodes and the master, and starts a new master
begin_anew() {
	local number
	for number in "${!node_pid[@]}"; do
		end "${node_pid[number]}"
	done
	node_pid=()
	end "$master_pid"
	start_master $lease
}

# fill_disk [--durable]: a node goes on, says that entries are not logged, and allocates nothing that would not be.
fill_disk() {
	mount -t tmpfs -o size=3m none "$work/small"
	begin_anew # nodes with durable logs cannot join others
	start_any "$work/small/log" "$@"
	expect 0 malloc gam malloc 3000000 --on "$number"
	address=$(cat "$work/out")
	head -c 3000000 /dev/urandom >"$work/bytes"
	expect 0 "more than the log takes" gam write "$address" - <"$work/bytes"
	wait_for 5 grep -q "the log cannot be written any more: No space left on device; .* that has room" "$work/node-any" ||
		fail "the node does not say that its log is full" "$work/node-any"
	expect 0 read gam read "$address" 3000000
	cmp "$work/bytes" "$work/out" >"$work/cmp" || fail "it has other bytes" "$work/cmp"
	expect 1 "an allocation that is to be logged" gam malloc 8 --on "$number" && says "it is not logged"
	end "${node_pid[number]}"
	# A compaction that was under way may have left room for a segment.
	dd if=/dev/zero of="$work/small/rest" bs=4k status=none 2>"$work/dd"
	refused " room" --log "$work/small/log"
	rm "$work/small/rest"
	mount -o remount,size=16m "$work/small"
	start_node "$number" "$work/small/log"
	grep -q "its log has [1-9][0-9]* gaps" "$work/node-$number" ||
		fail "that entries are missing is not told" "$work/node-$number"
	umount -l "$work/small"
}

full_disk() {
	(
		ulimit -f 100
		exec timeout 20 "$bin/prism-gam-node" -m "$master" --memory 1 --log "$work/limited" 2>"$work/err"
	)
	[ $? -eq 1 ] || fail "a log that may not grow (ulimit -f) is no error"
	says "File too large; raise the limit of files' sizes (ulimit -f) to at least"
	mkdir "$work/small"
	mount -t tmpfs -o size=3m none "$work/small" 2>/dev/null || {
		echo "a log on a full disk is not looked at: no tmpfs can be mounted here"
		return
	}
	umount "$work/small"
	fill_disk --durable
	fill_disk
	pass "a log that is full: the node goes on"
}

lost_folder() {
	begin_anew
	start_any "$logs/lost"
	expect 0 malloc gam malloc 3000000 --on "$number"
	address=$(cat "$work/out")
	rm -r "$logs/lost"
	head -c 3000000 /dev/urandom >"$work/bytes"
	wait_for 20 log_has_failed_by "$address" || fail "the node does not say that its log's folder is gone" "$work/node-any"
	grep -q "No such file or directory; its folder has been removed" "$work/node-any" ||
		fail "it does not say what to do about that" "$work/node-any"
	expect 0 read gam read "$address" 3000000
	cmp "$work/bytes" "$work/out" >"$work/cmp" || fail "it has other bytes" "$work/cmp"
	end "${node_pid[number]}"
	start_any "$logs/found"
	pass "a log whose folder is removed: the node goes on"
}

# log_has_failed_by ADDRESS: writes there, as the log may have needed no other file yet
# shellcheck disable=SC2317 # wait_for calls it
log_has_failed_by() {
	gam write "$1" - <"$work/bytes" && grep -q "the log cannot be written any more: " "$work/node-any"
}

another_cluster() {
	begin_anew
	start_node 0 "$logs/new"
	refused "the log is of another cluster" --log "$logs/2"
	pass "a log of another cluster"
}

# answers LINE ANSWER: checks that this is the client's answer to LINE; what it answers is in $answer
answers() {
	ask "$1"
	[ "$answer" = "$2" ] || fail "the client answers $answer to $1, not $2" "$work/client" "$work/node-0"
}

# ask LINE: has the client answer, in $answer
ask() {
	printf '%s\n' "$1" >&"${CLIENT[1]}"
	read -r -t 30 answer <&"${CLIENT[0]}" || answer=nothing
}

# A home that stands still beyond its lease has old memory when it goes on: that must not get into its log.
stands_still() {
	local address
	begin_anew
	start_node 0 "$logs/still"
	coproc CLIENT { exec python3 "$(dirname "$0")/client.py" "$PRISM_BUILD/lib/libprism-stores.so" "$master" 2>"$work/client"; }
	children+=("$CLIENT_PID")
	ask "malloc 0"
	address=$answer
	answers "add $address" 0
	answers "add $address" 1
	kill -STOP "${node_pid[0]}"
	wait_for 10 is_away 0 || fail "the node that stands still is not away" "$work/out"
	answers "add $address" 2
	kill -CONT "${node_pid[0]}"
	wait "${node_pid[0]}" 2>/dev/null
	start_node 0 "$logs/still"
	answers "read $address" 3
	expect 0 "read by another" gam read "$address" 8
	[ "$(od -An -tu8 "$work/out" | tr -d ' ')" = 3 ] || fail "another reads another value" "$work/out"
	kill "$CLIENT_PID"
	pass "a home that stands still beyond its lease: what owners have since is the value"
}

less_memory() {
	local address
	begin_anew
	start_node 0 "$logs/more"
	expect 0 malloc gam malloc 3000000 --on 0
	end "${node_pid[0]}"
	wait_for 10 is_away 0
	expect 1 "a node with less memory than its log tells of" timeout 20 "$bin/prism-gam-node" -m "$master" --memory 1 --log "$logs/more"
	says "the log is of a node with more memory"
	start_node 0 "$logs/more"
	pass "a log of a node with more memory is refused"
}

# Strangers take all descriptors of the master, and stay: those that have been silent for longest make room.
crowd() {
	begin_anew
	end "$master_pid"
	: >"$work/master"
	start "$work/master" bash -c 'ulimit -n 40 && exec "$@"' limited "$bin/prism-gam-master" --lease $lease -p 0 --address 127.0.0.1
	master_pid=$started
	wait_for 10 grep -q ' ready, port ' "$work/master" || fail "the master does not start" "$work/master"
	master=127.0.0.1:$(sed -n 's/.* ready, port //p' "$work/master")
	start "$work/crowd" python3 -c "
import socket, sys, time
crowd = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(100)]
print('there', flush=True)
time.sleep(60)" "${master#*:}"
	crowd_pid=$started
	wait_for 20 grep -q there "$work/crowd" || fail "no crowd" "$work/crowd"
	start_node 0 "$logs/crowd"
	end "$crowd_pid"
	pass "strangers with all of the master's descriptors keep nobody out"
}

start_master $lease
a_return
a_new_master
folders
full_disk
lost_folder
another_cluster
stands_still
less_memory
crowd
finish
