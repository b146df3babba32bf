# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086,SC2206,SC2153 # from lib.sh and main.sh; numbers and words without spaces
# rxe-prism beside stock rxe, both loaded at once. Not part of the check: timings are no assertions.
# SPEED_ROUNDS: how many rounds (30). SPEED_COUNTED: the guest's clock counts instructions.

speed_devices() {
	load_module stock || fail "rdma_rxe does not load"
	load_module prism udp_port=4792 || fail "rxe_prism does not load beside it"
	check "no dummy interface" dummy_link d0 1
	check "no dummy interface" dummy_link d1 2
	check "no stock device" link_add rxe0 stock d0
	check "no PRISM device" link_add prism0 prism d1
}

speed_run() {
	set -o pipefail
	python3 "${guest_folder:?}/speed.py" --rounds "${SPEED_ROUNDS:-30}" --stock-gid "$(gid_index rxe0 10.9.1.1)" \
		--prism-gid "$(gid_index prism0 10.9.2.1)" ${SPEED_COUNTED:+--counted} --tools "$PRISM_BUILD/bin" \
		--json "$RESULTS/$MACHINE/speed.json" | tee "$RESULTS/$MACHINE/speed"
}

userspace_speed_devices() {
	load_module stock || fail "rdma_rxe does not load"
	check "no dummy interface" dummy_link d0 1
	check "no stock device" link_add rxe0 stock d0
	# Stock rxe occupies the UDP port of every address in its own namespace.
	check "no namespace" ip netns add apart
	ip -n apart link set lo up
}

userspace_speed_run() {
	set -o pipefail
	[ -x "$PRISM_BUILD/bin/prism-run" ] || skip "no build tree with prism-run"
	python3 "${guest_folder:?}/speed.py" --rounds "${SPEED_ROUNDS:-30}" --stock-gid "$(gid_index rxe0 10.9.1.1)" \
		--prism prism_lo --prism-gid 0 --title userspace \
		--launcher "ip netns exec apart $PRISM_BUILD/bin/prism-run --device=prism_lo" \
		--json "$RESULTS/$MACHINE/userspace_speed.json" | tee "$RESULTS/$MACHINE/userspace_speed"
}

# The userspace device beside stock rxe.
group_userspace_speed() {
	part "stock rxe, and a namespace for the userspace device" userspace_speed_devices
	PART_SECONDS=3600 part "userspace speed" userspace_speed_run
}

group_speed() {
	part "two modules" speed_devices
	PART_SECONDS=3600 part "speed" speed_run
}
