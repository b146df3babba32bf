#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Up to a thousand queue pairs write to one process at once, with the socket buffers that any user has: none runs out of
# retries, and many are not much slower than a few.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
alone "$@"
need_program ib_write_bw setpriv

port=${PRISM_TEST_PORT:-21500}
# Uses sockets, without the right to buffers beyond the administrator's limit. Rings have no such buffers: there the
# messages of many queue pairs would be compared with those of a few that the caches hold.
run=(setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$bin/prism-run" --no-local --device=prism_lo)

# write_from QPS MESSAGES: runs with the default timeout, 67 ms; $rate: MiB/s
write_from() {
	rate=0
	local tool=("${run[@]}" timeout -k 5 100 ib_write_bw -d prism_lo -q "$1" -n "$2" -s 65536 -t 8 -p "$port")
	start "$work/server" "${tool[@]}"
	wait_listening "$port" "$started" || fail "the server does not listen" "$work/server"
	if "${tool[@]}" 127.0.0.1 >"$work/client" 2>&1 && wait "$started"; then
		rate=$(sed -n '/#bytes/{n;p}' "$work/client" | awk '{ print $4 }')
		pass "$1 queue pairs: $rate MiB/s"
	else
		fail "$1 queue pairs" "$work/client" "$work/server"
	fi
}

# Succeeds if 1,024 are at least half as fast as 16
compare_rates() {
	write_from 16 200
	local few=$rate
	write_from 1024 5
	awk -v few="$few" -v many="$rate" 'BEGIN { exit many < few / 2 }'
}

write_from 256 20
# A second try: another program may have the processors while the many write.
compare_rates || compare_rates || fail "1024 queue pairs are less than half as fast as 16"
finish
