#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A replicated volume as a network block device, used like any other: by libnbd, QEMU, fio and a file system.
# shellcheck disable=SC2317 # functions are called by name
# A namespace with its own mounts, too: one of the clients is a FUSE file system.
if [ -z "${IN_NAMESPACE:-}" ] && unshare -rnm true 2>/dev/null; then
	IN_NAMESPACE=1 exec unshare -rnm "$0" "$@"
fi
# shellcheck source=tests/apps/rs_tools/support.sh
. "$(dirname "$0")/support.sh"
need_program nbdkit nbdinfo nbdcopy

plugin=$PRISM_BUILD/lib/nbdkit-prism-rs-plugin.so
[ -e "$plugin" ] || skip "the plugin is not built (nbdkit-plugin-dev)"
[ -z "$(sed -n 's/^PRISM_SANITIZE:STRING=//p' "$PRISM_BUILD/CMakeCache.txt")" ] ||
	skip "nbdkit is not built with sanitizers, and cannot load a plugin that is"

uri="nbd+unix:///?socket=$work/socket"
block=4096
blocks=4096
size=$((block * blocks))

# nbdkit_command PARAMETER...: sets $command to the command line
nbdkit_command() {
	rm -f "$work/socket"
	command=(nbdkit --foreground --unix "$work/socket" "${filters[@]}" "$plugin"
		configuration="$volume" timeout="$patience" "$@")
}
filters=()

# export_volume PARAMETER...: exports the volume as a block device; its pid is in $nbdkit, its log in the file nbdkit
export_volume() {
	nbdkit_command "$@"
	start "$work/nbdkit" "${command[@]}"
	nbdkit=$started
	# It listens before it has opened the volume, and answers afterwards.
	if ! { wait_for 5 test -e "$work/socket" && timeout 20 nbdinfo --size "$uri" >"$work/out" 2>&1; }; then
		fail "nbdkit does not start" "$work/nbdkit"
		finish
	fi
}

# clean_up_more: unmounts before the work folder is removed
clean_up_more() {
	mountpoint -q "$work/mount" 2>/dev/null && umount "$work/mount"
}

# has FIELD VALUE: checks it in the output of nbdinfo
has() {
	local said
	said=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["exports"][0].get(sys.argv[2]))' "$work/info" "$1")
	[ "$said" = "$2" ] || fail "$1 is $said, not $2"
}

describe() {
	expect 0 nbdinfo timeout 20 nbdinfo --json "$uri"
	cp "$work/out" "$work/info"
	has export-size $size
	has can_flush True
	has can_fua True
	has can_zero True
	has can_multi_conn True
	has is_read_only False
	has block_size_preferred $block
	has block_size_minimum "$1"
}

# change OFFSET LENGTH: writes random bytes into the file "expected"; the file "piece" gets them, too
change() {
	head -c "$2" /dev/urandom >"$work/piece"
	dd if="$work/piece" of="$work/expected" bs=1M seek="$1" oflag=seek_bytes conv=notrunc status=none
}

# same NAME: checks that the device has the contents of the file "expected"
same() {
	rm -f "$work/device"
	expect 0 "$1: nbdcopy" timeout 60 nbdcopy "$uri" "$work/device"
	cmp "$work/expected" "$work/device" >"$work/cmp" 2>&1 || fail "$1: the device has something else" "$work/cmp"
}

round_trip() {
	export_volume
	describe $block
	truncate -s $size "$work/expected"
	same "a new volume is zeros"
	change 0 $size
	expect 0 "nbdcopy" timeout 60 nbdcopy --flush "$work/expected" "$uri"
	same "all of it"
	end_child "$nbdkit"

	# No request begins or ends at a block's boundary.
	local offset=123457 length=7654321
	filters=(--filter=offset)
	export_volume exclusive=true offset=$offset range=$length
	filters=()
	change $offset $length
	expect 0 "nbdcopy to a range" timeout 60 nbdcopy "$work/piece" "$uri"
	expect 0 "nbdcopy from a range" timeout 60 nbdcopy "$uri" "$work/device"
	cmp "$work/piece" "$work/device" >"$work/cmp" 2>&1 || fail "a range is read as something else" "$work/cmp"
	end_child "$nbdkit"
	export_volume
	same "what is around a range stays"
	end_child "$nbdkit"
	pass "what is written is read: all of the device, and a range that is not aligned"
}

# Small requests anywhere: QEMU sends them as they are, as the device is exclusive and tells no least size.
pieces() {
	command -v qemu-io >/dev/null || {
		echo "not done: requests of qemu-io, which is not installed"
		return
	}
	export_volume exclusive=true
	describe 1
	local i offset length commands=()
	for ((i = 0; i < 60; i++)); do
		offset=$(((RANDOM << 15 | RANDOM) % (size - 20000)))
		length=$((RANDOM % 20000 + 1))
		if ((i % 6)); then
			change $offset $length
			mv "$work/piece" "$work/piece-$i"
			commands+=(-c "write -s $work/piece-$i $offset $length")
		else
			head -c $length /dev/zero | dd of="$work/expected" bs=1M seek=$offset oflag=seek_bytes \
				conv=notrunc iflag=fullblock status=none
			commands+=(-c "write -z $offset $length" -c "read -P 0 $offset $length")
		fi
	done
	expect 0 "qemu-io" timeout 60 qemu-io -f raw "${commands[@]}" "$uri"
	grep -i "fail\|error" "$work/out" >"$work/complaints" && fail "qemu-io complains" "$work/complaints"
	same "after small writes"
	end_child "$nbdkit"
	pass "what is written is read: 60 small ranges and zeros"
}

# load NAME ARGUMENT...: starts fio in the background; its pid is in $fio
load() {
	local name=$1
	shift
	start "$work/fio-$name" timeout -k 5 90 fio --name="$name" --ioengine=nbd --uri="$uri" --rw=randrw \
		--verify=crc32c --verify_fatal=1 --verify_backlog=64 --verify_state_save=0 --time_based \
		--group_reporting --output-format=json --output="$work/fio-$name.json" "$@"
	fio=$started
}

# load_ended NAME: checks that fio has found no error and has done some work
load_ended() {
	wait "$fio"
	local code=$?
	[ $code -eq 0 ] || fail "fio $1 ended with $code" "$work/fio-$1" "$work/fio-$1.json"
	python3 - "$work/fio-$1.json" >"$work/count" 2>&1 <<-'END' || fail "fio $1:" "$work/count"
		import json, sys
		text = open(sys.argv[1]).read()
		job, = json.loads(text[text.index("{"):])["jobs"]
		if job["error"]: sys.exit(f"error {job['error']}")
		reads, writes = job["read"]["total_ios"], job["write"]["total_ios"]
		if min(reads, writes) < 500: sys.exit(f"only {reads} reads and {writes} writes")
		print(f"{reads} reads and {writes} writes")
	END
	echo "fio $1: $(cat "$work/count")"
}

need_fio() {
	command -v fio >/dev/null && fio --enghelp 2>&1 | grep -qw nbd && return
	echo "not done: $1: no fio with the engine nbd is installed"
	return 1
}

# Eight requests in each block, many of them at once: none may be lost when another's block is read, changed and
# written.
small_requests() {
	need_fio "requests smaller than a block" || return
	export_volume exclusive=true
	load parts --bs=512 --iodepth=32 --size=512k --runtime=2
	load_ended parts
	end_child "$nbdkit"
	pass "requests smaller than a block do not undo each other"
}

lost_replica() {
	need_fio "the loss of a replica" || return
	export_volume
	load loss --bsrange=4k-64k --iodepth=8 --numjobs=2 --size=8m --offset_increment=8m --runtime=5
	sleep 2
	kill -0 "$fio" 2>/dev/null || fail "fio has ended already"
	lose_replica 1
	load_ended loss
	[ ! -s "$work/nbdkit" ] || fail "nbdkit complains" "$work/nbdkit"
	expect 3 status rs status && prints "Connection refused"
	end_child "$nbdkit"
	pass "a replica dies: its device does not notice"
}

# nbdfuse, which shows the device as a file, and e2fsprogs play the kernel's part.
file_system() {
	local missing='' disk=$work/mount/device
	[ -w /dev/fuse ] || missing="/dev/fuse"
	command -v nbdfuse mke2fs debugfs e2fsck >/dev/null || missing="one of nbdfuse, mke2fs, debugfs, e2fsck"
	[ -z "$missing" ] || {
		echo "not done: a file system on the device: there is no $missing"
		return
	}
	export_volume exclusive=true
	mkdir "$work/mount"
	start "$work/nbdfuse" nbdfuse "$disk" "$uri"
	wait_for 10 test -e "$disk" || {
		echo "not done: a file system on the device: $(tail -n 1 "$work/nbdfuse")"
		end_child "$nbdkit"
		return
	}
	expect 0 mke2fs timeout 60 mke2fs -q -F -t ext4 -b 4096 "$disk"
	head -c 3000001 /dev/urandom >"$work/file"
	expect 0 "debugfs, writing" timeout 60 debugfs -w -R "write $work/file file" "$disk"
	umount "$work/mount"
	end_child "$nbdkit"
	wait "$started"

	export_volume exclusive=true
	start "$work/nbdfuse" nbdfuse -r "$disk" "$uri"
	wait_for 10 test -e "$disk"
	expect 0 e2fsck timeout 60 e2fsck -f -n "$disk"
	expect 0 "debugfs, reading" timeout 60 debugfs -R "dump file $work/file-read" "$disk"
	cmp "$work/file" "$work/file-read" >"$work/cmp" 2>&1 || fail "the file has other bytes" "$work/cmp"
	umount "$work/mount"
	end_child "$nbdkit"
	pass "an ext4 file system"
}

# refused TEXT NAME COMMAND...: expects that it ends with 1 and says TEXT
refused() {
	local text=$1 name=$2
	shift 2
	rm -f "$work/other"
	expect 1 "$name" timeout -k 5 20 "$@" || return
	grep -Fq -- "$text" "$work/err" || fail "$name: it does not say '$text'" "$work/err"
}

# write_block NUMBER: writes through the device
write_block() {
	timeout 20 qemu-io -f raw -c "write -P $((RANDOM % 256)) $(($1 * block)) $block" "$uri" >"$work/qemu" 2>&1
}

exclusive() {
	export_volume exclusive=true
	local another=(nbdkit --foreground --unix "$work/other" "$plugin" "$volume" exclusive=true)
	refused "another process has the volume exclusively: it holds $volume.lock" "a second one" "${another[@]}"
	end_child "$nbdkit" KILL
	export_volume exclusive=true
	refused "another process has the volume exclusively" "one beside the next" "${another[@]}"
	! command -v qemu-io >/dev/null || found_out
	end_child "$nbdkit"
	expect 0 "put" rs put 1 more
	pass "exclusive attachment: one at a time, and only as long as it is true"
}

# A client writes without having asked for the lock.
found_out() {
	write_block 0 || fail "writing" "$work/qemu"
	write_block 0 || fail "writing again" "$work/qemu"
	# Two puts: the tag of one may be less than the device's next one, which then simply overwrites it.
	expect 0 "a foreign put" rs put 0 foreign
	expect 0 "another one" rs put 0 foreign
	write_block 0 && fail "a foreign write is not noticed"
	grep -Fq "cannot write block 0: the volume was attached with exclusive=true, and somebody else has written to it" \
		"$work/nbdkit" || fail "a foreign write is not told" "$work/nbdkit"
	expect 0 "get" rs get 0 && prints foreign
	write_block 1 && fail "it goes on writing"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# The most common use: the process that has opened the volume and taken the lock is not the one that was started.
background() {
	rm -f "$work/socket" "$work/pid"
	expect 0 "nbdkit in the background" timeout 20 env -C "$work" nbdkit --unix "$work/socket" \
		--pidfile "$work/pid" "$plugin" configuration=volume exclusive=true
	wait_for 5 test -s "$work/pid" || {
		fail "nbdkit in the background tells no process"
		return
	}
	local pid
	pid=$(cat "$work/pid")
	children+=("$pid")
	expect 0 "nbdinfo" timeout 20 nbdinfo --size "$uri" && prints $size
	refused "another process has the volume exclusively" "one beside it" \
		nbdkit --foreground --unix "$work/other" "$plugin" "$volume" exclusive=true
	kill "$pid"
	wait_for 10 gone "$pid" || fail "it does not end"
	export_volume exclusive=true
	end_child "$nbdkit"
	pass "in the background"
}

# scans: prints how often replica 0 has finished looking for lost buffers
scans() {
	rs status --json | sed -n 's/.*"scans": \([0-9]*\).*/\1/p' | head -n 1
}

more_scans_than() {
	[ "$(scans)" -gt "$1" ]
}

# A client that ends makes the replica look for its buffers: all other clients must answer.
idle() {
	export_volume
	local before
	before=$(scans)
	expect 0 put rs put 7 text
	wait_for 10 more_scans_than "$before" || fail "a device with nothing to do keeps replicas waiting"
	end_child "$nbdkit"
	pass "a device with nothing to do answers its replicas"
}

# counts METRIC{LABELS} VALUE: true if the metrics have it
counts() {
	curl -sS --max-time 5 "http://127.0.0.1:$metrics_port/metrics" >"$work/metrics" || fail "no metrics"
	grep -Fqx -- "$1 $2" "$work/metrics"
}

# told METRIC{LABELS} VALUE: checks that the metrics have it
told() {
	counts "$@" || fail "its metrics do not have: $1 $2" "$work/metrics"
}

# Counts of the server's work for its clients, and the replicas that serve it.
metrics() {
	command -v curl >/dev/null || {
		echo "not done: metrics: there is no curl"
		return
	}
	metrics_port=$(free_ports 1)
	export_volume metrics="127.0.0.1:$metrics_port"
	head -c $size /dev/urandom >"$work/expected"
	expect 0 "nbdcopy" timeout 60 nbdcopy "$work/expected" "$uri"
	told 'prism_client_operations_total{store="rs",operation="put",outcome="ok"}' $blocks
	told 'prism_client_operations_total{store="rs",operation="get",outcome="ok"}' 0
	told 'prism_client_operation_seconds_count{store="rs",operation="put"}' $blocks
	told 'prism_client_round_trips_bucket{store="rs",operation="put",le="+Inf"}' $blocks
	grep -Eq '^prism_client_operation_seconds_sum{store="rs",operation="put"} 0*\.?0*[1-9]' "$work/metrics" ||
		fail "writes take no time" "$work/metrics"
	expect 0 "nbdcopy" timeout 60 nbdcopy "$uri" "$work/device"
	told 'prism_client_operations_total{store="rs",operation="get",outcome="ok"}' $blocks
	grep -q '^prism_device_total{device="[^"]*",counter="tx_packets"} [1-9]' "$work/metrics" ||
		fail "no counters of the device" "$work/metrics"
	local replica
	for replica in 0 1 2; do
		told "prism_client_replica_serving{store=\"rs\",replica=\"$replica\"}" 1
	done
	lose_replica 0
	wait_for 10 counts 'prism_client_replica_serving{store="rs",replica="0"}' 0 ||
		fail "the loss of a replica is not told" "$work/metrics"
	serve 0
	wait_for 20 counts 'prism_client_replica_serving{store="rs",replica="0"}' 1 ||
		fail "its return is not told" "$work/metrics"
	refused "cannot serve metrics at '127.0.0.1:$metrics_port'" "a port that is taken" \
		nbdkit --foreground --unix "$work/other" "$plugin" "$volume" metrics="127.0.0.1:$metrics_port"
	end_child "$nbdkit"
	pass "metrics of the volume's client"
}

no_quorum() {
	export_volume
	lose_replica 2
	local began=$SECONDS
	expect 1 "reading" timeout 30 nbdcopy "$uri" "$work/device"
	grep -Fqi "Input/output error" "$work/err" || fail "it is another error" "$work/err"
	[ $((SECONDS - began)) -le $((3 * patience)) ] || fail "it takes $((SECONDS - began)) seconds"
	local port
	for port in "${ports[@]:1}"; do
		grep -q "no quorum of replicas has answered for 2 s:.*port $port: Connection refused" "$work/nbdkit" ||
			fail "replica at port $port is not told" "$work/nbdkit"
	done
	began=$SECONDS
	end_child "$nbdkit"
	[ $((SECONDS - began)) -le 10 ] || fail "it takes $((SECONDS - began)) seconds to end"
	nbdkit_command
	refused "2 of 3 replicas are needed" "starting without quorum" "${command[@]}"
	pass "no quorum: an error that says why, in time"
}

usage() {
	local text options none="$work/none"
	while IFS='|' read -r text options; do
		# shellcheck disable=SC2086
		refused "$text" "nbdkit prism-rs $options" \
			nbdkit --unix "$work/other" --pidfile "$work/accepted" "$plugin" $options
		[ ! -s "$work/accepted" ] || children+=("$(cat "$work/accepted")")
	done <<-END
		configuration=FILE is missing|
		cannot read the configuration $none|configuration=$none
		cannot find the configuration $none|configuration=$none exclusive=true
		it is no regular file|configuration=/dev/null
		etcd at http://127.0.0.1:1 does not answer|etcd://127.0.0.1:1/volume
		exclusive attachment is by a lock beside the configuration, which is in etcd|etcd://127.0.0.1:1/v exclusive=1
		could not decipher boolean (maybe)|configuration=$volume exclusive=maybe
		the parameter depth: Invalid argument|configuration=$volume depth=many
		give 1 to 1024|configuration=$volume depth=0
		give 1 to 1024|configuration=$volume depth=1025
		give seconds, 0.001 to 3600|configuration=$volume timeout=soon
		give seconds, 0.001 to 3600|configuration=$volume timeout=0
		give seconds, 0.001 to 3600|configuration=$volume timeout=nan
		there are configuration, device, exclusive, depth, timeout and metrics|configuration=$volume size=3
		no-such-device|configuration=$volume device=no-such-device
		cannot serve metrics: Invalid argument|configuration=$volume metrics=127.0.0.1:x
	END
	pass "parameters that cannot be"
}

# The page lists all parameters, and no others
man_page() {
	nbdkit "$plugin" --help | grep -oE '^ *[a-z]+=' | tr -d ' =' | sort -u >"$work/help"
	sed -n '/^\.SH PARAMETERS/,/^\.SH [^P]/p' "$PRISM_SOURCE/docs/man/nbdkit-prism-rs-plugin.1" |
		sed -nE 's/^\.(BI|B) "?([a-z]+)=.*/\2/p' | sort -u >"$work/page"
	diff "$work/help" "$work/page" >"$work/diff" || fail "its help (<) and its page (>) differ" "$work/diff"
	pass "the manual page has its parameters"
}

new_volume "$work/volume" $block $blocks
round_trip
pieces
small_requests
exclusive
background
idle
file_system
metrics
usage
lost_replica
no_quorum
man_page
end_volume
finish
