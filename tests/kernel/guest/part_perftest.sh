# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# Debian's perftest, both sides in this guest, over one device.

# perftest_run SERVER-DEVICE SERVER-ADDRESS CLIENT-DEVICE CLIENT-ADDRESS PROGRAM [ARGUMENT...]
perftest_run() {
	local server_device=$1 client_device=$3 program=$5 server_gid client_gid
	server_gid=$(gid_index "$1" "$2") || fail "$1 has no GID of $2"
	client_gid=$(gid_index "$3" "$4") || fail "$3 has no GID of $4"
	shift 5
	next_port
	run_pair_of $port "$program" -F -p $port -d "$server_device" -x "$server_gid" "$@" -- \
		"$program" -F -p $port -d "$client_device" -x "$client_gid" "$@" 127.0.0.1
}

# perftest_device KIND DEVICE: every program with IPv4, the round trips with IPv6 too
perftest_device() {
	local device=$2 four=10.9.1.1 six=fd00:9:1::1 program
	for program in ib_{read,write,send,atomic}_lat; do
		share 1 part "$1 $program IPv4" perftest_run "$device" $four "$device" $four "$program" -n 200
		thorough_part "$1 $program IPv6" perftest_run "$device" $six "$device" $six "$program" -n 200
	done
	for program in ib_{read,write,send,atomic}_bw; do
		share 2 part "$1 $program IPv4" perftest_run "$device" $four "$device" $four "$program" -n "$(count 500)"
	done
	share 1 part "$1 ib_read_bw IPv6" perftest_run "$device" $six "$device" $six ib_read_bw -n "$(count 500)"
	share 1 part "$1 ib_write_bw 1 MiB" perftest_run "$device" $four "$device" $four ib_write_bw -s 1048576 -n 5
	share 2 part "$1 ib_read_bw 1 MiB" perftest_run "$device" $four "$device" $four ib_read_bw -s 1048576 -n 5
	share 1 part "$1 ib_read_bw 4 QPs" perftest_run "$device" $four "$device" $four ib_read_bw -q 4 -s 4096 -n 200
	share 2 part "$1 ib_send_lat UD" perftest_run "$device" $four "$device" $four ib_send_lat -c UD -n 200
	thorough_part "$1 ib_send_lat UD IPv6" perftest_run "$device" $six "$device" $six ib_send_lat -c UD -n 200
	thorough_part "$1 ib_send_lat UC" perftest_run "$device" $four "$device" $four ib_send_lat -c UC -n 200
	share 2 part "$1 ib_write_lat UC" perftest_run "$device" $four "$device" $four ib_write_lat -c UC -n 200
	thorough_part "$1 ib_send_lat inline" perftest_run "$device" $four "$device" $four ib_send_lat -I 64 -s 64 -n 100
}

group_perftest() {
	part "$KIND perftest device" base_device
	perftest_device "$KIND" "$DEVICE"
	[ "$KIND" = stock ] || part "perftest: nothing dropped" no_backlog
}
