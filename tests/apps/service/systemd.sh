#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The units under a real systemd, which is process 1 of its own namespaces: started by systemctl, scraped by curl,
# stopped under load, started again after a crash. Must run as root.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/apps/service/support.sh
. "$(dirname "$0")/support.sh"
# Root of the machine, or of a container without a user namespace: others may not mount the file systems that systemd
# needs.
[ "$EUID $(awk '{ print $1, $2 }' /proc/self/uid_map)" = "0 0 0" ] || skip "only root can start a systemd"
need_program curl python3 nsenter unshare pivot_root ip systemctl
[ -x /usr/lib/systemd/systemd ] || skip "there is no systemd"

manager='' # pid of the systemd, as the machine sees it

# inside COMMAND...: runs it beside the servers, as their host's root
inside() {
	nsenter --target "$manager" --mount --pid --net --uts --ipc --cgroup --root --wd \
		env LD_LIBRARY_PATH=/build/lib PRISM_DEVICES=lo timeout -k 5 60 "$@"
}

# All processes of the namespace end with process 1. Its cgroups stay.
clean_up_more() {
	local tries cgroup
	[ -z "$manager" ] || kill -KILL "$manager"
	[ -s "$work/units/cgroup" ] || return
	cgroup=$(cat "$work/units/cgroup")
	for ((tries = 0; tries < 100; tries++)); do
		find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null
		[ -d "$cgroup" ] || return
		sleep 0.05
	done
}

# The unmodified units, except for the paths of programs and libraries, and the log, as there is no journal.
write_units() {
	local name
	mkdir "$work/units" "$work/root"
	for name in sysinit basic shutdown network-online multi-user; do
		printf '[Unit]\nDefaultDependencies=no\n' >"$work/units/$name.target"
	done
	for name in gam-master gam-node kv rs tx; do
		sed 's|/usr/bin|/build/bin|
			/^\[Service\]/a Environment=LD_LIBRARY_PATH=/build/lib\nStandardOutput=append:/run/log-%p-%i' \
			"$PRISM_SOURCE/apps/stores/service/systemd/prism-$name@.service" >"$work/units/prism-$name@.service"
	done
}

# configure SYSTEM INSTANCE METRICS-PORT LINE...
configure() {
	local file=$work/units/$1-$2.toml port=$3
	shift 3
	printf '%s\n' "$@" 'bind = "127.0.0.1"' "metrics = \"127.0.0.1:$port\"" >"$file"
}

write_configurations() {
	local number
	configure kv one 9500 'port = 18600' 'records = 1000'
	for number in 0 1; do
		configure tx $number $((9510 + number)) "port = $((18610 + number))" "shard = $number" 'shards = 2' 'keys = 1000' \
			"secret = \"/etc/prism/tx-$number.secret\""
		printf 'a secret of both shards, not a word more' >"$work/units/tx-$number.secret"
	done
	expect 0 "create" "$bin/prism-rs" -c "$work/units/volume.json" create -s 512 -b 100 127.0.0.1:1862{0,1,2} || finish
	configure_memory
	for number in 0 1 2; do
		configure rs $number $((9520 + number)) 'configuration = "/etc/prism/volume.json"' "replica = $number" 'new = true'
	done
}

# The node's configuration enables its log, in its unit's folder for persistent state.
configure_memory() {
	printf '%s\n' 'port = 18660' 'bind = "127.0.0.1"' 'lease = 0.5' >"$work/units/gam-master-one.toml"
	configure gam-node one 9530 'master = "127.0.0.1:18660"' 'memory = 16' 'log = "/var/lib/prism-gam/one"'
}

# manager_of PID: sets $manager to its systemd, which unshare has forked
manager_of() {
	manager=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
	manager=${manager% }
	[ -n "$manager" ] && [ "$(cat "/proc/$manager/comm")" = systemd ]
}

is_ready() {
	inside systemctl is-system-running --quiet 2>"$work/ready"
}

begin() {
	write_units
	write_configurations
	start "$work/systemd" "$PRISM_SOURCE/tests/apps/service/systemd_root.sh" "$work/root" "$PRISM_BUILD" "$work/units"
	wait_for 10 manager_of "$started" || {
		manager=''
		skip "systemd cannot be process 1 here: $(tail -n 1 "$work/systemd")"
	}
	wait_for 10 is_ready || skip "systemd does not get ready here"
	pass "a systemd that is process 1"
}

# scrape PORT LINE: checks that the metrics have LINE
scrape() {
	inside curl -sS --max-time 5 "http://127.0.0.1:$1/metrics" >"$work/metrics" || fail "no metrics at $1"
	grep -q -- "$2" "$work/metrics" || fail "metrics at $1 do not have '$2'" "$work/metrics"
}

start_units() {
	local unit
	for unit in kv@one tx@0 tx@1; do
		expect 0 "starting $unit" inside systemctl start "prism-$unit" || tell "$unit"
	done
	# A replica waits for the others.
	expect 0 "starting rs" inside systemctl start prism-rs@0 prism-rs@1 prism-rs@2 || tell rs@0
	expect 0 "status" inside systemctl status --no-pager prism-kv@one
	grep -q 'Status: "prism store, for 1000 records .*port 18600"' "$work/out" || fail "no status" "$work/out"
	scrape 9500 '^prism_connections_open{store="prism",shard="0"} 0$'
	scrape 9511 '^prism_connections_open{store="prism",shard="1"} 0$'
	scrape 9522 '^prism_connections_open{store="rs",replica="2"} '
	pass "units are started by systemctl, and their metrics are scraped"
}

# tell UNIT: fails with the state and log of a unit
tell() {
	inside systemctl status --no-pager "prism-$1" >"$work/status"
	inside cat "/run/log-prism-${1/@/-}" >"$work/log" 2>/dev/null
	fail "$1:" "$work/status" "$work/log"
}

# requests_at PORT: prints the number of PRISM requests that this server's device has executed
requests_at() {
	inside curl -s --max-time 5 "http://127.0.0.1:$1/metrics" | sed -n 's/^prism_device_total{.*counter="prism_cas"} //p'
}

# load NAME PORT COMMAND...: runs it beside the servers until the one with metrics at PORT has executed many of its
# requests
load() {
	local name=$1 port=$2 before
	shift 2
	before=$(requests_at "$port")
	start "$work/load-$name" inside "$@"
	wait_for 20 busy "$port" $((before + 200)) || fail "$name: there is no load" "$work/load-$name"
}

busy() {
	[ "$(requests_at "$1")" -gt "$2" ]
}

# stop UNIT...: stops them with SIGTERM, which they must obey in time
stop() {
	local unit
	expect 0 "stopping $*" inside systemctl stop "${@/#/prism-}"
	for unit in "$@"; do
		inside systemctl show --property=Result,ExecMainStatus,ActiveState "prism-$unit" | sort | tr '\n' ' ' >"$work/result"
		grep -q '^ActiveState=inactive ExecMainStatus=0 Result=success $' "$work/result" || fail "$unit ends" "$work/result"
	done
}

key_value_store() {
	local ycsb=(/build/bin/prism-ycsb --system prism 127.0.0.1 --port 18600 --mix A --records 200 --size 64 --tx-depth 16)
	expect 0 "filling the store" inside "${ycsb[@]}" --iters 1
	load kv 9500 "${ycsb[@]}" --no-load --duration 3
	stop kv@one
	wait "$started"
	# The client waits for the server to come back; operations that fail then were not done.
	grep ' failed: ' "$work/load-kv" | grep -v 'not connected' >"$work/failures" &&
		fail "operations failed that had begun" "$work/failures"
	grep -q 'throughput: [1-9]' "$work/load-kv" || fail "nothing was done" "$work/load-kv"
	pass "a key-value store is stopped under load"
}

transactional_store() {
	local shards=127.0.0.1:18610,127.0.0.1:18611
	local bench=(/build/bin/prism-tx-bench --system prism --shards "$shards" --records 200 --keys 3 --size 64 --tx-depth 16)
	expect 0 "filling the store" inside "${bench[@]}" --iters 1
	load tx 9510 "${bench[@]}" --no-load --duration 4 --json /run/load.json
	stop tx@0 tx@1
	wait "$started"
	inside cat /run/load.json >"$work/load.json"
	outcomes_are_known "$work/load.json"
	pass "a transactional store is stopped under load"
}

replicated_volume() {
	load rs 9521 /build/bin/prism-ycsb --system rs -c /etc/prism/volume.json --mix A --records 50 --size 512 --tx-depth 16 \
		--duration 4 --verify
	stop rs@1
	wait "$started" || fail "operations failed" "$work/load-rs"
	stop rs@0 rs@2
	pass "a replicated volume: a replica is stopped under load"
}

# started_again UNIT: true if it was started again once after a failure
started_again() {
	[ "$(inside systemctl show --value --property=NRestarts "prism-$1")" = 1 ] &&
		inside systemctl is-active --quiet "prism-$1"
}

crash() {
	expect 0 "starting kv@one" inside systemctl start prism-kv@one
	expect 0 "a crash" inside systemctl kill --signal=KILL prism-kv@one
	wait_for 20 started_again kv@one || tell kv@one
	stop kv@one
	pass "a server that has crashed is started again"
}

# The node waits until its master is started again, and then has all that its log has.
global_memory() {
	local unit address
	expect 0 "starting a node" inside systemctl start prism-gam-master@one prism-gam-node@one || tell gam-node@one
	expect 0 "malloc" inside /build/bin/prism-gam malloc 64 || tell gam-node@one
	address=$(cat "$work/out")
	expect 0 "write" inside /build/bin/prism-gam write "$address" "still here"
	expect 0 "the log" inside test -d /var/lib/private/prism-gam/one
	expect 0 "a crash" inside systemctl kill --signal=KILL prism-gam-master@one
	wait_for 20 started_again gam-master@one || tell gam-master@one
	wait_for 20 still_there "$address" || tell gam-node@one
	stop gam-node@one gam-master@one
	pass "a global memory: its master is killed, and its node comes back by its log"
}

still_there() {
	[ "$(inside /build/bin/prism-gam --timeout 1 read "$1" 10 2>/dev/null)" = "still here" ]
}

begin
start_units
key_value_store
transactional_store
replicated_volume
crash
global_memory
finish
