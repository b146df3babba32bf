#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Workload drivers on the stores in the global memory, whose nodes are processes: loads and runs, several nodes of a
# driver, errors, and nodes, drivers and the master killed under load. The argument is the protocol: directory or latch.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/gam_tools/support.sh
. "$(dirname "$0")/support.sh"
alone "$@"
need_program python3

protocol=${1:-directory}
lease=1
records=500
limit=150 # seconds of a run, in case a driver hangs
memory=16 # MiB of a node
node_pid=()

# start_cluster: starts a master and two nodes that lend memory
start_cluster() {
	local number
	start_master $lease
	port=${master#*:}
	for number in 0 1; do
		: >"$work/node-$number"
		start "$work/node-$number" "$bin/prism-gam-node" -m "127.0.0.1:$port" --protocol "$protocol" --memory $memory
		node_pid[number]=$started
		wait_for 20 grep -q "^node $number of a global memory" "$work/node-$number" || {
			fail "node $number does not start" "$work/node-$number"
			finish
		}
	done
}

end_cluster() {
	end "${node_pid[@]}" "$master_pid"
}

# ycsb OPTION...
# shellcheck disable=SC2317 # expect calls it
ycsb() {
	rm -f "$work/json"
	timeout -k 5 "$limit" "$bin/prism-ycsb" --system "gam-$protocol" -p "$port" --records "$records" --timeout 10 \
		--json "$work/json" "$@"
}

# tx OPTION...
# shellcheck disable=SC2317 # expect calls it
tx() {
	rm -f "$work/json"
	timeout -k 5 "$limit" "$bin/prism-tx-bench" --system "gam-$protocol" --shards "127.0.0.1:$port" --timeout 10 \
		--json "$work/json" "$@"
}

# refused TEXT COMMAND...: expects an error of usage that says TEXT
refused() {
	local text=$1
	shift
	expect 2 "refused: $*" "$@"
	says "$text"
}

table() {
	start_cluster
	expect 1 "no table to go on with" ycsb --no-load -n 1
	says "there is no store 'prism-ycsb/table' in the global memory"
	expect 0 "load by two processes" ycsb --processes 2 -n 500 --verify
	holds 'r["get"]["ok"] == 500 and r["wrong_values"] == 0'
	expect 0 "another driver finds the table" ycsb --no-load --threads 2 --nodes 2 --cache 50 --read-ratio 50 -n 300 --verify
	holds 'r["get"]["ok"] + r["put"]["ok"] == 300 and 90 < r["get"]["ok"] < 210 and r["wrong_values"] == 0'
	expect 0 "inserts" ycsb --no-load --mix D -n 200 --verify
	end_cluster
	memory=1
	records=150
	start_cluster
	expect 1 "a table that is too large" ycsb -s 20000 -n 1
	says "the store is full"
	end_cluster
	memory=16
	records=500
	expect 1 "no master" ycsb -n 1
	says "Connection refused"
	expect 1 "values that are too long" ycsb -s 1048576 -n 1
	says "the hash table has pairs of at most 1048563: Invalid argument; give a smaller --size"
	pass "the hash table under prism-ycsb"
}

transactions() {
	local workload
	for workload in "smallbank --records 100" "tpcc --warehouses 2 --items 40 --customers 5" "ycsb-t --records 50 -s 64"; do
		start_cluster
		# shellcheck disable=SC2086
		expect 0 "$workload" tx --workload $workload --threads 2 --nodes 2 -n 60 --check
		holds 'r["committed"] + r["rolled_back"] == 60'
		# shellcheck disable=SC2086
		expect 0 "$workload, again" tx --workload $workload --no-load --threads 2 -n 20 --check
		expect 1 "larger values" tx --workload ycsb-t --records 10 -s 2000 -n 1
		says "the store was made for"
		end_cluster
	done
	start_cluster
	expect 0 "exclusive" timeout -k 5 "$limit" "$bin/prism-tx-bench" --system "gam-$protocol-exclusive" --workload smallbank \
		--shards "127.0.0.1:$port" --records 50 --threads 2 --nodes 2 -n 60 --check
	end_cluster
	port=$port,127.0.0.1:$port
	expect 1 "two masters" tx -n 1
	says "one master"
	pass "transactions under prism-tx-bench"
}

usage() {
	refused "redis has no --nodes" "$bin/prism-ycsb" --system redis --nodes 2
	refused "prism has no --cache" "$bin/prism-ycsb" --system prism --cache 20
	refused "farm has no --node-address" "$bin/prism-tx-bench" --system farm --node-address 127.0.0.1
	refused "--nodes" "$bin/prism-ycsb" --system "gam-$protocol" --nodes 0
	refused "--cache" "$bin/prism-tx-bench" --system "gam-$protocol" --cache 101
	refused "excludes" "$bin/prism-ycsb" --system "gam-$protocol" --mix A --read-ratio 10
	refused "--read-ratio" "$bin/prism-ycsb" --system "gam-$protocol" --read-ratio 101
	start "$work/empty" "$bin/prism-gam-master" -p 0 --address 127.0.0.1
	wait_for 10 grep -q ' ready, port ' "$work/empty" || fail "the master does not start" "$work/empty"
	port=$(sed -n 's/.* ready, port //p' "$work/empty")
	expect 1 "nobody lends" timeout -k 5 "$limit" "$bin/prism-ycsb" --system "gam-$protocol" -p "$port" --timeout 0.5 -n 1
	says "no node of the global memory lends any"
	end "$started"
	pass "usage"
}

# under_load KILLED COMMAND...: kills the process KILLED 1.5 s after COMMAND has begun; $code is COMMAND's exit code
under_load() {
	local killed=$1 driver
	shift
	"$@" >"$work/out" 2>"$work/err" &
	driver=$!
	children+=("$driver")
	sleep 1.5
	kill -0 "$driver" 2>/dev/null || fail "the driver has ended before the kill" "$work/err"
	end "$killed"
	wait "$driver"
	code=$?
	[ $code -lt 124 ] || fail "the driver hangs, or has died: $code" "$work/err"
}

# Operations on the dead node's memory fail; the others, and the run, end as usual.
a_node_dies() {
	start_cluster
	expect 0 "load" ycsb -n 10
	under_load "${node_pid[1]}" ycsb --no-load --read-ratio 50 --threads 2 --nodes 2 -D 4 --drain 30
	[ "$code" -eq 1 ] || fail "a run with failures ends with $code" "$work/out"
	holds 'r["get"]["ok"] > 0 and r["put"]["ok"] > 0 and r["get"]["failed"] > 0 and r["put"]["failed"] > 0'
	holds 'r["abandoned"] == 0 and set(r["errors"]) <= {"No route to host", "Bad address", "Bad message"}'
	expect 1 "what is left" ycsb --no-load -n 200
	holds 'r["get"]["ok"] > 0 and r["get"]["failed"] > 0 and r["get"]["not_found"] == 0'
	start "$work/node-2" "$bin/prism-gam-node" -m "127.0.0.1:$port" --protocol "$protocol" --memory $memory
	node_pid[1]=$started
	wait_for 20 grep -q "^node [0-9]* of a global memory" "$work/node-2" || fail "no other node starts" "$work/node-2"
	expect 0 "load again" ycsb --processes 2 -n 200 --verify
	holds 'r["get"]["ok"] == 200 and r["wrong_values"] == 0'
	end_cluster
	start_cluster
	expect 0 "load" tx --workload smallbank --records 100 -n 10
	under_load "${node_pid[0]}" tx --workload smallbank --records 100 --no-load --threads 2 --nodes 2 -D 4 --drain 30
	[ "$code" -eq 1 ] || fail "a run with failures ends with $code" "$work/out"
	holds 'r["committed"] > 0 and r["errors"] and r["abandoned"] == 0'
	expect 0 "load again" tx --workload smallbank --records 100 --threads 2 -n 10 --check
	end_cluster
	pass "a node that lends is killed under load: all that is under way ends, and a new load makes the store anew"
}

# has_members COUNT
# shellcheck disable=SC2317 # wait_for calls it
has_members() {
	[ "$("$bin/prism-gam" -m "127.0.0.1:$port" stat 2>/dev/null | grep -c " serving ")" -eq "$1" ]
}

# Workers of an example wait for one that has died before all have met: they give up.
a_worker_dies() {
	local began=$SECONDS worker pids=()
	start_cluster
	for worker in 2 1 0; do # 0 makes the objects that the others wait for
		start "$work/worker-$worker" "$bin/examples/gam_work_queue" "127.0.0.1:$port" $worker 3
		pids[worker]=$started
		[ $worker -eq 0 ] || wait_for 20 has_members $((5 - worker)) || fail "worker $worker does not join" "$work/worker-$worker"
		[ $worker -ne 1 ] || end "${pids[2]}"
	done
	for worker in 0 1; do
		wait_for 40 eval "! kill -0 ${pids[worker]} 2>/dev/null" || fail "worker $worker waits for one that is dead" "$work/worker-$worker"
		wait "${pids[worker]}"
		[ $? -eq 1 ] || fail "worker $worker succeeds without another" "$work/worker-$worker"
	done
	[ $((SECONDS - began)) -lt 60 ] || fail "it takes long"
	end_cluster
	pass "a worker of an example dies: the others end"
}

# A second run is not misled by keys of the first one, which stay when its workers have left.
an_example_runs_again() {
	local run worker pids
	start_cluster
	for run in 1 2; do
		pids=()
		for worker in 0 1 2; do
			start "$work/worker-$run$worker" "$bin/examples/gam_work_queue" "127.0.0.1:$port" $worker 3
			pids[worker]=$started
		done
		for worker in 0 1 2; do
			wait_for 60 eval "! kill -0 ${pids[worker]} 2>/dev/null" || fail "worker $worker of run $run hangs" "$work/worker-$run$worker"
			wait "${pids[worker]}" || fail "worker $worker of run $run ends with $?" "$work/worker-$run$worker"
		done
	done
	end_cluster
	pass "an example runs twice on one master"
}

# Survivors that share locks with the dead driver get them.
a_driver_dies() {
	start_cluster
	expect 0 "load" ycsb -n 10
	start "$work/other" timeout -k 5 "$limit" "$bin/prism-ycsb" --system "gam-$protocol" -p "$port" --records "$records" --no-load \
		--read-ratio 20 -D 40
	sleep 0.5
	# timeout(1) has one child, the driver
	under_load "$(ps -o pid= --ppid "$started" | tr -d ' ')" ycsb --no-load --read-ratio 50 --threads 2 -D 4
	holds 'r["abandoned"] == 0 and r["get"]["ok"] > 0 and r["put"]["ok"] > 0'
	end_cluster
	pass "a driver is killed under load: others go on"
}

# A node that is no member any more has nothing to wait for: one failure of each client and a line of each node, not
# millions.
the_master_dies() {
	local began=$SECONDS
	start_cluster
	expect 0 "load" ycsb -n 10
	under_load "$master_pid" ycsb --no-load --threads 2 --nodes 2 -D 20 --drain 30
	[ "$code" -eq 1 ] || fail "a run without master ends with $code" "$work/out"
	holds 'r["get"]["ok"] > 0 and r["get"]["failed"] > 0 and r["abandoned"] == 0 and r["errors"]["Stale file handle"] <= 2'
	[ "$(grep -c "^prism-ycsb: leaving the global memory: " "$work/err")" -eq 2 ] || fail "not a line of each node" "$work/err"
	end_cluster
	start_cluster
	expect 0 "load" tx --workload smallbank --records 100 -n 10
	under_load "$master_pid" tx --workload smallbank --records 100 --no-load --threads 2 --nodes 2 -D 20 --drain 30
	[ "$code" -eq 1 ] || fail "transactions without master end with $code" "$work/out"
	holds 'r["committed"] > 0 and r["abandoned"] == 0 and r["errors"]["Stale file handle"] <= 2'
	end_cluster
	[ $((SECONDS - began)) -lt 40 ] || fail "drivers that are no members any more go on"
	pass "the master is killed under load: all that is under way ends, and so does the run"
}

[ "$protocol" != directory ] || usage # the same for both
if [ "$protocol" = directory ]; then # the examples' protocol
	a_worker_dies
	an_example_runs_again
fi
table
transactions
a_node_dies
a_driver_dies
the_master_dies
finish
