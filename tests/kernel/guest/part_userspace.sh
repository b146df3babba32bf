# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# The userspace device, in a network namespace, and the module: each as server and as client of the other.

userspace_devices() {
	[ -x "$PRISM_BUILD/bin/prism-run" ] || skip "no build tree with prism-run"
	need_module "$KIND"
	namespace_pair w0 w1 peer || fail "no veth pair"
	ip netns exec peer ip addr
	link_exists "${DEVICE}w" || link_add "${DEVICE}w" "$KIND" w0 || fail "no device on w0"
	ip netns exec peer "$PRISM_BUILD/bin/prism-run" ibv_devices | tee /tmp/devices
	grep -q prism_w1 /tmp/devices || fail "no userspace device on w1"
}

# userspace_gid 4|6: prints the index of the GID; the userspace device chooses its own order.
userspace_gid() {
	# The list does not change, and querying it takes as long as a test.
	[ -s /tmp/devinfo ] || ip netns exec peer "$PRISM_BUILD/bin/prism-run" ibv_devinfo -v -d prism_w1 >/tmp/devinfo
	sed -nE 's/.*GID\[ *([0-9]+)\]:[[:space:]]*([^, ]*).*/\1 \2/p' /tmp/devinfo |
		while read -r index gid; do
			case "$gid" in
			::ffff:10.7.0.2 | 0000:0000:0000:0000:0000:ffff:0a07:0002) [ "$1" = 4 ] && echo "$index" ;;
			fd00:7::2 | fd00:0007:*:0002) [ "$1" = 6 ] && echo "$index" ;;
			esac
		done | head -n 1
}

# userspace_run FAMILY userspace|kernel PROGRAM [ARGUMENT...]: the second argument is the client's side
userspace_run() {
	local family=$1 client=$2 program=$3 there=() here address_here=10.7.0.1 gid_here gid_there
	shift 3
	link_exists "${DEVICE}w" || skip "no devices"
	[ "$family" = 4 ] || address_here=fd00:7::1
	gid_here=$(gid_index "${DEVICE}w" $address_here) || fail "no GID here"
	gid_there=$(userspace_gid "$family")
	[ -n "$gid_there" ] || fail "no GID there"
	there=(ip netns exec peer)
	# Our tools open the userspace device themselves.
	case $program in
	ib_prism_*)
		program=$PRISM_BUILD/bin/$program
		[ -x "$program" ] || skip "$program is not built"
		;;
	*) there+=("$PRISM_BUILD/bin/prism-run" --device=prism_w1) ;;
	esac
	next_port
	here=("$program" -F -p $port -d "${DEVICE}w" -x "$gid_here" "$@")
	there+=("$program" -F -p $port -d prism_w1 -x "$gid_there" "$@")
	if [ "$client" = userspace ]; then
		run_pair_of $port "${here[@]}" -- "${there[@]}" 10.7.0.1
	else
		run_pair_of $port "${there[@]}" -- "${here[@]}" 10.7.0.2
	fi
}

# userspace_standard CLIENT FAMILY: runs perftest's round trips
userspace_standard() {
	local client=$1 family=$2 program
	for program in ib_write_lat ib_send_lat; do
		thorough_part "$program, client $client, IPv$family" userspace_run $family $client $program -n 200
	done
	for program in ib_read_lat ib_atomic_lat; do
		part "$program, client $client, IPv$family" userspace_run $family $client $program -n 200
	done
}

# userspace_prism CLIENT: runs this project's tools
userspace_prism() {
	local client=$1 program number=1
	[ "$client" = userspace ] || number=2
	part "ib_prism_chain_lat, client $client" userspace_run 4 $client ib_prism_chain_lat -n "$(count 200)"
	for program in ib_prism_{read,write,cas,alloc}_lat; do
		share $number part "$program, client $client" userspace_run 4 $client $program -n "$(count 200)"
	done
	for program in ib_prism_{read,cas,alloc}_bw; do
		thorough_part "$program, client $client" userspace_run 4 $client $program -n 200
	done
	thorough_part "ib_prism_read_lat, client $client, IPv6" userspace_run 6 $client ib_prism_read_lat -n 200
	thorough_part "ib_prism_chain_lat, client $client, IPv6" userspace_run 6 $client ib_prism_chain_lat -n 200
	part "bundles, client $client" userspace_bundles $client 2
	part "bundles, client $client, version 1" userspace_bundles $client 1
	share $number part "ib_prism_read_lat, client $client, large" \
		userspace_run 4 $client ib_prism_read_lat -n "$(count 100)" -s 100000 -m 1024
}

# carried COUNTER...: prints the sum of the module's counters
carried() {
	local name sum=0
	for name in "$@"; do
		sum=$((sum + $(counter "${DEVICE}w" "$name")))
	done
	echo $sum
}

# userspace_bundles CLIENT VERSION: sends chains, by one doorbell each; bundles go both ways, or none if the userspace
# device speaks only version 1
userspace_bundles() {
	local client=$1 version=$2 received sent
	received=$(carried rx_bundles) sent=$(carried tx_bundles)
	export PRISM_WIRE_VERSION=$version
	userspace_run 4 "$client" ib_prism_chain_lat -n "$(count 200)" || fail "no round trips"
	pause 0.1 # counters are read at most every 10 ms
	received=$(($(carried rx_bundles) - received)) sent=$(($(carried tx_bundles) - sent))
	echo "$received bundles received, $sent sent"
	if [ "$version" = 1 ]; then
		check "bundles to or from version 1" [ $((received + sent)) -eq 0 ]
	else
		check "no bundles received" [ $received -gt 0 ]
		check "no bundles sent" [ $sent -gt 0 ]
	fi
}

group_userspace() {
	local client program
	part "userspace and $KIND devices" userspace_devices
	for client in userspace kernel; do
		# Nothing here takes long, and a pair that does not understand each other waits for ever.
		PART_SECONDS=30 userspace_standard $client 4
		[ -n "$SHORT" ] || PART_SECONDS=30 userspace_standard $client 6
		for program in ib_read_bw ib_write_bw ib_send_bw; do
			thorough_part "$program, client $client" userspace_run 4 $client $program -n 200 -m 1024
		done
		[ "$KIND" != prism ] || userspace_prism $client
	done
}
