#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-gam-bench as a user runs it: workloads and cases, in one process and in several, and its errors of usage.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/gam_tools/support.sh
. "$(dirname "$0")/support.sh"
need_program python3

# per_operation MESSAGES EVENTS: checks that the last case took exactly these
per_operation() {
	holds 'r["clean"] and r["stats"]["refused"] == 0'
	holds 'r["stats"]["messages"] == '"$1"' * r["operations"] and r["stats"]["home_events"] == '"$2"' * r["operations"]'
}

# cases OPTION...: runs all cases of the directory; their messages and events at the home are those of the table
cases() {
	local one messages events nodes
	while read -r one nodes messages events; do
		expect 0 "$one, $*" bench "$@" --nodes "$nodes" --case "$one" -n 100 --json "$work/json"
		per_operation "$messages" "$events"
		holds 'i["case"] == "'"$one"'" and r["operations"] == 100 and r["latency"]["t_typical"] > 0'
		grep -Eq '^ 100 ' "$work/out" || fail "no line of its rate" "$work/out"
	done <<-END
		clean-miss 2 2 1
		write-miss 2 2 1
		write-shared 2 2 1
		write-shared 4 6 3
		dirty-miss 3 4 2
		evict-shared 2 1 1
		evict-dirty 2 2 1
	END
	expect 0 "hits, $*" bench "$@" --case read-hit --threads 2 -n 20000 --json "$work/json"
	per_operation 0 0
	holds 'r["operations"] == 40000 and r["hit_ratio"] == 1'
	expect 0 "hits of writes, $*" bench "$@" --case write-hit -n 20000 --json "$work/json"
	per_operation 0 0
	expect 0 "a home that computes, $*" bench "$@" --case clean-miss --home computes --piece 200 -n 50 --json "$work/json"
	per_operation 2 1
	expect 0 "a home that sleeps, $*" bench "$@" --case clean-miss --home sleeps -n 50 --json "$work/json"
	per_operation 2 1
}

# workloads OPTION...
workloads() {
	local kind
	expect 0 "nothing remote, $*" bench "$@" --remote-ratio 0 -n 5000 --blocks 64 --json "$work/json"
	holds 'r["clean"] and r["hit_ratio"] == 1 and r["stats"]["messages"] == 0 and r["operations"] == 10000'
	expect 0 "all writes, all remote, $*" bench "$@" --read-ratio 0 -n 700 --blocks 512 --json "$work/json"
	holds 'r["clean"] and r["read_latency"]["n_iterations"] == 0 and r["write_latency"]["n_iterations"] == 200'
	holds '0.05 < r["hit_ratio"] < 0.3 and r["stats"]["messages"] > r["operations"] and r["stats"]["evictions_dirty"] > 0'
	expect 0 "the same item again, $*" bench "$@" --time-locality 100 -n 700 --json "$work/json"
	holds 'r["clean"] and r["stats"]["messages"] < 20'
	expect 0 "the next item, $*" bench "$@" --space-locality 100 --read-ratio 100 -n 6400 --json "$work/json"
	holds 'r["clean"] and 0.97 < r["hit_ratio"] < 0.99'
	expect 0 "no cache, $*" bench "$@" --uncached -n 300 --json "$work/json"
	holds 'r["clean"] and r["hit_ratio"] == 0 and r["stats"]["evictions_shared"] + r["stats"]["evictions_dirty"] == 0'
	for kind in rw lock lock-access try; do
		expect 0 "$kind, $*" bench "$@" --operation "$kind" --sharing-ratio 100 --blocks 8 --cache 100 --threads 2 \
			-n 200 --json "$work/json"
		holds 'r["clean"] and i["operation"] == "'"$kind"'" and r["operations"] == 800'
	done
	for kind in pso tso sc; do
		expect 0 "$kind, $*" bench "$@" --consistency "$kind" -D 0.1 --warm-up 0.05 --json "$work/json"
		holds 'r["clean"] and i["consistency"] == "'"$kind"'" and 0.1 <= r["seconds"] < 5 and r["rate"] > 0'
	done
}

# refused TEXT OPTION...: expects an error of usage that says TEXT
refused() {
	local text=$1
	shift
	expect 2 "refused: $*" bench "$@"
	says "$text"
}

usage() {
	refused "(--nodes)" --nodes 65
	refused "remote blocks of a single node" --nodes 1 --remote-ratio 10
	refused "--read-ratio" --read-ratio 101
	refused "--time-locality" --time-locality=-1
	refused "fast" --protocol fast
	refused "latch protocol" --protocol latch --in-process
	refused "weak" --consistency weak
	refused "wish" --operation wish
	refused "too few nodes for this case" --case dirty-miss --nodes 2
	refused "a case by time" --case clean-miss -D 1
	refused "--home is of single cases" --home computes
	refused "(--cache)" --cache 0
	refused "(--threads)" --threads 0
	refused "(--blocks)" --blocks 0
	refused "no operation that is timed" --timed 0
	refused "excludes" -n 1 -D 1
	refused "excludes" --in-process --master 127.0.0.1:1
	expect 1 "a master that is not there" bench --master 127.0.0.1:1 -n 1 --timeout 1
	expect 1 "a device that there is not" bench --ib-dev none_such -n 1 --timeout 5
	grep -q none_such "$work/err" || fail "it does not name the device" "$work/err"
	expect 0 "a single node" bench --in-process --nodes 1 -n 100
	expect 0 "help" bench --help
	expect 0 "version" bench --version
}

usage
pass "usage"
cases --in-process
workloads --in-process
pass "in one process"
cases
workloads
pass "in several"
finish
