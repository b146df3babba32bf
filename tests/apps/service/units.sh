#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The servers as started by their systemd units: configuration files, messages to the service manager, metrics and the
# board that shows them, and SIGTERM under load.
# shellcheck disable=SC2015,SC2016,SC2128,SC2178,SC2317 # functions are called by name; text for others; names of locals
# shellcheck source=tests/apps/service/support.sh
. "$(dirname "$0")/support.sh"
alone "$@"
need_program curl python3

units=$PRISM_SOURCE/apps/stores/service/systemd
declare -A pid_of metrics_of

# told NAME TEXT: true if the service manager was told TEXT
told() {
	grep -Fq -- "$2" "$work/notify-$1"
}

# start_unit SYSTEM INSTANCE LINE...: starts a unit with these lines in its configuration file, and an address for
# metrics, which all but the master of a global memory have
start_unit() {
	local system=$1 instance=$2 name=$1-$2 command
	shift 2
	printf '%s\n' "$@" 'bind = "127.0.0.1"' >"$work/$name.toml"
	if [ "$system" != gam-master ]; then
		metrics_of[$name]=127.0.0.1:$(free_ports 1)
		echo "metrics = \"${metrics_of[$name]}\"" >>"$work/$name.toml"
	fi
	: >"$work/notify-$name"
	start "$work/notifier-$name" python3 -u -c '
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
    listener.bind(sys.argv[1])
    while True:
        with open(sys.argv[2], "a") as log:
            log.write(listener.recv(65536).decode() + "\n")' "$work/socket-$name" "$work/notify-$name"
	wait_for 5 test -S "$work/socket-$name" || fail "nobody listens for what the manager is told"
	command=$(sed -n "s|^ExecStart=||p" "$units/prism-$system@.service" |
		sed "s|/usr/bin|$bin|; s|/etc/prism|$work|; s|%i|$instance|")
	# shellcheck disable=SC2086 # as the unit has it, in words
	start "$work/log-$name" env NOTIFY_SOCKET="$work/socket-$name" $command
	pid_of[$name]=$started
	wait_for 20 told "$name" READY=1 || {
		fail "$name: it does not tell that it is ready" "$work/log-$name" "$work/notify-$name"
		finish
	}
}

port_of() {
	sed -n 's/.* port \([0-9]*\)$/\1/p' "$work/log-$1" | head -n 1
}

# stopped NAME SECONDS: checks that it ended with 0, and told the manager
stopped() {
	local code
	wait_for "$2" eval "! kill -0 ${pid_of[$1]} 2>/dev/null" || {
		fail "$1 does not stop" "$work/log-$1"
		kill -9 "${pid_of[$1]}"
	}
	wait "${pid_of[$1]}"
	code=$?
	[ $code -eq 0 ] || fail "$1 ended with $code" "$work/log-$1"
	told "$1" STOPPING=1 || fail "$1 does not tell that it stops" "$work/notify-$1"
}

scrape() {
	curl -sS --max-time 5 "http://${metrics_of[$1]}/metrics" >"$work/metrics-$1" || fail "no metrics of $1"
}

# has NAME LINE: checks that LINE is among its metrics
has() {
	grep -q -- "$2" "$work/metrics-$1" || fail "$1: no metric '$2'" "$work/metrics-$1"
}

unit_files() {
	local unit
	if ! command -v systemd-analyze >/dev/null; then
		echo "systemd-analyze is not installed: units are started, but not verified"
		return
	fi
	mkdir "$work/units"
	for unit in "$units"/*.service; do
		unit=$(basename "$unit")
		sed "s|/usr/bin|$bin|" "$units/$unit" >"$work/units/${unit/@/@x}"
		systemd-analyze verify --man=no "$work/units/${unit/@/@x}" >"$work/verify" 2>&1 &&
			[ ! -s "$work/verify" ] || fail "$unit is no good unit" "$work/verify"
	done
	pass "systemd takes the units"
}

# mentions TEXT: checks that the last command wrote TEXT to its standard error
mentions() {
	grep -Fq -- "$1" "$work/err" || fail "it does not say '$1':" "$work/err"
}

# The programs accept the examples as configurations: they only find that the port of the metrics is taken.
examples() {
	local system option seconds
	for system in kv rs tx; do
		sed "s|^port = .*|port = 0|; s|/etc/prism/volume.json|$work/none|; s|^metrics = .*|metrics = \"192.0.2.1:1\"|" \
			"$units/$system-example.toml" >"$work/example.toml"
		expect 1 "example of $system" timeout 10 "$bin/prism-$system-server" --config "$work/example.toml"
		grep -Eq "metrics at '192.0.2.1:1'|configuration $work/none" "$work/err" || fail "example of $system" "$work/err"
	done
	sed 's|^bind = .*|bind = "192.0.2.1"|' "$units/gam-master-example.toml" >"$work/example.toml"
	expect 1 "example of gam-master" timeout 10 "$bin/prism-gam-master" --config "$work/example.toml" && mentions 192.0.2.1
	sed 's|^master = .*|master = "127.0.0.1:1"|' "$units/gam-node-example.toml" >"$work/example.toml"
	expect 1 "example of gam-node" timeout 30 "$bin/prism-gam-node" --config "$work/example.toml" && mentions "127.0.0.1 port 1:"
	echo 'nonsense = 1' >"$work/bad.toml"
	expect 2 "a name that is no option's" timeout 10 "$bin/prism-gam-master" --config "$work/bad.toml" &&
		mentions "$work/bad.toml, line 1: 'nonsense' is no option"
	expect 2 "a name that is no option's" timeout 10 "$bin/prism-kv-server" --config "$work/bad.toml"
	mentions "$work/bad.toml, line 1: 'nonsense' is no option"
	expect 2 "no such file" timeout 10 "$bin/prism-kv-server" --config "$work/none"
	echo 'value-size = "much"' >"$work/bad.toml"
	expect 2 "a value that is none" timeout 10 "$bin/prism-kv-server" --config "$work/bad.toml" &&
		mentions "$work/bad.toml, line 1: --value-size: 'much' is no whole number"
	for system in kv rs tx; do
		printf '\033]0;title\007' >"$work/bad.toml"
		expect 2 "what is no text" timeout 10 "$bin/prism-$system-server" --config "$work/bad.toml" &&
			mentions "$work/bad.toml, line 1: "
		grep -q $'\033' "$work/err" && fail "what is no text goes to the terminal"
		for option in --answer-timeout --stop-timeout; do
			for seconds in nan inf -1 1e300; do
				expect 2 "$option $seconds" timeout 10 "$bin/prism-$system-server" "$option=$seconds" &&
					mentions "$option: '$seconds' is no number"
			done
		done
		expect 2 "no connections" timeout 10 "$bin/prism-$system-server" --connections 0 && mentions "connections"
		expect 2 "no address" timeout 10 "$bin/prism-$system-server" --metrics nonsense &&
			mentions "--metrics: 'nonsense' is no address: write HOST:PORT or PORT"
	done
	printf 'port = 0\nsize = 2000000\n' >"$work/other.toml"
	expect 2 "an option's other name" timeout 10 "$bin/prism-kv-server" --config "$work/other.toml" && mentions "1 MiB"
	start "$work/first" "$bin/prism-kv-server" --config "$work/other.toml" --size 100
	wait_for 10 grep -q 'up to 48 + 100 bytes' "$work/first" || fail "the line does not come first" "$work/first"
	kill "$started"
	pass "configuration files"
}

# Puts one after another until the server stops: all that had begun end well, and only then does the server go.
key_value_store() {
	local client
	start_unit kv one 'port = 0' 'records = 1000' 'class = ["128:1000", "576:100"]'
	mkfifo "$work/puts"
	timeout -k 5 60 "$bin/prism-kv" --timeout 2 -s "127.0.0.1:$(port_of kv-one)" batch <"$work/puts" \
		>"$work/client" 2>"$work/client-err" &
	client=$!
	children+=("$client")
	(for number in {1..200000}; do echo "put key$((number % 500)) value$number" || exit; done >"$work/puts" 2>/dev/null) &
	children+=("$!")
	wait_for 10 used_buffers || fail "no operation is done" "$work/client-err"
	scrape kv-one
	has kv-one '^prism_connections_open{store="prism",shard="0"} 1$'
	has kv-one '^prism_connections_accepted_total{store="prism",shard="0"} 1$'
	has kv-one '^prism_buffers{store="prism",shard="0",size="128",state="free"} '
	has kv-one '^prism_memory_registered_bytes{store="prism",shard="0"} [1-9]'
	has kv-one '^prism_device_total{device="[^"]*",counter="rx_packets"} [1-9]'
	kill "${pid_of[kv-one]}"
	stopped kv-one 10
	# The client waits a while for the server to come back.
	wait_for 10 test -s "$work/client-err" || fail "the client did not hear of it"
	kill "$client" 2>/dev/null
	wait "$client" 2>/dev/null
	if grep -v 'was not done' "$work/client-err" >"$work/doubt"; then
		fail "operations failed that had begun" "$work/doubt"
	fi
	if grep -q 'have not ended' "$work/log-kv-one"; then
		fail "the client did not end in time" "$work/log-kv-one"
	fi
	pass "a key-value store: configuration, metrics, SIGTERM under load"
}

used_buffers() {
	scrape kv-one
	grep -q '^prism_buffers{store="prism",shard="0",size="128",state="used"} [1-9][0-9]' "$work/metrics-kv-one"
}

# requests_of NAME: prints the number of PRISM requests that its device has executed
requests_of() {
	scrape "$1"
	sed -n 's/^prism_device_total{.*counter="prism_cas"} //p' "$work/metrics-$1"
}

# loaded NAME BEFORE: true if it has executed many requests since there were BEFORE
loaded() {
	[ "$(requests_of "$1")" -gt $(($2 + 200)) ]
}

# A replica is stopped while many operations are under way, and no client notices; acknowledged data is there
# afterwards. The load is on the first 50 blocks, the acknowledged values are in others.
replicated_volume() {
	local ports number code block load
	read -ra ports <<<"$(free_ports 3)"
	expect 0 "create" "$bin/prism-rs" -c "$work/volume.json" create -s 512 -b 100 "${ports[@]/#/127.0.0.1:}" || finish
	for number in 0 1 2; do
		start_unit rs "$number" "configuration = \"$work/volume.json\"" "replica = $number" 'new = true' \
			'spare-buffers = 500'
	done
	metrics_of[load]=127.0.0.1:$(free_ports 1)
	expect 2 "metrics of several processes" "$bin/prism-ycsb" --system rs -c "$work/volume.json" --processes 2 --metrics 0
	start "$work/load" timeout -k 5 60 "$bin/prism-ycsb" --system rs -c "$work/volume.json" --mix A --records 50 \
		--size 512 --tx-depth 16 --duration 4 --verify --metrics "${metrics_of[load]}"
	load=$started
	wait_for 20 loaded rs-1 0 || fail "there is no load" "$work/load"
	scrape load
	has load '^prism_client_operations_total{store="rs",operation="put",outcome="ok"} [1-9]'
	has load '^prism_client_operation_seconds_count{store="rs",operation="put"} [1-9]'
	for number in {51..70}; do
		[ "$number" -ne 54 ] || kill "${pid_of[rs-1]}"
		timeout -k 5 20 "$bin/prism-rs" -c "$work/volume.json" put "$number" "value$number" >"$work/out" 2>&1
		code=$?
		[ $code -eq 0 ] || fail "put $number ended with $code" "$work/out"
	done
	stopped rs-1 10
	wait "$load"
	code=$?
	[ $code -eq 0 ] || fail "operations under load failed: $code" "$work/load"
	for number in {51..70}; do
		block=$(timeout -k 5 20 "$bin/prism-rs" -c "$work/volume.json" get "$number" | tr -d '\0')
		[ "$block" = "value$number" ] || fail "block $number has '$block'"
	done
	block_device
	scrape rs-0
	has rs-0 '^prism_connections_accepted_total{store="rs",replica="0"} [1-9]'
	has rs-0 '^prism_recovery_scan_seconds_count{store="rs",replica="0"} '
	kill "${pid_of[rs-0]}" "${pid_of[rs-2]}"
	stopped rs-0 10
	stopped rs-2 10
	pass "a replicated volume: a replica is stopped under load"
}

# Only if its plugin can be loaded: a program built with sanitizers cannot load it.
block_device() {
	local plugin=$PRISM_BUILD/lib/nbdkit-prism-rs-plugin.so
	{ [ -e "$plugin" ] && command -v nbdkit && nbdkit "$plugin" --version; } >"$work/version" 2>&1 || return
	metrics_of[nbd]=127.0.0.1:$(free_ports 1)
	start "$work/log-nbd" nbdkit --foreground --unix "$work/nbd" "$plugin" "$work/volume.json" "metrics=${metrics_of[nbd]}"
	wait_for 10 device_is_served || fail "the block device does not tell that it has a replica" "$work/log-nbd"
	kill "$started"
}

device_is_served() {
	curl -s --max-time 5 "http://${metrics_of[nbd]}/metrics" >"$work/metrics-nbd"
	grep -q '^prism_client_replica_serving{store="rs",replica="0"} 1$' "$work/metrics-nbd"
}

# Both shards are stopped while many transactions are under way: all that had begun to commit end well. Later ones are
# refused and change nothing. tx_history_terminated checks the shards' contents.
transactional_store() {
	local number store load before
	head -c 32 /dev/urandom >"$work/secret"
	for number in 0 1; do
		start_unit tx "$number" 'port = 0' "shard = $number" 'shards = 2' "secret = '$work/secret'" 'keys = 1000'
	done
	store=127.0.0.1:$(port_of tx-0),127.0.0.1:$(port_of tx-1)
	local bench=("$bin/prism-tx-bench" --system prism --shards "$store" --records 200 --keys 3 --size 64 --tx-depth 16)
	expect 0 "filling the store" timeout -k 5 60 "${bench[@]}" --iters 1
	before=$(requests_of tx-0)
	start "$work/load" timeout -k 5 60 "${bench[@]}" --no-load --duration 4 --json "$work/load.json"
	load=$started
	wait_for 20 loaded tx-0 "$before" || fail "there is no load" "$work/load"
	kill "${pid_of[tx-0]}" "${pid_of[tx-1]}"
	stopped tx-0 10
	stopped tx-1 10
	wait "$load"
	has tx-0 '^prism_connections_accepted_total{store="prism",shard="0"} [1-9]'
	outcomes_are_known "$work/load.json"
	for number in 0 1; do
		! grep -q 'have not ended' "$work/log-tx-$number" || fail "clients did not end in time" "$work/log-tx-$number"
	done
	pass "a transactional store: stopped under load"
}

# prints TEXT: checks that the last command printed TEXT and nothing else
prints() {
	[ "$(cat "$work/out")" = "$1" ] || fail "it does not print '$1':" "$work/out"
}

# A node that keeps a log comes back by it; the master's unit reports when nodes can join, and both units when they
# stop.
global_memory() {
	local master address
	start_unit gam-master one 'port = 0' 'lease = 0.5'
	master=127.0.0.1:$(port_of gam-master-one)
	local gam=(timeout -k 5 20 "$bin/prism-gam" --master "$master")
	start_unit gam-node one "master = \"$master\"" 'memory = 16' "log = \"$work/gam-log\""
	start_unit gam-node two "master = \"$master\"" 'memory = 1'
	expect 0 "malloc" "${gam[@]}" malloc 64 --on "$(sed -n 's/^node \([0-9]*\) .*/\1/p' "$work/log-gam-node-one")"
	address=$(cat "$work/out")
	expect 0 "write" "${gam[@]}" write "$address" "still here"
	expect 0 "read" "${gam[@]}" read "$address" 10 && prints "still here"
	scrape gam-node-one
	has gam-node-one '^prism_gam_free_bytes{node="[0-9]*"} [1-9]'
	has gam-node-one '^prism_gam_home_events_total{node="[0-9]*"} [1-9]'
	kill "${pid_of[gam-node-one]}"
	stopped gam-node-one 10
	start_unit gam-node one "master = \"$master\"" 'memory = 16' "log = \"$work/gam-log\""
	grep -q 'recovered [1-9][0-9]* blocks' "$work/log-gam-node-one" || fail "nothing is recovered" "$work/log-gam-node-one"
	expect 0 "read again" "${gam[@]}" read "$address" 10 && prints "still here"
	kill "${pid_of[gam-node-one]}" "${pid_of[gam-node-two]}"
	stopped gam-node-one 10
	stopped gam-node-two 10
	kill "${pid_of[gam-master-one]}"
	stopped gam-master-one 10
	pass "a global memory: a node with a log is stopped and comes back"
}

# Every metric on the board is exported by some program, and every metric is documented.
board() {
	local metric counter board=$PRISM_SOURCE/apps/stores/service/grafana/prism-stores.json
	start_unit kv calls 'port = 0' 'records = 1000' 'store = "rpc"' 'json = true'
	scrape kv-calls
	kill "${pid_of[kv-calls]}"
	stopped kv-calls 10
	grep -q '"calls": 0' "$work/log-kv-calls" || fail "no figures at the end" "$work/log-kv-calls"
	[ -s "$work/metrics-nbd" ] || {
		echo "not done: the board, as there is no block device: nbdkit, its plugin, or a build without sanitizers"
		return
	}
	cat "$work"/metrics-* >"$work/all"
	expect 0 "the board" python3 "$PRISM_SOURCE/tests/apps/service/board.py" "$board" "$work/all" || cat "$work/out"
	sed 's/prism_memory_registered_bytes/prism_memory_invented_bytes/' "$board" >"$work/invented.json"
	expect 1 "an invented metric" python3 "$PRISM_SOURCE/tests/apps/service/board.py" "$work/invented.json" "$work/all" &&
		grep -q 'Registered memory: nobody exports prism_memory_invented_bytes' "$work/out" ||
		fail "a board with an invented metric" "$work/out"
	sed -n 's/^# TYPE \(prism_[a-z_]*\) .*/\1/p' "$work/all" | sort -u >"$work/exported"
	[ "$(wc -l <"$work/exported")" -ge 12 ] || fail "little is exported" "$work/exported"
	while read -r metric; do
		grep -q "\`$metric\`" "$PRISM_SOURCE/docs/operations.md" || fail "docs/operations.md does not have $metric"
	done <"$work/exported"
	for counter in rx_packets tx_packets rx_bad_icrc rx_socket_drops tx_nak retransmits timeouts; do
		grep -q "counter=\"$counter\"" "$work/all" || fail "no counter $counter of the device"
	done
	pass "the board's metrics are exported and documented"
}

# With the log in the journal, lines begin with priorities; a second signal does not wait.
logs_and_signals() {
	start "$work/journal" bash -c 'exec 2>"$0"; JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr) exec "$@"' "$work/journal-err" \
		"$bin/prism-kv-server" -p 0 --records 1000 --bind 127.0.0.1
	wait_for 10 grep -q ' port ' "$work/journal" || fail "no server" "$work/journal-err"
	grep -q '^<6>memory: ' "$work/journal-err" || fail "no priorities for the journal" "$work/journal-err"
	kill "$started"
	wait "$started"
	start "$work/quiet" "$bin/prism-kv-server" -p 0 --records 1000 --bind 127.0.0.1 --log-level warning --stop-timeout 600
	wait_for 10 grep -q ' port ' "$work/quiet" || fail "no server" "$work/quiet"
	! grep -q memory: "$work/quiet" || fail "it logs more than it should" "$work/quiet"
	local port server=$started
	port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$work/quiet")
	mkfifo "$work/idle"
	timeout -k 5 60 "$bin/prism-kv" -s "127.0.0.1:$port" batch <"$work/idle" >"$work/out" 2>&1 &
	children+=("$!")
	exec 7>"$work/idle"
	echo "put a b" >&7
	wait_for 10 connected "$port" || fail "no client"
	kill "$server"
	sleep 0.5
	kill -0 "$server" 2>/dev/null || fail "it does not wait for its client" "$work/quiet"
	kill "$server"
	wait_for 5 eval "! kill -0 $server 2>/dev/null" || fail "a second signal does not end it"
	exec 7>&-
	(
		"$bin/prism-kv-server" -p 0 --records 1000 --bind 127.0.0.1 2>&1 >"$work/unheard" &
		echo $! >"$work/unheard-pid"
	) | head -n 1 >"$work/out"
	server=$(cat "$work/unheard-pid")
	children+=("$server")
	wait_for 10 grep -q ' port ' "$work/unheard" || fail "no server" "$work/unheard" "$work/out"
	port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$work/unheard")
	for _ in 1 2 3; do
		head -c 100 /dev/zero 2>/dev/null >"/dev/tcp/127.0.0.1/$port"
	done
	expect 0 "a server whose log nobody reads any more" timeout 10 "$bin/prism-kv" -s "127.0.0.1:$port" put a b
	kill "$server" 2>/dev/null
	expect 2 "a shard of a rival that cannot be" timeout 10 "$bin/prism-kv-server" -p 0 --store rpc --shard 3 --shards 2
	mentions "--shard"
	pass "logs, one that nobody reads, and a second signal"
}

connected() {
	[ "$("$bin/prism-kv" --timeout 2 -s "127.0.0.1:$1" stats | python3 -c '
import json, sys
print(json.load(sys.stdin)["table"]["members"])')" = 1 ]
}

unit_files
examples
key_value_store
replicated_volume
transactional_store
global_memory
board
logs_and_signals
finish
