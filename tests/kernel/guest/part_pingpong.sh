# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# The ping-pong examples of rdma-core, which check the data with -c.

# pingpong_run PROGRAM SERVER-DEVICE SERVER-ADDRESS CLIENT-DEVICE CLIENT-ADDRESS [ARGUMENT...]
pingpong_run() {
	local program=$1 server_device=$2 client_device=$4 server_gid client_gid
	server_gid=$(gid_index "$2" "$3") || fail "$2 has no GID of $3"
	client_gid=$(gid_index "$4" "$5") || fail "$4 has no GID of $5"
	shift 5
	next_port
	run_pair_of $port "$program" -p $port -d "$server_device" -g "$server_gid" "$@" -- \
		"$program" -p $port -d "$client_device" -g "$client_gid" "$@" 127.0.0.1
}

group_pingpong() {
	local kind address number
	part "$KIND pingpong device" base_device
	part "$KIND ibv_devinfo" ibv_devinfo -v -d "$DEVICE"
	for address in 10.9.1.1 fd00:9:1::1; do
		for kind in rc uc ud srq; do
			[[ $address == *:* ]] && number=2 || number=1
			share $number part "$KIND ibv_${kind}_pingpong $address" \
				pingpong_run ibv_${kind}_pingpong "$DEVICE" $address "$DEVICE" $address -n 100
		done
	done
	for kind in rc uc ud srq; do
		share 2 part "$KIND ibv_${kind}_pingpong events" \
			pingpong_run ibv_${kind}_pingpong "$DEVICE" 10.9.1.1 "$DEVICE" 10.9.1.1 -n 100 -e
	done
	share 1 part "$KIND ibv_rc_pingpong large, checked" \
		pingpong_run ibv_rc_pingpong "$DEVICE" 10.9.1.1 "$DEVICE" 10.9.1.1 -n "$(count 20)" -s 1000000 -c
	share 1 part "$KIND rping" rping_run 10.9.1.1
	share 2 part "$KIND rping IPv6" rping_run fd00:9:1::1
}

# Connection set-up by librdmacm, and a READ and a WRITE of each message
rping_run() {
	local address=$1
	next_port
	run_pair_of $port rping_side -s -a "$address" -p $port -C 10 -V -- rping_side -c -a "$address" -p $port -C 10 -V -v
}

# Before rdma-core 59, rping closes its channel at the end while its other thread may be about to ask it for an event,
# and then fails although all is done, on any device (rdma-core's commit f3ae6534a). The client's output shows whether
# all is done.
rping_side() {
	local status=0 log
	log=$(mktemp)
	rping "$@" >"$log" 2>&1 || status=$?
	cat "$log"
	[ $status -ne 255 ] || ! tail -n 1 "$log" | grep -q '^rdma_get_cm_event: Bad file descriptor' || status=0
	[ "$1" = -s ] || grep -q 'rdma-ping-9' "$log" || fail "rping: not all messages came back"
	return $status
}
