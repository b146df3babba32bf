#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-kv and prism-kv-server as a user runs them: features, and messages for all that fails.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
need_program ss python3 cmp curl

servers=()  # -s options of prism-kv
patience=2  # seconds that prism-kv waits for a server

# serve NAME OPTION...: starts a server at a port of its choice; its address is in $address, its pid in $started. Not
# under timeout(1): clean_up would end only that, and leave the server behind.
serve() {
	local name=$1
	shift
	start_server "server-$name" "the $name server" "$bin/prism-kv-server" -p 0 --bind 127.0.0.1 "$@"
	address=127.0.0.1:$served_port
}

kv() {
	timeout -k 5 30 "$bin/prism-kv" --timeout "$patience" "${servers[@]}" "$@"
}

# prints TEXT: checks that the last command printed exactly TEXT
prints() {
	[ "$(cat "$work/out")" = "$1" ] || fail "not '$1':" "$work/out"
}

# stat_of ADDRESS EXPRESSION: prints it for the server's statistics s
stat_of() {
	"$bin/prism-kv" --timeout 2 -s "$1" stats | python3 -c "import json, sys; s = json.load(sys.stdin); print($2)"
}

repeated() {
	printf "%0$2d" 0 | tr 0 "$1"
}

# shell_tool: one store, all that succeeds
shell_tool() {
	serve shell --records 1000
	servers=(-s "$address")
	expect 0 put kv put a one
	expect 0 get kv get a && prints one
	shows one "$bin/prism-kv" "${servers[@]}" get a
	kv put line $'one\n' && shows one "$bin/prism-kv" "${servers[@]}" get line
	kv delete line
	expect 0 "get of several" kv get a a a && prints $'one\none\none'
	expect 3 "get of a key that is not there" kv get none && says "none: no such key"
	expect 3 "get of several, one missing" kv get a none a && prints $'one\none'
	expect 0 "empty value" kv put empty ''
	expect 0 "get of it" kv get empty && prints ''
	expect 0 delete kv delete empty
	expect 3 "delete again" kv delete empty && says "empty: no such key"

	head -c 512 /dev/urandom >"$work/binary"
	expect 0 "binary put" kv put binary - <"$work/binary"
	expect 0 "binary get" kv get binary
	cmp -s "$work/binary" "$work/out" || fail "binary values do not come back as they were"

	local version
	expect 0 version kv get --show-version a
	version=$(cut -d' ' -f1 "$work/out")
	prints "$version one"
	expect 0 "put on its version" kv put a two --if-version "$version"
	expect 5 "put on an old version" kv put a three --if-version "$version" && says "a: its version is "
	expect 5 "delete on an old version" kv delete a --if-version "$version"
	expect 0 "get" kv get a && prints two
	version=$(kv get --show-version a | cut -d' ' -f1)
	expect 0 "delete on its version" kv delete a --if-version "$version"
	expect 3 "put on a version of what is gone" kv put a x --if-version "$version"
	expect 0 "put if there is none" kv put fresh one --if-version 0
	expect 5 "put if there is none, but there is" kv put fresh two --if-version 0 && says "fresh: its version is "
	expect 0 "what was put" kv get fresh && prints one
	expect 3 "delete if there is none" kv delete none --if-version 0 && says "none: no such key"
	expect 5 "delete if there is none, but there is" kv delete fresh --if-version 0
	expect 0 "delete what was put" kv delete fresh

	cat >"$work/script" <<-'END'
		# a comment, and an empty line

		put x hello  world
		put y 2
		get x y
		get x
		delete y
		get y
		nonsense
		put z
		get
	END
	expect 2 "batch" kv batch <"$work/script"
	[ "$(cat "$work/out")" = $'hello  world\n2\nhello  world' ] || fail "batch prints something else" "$work/out"
	[ "$(wc -l <"$work/err")" -eq 4 ] || fail "batch complains of something else" "$work/err"
	expect 1 "a value that cannot be read" kv put x - <"$work" && says "cannot read the standard input: Is a directory"
	expect 1 "a standard input that is closed" kv put x - <&- && says "cannot read the standard input"
	expect 1 "a value without end" kv put x - </dev/zero && says "too long"
	expect 0 "what was there" kv get x && prints "hello  world"
	expect 1 "commands that cannot be read" kv batch <"$work" && says "cannot read the standard input: Is a directory"
	expect 1 "a line without end" kv batch </dev/zero && says "a line of the standard input"
	[ "$(ulimit -f 0 && kv get x 2>&1)" = "hello  world" ] || fail "a limit on the size of files ends a client"
	kv get nothing 2>/dev/full
	[ $? -eq 3 ] || fail "a full standard error changes the exit code"
	kv get x >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "a value that cannot be written is not noticed"
	says "prism-kv: cannot write to the standard output: No space left on device"
	kv stats >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "statistics that cannot be written are not noticed" "$work/err"
	yes get x | head -n 2000 | kv batch >/dev/full 2>"$work/err"
	[ "${PIPESTATUS[2]}" -eq 1 ] || fail "many values that cannot be written are not noticed" "$work/err"
	# shellcheck disable=SC2046
	kv get --show-version $(yes x | head -n 1000) >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "nor are many with their versions" "$work/err"
	kv batch < <(printf 'get x\nput x hello  world\n') >/dev/full 2>"$work/err"
	[ $? -eq 6 ] || fail "batch that has put, and whose output is lost, does not end with 6" "$work/err"
	says "something was changed all the same"
	kv batch < <(printf 'put x hello  world\nget x nothing\n') >/dev/full 2>"$work/err"
	[ $? -eq 6 ] || fail "nor does one that has failed, too" "$work/err"
	expect 6 "batch that has put, and then fails" kv batch < <(printf "put x hello  world\nput '' %0600d\n" 0)
	expect 3 "batch, the last key is missing" kv batch < <(printf 'put x hello  world\nget nothing\n')
	kv put x "hello  world" >/dev/full 2>"$work/err" || fail "put, which prints nothing, needs an output" "$work/err"
	[ "$(stat_of "$address" 's["table"]["members"]')" = 2 ] || fail "the statistics count members otherwise"
	expect 0 recover kv recover
	expect 0 "the example" "$bin/examples/kv_counter" "$address" && prints $'1\n11\n111'
	"$bin/examples/kv_counter" "$address" >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "the example does not notice that its output is lost" "$work/err"
	says "cannot write to the standard output: No space left on device"
	pass "prism-kv: put, get, delete, versions, binary values, batch, statistics"
}

limits() {
	local what
	expect 1 "empty key" kv put '' x && says "the key is empty"
	expect 1 "key too long" kv put "$(repeated k 49)" x && says "too long; 'prism-kv stats' tells the limits"
	expect 1 "key too long" kv get "$(repeated k 49)" && says "too long"
	expect 1 "value too long" kv put k "$(repeated v 513)" && says "too long"
	expect 0 "longest key and value" kv put "$(repeated k 48)" "$(repeated v 512)"
	expect 1 "several, one of them too long" kv get x "$(repeated k 49)" x && prints $'hello  world\nhello  world'
	for what in '' 'put k' 'put k v --if-version x' 'get' 'fetch k' "get k --timeout x"; do
		# shellcheck disable=SC2086
		expect 2 "usage: '$what'" kv $what
	done
	pass "prism-kv: keys, values and command lines that cannot be"
}

full_store() {
	serve full --slots 32 --class 128:100 --class 576:4
	servers=(-s "$address")
	local key stored=0
	for key in {1..4}; do
		expect 0 "large $key" kv put "large$key" "$(repeated v 512)"
	done
	expect 4 "no buffer of its class" kv put large5 "$(repeated v 512)" &&
		says "large5: the store has no slot or no buffer for it"
	expect 0 "another class" kv put small value
	for key in {1..40}; do
		echo "put key$key value"
	done >"$work/script"
	expect 4 "more keys than slots" kv batch <"$work/script"
	stored=$(stat_of "$address" 's["table"]["members"]')
	if [ "$stored" -le 28 ] || [ "$stored" -gt 32 ]; then
		fail "$stored of 32 slots are used"
	fi
	expect 0 "what is there" kv get large1 small
	expect 0 "is replaced" kv put small other
	expect 0 "is deleted" kv delete large1
	expect 0 "and its buffer is used again" kv put large2 "$(repeated w 512)"
	pass "a store that is full"
}

two_shards() {
	local first second second_pid members key fed
	serve first --records 1000 --shard 0 --shards 2 --name both
	grep -q "shard 0 of 2 of the store 'both'" "$work/server-first" || fail "it does not say which shard it is"
	first=$address
	serve second --records 1000 --shard 1 --shards 2 --name both
	second=$address
	second_pid=$started
	servers=(-s "$first" -s "$second")
	for key in {1..40}; do
		echo "put key$key value$key"
	done >"$work/script"
	expect 0 "put to shards" kv batch <"$work/script"
	expect 0 "statistics of shards" kv stats
	[ "$(grep -c '"members"' "$work/out")" -eq 2 ] || fail "not the statistics of both shards" "$work/out"
	members=$(sed -n 's/.*"members": \([0-9]*\).*/\1/p' "$work/out" | head -n 1)
	[ "$(sed -n 's/.*"members": \([0-9]*\).*/\1/p' "$work/out" | tail -n 1)" -eq $((40 - members)) ] ||
		fail "not 40 keys on both shards" "$work/out"
	if [ "$members" -lt 5 ] || [ "$members" -gt 35 ]; then
		fail "keys are not spread: $members of 40 on the first shard"
	fi
	expect 0 "multi-GET over shards" kv get key{1..40} && prints "$(printf 'value%s\n' {1..40})"

	servers=(-s "$second" -s "$first")
	expect 1 "servers in another order" kv get key1 &&
		says "this is shard 1 of 2 of the store 'both', not shard 0 of 2"
	servers=(-s "$first")
	expect 1 "a part of the store" kv get key1 && says "this is shard 0 of 2 of the store 'both', not shard 0 of 1"
	serve stranger --records 1000 --shard 1 --shards 2
	servers=(-s "$first" -s "$address")
	expect 1 "servers of two stores" kv get key1 && says "is shard 1 of 2, but others are of the store 'both'"
	servers=(-s "$first" -s "$second")

	# A client that is connected when a shard dies
	mkfifo "$work/fifo"
	kv batch <"$work/fifo" >"$work/survivor" 2>"$work/survivor-err" &
	fed=$!
	children+=("$fed")
	exec 8>"$work/fifo"
	echo "get key1 key2" >&8
	wait_for 5 test -s "$work/survivor" || fail "the client does not begin" "$work/survivor-err"
	kill -9 "$second_pid"
	wait "$second_pid" 2>"$work/wait"
	patience=1 # the shard does not come back
	echo "get" key{1..40} >&8
	exec 8>&-
	wait "$fed"
	[ $? -eq 1 ] || fail "a shard that dies is not noticed"
	one_shard_left "$work/survivor" "$work/survivor-err" $((members + 2)) $((40 - members))

	expect 1 "multi-GET without a shard" kv get key{1..40}
	one_shard_left "$work/out" "$work/err" "$members" $((40 - members))
	expect 1 "statistics without a shard" kv stats && says "$second"
	servers=(-s "$second" -s "$second")
	expect 1 "no shard at all" kv get key1 && says "$second"
	patience=2
	pass "shards: keys are spread, and one that dies takes its own alone"
}

# A client that stays connected while its server is killed and started again
restarted_server() {
	local pid fed key
	serve restarted --records 1000
	pid=$started
	servers=(-s "$address")
	mkfifo "$work/fifo2"
	kv batch <"$work/fifo2" >"$work/steady" 2>"$work/steady-err" &
	fed=$!
	children+=("$fed")
	exec 8>"$work/fifo2"
	echo "put key before" >&8
	echo "get key" >&8
	wait_for 5 grep -qx before "$work/steady" || fail "the client does not begin" "$work/steady-err"
	kill -9 "$pid"
	wait "$pid" 2>"$work/wait"
	for key in {1..50}; do
		echo "get key" >&8
	done
	wait_for 10 grep -q "key: was not done, as there is no connection: .*$address" "$work/steady-err" ||
		fail "a server that is gone is not told" "$work/steady-err"
	wait_for 10 all_told || fail "not all operations are told" "$work/steady-err"

	# Another shard at its place: the user is told what that shard answers.
	started_again --shard 1 --shards 2
	sleep 1 # until the client has tried
	echo "get key" >&8
	wait_for 10 grep -q "refuses: this is shard 1 of 2, not shard 0 of 1" "$work/steady-err" ||
		fail "it is not told why the server refuses" "$work/steady-err"
	kill -9 "$started"
	wait "$started" 2>"$work/wait"

	# Back, and found while the client idles: its first operation is done.
	started_again
	wait_for 20 has_client "$address" || fail "the client does not connect again" "$work/steady-err"
	: >"$work/steady-err"
	echo "put key after" >&8
	echo "get key" >&8
	wait_for 10 grep -qx after "$work/steady" || fail "the client does not come back" "$work/steady-err"
	[ ! -s "$work/steady-err" ] || fail "an operation fails though the server is there" "$work/steady-err"

	# Lost and back unnoticed while the client idles: likewise.
	kill -9 "$started"
	wait "$started" 2>"$work/wait"
	started_again
	echo "put key unnoticed" >&8
	echo "get key" >&8
	wait_for 10 grep -qx unnoticed "$work/steady" || fail "the client does not come back" "$work/steady-err"
	[ ! -s "$work/steady-err" ] || fail "an operation fails though the server is there" "$work/steady-err"

	# A server that hangs: requests that were sent may be done later.
	kill -STOP "$started"
	wait_for 10 is_stopped "$started" || fail "the server does not stop"
	echo "put key doubtful" >&8
	wait_for 20 grep -q "key: was done once or not at all" "$work/steady-err" ||
		fail "what is in doubt is not told" "$work/steady-err" "$work/steady" "/proc/$started/status"
	kill -CONT "$started"
	exec 8>&-
	wait "$fed"
	key=$?
	[ $key -eq 6 ] || fail "a change that is in doubt has another exit code: $key" "$work/steady-err"
	pass "a server that is started again is used by clients that had been connected, at once"
}

# is_stopped PID: true if all its threads are stopped
is_stopped() {
	! grep -L '^State:.T' "/proc/$1"/task/*/status | grep -q .
}

all_told() {
	[ "$(wc -l <"$work/steady-err")" -eq 50 ]
}

# started_again OPTION...: starts a server at $address
started_again() {
	: >"$work/server-again"
	start "$work/server-again" "$bin/prism-kv-server" -p "${address##*:}" --bind 127.0.0.1 --records 1000 "$@" 8>&-
	wait_for 20 grep -q ' port ' "$work/server-again" || fail "the server does not start again" "$work/server-again"
}

# has_client ADDRESS: true if the server has a client beside the one that asks
has_client() {
	[ "$(stat_of "$1" 's["connections"]["open"]')" -ge 2 ]
}

# one_shard_left OUT ERR VALUES ERRORS: checks the numbers of values and of complaints that name the dead server
one_shard_left() {
	[ "$(wc -l <"$1")" -eq "$3" ] || fail "$(wc -l <"$1") values, not $3" "$1" "$2"
	[ "$(grep -c "was not done, as there is no connection: .*$second" "$2")" -eq "$4" ] ||
		fail "not $4 keys of the shard that died" "$2"
}

# refused PATTERN NAME ADDRESS: expects that prism-kv says PATTERN and ends with 1
refused() {
	servers=(-s "$3")
	expect 1 "$2" kv get key || return
	grep -Eq "$1" "$work/err" || fail "$2: it says something else" "$work/err"
}

wrong_servers() {
	local port store
	patience=1
	for store in pilaf rpc jakiro; do
		serve "$store" --store "$store" --records 1000
		refused "speaks for a $store store.*expected a prism store" "a $store server" "$address"
		[ "$(grep -c refused "$work/server-$store")" -eq 1 ] || fail "the $store server does not say so"
	done
	if command -v redis-server >/dev/null; then
		port=$((${address##*:} + 1))
		start "$work/redis" redis-server --port "$port" --bind 127.0.0.1 --save ''
		if wait_listening "$port" "$started"; then
			refused 'connection record is none|set-up with the peer' "redis" "127.0.0.1:$port"
		fi
	fi
	# Bound, but not listening: no other process gets the port, and nobody answers
	start "$work/port" python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True); time.sleep(60)'
	wait_for 5 test -s "$work/port"
	refused 'Connection refused; is the server running' "a closed port" "127.0.0.1:$(cat "$work/port")"
	start "$work/mute" python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(60)'
	wait_for 5 test -s "$work/mute"
	refused 'Connection timed out' "a server that says nothing" "127.0.0.1:$(cat "$work/mute")"
	servers=(-s 127.0.0.1:http)
	expect 2 "not an address" kv get key && tells "--server: '127.0.0.1:http' is no server"
	refused 'cannot resolve' "no host" "no-such-host.invalid:1"
	patience=2
	pass "servers that are none, or others"
}

# Clients that say nothing, and one that sends rubbish, delay no others
bad_clients() {
	local store client began fd silent=()
	for store in prism rpc; do
		serve "bad-$store" --store "$store" --records 1000
		client=("$bin/prism-ycsb" --system "$store" 127.0.0.1 -p "${address##*:}" --records 100 -n 100)
		for fd in {1..8}; do
			exec {fd}<>"/dev/tcp/127.0.0.1/${address##*:}"
			silent+=("$fd")
		done
		exec 9<>"/dev/tcp/127.0.0.1/${address##*:}"
		head -c 5000 /dev/urandom >&9 2>/dev/null
		exec 9>&-
		began=$SECONDS
		expect 0 "$store: a client beside bad ones" timeout 30 "${client[@]}"
		# The server gives each of them 2 seconds.
		[ $((SECONDS - began)) -lt 10 ] || fail "$store: silent clients delay others"
	done
	for store in prism rpc; do
		wait_for 5 grep -Eiq 'refused.*connection record' "$work/server-bad-$store" ||
			fail "$store: rubbish is not told" "$work/server-bad-$store"
		wait_for 5 grep -Eiq 'refused.*Connection timed out' "$work/server-bad-$store" ||
			fail "$store: silence is not told" "$work/server-bad-$store"
	done
	for fd in "${silent[@]}"; do
		exec {fd}>&-
	done
	serve narrow --store rpc --records 1000 --receive-buffers 16
	client=("$bin/prism-ycsb" --system rpc 127.0.0.1 -p "${address##*:}" --records 100 -n 100)
	expect 0 "as many calls as there are receive buffers" timeout 30 "${client[@]}" -t 16
	expect 1 "one more" timeout 30 "${client[@]}" -t 17
	grep -q '16 of 16 receive buffers left' "$work/err" || fail "it does not say why" "$work/err"
	pass "clients that are silent, senseless or greedy"
}

# A cache with room for some of the records: clients are told of missing keys, and the metrics count evictions
cache() {
	local stored metrics metric
	serve cache --store jakiro --threads 2 --records 500 --json --metrics 127.0.0.1:0
	stored=(127.0.0.1 -p "${address##*:}" --records 4000)
	expect 0 "a cache that is too small" timeout 60 "$bin/prism-ycsb" --system jakiro-two-sided "${stored[@]}" -n 4000 -t 4
	grep -Eq 'GET: [0-9]+ ok [0-9]+ not_found' "$work/out" || fail "no GET misses" "$work/out"
	expect 1 "another way" timeout 10 "$bin/prism-ycsb" --system jakiro-datagram "${stored[@]}" -n 1
	expect 1 "another store" timeout 10 "$bin/prism-ycsb" --system rpc "${stored[@]}" -n 1
	says "speaks for a jakiro store"
	expect 1 "values that are too long" timeout 10 "$bin/prism-ycsb" --system jakiro-two-sided "${stored[@]}" -n 1 -s 513
	says "the server takes 48 and 512"
	metrics=$(sed -n 's/.*metrics at port \([0-9]*\).*/\1/p' "$work/server-cache")
	curl -s "http://127.0.0.1:$metrics/metrics" >"$work/metrics"
	for metric in prism_cache_gets_total prism_cache_evictions_total prism_cache_objects; do
		grep -Eq "^$metric\{.*\} [0-9]" "$work/metrics" || fail "there is no $metric" "$work/metrics"
		grep -q "\`$metric\`" "$PRISM_SOURCE/docs/operations.md" || fail "docs/operations.md does not have $metric"
	done
	kill "$started"
	wait "$started" 2>"$work/wait"
	python3 - "$work/server-cache" <<-'END' || fail "its last words are others" "$work/server-cache"
		import json, sys
		text = open(sys.argv[1]).read()
		said = json.loads(text[text.index("{"):])
		assert 0 < said["objects"] <= 1008 and said["evictions"]["slot"] + said["evictions"]["memory"] >= 2992, said
		assert said["hits"] + said["misses"] == 4000 and said["misses"] > 0, said
	END
	pass "a cache that evicts"
}

server_usage() {
	local options
	while read -r code options; do
		# shellcheck disable=SC2086
		expect "$code" "prism-kv-server $options" timeout 10 "$bin/prism-kv-server" -p 0 $options
		[ -s "$work/err" ] || fail "prism-kv-server $options: it does not say why"
		[ "$code" -ne 2 ] || head -n 1 "$work/err" | grep -q -e '--[a-z]' || fail "it names no option" "$work/err"
	done <<-'END'
		2 --class 100
		2 --class 100:10
		2 --class 64:0
		2 --class 1048640:1
		2 --answer-timeout nan
		2 --metrics nonsense
		2 --class=-5:3
		2 --class 64:x
		2 --records 0
		2 --store redis
		2 --store rpc --way pigeon
		2 --port 65536
		2 --connections 0
		2 --class 64:10
		2 --connections 4097
		2 --slots 18446744073709551615
		2 --shard 1
		2 --shard 2 --shards 2
		2 --shards 0
		2 --store rpc --shards 2
		2 --store jakiro --class 64:10
		2 --store pilaf --name store
		2 --name with/a/name/that/is/longer/than/31
		2 --max-key 0
		2 --store rpc --key-size 0
		2 --store pilaf --key-size 0
		2 --store jakiro --key-size 0
		2 --records 1e10
		2 --max-key 4097
		2 --size 2000000
		1 -d nothing
		1 --bind 192.0.2.1
		2 --store rpc --threads 0
		2 --store rpc --size 65536
		2 --store pilaf --depth 0
		2 --store rpc --depth 4097
		2 --store pilaf --way reply
		2 --way fetch
		2 --store jakiro --size 65536
		2 --store jakiro --threads 65
		2 --store jakiro --threads 257
		2 --store rpc --receive-buffers 70000
	END
	for options in '' '--store rpc --size 60000' '--store pilaf --size 60000' '--store jakiro --size 60000'; do
		# shellcheck disable=SC2086
		expect 1 "more than the machine has $options" timeout 10 "$bin/prism-kv-server" -p 0 --records 1000000000 $options
		grep -Eq 'memory: [0-9.]+ [GT]iB: .*; there are .*MemAvailable|memory\.max|memory\.limit' "$work/err" ||
			fail "it does not say how much is asked for, and how much there is" "$work/err"
		says "lower the number of records"
	done
	expect 1 "an address of somebody else" timeout 10 "$bin/prism-kv-server" -p 0 --bind 192.0.2.1
	says "--bind: cannot listen on 192.0.2.1, port 0"
	says "no interface of this host has this address"
	expect 2 "a value that is too long" timeout 10 "$bin/prism-kv-server" -p 0 --value-size 2000000
	tells "--value-size"
	expect 1 "a port that is taken" timeout 10 "$bin/prism-kv-server" -p "${address##*:}"
	says "choose another port"
	pass "prism-kv-server: options that cannot be"
}

# Readers of the outputs that stand still: the server serves, and a signal ends it
standing_readers() {
	local store
	mkfifo "$work/full"
	exec 7<>"$work/full"
	dd if=/dev/zero of="$work/full" bs=4096 oflag=nonblock 2>"$work/dd"
	for store in prism jakiro; do
		standing_readers_of $store
	done
	exec 7<&-
	pass "prism-kv-server: logs and outputs that nobody reads"
}

standing_readers_of() {
	local pid port server=("$bin/prism-kv-server" --store "$1" -p 0 --bind 127.0.0.1 --records 10)
	: >"$work/standing"
	"${server[@]}" >"$work/standing" 2>&7 &
	pid=$!
	children+=("$pid")
	wait_for 20 grep -q ' port ' "$work/standing" || fail "a log that is not read keeps the server from starting"
	port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$work/standing")
	expect 0 "a server whose log is not read" timeout 30 "$bin/prism-ycsb" --system "${1/jakiro/jakiro-two-sided}" --port "$port" --records 10 -n 10
	kill "$pid"
	wait_for 10 is_gone "$pid" || fail "a log that is not read keeps the server from ending"
	wait "$pid" || fail "the end of a server with such a log: $?"
	"${server[@]}" >&7 2>"$work/standing" &
	pid=$!
	children+=("$pid")
	wait_for 20 grep -q memory "$work/standing" || fail "the server does not begin" "$work/standing"
	sleep 0.5
	is_gone "$pid" && fail "the server does not wait for its reader" "$work/standing"
	kill "$pid"
	wait_for 10 is_gone "$pid" || fail "a standard output that is not read keeps the server from ending"
}

# Too few descriptors or threads: the server says so, and a signal ends one that lacks some later
few_resources() {
	local limit
	for limit in {20..27}; do # 27 suffice
		limited n "$limit" "Too many open files" "$bin/prism-kv-server" --records 10 --metrics 127.0.0.1:0
	done
	local as_other=(setpriv --reuid 34567 --clear-groups -- "$bin/prism-kv-server") # root has no such limit
	"${as_other[@]}" --version >"$work/out" 2>&1 || return
	for limit in {1..6}; do
		limited u "$limit" "Resource temporarily unavailable" "${as_other[@]}" --records 10 --store jakiro --threads 2
	done
	pass "prism-kv-server: too few descriptors or threads"
}

# limited LIMIT NUMBER TEXT SERVER...: for a second, with that limit of the shell's; it ends by itself with 1 and TEXT
limited() {
	local code
	bash -c 'ulimit "-$1" "$2"; exec timeout -k 5 --preserve-status 1 "${@:3}"' - "$1" "$2" "${@:4}" \
		-p 0 --bind 127.0.0.1 >"$work/out" 2>"$work/err"
	code=$?
	case $code in
	0 | 143) ;; # 143: the signal came before it was ready
	1) grep -q "$3" "$work/err" || fail "with limit -$1 $2 a server does not say what it lacks" "$work/err" ;;
	*) fail "with limit -$1 $2 a server ends with $code" "$work/err" ;;
	esac
}

# is_gone PID: true if it has ended, even if nobody has waited for it
is_gone() {
	! grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null
}

# Memory in the statistics equals the process' memory
memory() {
	[ -n "$(sed -n 's/^PRISM_SANITIZE:STRING=//p' "$PRISM_BUILD/CMakeCache.txt")" ] && return
	serve memory --records 400000 --size 64
	local said has
	said=$(stat_of "$address" 's["memory"]["table"] + s["memory"]["buffers"] + s["memory"]["bookkeeping"]')
	has=$(($(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$started/status") * 1024))
	# 12 bytes a buffer are for buffers that come back, and untouched before
	if [ "$has" -gt $((said + (24 << 20))) ] || [ "$has" -lt $((said - 12 * 450000)) ]; then
		fail "the server has $has bytes and says $said"
	fi
	pass "memory: $((has >> 20)) MiB resident, $((said >> 20)) MiB in the statistics"
}

# The page of each program lists all its options, and no others
man_pages() {
	page_has_options prism-kv "$bin/prism-kv"
	page_has_options prism-kv-server "$bin/prism-kv-server"
	page_has_options prism-ycsb "$bin/prism-ycsb"
	pass "manual pages have the options of the programs"
}

shell_tool
limits
full_store
two_shards
restarted_server
wrong_servers
cache
bad_clients
server_usage
standing_readers
few_resources
memory
man_pages
finish
