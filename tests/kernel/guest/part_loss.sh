# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# Two devices over a veth pair that loses, duplicates, reorders and corrupts packets.

loss_devices() {
	need_module "$KIND"
	crossing_pair v0 v1 || fail "no veth pair"
	link_exists "${DEVICE}a" || link_add "${DEVICE}a" "$KIND" v0 || fail "no device on v0"
	link_exists "${DEVICE}b" || link_add "${DEVICE}b" "$KIND" v1 || fail "no device on v1"
}

# both ARGUMENT...: runs netem on both ends
both() {
	netem v0 "$@" && netem v1 "$@"
}

# A packet is retransmitted after 4 ms; on debug kernels after 34 ms, as an answer of many packets takes longer there
# than 4 ms, and most retransmissions would be of packets that were not lost.
loss_timeout=$((TIME_FACTOR > 1 ? 13 : 10))

# loss_perftest PROGRAM [ARGUMENT...]
loss_perftest() {
	perftest_run "${DEVICE}b" 10.8.0.2 "${DEVICE}a" 10.8.0.1 "$@" -u $loss_timeout
}

loss_perftest6() {
	perftest_run "${DEVICE}b" fd00:8::2 "${DEVICE}a" fd00:8::1 "$@" -u $loss_timeout
}

# Each side leaves when it has everything. If its last acknowledgement is lost, nobody repeats it, and the other side,
# whose retry count of 7 means for ever in rxe, never ends.
loss_pingpong() {
	SERVER_PATIENCE=5 CLIENT_PATIENCE=5 pingpong_run ibv_rc_pingpong "${DEVICE}b" 10.8.0.2 "${DEVICE}a" 10.8.0.1 "$@"
}

# The tools of this project, which need our module
loss_prism_tool() {
	local program=$1
	[ "$KIND" = prism ] || skip "PRISM needs our module"
	shift
	[ -x "$PRISM_BUILD/bin/$program" ] || skip "$program is not built"
	loss_perftest "$PRISM_BUILD/bin/$program" "$@"
}

counters_moved() {
	local duplicates retries
	duplicates=$(counter "${DEVICE}b" duplicate_request)
	retries=$(counter "${DEVICE}a" completer_retry_err)
	echo "duplicate requests: $duplicates, retries: $retries"
	[ "$duplicates" -gt 0 ] && [ "$retries" -gt 0 ]
}

group_loss() {
	part "$KIND loss devices" loss_devices
	share 1 part "$KIND no loss: ib_atomic_lat" loss_perftest ib_atomic_lat -n 500
	share 2 part "$KIND no loss: ib_read_lat IPv6" loss_perftest6 ib_read_lat -n 200
	# rxe retransmits everything from the first packet that is out of order, so much reordering would only cost
	# time.
	both loss 2% duplicate 1% delay 200us reorder 3%
	share 1 part "$KIND loss: ib_atomic_lat" loss_perftest ib_atomic_lat -n "$(count 1000)"
	share 2 part "$KIND loss: ib_atomic_lat IPv6" loss_perftest6 ib_atomic_lat -n "$(count 600)"
	part "$KIND loss: ib_read_lat several packets" loss_perftest ib_read_lat -n "$(count 120)" -s 16384 -m 1024
	share 1 part "$KIND loss: ib_send_bw" loss_perftest ib_send_bw -n "$(count 200)" -s 4096 -m 1024
	share 2 part "$KIND loss: ib_write_bw" loss_perftest ib_write_bw -n "$(count 200)" -s 4096 -m 1024
	part "$KIND loss: ibv_rc_pingpong, checked" loss_pingpong -n "$(count 60)" -s 8192 -m 1024 -c
	part "$KIND loss: ib_prism_chain_lat" loss_prism_tool ib_prism_chain_lat -n "$(count 500)"
	share 2 part "$KIND loss: ib_prism_cas_lat" loss_prism_tool ib_prism_cas_lat -n "$(count 500)"
	share 2 part "$KIND loss: ib_prism_read_lat" loss_prism_tool ib_prism_read_lat -n "$(count 200)" -s 16384 -m 1024
	# several chains at once: bundles of many entries, whose retransmissions are bundled differently
	part "$KIND loss: ib_prism_chain_bw" loss_prism_tool ib_prism_chain_bw -n "$(count 1000)"
	part "$KIND loss: ib_prism_alloc_bw" loss_prism_tool ib_prism_alloc_bw -n "$(count 1000)"
	part "$KIND loss: READs of many packets" loss_prism_tool ib_prism_read_lat -n 5 -s 131072 -m 1024
	part "$KIND loss: READs of many packets, several at once" \
		loss_prism_tool ib_prism_read_bw -n $((TIME_FACTOR > 1 ? 5 : 8)) -s 131072 -m 1024
	part "$KIND loss: counters" counters_moved
	both corrupt 2%
	part "$KIND corruption: ibv_rc_pingpong, checked" loss_pingpong -n "$(count 80)" -s 4096 -m 1024 -c
	netem_off v0
	netem_off v1
}
