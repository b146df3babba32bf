#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A host, or a container, without an interface that is up: every program says so, and what to do, in one line. Likewise
# with the interfaces that PRISM_DEVICES or --device name.
# shellcheck disable=SC2015 # "A && B || C" cannot go wrong in between
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ibv_devinfo
[ -n "${IN_NAMESPACE:-}" ] || unshare -rn true 2>/dev/null || skip "no network namespaces for this user"
[ -n "${IN_NAMESPACE:-}" ] || IN_NAMESPACE=1 exec unshare -rn "$0" "$@"

down="no network interface is up and has an address: 'ip link set lo up' makes prism_lo"

# refuses TEXT PROGRAM [ARGUMENT...]: expects that it ends with 1, and prints the text in one line
refuses() {
	local text=$1 program=$2
	shift 2
	expect 1 "$program $*" timeout -k 5 30 "$bin/$program" "$@" </dev/null && says "$text"
}

# warns TEXT OPTION...: expects the text from prism-run, which runs the program all the same
warns() {
	local text=$1
	shift
	expect 255 "prism-run $* ibv_devinfo" "$bin/prism-run" "$@" ibv_devinfo # its own status: there is no device
	[ "$(grep -c '^prism-run: ' "$work/err")" -eq 1 ] && grep -Fq -- "$text" "$work/err" ||
		fail "prism-run $* does not say '$text'" "$work/err"
}

head -c 32 /dev/urandom >"$work/secret"
"$bin/prism-rs" -c "$work/volume" create -b 10 127.0.0.1:1 127.0.0.1:2 127.0.0.1:3 >"$work/out"
while read -r command; do
	# shellcheck disable=SC2086
	refuses "$down" $command
done <<-END
	ib_prism_read_lat
	ib_prism_chain_bw 127.0.0.1
	prism-kv-server
	prism-kv get key
	prism-rs-server -c $work/volume --replica 0 --new
	prism-rs -c $work/volume get 0
	prism-tx-server --secret $work/secret --shard 0 --shards 2
	prism-tx 127.0.0.1:1,127.0.0.1:2 get key
	prism-gam-node
	prism-gam stat
	prism-ycsb --system prism
	prism-tx-bench --system prism --shards 127.0.0.1:1
	prism-rpc-bench --server
	prism-rpc-bench localhost
END
refuses "no network interface that leads there is up" ib_prism_floor 127.0.0.1
refuses "no device is called \"prism_eth0\"" prism-kv -d prism_eth0 get key && says "$down"
warns "$down"
warns "network interface eth0 must be up and have an address" -d prism_eth0
PRISM_DEVICES=eth0 warns "no such network interface is up and has an address: PRISM_DEVICES is 'eth0'"
PRISM_DEVICES=eth0 refuses "PRISM_DEVICES is 'eth0'" prism-kv get key
expect 255 "a device of the kernel" "$bin/prism-run" -d rxe0 ibv_devinfo
! grep -q '^prism-run: ' "$work/err" || fail "prism-run warns of a device of the kernel" "$work/err"
pass "no interface is up"

ip link set lo up
PRISM_DEVICES=eth0 warns "PRISM_DEVICES is 'eth0'"
warns "network interface eth0 must be up and have an address" -d prism_eth0
expect 0 "prism-run on lo" "$bin/prism-run" ibv_devinfo
[ ! -s "$work/err" ] || fail "prism-run warns though lo is up" "$work/err"
pass "lo is up"
finish
