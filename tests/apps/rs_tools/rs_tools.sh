#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-rs and prism-rs-server as a user runs them: features, and messages for all that fails.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/apps/rs_tools/support.sh
. "$(dirname "$0")/support.sh"

# block_is NUMBER TEXT: checks that the last command wrote that block to standard output: the text, then zeros
block_is() {
	{
		printf %s "$2"
		head -c $((4096 - ${#2})) /dev/zero
	} >"$work/wanted"
	cmp "$work/wanted" "$work/out" >"$work/cmp" 2>&1 || fail "block $1 is not '$2'" "$work/cmp"
}

# reads NUMBER TEXT
reads() {
	expect 0 "get $1" rs get "$1" && block_is "$1" "$2"
}

# other_volume SED-EXPRESSION...: use a configuration that differs from the volume's
other_volume() {
	sed "$@" "$work/volume" >"$work/other"
	volume=$work/other
}

creating() {
	local code text arguments ports
	volume=$work/none
	while IFS='|' read -r code text arguments; do
		# shellcheck disable=SC2086
		expect "$code" "create $arguments" rs create $arguments && tells "$text"
		[ ! -e "$volume" ] || fail "create $arguments makes a configuration"
	done <<-'END'
		2|replicas are an odd number|-b 10 a:1 b:1
		2|is no address of a replica|-b 10 a
		2|is no address of a replica|-b 10 a:0
		2|is no address of a replica|-b 10 a:65536
		2|is no address of a replica|-b 10 a:1x
		2|of two|-b 10 a:1 a:1 b:1
		2|--size: 1000 not in|-b 10 -s 1000 a:1
		2|--size: 256 not in|-b 10 -s 256 a:1
		2|--size: 131072 not in|-b 10 -s 131072 a:1
		2|--blocks: Value 0 not in range 1 to 1099511627776|-b 0 a:1
		2|--blocks is required|a:1
		2|replicas is required|-b 10
		2|--blocks|-b x a:1
	END
	volume=$work/no/folder
	expect 1 "create in no folder" rs create -b 10 a:1 && says "cannot create $volume: No such file or directory"
	volume=$work/volume
	expect 0 create rs create -b 100 a:1 b:2 '[::1]:3'
	prints "100 blocks of 4096 bytes on 3 replicas, of which 1 may be gone"
	expect 1 "create again" rs create -b 100 a:1 && says "cannot create $volume: File exists"
	python3 -c 'import json, sys
v = json.load(open(sys.argv[1]))
assert v["replicas"] == [{"host": "a", "port": 1}, {"host": "b", "port": 2}, {"host": "::1", "port": 3}], v' "$volume" \
		2>"$work/err" || fail "the configuration is another" "$work/err"
	rm "$volume"
	pass "prism-rs create, and what cannot be"
}

# All that succeeds
blocks() {
	reads 0 ''
	expect 0 put rs put 0 "hello world" && reads 0 "hello world"
	expect 0 "put again" rs put 0 "hi" && reads 0 "hi"
	shows hi "$bin/prism-rs" -c "$volume" get 0
	expect 0 "put of the standard input, by its name" rs put 99 - < <(printf 'by a dash') && reads 99 "by a dash"
	expect 0 "put of what standard input has" rs put 99 < <(printf 'from a pipe')
	reads 99 "from a pipe"
	head -c 4096 /dev/urandom >"$work/binary"
	expect 0 "put of a whole block" rs put 5 <"$work/binary"
	expect 0 "get of it" rs get 5
	cmp -s "$work/binary" "$work/out" || fail "binary blocks do not come back as they were"
	expect 0 status rs status
	prints "100 blocks of 4096 bytes, 3 replicas"
	[ "$(grep -c ': serves$' "$work/out")" -eq 3 ] || fail "not all replicas serve" "$work/out"
	expect 0 "status --json" rs status --json
	sed -n '/^{/,/^}/p' "$work/out" | python3 -c 'import json, sys
text, decoder, seen = sys.stdin.read().strip(), json.JSONDecoder(), []
while text:
    one, end = decoder.raw_decode(text)
    text = text[end:].strip()
    seen.append(one)
assert [s["replica"] for s in seen] == [0, 1, 2], seen
assert all(s["serving"] and s["blocks"]["written"] in range(2, 4) for s in seen), seen' 2>"$work/err" ||
		fail "its statistics" "$work/err"
	pass "prism-rs: put, get, status"
}

limits() {
	expect 1 "get behind the end" rs get 100 && says "the volume has no such block"
	expect 1 "put behind the end" rs put 18446744073709551615 x && says "the volume has no such block"
	expect 1 "more than a block" rs put 0 < <(head -c 4097 /dev/zero) && says "are more than a block of 4096"
	reads 0 "hi"
	expect 1 "put of what cannot be read" rs put 0 - <"$work" && says "cannot read the standard input: Is a directory"
	expect 1 "put of a standard input that is closed" rs put 0 <&- && says "cannot read the standard input"
	reads 0 "hi"
	rs get 0 >/dev/full 2>"$work/err"
	[ $? -eq 1 ] || fail "a block that cannot be written to standard output is not noticed" "$work/err"
	says "prism-rs: cannot write to the standard output"
	local arguments
	for arguments in '' --json; do
		# shellcheck disable=SC2086
		rs status $arguments >/dev/full 2>"$work/err"
		[ $? -eq 1 ] || fail "nor a status $arguments" "$work/err"
		says "cannot write to the standard output"
	done
	"$bin/prism-rs" -c "$work/lost" create 127.0.0.1:1 -b 8 >/dev/full 2>"$work/err"
	[ $? -eq 6 ] || fail "create, whose output is lost, does not end with 6" "$work/err"
	[ -s "$work/lost" ] || fail "it has made no volume" "$work/err"
	for arguments in '' 'get' 'get x' 'put' 'erase 1' 'get 1 --timeout x' 'repair'; do
		# shellcheck disable=SC2086
		expect 2 "usage: '$arguments'" rs $arguments
		[ -s "$work/err" ] || fail "'$arguments': it does not say what is wrong"
	done
	expect 2 "no configuration" "$bin/prism-rs" get 0
	expect 1 "no such device" rs -d nothing get 0 && says nothing
	pass "prism-rs: blocks and command lines that cannot be"
}

# Invalid configurations, and configurations of another volume than that of the replicas
configurations() {
	local text number
	volume=$work/other
	for text in '' nonsense '[]' '{}' '{"volume": 1}' '{"volume": "zz", "block_size": 4096, "blocks": 1, "replicas": []}' \
		'{"volume": "12", "block_size": 4096, "blocks": 1, "replicas": []}' \
		'{"volume": "12", "block_size": -1, "blocks": 1, "replicas": [{"host": "a", "port": 1}]}' \
		'{"volume": "12", "block_size": 4096, "blocks": 1, "replicas": [{"host": "a"}]}' \
		'{"volume": "12", "block_size": 4096, "blocks": 1, "replicas": [{"host": "a", "port": 70000}]}' \
		'{"volume": "12", "block_size": 4294971392, "blocks": 1, "replicas": [{"host": "a", "port": 1}]}' \
		'{"volume": "12", "block_size": 4096.5, "blocks": 1, "replicas": [{"host": "a", "port": 1}]}' \
		'{"volume": "12x", "block_size": 4096, "blocks": 1, "replicas": [{"host": "a", "port": 1}]}' \
		'{"volume": "0", "block_size": 4096, "blocks": 1, "replicas": [{"host": "a", "port": 1}]}' \
		'{"volume": "12345678123456789", "block_size": 4096, "blocks": 1, "replicas": [{"host": "a", "port": 1}]}'; do
		echo "$text" >"$volume"
		expect 1 "configuration '$text'" rs get 0 && says "$volume: this is no configuration of a volume"
		expect 1 "server: configuration '$text'" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 0
		says "this is no configuration of a volume"
	done
	volume=$work/none
	expect 1 "no configuration" rs get 0 && says "cannot read the configuration $volume: No such file or directory"
	volume=$work
	expect 1 "a folder" rs get 0 && says "Is a directory"
	volume=$work/pipe # nobody writes to it
	mkfifo "$volume"
	for volume in "$volume" /dev/zero; do
		expect 1 "no file" rs get 0 && says "it is no regular file"
		expect 1 "server: no file" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 0 && says "it is no regular file"
	done

	other_volume 's/"volume": ".*"/"volume": "123"/'
	expect 1 "another volume" rs get 0 && tells 'replica .* refuses: the client has another volume'
	number=$(sed -n 's/.*"volume": "\(.*\)".*/\1/p' "$work/volume" | sed 's/^0*//')
	! grep -q "$number" "$work/err" || fail "a stranger is told the volume's number" "$work/err"
	cat "$work"/replica-* | grep -q "the client has volume 0x123, not 0x$number" ||
		fail "no log tells the operator what a client's configuration differs in" "$work/replica-0"
	other_volume 's/"blocks": 100/"blocks": 200/'
	expect 1 "more blocks" rs get 0 && tells 'the client has a number of blocks .*c8, not 0x64'
	other_volume 's/"block_size": 4096/"block_size": 512/'
	expect 1 "other blocks" rs put 0 x && tells 'the client has a block size .*200, not 0x1000'
	other_volume "s/: ${ports[0]}\$/: P/; s/: ${ports[1]}\$/: ${ports[0]}/; s/: P\$/: ${ports[1]}/"
	expect 1 "replicas in another order" rs put 0 x && tells 'has (its )?(number|replica) .*, not'
	volume=$work/volume
	reads 0 "hi"
	pass "configurations that are none, or of another volume"
}

servers() {
	local options
	expect 1 "no such replica" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 3
	says "the volume has no replica 3 (--replica): Invalid argument; its replicas are 0 to 2"
	expect 1 "a port that is taken" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 0 --bind 127.0.0.1
	says "choose another port"
	for options in '' '-r 0,1,0' '-r 0 --store abdlock' '-r x' '-r 0 --spare-buffers x' '-r 0 nonsense' '-r 0 --store none'; do
		# shellcheck disable=SC2086
		expect 2 "prism-rs-server $options" timeout 10 "$bin/prism-rs-server" -c "$volume" $options
		[ -s "$work/err" ] || fail "prism-rs-server $options: it does not say why"
	done
	other_volume 's/"blocks": 100/"blocks": 1000000000/'
	sed -i "s/: ${ports[0]}\$/: $(free_ports 1)/" "$volume"
	expect 1 "more than the machine has" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 0
	says "make a volume of fewer blocks"
	volume=$work/volume
	for options in '-d nothing' '--bind 192.0.2.1'; do
		# shellcheck disable=SC2086
		expect 1 "prism-rs-server $options" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 0 $options
		[ -s "$work/err" ] || fail "prism-rs-server $options: it does not say why"
	done
	pass "prism-rs-server: options that cannot be"
}

# unavailable NAME SECONDS COMMAND...: expects that it fails without a quorum, within that time and half a second
unavailable() {
	local name=$1 seconds=$2 began ended
	shift 2
	began=$(date +%s%N)
	expect 1 "$name" "$@" && says "2 of 3 replicas are needed"
	ended=$(($(date +%s%N) - began))
	((ended >= seconds * 1000000000 && ended <= seconds * 1000000000 + 1500000000)) ||
		fail "$name: it takes $((ended / 1000000)) ms, not $seconds s"
}

replicas_lost() {
	lose_replica 1
	reads 0 "hi"
	expect 0 "put, one lost" rs put 1 "with two"
	expect 3 "status, one lost" rs status
	prints "replica 0 at 127.0.0.1:${ports[0]}: serves"
	prints "replica 1 at 127.0.0.1:${ports[1]}: cannot connect to 127.0.0.1 port ${ports[1]}: Connection refused"
	pass "one replica lost: all works"

	lose_replica 2
	patience=1
	unavailable "get, two lost" 1 rs get 0
	unavailable "put, two lost" 1 rs put 0 x
	unavailable "status, two lost" 1 rs status
	local port
	for port in "${ports[@]:1}"; do
		grep -q "port $port: Connection refused" "$work/err" || fail "port $port is not told" "$work/err"
	done
	# The rest of the timeout's 10 seconds is for operations.
	patience=10
	unavailable "get, two lost, ten seconds" 2 rs get 0
	patience=2
	pass "two replicas lost: an error that says so, in time"
}

repaired() {
	local began
	end_volume
	volume=$work/volume-2
	new_volume "$volume" 4096 100
	seq 0 99 | xargs -I '{}' -P 2 timeout 30 "$bin/prism-rs" -c "$volume" put '{}' 'block {}' || fail "put"
	lose_replica 1
	expect 0 "put, one lost" rs put 7 "since then"
	expect 1 "repair of what does not run" rs repair 1 && says "cannot reach replica 1"
	serve 1 --no-repair
	grep -q 'waits to be repaired' "$work/replica-1" || fail "the replica does not say what it waits for" "$work/replica-1"
	expect 3 "status before the repair" rs status && prints "prism-rs repair 1"
	expect 0 repair rs repair 1 && prints "replica 1 serves again"
	expect 0 "status after the repair" rs status
	lose_replica 0
	reads 7 "since then"
	reads 0 "block 0"
	reads 99 "block 99"
	expect 1 "repair of one that has all" rs repair 2 && tells "forgotten nothing"
	expect 1 "repair of none" rs repair 3 && says "the volume has no replica 3"
	serve 0 --no-repair # its contents need a quorum of the others, of which there is only one now
	lose_replica 2
	expect 1 "repair without a quorum" rs repair 0
	tells "replicas"
	pass "a replica is repaired, and counts"
}

# refused_as_new NUMBER: expects that it ends and says that the volume is not new
refused_as_new() {
	expect 1 "--new for replica $1 again" timeout 20 "$bin/prism-rs-server" -c "$volume" -r "$@" --bind 127.0.0.1 --new
	tells "not new"
}

all_serve() {
	rs status >"$work/status" 2>&1
}

# A volume is founded once. A replica started as new afterwards would serve zeros instead of written data.
founded() {
	local number record
	end_volume
	volume=$work/volume-3
	read -ra ports <<<"$(free_ports 3)"
	expect 0 "create $volume" rs create -b 100 "${ports[@]/#/127.0.0.1:}"
	serve 0 --new
	serve 1 --new
	patience=1
	expect 1 "put, replica 2 is not there yet" rs put 7 x && says "waits for all others of the volume"
	lose_replica 1 # in the middle of the founding: it may begin as new once more
	serve 1 --new
	serve 2 --new
	patience=5
	wait_for 20 all_serve || fail "the volume is not founded" "$work/status" "$work/replica-0" "$work/replica-1"
	expect 0 put rs put 7 "acknowledged"
	for number in 0 1 2; do
		lose_replica $number
		refused_as_new $number
		record=$(echo "$volume".*.replica-$number)
		mv "$record" "$work/record" # as on another machine, with a copy of the configuration
		refused_as_new $number
		reads 7 "acknowledged"
		serve $number
		wait_for 20 all_serve || fail "replica $number is not repaired by itself" "$work/status" "$work/replica-$number"
		[ -e "$record" ] || fail "replica $number serves without a record that it is not new"
	done
	reads 7 "acknowledged"

	# With a folder for records; one beside the configuration counts, too.
	mkdir "$work/state"
	lose_replica 0
	refused_as_new 0 --state "$work/state"
	record=$(echo "$volume".*.replica-0)
	mv "$record" "$work/record"
	serve 0 --state "$work/state"
	wait_for 20 all_serve || fail "replica 0 is not repaired" "$work/status" "$work/replica-0"
	[ ! -e "$record" ] || fail "its record is beside the configuration"
	[ -e "$work/state/${record#"$volume".}" ] || fail "its record is not in the folder"
	lose_replica 0
	refused_as_new 0 --state "$work/state"
	tells "$work/state/.*replica-0 tells"
	serve 0
	wait_for 20 all_serve || fail "replica 0 is not repaired" "$work/status" "$work/replica-0"
	pass "a volume is founded once, and replicas that come back are repaired by themselves"

	for number in 0 1 2; do
		lose_replica $number
	done
	for number in 0 1 2; do
		refused_as_new $number
		serve $number
	done
	patience=1
	expect 1 "get, all lost" rs get 7 && says "the volume is lost"
	patience=2
	pass "a volume whose replicas have all been lost says so"
}

# start_etcd: starts one with its own ports and folder; its address is in $etcd
start_etcd() {
	local client peer
	read -r client peer <<<"$(free_ports 2)"
	etcd=127.0.0.1:$client
	start "$work/etcd-log" etcd --name test --data-dir "$work/etcd" --listen-client-urls "http://$etcd" \
		--advertise-client-urls "http://$etcd" --listen-peer-urls "http://127.0.0.1:$peer" \
		--initial-advertise-peer-urls "http://127.0.0.1:$peer" --initial-cluster "test=http://127.0.0.1:$peer"
	wait_for 20 etcd_answers || {
		fail "etcd does not start" "$work/etcd-log"
		finish
	}
}

etcd_answers() {
	python3 -c 'import sys, urllib.request
assert b"true" in urllib.request.urlopen(sys.argv[1], timeout=1).read()' "http://$etcd/health" 2>"$work/health"
}

in_etcd() {
	command -v etcd >/dev/null || {
		echo "not done: configuration in etcd, which is not installed"
		return
	}
	local etcd
	start_etcd
	local etcd_pid=$started
	end_volume
	volume=etcd://$etcd/volumes/one
	expect 1 "no such key" rs get 0 && says "has no key 'volumes/one'"
	new_volume "$volume" 512 50
	expect 1 "create again" rs create -b 10 a:1 && says "has a key 'volumes/one' already"
	expect 0 put rs put 3 "by etcd"
	expect 0 get rs get 3 && prints "by etcd"
	expect 0 status rs status && prints "50 blocks of 512 bytes, 3 replicas"
	volume=etcd://$etcd/volumes/two
	expect 0 "create beside it" rs create -b 10 127.0.0.1:1
	volume=etcd://$etcd/volumes/one
	expect 0 "status" rs status && prints "50 blocks of 512 bytes, 3 replicas"
	local wrong
	for wrong in etcd:// "etcd://$etcd" "etcd://$etcd/" etcd:///key; do
		volume=$wrong
		expect 2 "$wrong" rs get 0 && tells "--configuration: '$wrong' is no key in etcd: Invalid argument; write etcd://HOST:PORT/KEY"
	done
	volume=etcd://127.0.0.1:${ports[0]}/key # a replica, which waits for a client of its own
	expect 1 "no etcd" rs get 0 && tells "etcd at"

	volume=etcd://$etcd/volumes/one
	kill -STOP "$etcd_pid"
	local limit
	for limit in 0.3 0.0001; do
		expect 1 "etcd is stopped, $limit s" timeout 3 "$bin/prism-rs" -c "$volume" --timeout $limit get 3
		says "etcd at http://$etcd does not answer"
	done
	kill -CONT "$etcd_pid"
	end_child "$etcd_pid"
	expect 1 "etcd is gone" rs get 3 && says "etcd at http://$etcd does not answer: Connection refused"
	expect 1 "server: etcd is gone" timeout 10 "$bin/prism-rs-server" -c "$volume" -r 0
	says "etcd at http://$etcd does not answer: Connection refused"
	pass "configuration in etcd"
}

# The page of each program lists all its options, and no others
man_pages() {
	page_has_options prism-rs "$bin/prism-rs" -c none
	page_has_options prism-rs-server "$bin/prism-rs-server"
	"$bin/prism-rs" --help | sed -n 's/^  \([a-z]\+\) \+[A-Z].*/\1/p' | sort >"$work/help"
	sed -n '/^\.SH COMMANDS/,/^\.SH OPTIONS/p' "$PRISM_SOURCE/docs/man/prism-rs.1" | sed -n '/^\.TP/{n;s/^\.B //p}' |
		sort >"$work/page"
	diff "$work/help" "$work/page" >"$work/diff" || fail "prism-rs's commands (<) and its page (>) differ" "$work/diff"
	pass "manual pages have the options of the programs"
}

creating
new_volume "$work/volume" 4096 100
blocks
limits
configurations
servers
replicas_lost
repaired
founded
in_etcd
end_volume
man_pages
finish
