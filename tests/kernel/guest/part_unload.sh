# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# Links and modules that are removed while in use, and processes that die. Nothing may hang or stay behind.

unload_device() {
	need_module "$KIND"
	dummy_link d0 1 || fail "no dummy interface"
	link_exists "$DEVICE" || link_add "$DEVICE" "$KIND" d0 || fail "no device"
}

# Prints objects of processes. The kernel's own (those of the MAD layer) have no pid.
user_objects() {
	local what
	for what in pd cq qp mr ctx srq; do
		rdma resource show $what link "$DEVICE" 2>/dev/null || rdma resource show $what dev "$DEVICE" 2>/dev/null
	done | grep -E '(^| )pid [0-9]'
}

no_user_objects() { [ -z "$(user_objects)" ]; }

# start_traffic PROGRAM [ARGUMENT...]: starts a server and a client that run for longer than the part; pids in $server
# and $client
start_traffic() {
	local gid
	gid=$(gid_index "$DEVICE" 10.9.1.1) || fail "no GID"
	next_port
	"$@" -F -p $port -d "$DEVICE" -x "$gid" -D 100 &
	server=$!
	wait_for 15 listening $port $server || fail "the server does not listen"
	"$@" -F -p $port -d "$DEVICE" -x "$gid" -D 100 127.0.0.1 &
	client=$!
	wait_for 15 traffic_flows || fail "no traffic"
}

traffic_flows() {
	local before
	before=$(counter "$DEVICE" rcvd_pkts) || return 1
	pause 0.3
	[ "$(counter "$DEVICE" rcvd_pkts)" -gt $((before + 10)) ]
}

# end_of PID TEXT: waits until it ends by itself with an error; kills it if the driver cannot take a device from a
# process (rxe cannot: it has no disassociate_ucontext)
end_of() {
	local pid=$1 text=$2 status=0
	# On slow kernels too: after 10 s the kernel reports an interface that cannot be removed as an error. A process
	# that ends by itself does so at once, and one that does not keeps both processors busy.
	if TIME_FACTOR=1 wait_for 2 ended "$pid"; then
		wait "$pid" || status=$?
		echo "$text ended by itself with $status"
		case $status in
		0 | 1[3-9][0-9]) fail "$text ended with $status" ;;
		esac
	else
		echo "$text goes on until it is killed"
		kill -9 "$pid"
		wait_for 10 ended "$pid" || fail "$text cannot be killed"
	fi
}

# remove_while_used COMMAND...: runs the command, which removes the device, while $server and $client use it
remove_while_used() {
	local remover
	"$@" &
	remover=$!
	end_of "$client" "the client"
	end_of "$server" "the server"
	wait_for 20 ended $remover || fail "'$*' does not come to an end"
	wait $remover || fail "'$*' failed"
	wait_for 10 link_gone || fail "the device is still there"
}

link_gone() { ! link_exists "$DEVICE"; }

link_deleted_under_traffic() {
	unload_device
	start_traffic "$@"
	remove_while_used link_delete "$DEVICE"
}

netdev_deleted_under_traffic() {
	unload_device
	start_traffic ib_read_bw
	remove_while_used ip link delete d0
}

open_while_deleted() {
	local holder remover
	unload_device
	python3 "$guest_folder/hold_open.py" "$DEVICE" >/tmp/holder &
	holder=$!
	wait_for 20 grep -q open /tmp/holder || fail "the device cannot be opened"
	! rmmod "$(module_name "$KIND")" 2>/dev/null || fail "rmmod succeeded while a process has the device open"
	link_delete "$DEVICE" &
	remover=$!
	sleep 2
	if ended $remover; then echo "link delete did not wait"; else echo "link delete waits for the process"; fi
	kill -9 $holder
	wait_for 10 ended $holder || fail "the process cannot be killed"
	wait_for 20 ended $remover || fail "link delete does not come to an end"
	wait $remover || fail "link delete failed"
	wait_for 10 link_gone || fail "the device is still there"
}

killed_under_traffic() {
	local pid
	unload_device
	start_traffic "$@"
	kill -9 "$client"
	wait_for 10 ended "$client" || fail "the client cannot be killed"
	kill -9 "$server"
	wait_for 10 ended "$server" || fail "the server cannot be killed"
	wait_for 10 no_user_objects || {
		user_objects
		fail "objects of dead processes"
	}
}

many_killed() {
	local round
	for ((round = $(count 8); round > 0; round--)); do
		unload_device
		start_traffic ib_read_bw -q 4
		kill -9 "$server"
		sleep 0.$((RANDOM % 10))
		kill -9 "$client"
		wait_for 10 ended "$client" || fail "round $round: the client cannot be killed"
	done
	wait_for 10 no_user_objects || fail "objects of dead processes"
}

# Removes the module, and the link with it.
rmmod_with_link() {
	local round
	for round in 1 2 3; do
		unload_device
		unload_module "$KIND" || fail "round $round: rmmod"
		link_gone || fail "round $round: the link outlived its module"
	done
}

kmemleak_on() {
	grep -qw kmemleak=on /proc/cmdline && [ -w /sys/kernel/debug/kmemleak ]
}

leak_scan() {
	local file=/sys/kernel/debug/kmemleak round
	kmemleak_on || skip "no kmemleak in this kernel"
	sleep 6 # younger objects are not reported
	for round in 1 2; do
		echo scan >$file || fail "kmemleak does not scan"
	done
	cat $file
	! grep -q 'unreferenced object' $file || fail "memory leaked"
}

group_unload() {
	part "$KIND unload device" unload_device
	part "$KIND killed under ib_read_bw" killed_under_traffic ib_read_bw
	thorough_part "$KIND killed under ib_send_bw" killed_under_traffic ib_send_bw
	part "$KIND killed again and again" many_killed
	part "$KIND link deleted under ib_read_bw" link_deleted_under_traffic ib_read_bw
	thorough_part "$KIND link deleted under ib_write_bw" link_deleted_under_traffic ib_write_bw
	part "$KIND link deleted while open" open_while_deleted
	part "$KIND interface deleted under ib_read_bw" netdev_deleted_under_traffic
	part "$KIND rmmod with a link" rmmod_with_link
	# Last: memory that only the module's own data points at counts as leaked once the module is gone. A scan takes
	# 20 s.
	part "$KIND nothing leaked" leak_scan
}
