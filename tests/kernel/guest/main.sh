#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Main script of the guest: main.sh GROUP..., each a group_GROUP of the part_*.sh beside this. No set -e: a part that
# fails must not hide those after it; part() checks each status.
set -u
# shellcheck source=tests/kernel/guest/lib.sh
. "$(dirname "$0")/lib.sh"
for file in "$guest_folder"/part_*.sh; do
	# shellcheck source=/dev/null
	. "$file"
done
DEVICE=$(module_name "$KIND" | sed 's/rdma_rxe/rxe0/; s/rxe_prism/prism0/')

# Makes the device that most groups use, on a dummy interface
base_device() {
	need_module "$KIND"
	dummy_link d0 1 || fail "no dummy interface"
	link_exists "$DEVICE" || link_add "$DEVICE" "$KIND" d0 || fail "no device"
}

# Peers that conform stay below the bound of the backlog of a queue pair.
no_backlog() {
	local file
	for file in /sys/class/infiniband/prism*/ports/1/hw_counters/backlog_drops; do
		[ "$(cat "$file")" -eq 0 ] || fail "$file: $(cat "$file")"
	done
}

quiet_ipv6
use_provider
for group in "$@"; do
	echo "group $group, $KIND"
	"group_$group"
done
finish_parts
