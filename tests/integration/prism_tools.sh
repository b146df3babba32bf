#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every measuring tool of this project, server and client as two processes, and the examples that need no other program.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ss python3

port=${PRISM_TEST_PORT:-19200}
row='^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+'

valid_json() {
	if python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))' "$1" 2>"$work/json_error"; then
		pass "$2: JSON report"
	else
		fail "$2: the JSON report is not one" "$work/json_error"
	fi
}

# Each contestant has sent at least a packet each way for each of its round trips, and their bytes. Bundles carry
# several jobs of a throughput run.
counts_traffic() {
	if python3 -c '
import json, sys
latency = sys.argv[2] == "latency"
for row in json.load(open(sys.argv[1]))["results"]:
    traffic = row["traffic"]
    least = row["round_trips"] if latency else 0
    for direction in ("tx", "rx"):
        packets, size = (traffic[f"{direction}_{what}"] for what in ("packets", "bytes"))
        assert packets > 0 and packets >= least, row
        assert size >= 16 * packets, row' "$work/report.json" "$(case $1 in *_lat*) echo latency ;; esac)" 2>"$work/json_error"; then
		pass "$1: packets and bytes of a job"
	else
		fail "$1: packets and bytes of a job are not told" "$work/json_error"
	fi
}

# tool PROGRAM ARGUMENT...: runs both sides with the same arguments, the client also with a file for its report
tool() {
	local program=$1 client=("$bin/$1")
	shift
	port=$((port + 1))
	pair "$program $*" "$port" "$row" "$bin/$program" -p "$port" "$@" -- \
		"${client[@]}" -p "$port" "$@" --out_json_file="$work/report.json" 127.0.0.1
	[ -s "$work/report.json" ] || {
		fail "$program $*: no JSON report"
		return
	}
	valid_json "$work/report.json" "$program $*"
	counts_traffic "$program $*"
	rm -f "$work/report.json"
}

found=0
for path in "$bin"/ib_prism_*_lat "$bin"/ib_prism_*_bw; do
	program=${path##*/}
	found=$((found + 1))
	iterations=100
	tool "$program" -n $iterations
	tool "$program" -n $iterations --plain
	tool "$program" -n $iterations --compare
done
[ $found -ge 9 ] || fail "only $found tools are built"

# All of them have one page. It names each option that one of them has.
all_tools() {
	local path
	for path in "$bin"/ib_prism_*_lat "$bin"/ib_prism_*_bw; do "$path" "$@"; done
}
page_has_options ib_prism_read_lat all_tools
page_has_options prism-stat "$bin/prism-stat"
page_has_options ib_prism_scale "$bin/ib_prism_scale"

# A program whose output is lost has failed, whatever it printed.
for path in "$bin"/ib_prism_* "$bin"/*_figures "$bin"/rpc_parameters "$bin"/prism-{run,stat,kv,kv-server,rs,rs-server,tx,tx-server,tx-bench,gam,gam-node,gam-master,gam-bench,rpc-bench,ycsb}; do
	[ -x "$path" ] || continue # without the applications
	for option in --help --version; do
		[[ $path$option = *_@(floor|ratios|figures|parameters)--version ]] && continue # have none
		wanted=1
		[ "${path##*/}" != prism-run ] || wanted=125 # as it ends for all faults of its own
		"$path" $option >/dev/full 2>"$work/err"
		[ $? -eq $wanted ] || fail "${path##*/} $option: a full standard output does not end it with $wanted"
		grep -q "^${path##*/}: cannot write to the standard output" "$work/err" ||
			fail "${path##*/} $option: it does not say why" "$work/err"
	done
done
pass "a standard output that is full fails the tools"

# Servers that are stopped before their clients connect: the kernel takes the connections, and nobody answers. What the
# clients do about that, half a minute later, is looked at in the end.
silent=()
for program in ib_prism_floor ib_prism_read_lat; do
	port=$((port + 1))
	start "$work/silent-$program-server" "$bin/$program" -p "$port"
	wait_listening "$port" "$started" || fail "$program does not listen" "$work/silent-$program-server"
	kill -STOP "$started"
	start "$work/silent-$program" timeout -k 5 60 "$bin/$program" -p "$port" -n 100 127.0.0.1
	silent+=("$started:$program")
done

# No device gets the number of a standard stream that is closed, whatever the program reads and prints.
for stream in 0 1 2; do
	eval "'$bin/prism-run' bash -c 'readlink /proc/\$\$/fd/$stream >&9' 9>'$work/stream' $stream>&-"
	[ "$(cat "$work/stream")" = /dev/null ] || fail "prism-run: what is stream $stream, if it is closed?" "$work/stream"
done
pass "closed standard streams stay closed under prism-run"

tool ib_prism_read_lat -n 100 -d prism_lo -s 20000
tool ib_prism_read_lat -n 100 --bounded
tool ib_prism_read_lat -n 100 --direct
tool ib_prism_cas_lat -n 100 -a
tool ib_prism_cas_lat -n 100 -s 32 --mode gt
tool ib_prism_chain_lat -n 100 --chain write-alloc-cas
tool ib_prism_read_bw -n 500 -q 3

port=$((port + 1))
pair ib_prism_floor "$port" '[0-9]' "$bin/ib_prism_floor" -p "$port" -- \
	"$bin/ib_prism_floor" -p "$port" -n 200 --out_json_file="$work/floor.json" 127.0.0.1
valid_json "$work/floor.json" ib_prism_floor
for load in "-n 1000000000" "-D 60 -s 9000" "--bw -D 60"; do
	start "$work/server" "$bin/ib_prism_floor" -p "$port"
	floor_server=$started
	# shellcheck disable=SC2086
	start "$work/client" timeout -k 5 30 "$bin/ib_prism_floor" -p "$port" $load 127.0.0.1
	sleep 1
	end_child "$floor_server" KILL
	wait "$started"
	[ $? -eq 1 ] && grep -q "the server has ended" "$work/client" ||
		fail "ib_prism_floor $load: a server that dies does not end its client with 1" "$work/client"
done
pass "ib_prism_floor: the end of a server ends its client"
start "$work/server" "$bin/ib_prism_floor" -p "$port"
floor_server=$started
start "$work/client" timeout -k 5 30 "$bin/ib_prism_floor" -p "$port" -D 60 127.0.0.1
sleep 1
kill -STOP "$floor_server"
wait "$started"
[ $? -eq 1 ] && grep -q "has not answered" "$work/client" && pass "ib_prism_floor: a server that stands still ends its client" ||
	fail "ib_prism_floor: a server that stands still does not end its client with 1" "$work/client"
kill -CONT "$floor_server"
wait "$floor_server"
[ $? -eq 1 ] && grep -q "the client has ended" "$work/server" && pass "ib_prism_floor: the end of a client ends its server" ||
	fail "ib_prism_floor: a client that fails does not end its server with 1" "$work/server"
line='A cache line takes [0-9.]+ ns from one processor to another'
if [ "$(nproc)" -gt 1 ]; then
	timeout -k 5 60 "$bin/ib_prism_floor" --line --out_json_file="$work/line.json" >"$work/line" 2>&1 &&
		grep -qxE "$line" "$work/line" && pass "ib_prism_floor --line" || fail "ib_prism_floor --line" "$work/line"
	valid_json "$work/line.json" "ib_prism_floor --line"
fi
! taskset -c 0 timeout -k 5 60 "$bin/ib_prism_floor" --line >"$work/line" 2>&1 &&
	grep -q 'needs two processors' "$work/line" && pass "ib_prism_floor --line on one processor is refused" ||
	fail "ib_prism_floor --line on one processor" "$work/line"

for path in udp local; do
	expect 0 "ib_prism_scale --path $path" timeout -k 5 60 "$bin/ib_prism_scale" --path $path --threads 3 --rounds 1 -D 0.2 \
		--idle 100 --out_json_file="$work/scale.json" && valid_json "$work/scale.json" "ib_prism_scale --path $path" &&
		python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
assert [row["threads"] for row in report["results"]] == [1, 2, 3], report
assert all(rate > 0 for row in report["results"] for rate in row["one_context"] + row["context_each"]), report
assert report["test_info"]["memory"]["queue_pair_kib"] > 0, report' "$work/scale.json" 2>"$work/json_error" &&
		pass "ib_prism_scale --path $path" || fail "ib_prism_scale --path $path: wrong report" "$work/json_error"
done
expect 1 "ib_prism_scale without a device" "$bin/ib_prism_scale" -d nothing && grep -q "no device nothing" "$work/err" &&
	pass "ib_prism_scale: a device that there is not"

for example in pointer_chase out_of_place_update plain_post_send; do
	timeout -k 5 60 "$bin/examples/$example" --self >"$work/example" 2>&1 && pass "$example --self" ||
		fail "$example --self" "$work/example"
done
for example in "pointer_chase --self" "out_of_place_update --self" "plain_post_send --self" gam_work_queue gam_pagerank; do
	[ -x "$bin/examples/${example% *}" ] || continue # without the applications
	# shellcheck disable=SC2086
	timeout -k 5 60 "$bin/examples/"$example >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "$example: a full standard output does not end it with 1" "$work/err"
	grep -q "cannot write to the standard output: No space left on device" "$work/err" ||
		fail "$example: it does not say why" "$work/err"
done
for numbers in "x 3" "0 x" "0 0" "3 3" "-1 3" "0 65" " 3"; do
	[ -x "$bin/examples/gam_work_queue" ] || continue
	expect 1 "gam_work_queue with the numbers '$numbers'" "$bin/examples/gam_work_queue" 127.0.0.1:1 "${numbers% *}" "${numbers#* }" &&
		grep -q "' is no number from " "$work/err" || fail "'$numbers': it does not say what is wrong" "$work/err"
done
pass "examples say what is wrong with a standard output or a number"
for each in "${silent[@]}"; do
	log=$work/silent-${each#*:}
	wait "${each%:*}"
	[ $? -eq 1 ] && grep -q "the peer does not answer over TCP" "$log" ||
		fail "${each#*:}: a server that never answers does not end its client with 1" "$log"
done
pass "servers that never answer end their clients"
finish
