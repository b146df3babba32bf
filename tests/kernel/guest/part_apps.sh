# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154 # from lib.sh and main.sh
# The applications on the kernel device: what README shows on the userspace device, and a run of the workload driver.

# store_run STORE CLIENT...: CLIENT beside a server of STORE, which would go on for ever
store_run() {
	local store=$1
	shift
	[ -x "$PRISM_BUILD/bin/prism-kv-server" ] || skip "no build tree with prism-kv-server"
	SERVER_PATIENCE=1 run_pair_of "$port" "$PRISM_BUILD/bin/prism-kv-server" --store "$store" -d "$DEVICE" -p "$port" \
		--records 2000 --size 512 -- "$@"
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

group_apps() {
	local store
	part "$KIND apps device" base_device
	next_port
	PART_SECONDS=60 part "prism-kv" store_run prism kv_shell
	for store in prism pilaf rpc; do
		next_port
		PART_SECONDS=60 part "prism-ycsb, $store" store_run $store kv_workload $store
	done
}
