# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2086 # from lib.sh; numbers
# Bad packets, rubbish in shared queues, objects destroyed under traffic, clients that are killed. KIND=prism only.

# Adds a second address in the namespace, which has no connection
hostile_network() {
	peer_device
	ip -n peer -batch - <<-END
		addr replace 10.7.0.3/24 dev n1
		addr replace fd00:7::3/64 dev n1 nodad
	END
}

# peer_device: makes prism1, with a peer in a network namespace
peer_device() {
	base_device
	namespace_pair n0 n1 peer || fail "no namespace"
	link_exists prism1 || link_add prism1 prism n0 || fail "no device on n0"
}

# packet_peer FAMILY ARGUMENT...
packet_peer() {
	local prefix=10.7.0.
	[ "$1" = IPv4 ] || prefix=fd00:7::
	shift
	"$PRISM_BUILD/bin/prism-packet-peer" --device prism1 --namespace peer --device-address "${prefix}1" \
		--peer-address "${prefix}2" --other-address "${prefix}3" \
		--vectors "$guest_folder/../../vectors/vectors.json" --corpus "$PRISM_BUILD/kernel-corpus" "$@"
}

hostile_program() {
	local program=$1
	shift
	"$PRISM_BUILD/bin/$program" --device prism0 "$@"
}

# The kernel's CM makes an address handle for each message, and destroys it in atomic context. A program names these
# handles.
handles_of_others() {
	local namer status=0
	hostile_program prism-hostile-rings --handles "$@" &
	namer=$!
	while ! ended $namer && [ $status -eq 0 ]; do
		next_port
		SERVER_PATIENCE=5 run_pair_of $port ucmatose -b 10.9.1.1 -p $port -c 20 -C 0 -- \
			ucmatose -s 10.9.1.1 -p $port -c 20 -C 0 || status=$?
	done
	wait $namer || status=$?
	return $status
}

# Objects of programs that have ended must be gone. The devices' own are one domain and the GSI's objects each.
nothing_left() {
	rdma resource
	wait_for 5 only_gsi || fail "objects are left behind"
}

only_gsi() { ! rdma resource | grep -E ' prism[01]: ' | grep -vqE 'pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0 srq 0'; }

group_hostile() {
	local family name mutated number=1 seconds=${HOSTILE_SECONDS:-$((TIME_FACTOR > 1 ? 8 : 5))}
	part "hostile network" hostile_network
	for family in IPv4 IPv6; do
		for name in vectors bundle_vectors bundles bad duplicates abandoned trains responses; do
			share $number part "packets $family $name" packet_peer $family --only $name
		done
		# Both families on kernels that watch memory: the header of an address family is parsed.
		[ "$TIME_FACTOR" -gt 1 ] || mutated=$number
		share "${mutated:-$SHARE}" part "packets $family mutated" packet_peer $family --only fuzz \
			--packets "${HOSTILE_PACKETS:-10000}" --seconds "$seconds" --seed "${HOSTILE_SEED:-1}"
		number=2
	done
	part "packets IPv6 length" packet_peer IPv6 --only length
	part "nothing dropped so far" no_backlog
	part "rubbish in rings" hostile_program prism-hostile-rings --seconds "$seconds" --seed "${HOSTILE_SEED:-1}"
	part "nothing left after rubbish" nothing_left
	part "destroyed under traffic" hostile_program prism-under-traffic --seconds "$seconds" --seed "${HOSTILE_SEED:-1}"
	part "clients killed" hostile_program prism-chain-killer --seconds "$seconds" --seed "${HOSTILE_SEED:-1}"
	part "nothing left" nothing_left
}

# Not part of the check: these need an idle machine, or minutes. A number returns only after a million shared receive
# queues.
group_rare() {
	part "hostile network" hostile_network
	PART_SECONDS=150 part "packets backlog" packet_peer IPv4 --only backlog
	part "address handles of others" handles_of_others --seconds 5 --seed "${HOSTILE_SEED:-1}"
	PART_SECONDS=400 part "packets recycled" packet_peer IPv4 --only recycled
}
