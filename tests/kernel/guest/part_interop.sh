# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# Two guests on one link (vm/run_pair.sh): machine a with stock rxe, machine b with the device under test. Both share
# the folder RESULTS, and tell each other their progress by files in it.

interop_setup() {
	local number=1
	[ "$MACHINE" = a ] || number=2
	modprobe_some virtio_net
	wait_for 10 ip link show eth0 || fail "no network card"
	check "no IPv4 address" ip addr add "10.6.0.$number/24" dev eth0
	check "no IPv6 address" ip addr add "fd00:6::$number/64" dev eth0 nodad
	ip link set eth0 up
	need_module "$interop_kind"
	link_add "$interop_device" "$interop_kind" eth0 || fail "no device"
	touch "$RESULTS/ready.$MACHINE"
	wait_for 60 test -e "$RESULTS/ready.$peer" || fail "the other machine is not ready"
}

# interop_side SERVER-MACHINE NAME FAMILY PROGRAM [ARGUMENT...]
interop_side() {
	local server=$1 name=${2//[^A-Za-z0-9]/_} family=$3 program=$4 own=10.6.0.1 gid at command
	shift 4
	[ "$MACHINE" = a ] || own=10.6.0.2
	at=10.6.0.2
	[ "$server" = b ] || at=10.6.0.1
	case $family in 6) own=fd00:6::${own##*.} ;; esac
	gid=$(gid_index "$interop_device" "$own") || fail "no GID of $own"
	command=("$program" -F -p 19000 -d "$interop_device" -x "$gid" "$@")
	if [ "$MACHINE" = "$server" ]; then
		"${command[@]}" &
		local pid=$!
		wait_for 15 listening_or_ended 19000 $pid
		touch "$RESULTS/listening.$name"
		wait $pid
	else
		wait_for 40 test -e "$RESULTS/listening.$name" || fail "the server does not listen"
		"${command[@]}" $at
	fi
}

# IPv6 differs in addresses and headers, not in operations. Here and below: programs that run on every kernel, and
# programs that two kernels share.
interop_programs() {
	case $1 in
	4) echo ib_read_lat ib_atomic_lat "$(share 1 echo ib_write_lat ib_send_lat)" ;;
	6) share 2 echo ib_read_lat ib_atomic_lat ;;
	esac
}

interop_more_programs() {
	share 1 echo ib_send_lat.UD ib_write_lat.UC
	share 2 echo ib_{read,write,send}_bw
}

interop_meet() {
	touch "$RESULTS/met.$1.$MACHINE"
	wait_for 60 test -e "$RESULTS/met.$1.$peer"
}

group_interop() {
	local server family program name
	peer=b interop_kind=stock interop_device=rxe0
	if [ "$MACHINE" = b ]; then
		peer=a interop_kind=$KIND interop_device=$DEVICE
	fi
	PART_SECONDS=120 part "$MACHINE: set-up" interop_setup
	for server in a b; do
		for family in 4 6; do
			for program in $(interop_programs $family); do
				name="$program IPv$family, server $server"
				part "$MACHINE: $name" interop_side $server "$name" $family $program -n 200
				interop_meet "$server$family$program"
			done
		done
		for program in $(interop_more_programs); do
			name="$program, server $server"
			case $program in
			*.*) part "$MACHINE: $name" interop_side $server "$name" 4 "${program%.*}" -n 200 -c "${program#*.}" ;;
			*) part "$MACHINE: $name" interop_side $server "$name" 4 "$program" -n 200 -s 16384 ;;
			esac
			interop_meet "$server$program"
		done
	done
}
