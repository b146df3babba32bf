# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# The random walk that holds the device against the reference interpreter, by verbs and by packets. KIND=prism only.

# walk BACKEND ARGUMENT...: WALK_STEPS, or 4000 of them, half as many on debug kernels
walk() {
	local backend=$1 steps=4000
	shift
	[ "${TIME_FACTOR:-1}" -eq 1 ] || steps=2000
	"$PRISM_BUILD/bin/differential_walk" --backend "$backend" --steps "${WALK_STEPS:-$steps}" --coverage "$@"
}

walk_packets() {
	local prefix=$1
	shift
	walk wire --device prism1 --namespace peer --peer-address "${prefix}2" --device-address "${prefix}1" "$@"
}

group_conformance() {
	local seed=${WALK_SEED:-1}
	part "conformance network" peer_device
	share 1 part "walk by verbs, MTU 256" walk device --device prism0 --seed "$seed"
	share 2 part "walk by verbs, MTU 1024" walk device --device prism0 --seed "$((seed + 1))" --mtu 1024
	share 2 part "walk by packets, IPv4" walk_packets 10.7.0. --seed "$((seed + 2))"
	share 1 part "walk by packets, IPv6" walk_packets fd00:7:: --seed "$((seed + 3))" --mtu 512
}
