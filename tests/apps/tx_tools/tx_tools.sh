#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-tx and prism-tx-server as a user runs them: features, and messages for all that fails.
# shellcheck source=tests/apps/tx_tools/support.sh
. "$(dirname "$0")/support.sh"

# reads KEY VALUE
reads() {
	expect 0 "get $1" tx get "$1"
	[ "$(cat "$work/out")" = "$2" ] || fail "$1 is not '$2'" "$work/out"
}

# All that succeeds
commands() {
	expect 0 put tx put alice=100 bob=50 'note=a = b, and more'
	reads alice 100
	reads note "a = b, and more"
	shows 100 "$bin/prism-tx" "$store" get alice
	expect 0 "get of several" tx get alice bob
	[ "$(cat "$work/out")" = $'100\n50' ] || fail "get of several prints others" "$work/out"
	expect 0 add tx add alice -30 bob +30
	[ "$(cat "$work/out")" = $'alice 70\nbob 80' ] || fail "add prints others" "$work/out"
	expect 0 "add twice to one" tx add alice 1 alice 2 && reads alice 73
	expect 0 insert tx insert carol=1 dave=2
	expect 0 erase tx erase carol dave
	expect 3 "get of what was erased" tx get carol && says "carol: no such key"
	expect 0 "empty value" tx put empty= && reads empty ""
	printf 'x\001\n\377y' >"$work/binary"
	expect 0 "binary value" tx run < <(printf 'put binary=x\001\377y')
	expect 0 "get of it" tx get binary
	printf 'x\001\377y' | cmp -s - "$work/out" || fail "binary values do not come back as they were"
	local many=() key
	for key in {1..40}; do many+=("many$key=$key"); done
	expect 0 "put of 40 keys" tx put "${many[@]}"
	expect 0 "get of 40 keys" tx get "${many[@]%=*}"
	[ "$(cat "$work/out")" = "$(seq 40)" ] || fail "40 keys have other values" "$work/out"
	expect 0 "the example" "$bin/examples/tx_transfer" "$store" many40 many1 5 && reads many40 35
	expect 1 "of no amount" "$bin/examples/tx_transfer" "$store" many40 many1 x && says "usage: " && reads many40 35
	"$bin/examples/tx_transfer" "$store" many40 many1 5 >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "the example does not notice that its output is lost" "$work/err"
	says "cannot write to the standard output: No space left on device"
	pass "get, put, insert, erase, add"
}

# Nothing of a transaction is done if a part of it cannot be
all_or_nothing() {
	expect 3 "get, one is missing" tx get alice nobody bob && says "nobody: no such key"
	[ "$(cat "$work/out")" = $'73\n80' ] || fail "what is there is not printed" "$work/out"
	expect 4 "insert of what is there" tx insert erin=1 alice=2
	tells "alice: is there already" && tells "nothing was changed"
	expect 3 "erase of what is not" tx erase alice nobody && tells "nobody: no such key" && tells "nothing was changed"
	expect 3 "add to what is not" tx add alice 1 nobody 1 && tells "nobody: no such key" && tells "nothing was changed"
	expect 1 "add to text" tx add alice 1 note 1 && tells "note: 'a = b, and more' is no number"
	expect 0 "the greatest number" tx put great=9223372036854775807
	expect 1 "add beyond it" tx add alice 1 great 1 && tells "great: the sum has more than 64 bits"
	expect 3 "get of erin" tx get erin
	reads alice 73
	pass "all or nothing"
}

runs() {
	expect 0 run tx run <<-'END'
		# a comment, and an empty line

		get alice bob
		put alice=1 and more
		get alice
		insert frank=5
		add frank 2
		erase bob
	END
	[ "$(cat "$work/out")" = $'73\n80\n1 and more\nfrank 7' ] || fail "run prints others" "$work/out"
	reads alice "1 and more"
	reads frank 7
	expect 3 "bob is gone" tx get bob
	expect 0 "run that ends with abort" tx run < <(printf 'get frank\nput frank=8\nget frank\nabort\n')
	[ "$(cat "$work/out")" = $'7\n8' ] || fail "it does not print what it has read" "$work/out"
	reads frank 7
	expect 3 "run, a key is missing" tx run < <(printf 'put frank=9\nget bob\n')
	tells "bob: no such key" && tells "nothing was changed"
	expect 0 "insert after erase" tx run < <(printf 'erase frank\ninsert frank=7\n') && reads frank 7
	expect 0 "run of nothing" tx run </dev/null
	expect 1 "run of what cannot be read" tx run <"$work" && tells "cannot read the standard input: Is a directory"
	expect 1 "run of a line without end" tx run </dev/zero && tells "a line of the standard input"
	tx get bob 2>/dev/full
	[ $? -eq 3 ] || fail "a full standard error changes the exit code"
	local code text lines
	while IFS='|' read -r code text lines; do
		expect "$code" "run '$lines'" tx run < <(printf '%b' "$lines") && tells "$text"
	done <<-'END'
		2|line 1: 'fetch' is no command: get, put, insert, erase, add, abort|fetch a\n
		2|line 2: get needs a key|put a=1\nget\n
		2|line 1: 'a' is no assignment: write KEY=VALUE|put a\n
		2|line 1: '' is no assignment|insert\n
		2|line 1: add takes pairs|add a 1 b\n
		2|line 1: 'x' is no amount|add a x\n
		2|line 1: '9223372036854775808' is no amount|add a 9223372036854775808\n
		2|line 3: nothing comes after abort|get a\nabort\nget b\n
		2|line 1: abort stands alone|abort now\n
	END
	pass "run"
}

# A script that repeats a command would do a change twice, if the status did not tell that it is done.
lost_output() {
	expect 0 "put" tx put sum=1 other=1
	tx add sum 1 other -1 >/dev/full 2>"$work/err"
	[ $? -eq 6 ] || fail "add whose output is lost does not end with 6" "$work/err"
	says "something was changed all the same" && reads sum 2
	tx run < <(printf 'get sum\nput other=5\n') >/dev/full 2>"$work/err"
	[ $? -eq 6 ] || fail "run whose output is lost does not end with 6" "$work/err"
	reads other 5
	tx run < <(printf 'get sum\nput other=6\nabort\n') >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "run that has changed nothing does not end with 1" "$work/err"
	tx run < <(printf 'get sum\nput other=6\ninsert sum=6\n') >/dev/full 2>"$work/err"
	[ $? -eq 4 ] || fail "run of a key that is there already does not end with 4" "$work/err"
	reads other 5
	expect 0 "erase" tx erase sum other
}

limits() {
	local long words
	expect 1 "key too long" tx get "$(printf '%065d' 0)" && says "it has 65 bytes, those of this store have 1 to 64"
	expect 0 "longest key" tx put "$(printf '%064d' 0)=1"
	long=$(printf '%0513d' 0)
	expect 1 "value too long" tx put alice="$long" && says "alice: a value of 513 bytes is too long, 512 fit"
	expect 0 "longest value" tx put alice="${long:1}" && reads alice "${long:1}"
	mapfile -t words < <(seq -f 'k%g=1' 200)
	expect 1 "too many keys" tx put "${words[@]}" && says "a transaction reads and writes 64 cells at most"
	expect 3 "none of them" tx get k1
	tx get alice >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "a value that cannot be written to standard output is not noticed" "$work/err"
	says "cannot write to the standard output"
	lost_output
	while IFS='|' read -r words; do
		# shellcheck disable=SC2086
		expect 2 "usage: '$words'" tx $words
		[ -s "$work/err" ] || fail "'$words': it does not say what is wrong"
	done <<-'END'

		get
		put
		put a
		put =1
		add a
		add a b
		add a 1 b
		insert a
		erase
		fetch a
		get a --timeout x
		status now
		--timeout -1 status
	END
	expect 2 "no shards" "$bin/prism-tx"
	expect 1 "no such device" tx -d nothing get alice && says nothing
	pass "limits, and command lines that cannot be"
}

statistics() {
	expect 0 status tx status
	[ "$(grep -Ec "^shard [01] at 127.0.0.1:[0-9]+: [1-9][0-9]* of 400 cells have keys, 0 prepared; " "$work/out")" -eq 2 ] ||
		fail "not two shards" "$work/out"
	expect 0 "status --json" tx status --json
	python3 -c 'import json, sys
shards = json.load(sys.stdin)
assert [s["shard"] for s in shards] == [{"number": 0, "of": 2}, {"number": 1, "of": 2}], shards
assert all(s["cells"]["written"] > 5 and s["commit"] == "protected" for s in shards), shards' <"$work/out" \
		2>"$work/err" || fail "its statistics" "$work/err"
	expect 0 recover tx recover
	# The shards scan for buffers of clients that have ended: wait until no scan is under way.
	wait_for 30 nothing_lost || fail "buffers are lost" "$work/out"
	pass "status, recover"
}

# Other stores, and this one in another order
connections() {
	local right=$store
	store=${addresses[1]},${addresses[0]}
	expect 1 "shards in another order" tx get alice && tells "this is shard 1 of 2, not 0 of 2"
	store=${addresses[0]}
	expect 1 "one shard alone" tx get alice && tells "this is shard 0 of 2, not 0 of 1"
	store=$right,$right
	expect 1 "shards twice" tx get alice && tells "this is shard 0 of 2, not 0 of 4"
	for store in '' ',' a:0 a:x a:70000 '[::1'; do
		expect 2 "shards '$store'" tx get alice && tells "is no server|1 to 4095 shards"
	done
	store=127.0.0.1:$spare_port
	expect 1 "nobody" tx get alice && says "shard 0 at $store: cannot connect to 127.0.0.1 port $spare_port: Connection refused"
	local kind
	for kind in farm locking; do
		start_shard 9 --store $kind --port "$spare_port" --keys 100
		expect 1 "a $kind store" tx get alice
		says "shard 0 at $store speaks for a $kind store, version 1; expected a tx store, version 2"
		end_shard 9
		grep -q '^{' "$work/shard-9" || fail "$kind: no statistics at the end" "$work/shard-9"
	done
	: >"$work/shard-9"
	start "$work/shard-9" "$bin/prism-kv-server" -p "$spare_port" --bind 127.0.0.1 --records 100
	shard_pid[9]=$started
	wait_for 20 grep -q ' port ' "$work/shard-9" || fail "prism-kv-server does not start" "$work/shard-9"
	expect 1 "a key-value store" tx get alice && says "speaks for a prism store"
	end_shard 9
	store=$right
	reads frank 7
	pass "connections to what is another store"
}

# Several at once on the same keys; some are killed at any moment.
many_clients() {
	local pids=() pid round
	expect 0 "put" tx put from=1000 to=0
	for round in {1..6}; do
		(for _ in {1..8}; do tx add from -1 to 1 >/dev/null || echo "add: $?"; done) >"$work/adds-$round" 2>&1 &
		pids+=($!)
	done
	for _ in {1..12}; do
		"$bin/prism-tx" "$store" add from -5 to 5 >/dev/null 2>&1 &
		pid=$!
		sleep "0.0$((RANDOM % 6))"
		kill -9 $pid 2>/dev/null
		wait $pid 2>/dev/null
	done
	wait "${pids[@]}"
	cat "$work"/adds-* >"$work/adds"
	[ ! -s "$work/adds" ] || fail "adds fail" "$work/adds"
	expect 0 "their sum" tx get from to
	awk '{ sum += $1 } NR == 2 { moved = $1 } END { exit !(sum == 1000 && (moved - 48) % 5 == 0 && moved >= 48) }' \
		"$work/out" || fail "money is lost" "$work/out"
	wait_for 30 nothing_lost || fail "buffers are lost" "$work/out"
	pass "many clients, some of which are killed"
}

numbers() {
	local right=$store
	start_store 2 --numbered --keys 10 --commit paper
	expect 0 "put to numbers" tx put 0=zero 19=last
	reads 19 last
	expect 3 "get of another" tx get 7 && says "7: no such key"
	expect 1 "beyond the end" tx get 20 && says "'20' is no key: this store ends before"
	local word
	for word in x 1x 0x1 18446744073709551616; do
		expect 1 "'$word'" tx get "$word" && says "'$word' is no key: those of this store are numbers"
	done
	expect 0 "status --json" tx status --json
	grep -q '"commit": "paper"' "$work/out" || fail "another commit" "$work/out"
	pass "a numbered store, and the paper's commit"

	# One attempt against many others on one key
	start "$work/load" timeout 20 "$bin/prism-tx-bench" --system prism --shards "$store" --workload ycsb-t --numbered \
		--records 1 --keys 1 -s 16 --clients 8 -D 15 --warm-up 0
	local load=$started tries
	for ((tries = 0; tries < 100; tries++)); do
		tx --attempts 1 run >"$work/out" 2>"$work/err" < <(printf 'get 0\nput 1=mine\n')
		[ $? -ne 5 ] || break
	done
	kill -0 "$load" || fail "the load has ended" "$work/load"
	tells "given up after 1 attempts: others change the same keys; nothing was changed"
	end_child "$load"
	end_store
	store=$right
	pass "conflicts"
}

full() {
	start_store 1 --class 640:8 --cells 100000
	local key=0 code=0
	patience=0.3
	while ((code == 0 && key < 20)); do
		tx put "key$key=$(printf '%0500d' 0)" >"$work/out" 2>"$work/err"
		code=$?
		((key++))
	done
	((code == 1)) || fail "a full store: exit status $code"
	tells "no buffer left for this; nothing was changed"
	patience=2
	expect 0 "get from a full store" tx get key0
	expect 0 "erase in a full store" tx erase key0
	expect 0 "put in what is not full any more" tx put again=1
	end_store
	start_store 1 --class 640:8 --cells 1
	expect 0 "put" tx put "a=$(printf '%0500d' 0)"
	expect 1 "what shares its cell" tx put "b=$(printf '%0500d' 0)" && says "does not fit the largest buffer"
	end_store
	pass "full stores"
}

servers() {
	local code text options
	: >"$work/empty"
	head -c 5000 /dev/zero >"$work/large"
	mkfifo "$work/pipe" # nobody writes to it
	printf 'store = "farm"\nsecret = "%s"\n' "$work/secret" >"$work/rival"
	while IFS='|' read -r code text options; do
		# shellcheck disable=SC2086
		expect "$code" "prism-tx-server $options" timeout 10 "$bin/prism-tx-server" --bind 127.0.0.1 --port "$spare_port" $options &&
			tells "$text"
	done <<-END
		2|--shard is a number from 0, and below that of --shards|--shard 2 --shards 2
		2|--secret: there is no value behind the =|--secret= --shards 2
		2|--shards, which is 4095 at most|--shards 4096 --secret $work/secret
		2|give --secret FILE|--shards 2
		2|farm has no --secret|--store farm --shards 2 --secret $work/secret
		2|locking has no --secret|--store locking --secret /nowhere
		2|farm has no --cells|--store farm --cells 10
		2|locking has no --class|--store locking --class 64:10
		2|farm has no --commit|--store farm --commit paper
		2|farm has no --secret|--config $work/rival
		1|a secret has 16 to 4096 bytes|--shards 2 --secret $work/empty
		1|a secret has 16 to 4096 bytes|--shards 2 --secret $work/large
		1|it is no regular file|--shards 2 --secret /dev/zero
		1|it is no regular file|--shards 2 --secret $work/pipe
		1|Is a directory|--shards 2 --secret $work
		1|cannot read the secret in /nowhere|--shards 2 --secret /nowhere
		1|it is no regular file|--shards 2 --secret /proc/uptime
		2|it is no regular file|--config $work/pipe
		2|it is no regular file|--config /proc/uptime
		2|--connections|--clients 0
		2|--connections, --lanes. are 1 to 2.20|--lanes 0
		2|--connections|--clients 2000000 --keys 1
		2|keys .--key-size. have 1 to 4096 bytes|--key-size 0
		2|keys .--key-size. have 1 to 4096 bytes|--key-size 4097
		2|--key-size, --value-size. have 1 MiB at most|--value-size 1048576 --keys 1
		2|a buffer has 1048576 bytes at most|--class 2097152:10
		2|numbers of keys .--numbered, --key-size. have 8 bytes|--numbered --key-size 4
		2|a multiple of 64|--class 100:10
		2|at least 1|--class 1024:0
		2|size classes .--class. are needed, one of which holds the longest key and value|--class 64:10
		1|nothing|-d nothing
		2|--shard is a number from 0, and below that of --shards|--store farm --shard 1
		1|lower the number of keys|--keys 100000000 --value-size 1048000
		1|lower the number of records|--store farm --keys 1000000000
		1|lower the number of records|--store locking --keys 1000000000
		2|--value-size|--store locking --value-size 60000
		2|0 threads .--threads.: Invalid argument; 1 to 256|--store farm --threads 0
		2|--depth.: Invalid argument; 1 to 4096|--store locking --lanes 4097
		2|--keys|--store locking --keys 2147483647
		2|--key-size|--store farm --key-size 0
		2|--class|--class 64
		2|--class|--class 64:x
		2|--store|--store none
		2|--commit|--commit none
		2|--keys|--keys 0
		2|--cells|--cells x
		2|nonsense|nonsense
		2|--shard|--shard -1
	END
	# Few large values: beside the keys' buffers as many as fill 64 MiB, not 4096 of each size
	start "$work/large" "$bin/prism-tx-server" --bind 127.0.0.1 --port 0 --keys 20 --key-size 64 --value-size 1048448
	wait_for 20 grep -q ' port ' "$work/large" || fail "no store of few large values" "$work/large"
	local large
	large=127.0.0.1:$(sed -n 's/.* port //p' "$work/large" | head -n 1)
	{ printf 'put k=' && head -c 1048448 /dev/zero | tr '\0' v && echo; } >"$work/longest"
	"$bin/prism-tx" "$large" run <"$work/longest" >"$work/out" 2>&1 || fail "the longest value cannot be put" "$work/out"
	[ "$("$bin/prism-tx" "$large" get k | wc -c)" -eq 1048448 ] || fail "the longest value cannot be read"
	grep -q 'memory: [0-9]*\.[0-9] MiB: ' "$work/large" || fail "few large values take more than a GiB" "$work/large"
	expect 1 "no address of this host" timeout 10 "$bin/prism-tx-server" --keys 10 --bind 192.0.2.1 &&
		says "Cannot assign requested address"
	expect 1 "a port that is taken" timeout 10 "$bin/prism-tx-server" --keys 10 --bind 127.0.0.1 --port "${addresses[0]##*:}"
	says "choose another port"
	pass "prism-tx-server: options that cannot be"
}

# A shard takes its keys with it, and does not come back as if nothing had happened.
shard_lost() {
	start_store 2 --keys 200
	local some=(alice a b c d e)
	expect 0 put tx put "${some[@]/%/=1}"
	expect 1 "adopt a shard that lives" tx adopt 1 && says "cannot take in shard 1: it has not lost its memory"
	expect 1 "adopt a shard that is none" tx adopt 7 && says "cannot take in shard 7: the store has 2 shards"
	end_shard 1 KILL
	local lost=${addresses[1]}
	expect 1 "get of keys of both, a shard is lost" tx get "${some[@]}"
	says "a shard cannot be reached (shard 1 at $lost is gone); nothing was changed"
	local served=0 key
	for key in "${some[@]}"; do
		tx put "$key=2" >"$work/out" 2>"$work/err" && reads "$key" 2 && served=$((served + 1))
	done
	if [ $served -eq 0 ] || [ $served -eq ${#some[@]} ]; then
		fail "$served of ${#some[@]} keys are served by the shard that is left"
	fi
	expect 1 "status, a shard is lost" tx status && says "$lost: shard 1 does not answer"
	expect 1 "adopt a shard that is gone" tx adopt 1
	says "shard 1 at $lost: cannot connect to 127.0.0.1 port ${lost##*:}: Connection refused"
	start_shard 1 --shard 1 --shards 2 --keys 200 --port "${lost##*:}"
	expect 1 "get, it is back without its memory" tx get alice
	says "shard 1 has lost its memory since clients have met it"
	expect 2 "adopt without a number" tx adopt
	expect 2 "adopt shard 0" tx adopt 0
	expect 0 adopt tx adopt 1
	cp "$work/out" "$work/adopted"
	expect 1 "adopt it again" tx adopt 1 && says "cannot take in shard 1: it has not lost its memory"
	grep -q "^shard 1 at $lost: 0 of " "$work/adopted" || fail "the shard that was taken in is not empty" "$work/out"
	for key in {1..8}; do
		expect 0 "put, after adopt" tx put "key$key=1" && reads "key$key" 1
	done
	end_shard 1 KILL
	start_shard 1 --shard 1 --shards 2 --keys 200 --port "${lost##*:}"
	expect 1 "get, it is back once more" tx get alice && says "shard 1 has lost its memory since clients have met it"
	end_shard 0 KILL
	start_shard 0 --shard 0 --shards 2 --keys 200 --port "${addresses[0]##*:}"
	expect 1 "get, shard 0 is back without its memory" tx get alice
	says "shard 1 at $lost refuses: shard 0 has lost its memory"
	end_shard 1
	start_shard 1 --shard 1 --shards 2 --keys 200 --port "${lost##*:}"
	expect 3 "get, both are new" tx get alice
	pass "a shard that is lost"

	kill -STOP "${shard_pid[0]}"
	patience=1
	expect 1 "a shard that is stopped" tx get alice
	says "shard 0 at ${addresses[0]}"
	kill -CONT "${shard_pid[0]}"
	patience=2
	end_store
	pass "a shard that does not answer"
}

# SIGTERM while clients write to both shards: transactions that have begun end, and none is left in doubt.
stopped_under_load() {
	local round writer pids code last
	for round in 0 1; do
		start_store 2 --keys 200
		expect 0 put tx put a=0 b=0 c=0 d=0 e=0 f=0 g=0 h=0
		pids=()
		for writer in 1 2 3; do
			(
				for i in {1..400}; do
					"$bin/prism-tx" --timeout 2 "$store" add a 1 b 1 c 1 d 1 e 1 f 1 g 1 h 1 \
						>/dev/null 2>"$work/writer-$writer.err"
					code=$?
					[ $code -eq 0 ] || break
					echo "$i"
				done >"$work/writer-$writer"
				exit $code
			) &
			pids+=($!)
		done
		sleep 0.5
		kill -TERM "${shard_pid[round]}"
		wait "${shard_pid[round]}" || fail "a shard that is stopped under load ends with $?" "$work/shard-$round"
		grep -q 'have not ended within' "$work/shard-$round" && fail "clients have not ended" "$work/shard-$round"
		for writer in 1 2 3; do
			code=0
			wait "${pids[writer - 1]}" || code=$?
			[ $code -eq 1 ] || fail "a writer ends with $code" "$work/writer-$writer.err"
			last=$(tail -n 1 "$work/writer-$writer")
			[ "${last:-0}" -gt 0 ] || fail "a writer has written nothing"
		done
		end_store
	done
	pass "shards that are stopped under load"
}

# The page of each program lists all its options, and no others
man_pages() {
	page_has_options prism-tx "$bin/prism-tx" none
	page_has_options prism-tx-server "$bin/prism-tx-server"
	page_has_options prism-tx-bench "$bin/prism-tx-bench"
	"$bin/prism-tx" --help | sed -n '/^[Ss][Uu][Bb]/,$s/^  \([a-z]\+\) \+[A-Z].*/\1/p' | sort >"$work/help"
	sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' "$PRISM_SOURCE/docs/man/prism-tx.1" |
		sed -n '/^\.TP/{n;s/^\.BI\? \([a-z]*\).*/\1/p}' | sort >"$work/page"
	diff "$work/help" "$work/page" >"$work/diff" || fail "prism-tx's commands (<) and its page (>) differ" "$work/diff"
	pass "manual pages have the options of the programs"
}

read -r spare_port <<<"$(free_ports 1)"
start_store 2 --keys 200
commands
all_or_nothing
runs
limits
statistics
connections
many_clients
servers
end_store
full
numbers
shard_lost
stopped_under_load
man_pages
finish
