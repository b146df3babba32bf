# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # from lib.sh and main.sh
# The applications on the kernel device: the examples that README shows on the userspace device, and a run of the
# workload driver.

# store_run STORE [OPTION... --] CLIENT...: runs CLIENT beside a server of STORE, which would never end by itself
store_run() {
	local store=$1 options=()
	shift
	while [[ $1 == --?* ]]; do
		options+=("$1" "$2")
		shift 2
	done
	[ "$1" != -- ] || shift
	[ -x "$PRISM_BUILD/bin/prism-kv-server" ] || skip "no build tree with prism-kv-server"
	SERVER_PATIENCE=1 run_pair_of "$port" "$PRISM_BUILD/bin/prism-kv-server" --store "$store" -d "$DEVICE" -p "$port" \
		--records 2000 --size 512 --connections 4 --depth 16 "${options[@]}" -- "$@"
}

# call_run WAY: makes calls of several sizes, many under way, and checks their responses
call_run() {
	[ -x "$PRISM_BUILD/bin/prism-rpc-bench" ] || skip "no build tree with prism-rpc-bench"
	SERVER_PATIENCE=1 run_pair_of "$port" "$PRISM_BUILD/bin/prism-rpc-bench" --server --way "$1" -d "$DEVICE" -p "$port" \
		--connections 4 --depth 16 -- "$PRISM_BUILD/bin/prism-rpc-bench" 127.0.0.1 --way "$1" -d "$DEVICE" -p "$port" \
		-t 8 -s 0,32:3,700,5000 --connections 2 -n "$(count 4000)"
}

kv_shell() {
	local kv=("$PRISM_BUILD/bin/prism-kv" -d "$DEVICE" -s "127.0.0.1:$port") status=0
	"${kv[@]}" put greeting "hello world" || return
	[ "$("${kv[@]}" get greeting)" = "hello world" ] || return
	"${kv[@]}" put greeting again || return
	[ "$("${kv[@]}" get greeting)" = again ] || return
	"${kv[@]}" delete greeting || return
	"${kv[@]}" get greeting || status=$?
	[ $status -eq 3 ] || return
	"${kv[@]}" stats
}

kv_workload() {
	"$PRISM_BUILD/bin/prism-ycsb" --system "$1" -d "$DEVICE" -p "$port" --records 1000 --mix A --verify -t 4 \
		-n "$(count 8000)"
}

# kv_delayed STORE MILLISECONDS: GETs of a client on the module from a server on the userspace device, in a namespace,
# over a network with that delay. Prints the round trips and the latency, which is their number times the delay.
kv_delayed() {
	local status=0
	link_exists "${DEVICE}w" || skip "no devices"
	next_port
	[ "$2" -eq 0 ] || tc qdisc add dev w0 root netem delay "${2}ms" || skip "no netem"
	SERVER_PATIENCE=1 run_pair_of "$port" ip netns exec peer "$PRISM_BUILD/bin/prism-kv-server" --store "$1" -d prism_w1 \
		-p "$port" --records 500 --connections 4 --depth 16 -- "$PRISM_BUILD/bin/prism-ycsb" 10.7.0.2 \
		--system "$1" -d "${DEVICE}w" -p "$port" --records 200 --mix C --verify -n 200 || status=$?
	[ "$2" -eq 0 ] || tc qdisc del dev w0 root
	return $status
}

rs_shell() {
	local rs=("$PRISM_BUILD/bin/prism-rs" -c /tmp/volume.json -d "$DEVICE")
	"${rs[@]}" put 7 "hello world" || return
	[ "$("${rs[@]}" get 7 | tr -d '\0')" = "hello world" ] || return
	"${rs[@]}" put 7 again || return
	[ "$("${rs[@]}" get 7 | tr -d '\0')" = again ] || return
	"${rs[@]}" status --json
}

# Three replicas of a volume, on one device
rs_run() {
	[ -x "$PRISM_BUILD/bin/prism-rs-server" ] || skip "no build tree with prism-rs-server"
	rm -f /tmp/volume.json
	"$PRISM_BUILD/bin/prism-rs" -c /tmp/volume.json create --size 512 --blocks 500 "127.0.0.1:$port" \
		"127.0.0.1:$((port + 1))" "127.0.0.1:$((port + 2))" || return
	SERVER_PATIENCE=1 run_pair_of "$port" "$PRISM_BUILD/bin/prism-rs-server" -c /tmp/volume.json -r 0,1,2 --new \
		-d "$DEVICE" --connections 8 --spare-buffers 512 -- "$@"
}

# tx COMMAND...: on two shards
tx() {
	"$PRISM_BUILD/bin/prism-tx" -d "$DEVICE" "127.0.0.1:$port,127.0.0.1:$((port + 1))" "$@"
}

tx_shell() {
	local status=0
	tx put alice=100 bob=50 || return
	tx add alice -30 bob 30 || return
	[ "$(tx get alice bob)" = $'70\n80' ] || return
	[ "$(printf 'get alice\nerase bob\ninsert carol=80\n' | tx run)" = 70 ] || return
	tx insert alice=1 || status=$?
	[ $status -eq 4 ] || return
	status=0
	tx get bob || status=$?
	[ $status -eq 3 ] || return
	tx status
}

tx_bank() {
	"$PRISM_BUILD/bin/prism-tx-bench" --system prism --workload smallbank -d "$DEVICE" \
		--shards "127.0.0.1:$port,127.0.0.1:$((port + 1))" --records 200 --clients 2 -t 4 -n "$(count 4000)" --check ||
		return
	tx status
}

# Two shards on one device: the second one beside the pair of the first one and COMMAND
tx_run() {
	local second status=0
	[ -x "$PRISM_BUILD/bin/prism-tx-server" ] || skip "no build tree with prism-tx-server"
	head -c 32 /dev/urandom >/tmp/secret
	"$PRISM_BUILD/bin/prism-tx-server" -d "$DEVICE" --shard 1 --shards 2 -p "$((port + 1))" --keys 1000 --clients 8 \
		--lanes 8 --secret /tmp/secret &
	second=$!
	wait_for 15 listening_or_ended "$((port + 1))" $second || true
	SERVER_PATIENCE=1 run_pair_of "$port" "$PRISM_BUILD/bin/prism-tx-server" -d "$DEVICE" --shard 0 --shards 2 -p "$port" \
		--keys 1000 --clients 8 --lanes 8 --secret /tmp/secret --json -- "$@" || status=$?
	kill $second 2>/dev/null
	wait $second || status=$?
	return $status
}

# gam COMMAND...: on the memory whose master is at the port
gam() {
	"$PRISM_BUILD/bin/prism-gam" -d "$DEVICE" -m "127.0.0.1:$port" "$@"
}

# gam_node NUMBER: starts a node, which must get that number, with a log; its pid is in $!
gam_node() {
	local said
	: >"/tmp/gam-node-$1"
	"$PRISM_BUILD/bin/prism-gam-node" -d "$DEVICE" -m "127.0.0.1:$port" --memory 1 --log "/tmp/gam-log-$1" \
		>"/tmp/gam-node-$1" 2>&1 &
	wait_for 30 test -s "/tmp/gam-node-$1" || return
	said=$(<"/tmp/gam-node-$1")
	echo "$said"
	[[ $said == "node $1 of a global memory"* ]]
}

# Writes on one node, reads on another; the third dies, the rest works, and it recovers from its log. Each command
# joins, which takes seconds in an emulated machine: no more of them than needed.
gam_shell() {
	local nodes=() number address lost
	rm -rf /tmp/gam-log-*
	for number in 0 1 2; do
		gam_node $number || return
		nodes+=($!)
	done
	address=$(gam malloc 100 --on 1) && lost=$(gam malloc 100 --on 2) || return
	gam write "$address" "hello world" && gam write "$lost" "not lost" || return
	[ "$(gam read "$address" 11)" = "hello world" ] || return
	kill -9 "${nodes[2]}"
	gam read "$lost" 8 && return 1 # waits until the lease expires
	[ "$(gam add "$address" 1)" = 8031924123371070824 ] || return # "hello wo", as a number
	gam_node 2 || return
	nodes[2]=$!
	[ "$(gam read "$lost" 8)" = "not lost" ] || return
	kill "${nodes[@]}"
	wait "${nodes[0]}" && wait "${nodes[1]}" && wait "${nodes[2]}"
}

gam_run() {
	[ -x "$PRISM_BUILD/bin/prism-gam-node" ] || skip "no build tree with prism-gam-node"
	SERVER_PATIENCE=1 run_pair_of "$port" "$PRISM_BUILD/bin/prism-gam-master" -p "$port" --lease 5 -- "$@"
}

group_delays() {
	local store delay
	part "userspace and $KIND devices" userspace_devices
	for delay in 0 1 2 5; do
		for store in prism pilaf rpc; do
			PART_SECONDS=90 part "$store, $delay ms" kv_delayed $store $delay
		done
	done
}

group_apps() {
	local store way
	part "$KIND apps device" base_device
	next_port
	PART_SECONDS=60 part "prism-kv" store_run prism kv_shell
	next_port
	PART_SECONDS=60 part "prism-rs" rs_run rs_shell
	next_port
	PART_SECONDS=60 part "prism-tx" tx_run tx_shell
	next_port
	PART_SECONDS=60 part "prism-tx-bench" tx_run tx_bank
	next_port
	PART_SECONDS=240 part "prism-gam" gam_run gam_shell
	for store in prism pilaf rpc; do
		next_port
		PART_SECONDS=60 part "prism-ycsb, $store" store_run $store kv_workload $store
	done
	for way in two-sided reply fetch slots window datagram; do
		next_port
		PART_SECONDS=60 part "prism-rpc-bench, $way" call_run $way
		# These are the ways of Jakiro's calls: in a shorter selection, one is enough
		[ -z "$SHORT" ] || [ $way = datagram ] || continue
		next_port
		PART_SECONDS=60 part "prism-ycsb, jakiro-$way" store_run jakiro --way $way -- kv_workload jakiro-$way
	done
}
