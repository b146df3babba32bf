#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Threads of one context, each with a lane of its own: by rings and by UDP.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
alone "$@"
export PRISM_LANES=4

# shellcheck disable=SC2015 # pass cannot fail
run() {
	timeout -k 5 120 "$bin/lanes" "$1" >"$work/out" 2>&1 && pass "$*" || fail "$*" "$work/out"
}

for path in 1 0; do
	export PRISM_LOCAL=$path
	for each in data srq one_cq split list window dereg destroyed events forked short; do
		run "$each" "PRISM_LOCAL=$path"
	done
	if [ -n "${IN_NAMESPACE:-}" ]; then
		run vanished "PRISM_LOCAL=$path"
	else
		echo "left out: an address that goes, for want of a network namespace"
	fi
done
export PRISM_LOCAL=1
for value in abc 0 -1 17 4294967297 "3 " ""; do # the default, a lane for each processor
	LANES=$(nproc) PRISM_LANES=$value run data "PRISM_LANES='$value'"
done
if [ -n "${IN_NAMESPACE:-}" ]; then
	for number in 0 1; do
		ip link add grp$number type veth peer name peer$number
		ip address add 10.48.$number.1/24 dev grp$number
		ip address add fd48:$number::1/64 dev grp$number nodad
		ip link set peer$number up
		ip link set grp$number up
	done
	run groups "two interfaces"
else
	echo "left out: groups of two interfaces, for want of a network namespace"
fi
finish
