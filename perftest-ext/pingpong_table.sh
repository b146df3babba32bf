#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Prints half a round trip of one message between two processes of this host, by the userspace device and by other
# programs over sockets: all programs in turns, medians of the rounds. Needs perftest, ucx-utils and libfabric-bin.
set -euo pipefail

usage() {
	cat <<-END
	usage: pingpong_table.sh [--build FOLDER] [--rounds N] [--size BYTES] [--iters N]
	  --build FOLDER  where prism-run was built (default: build)
	  --rounds N      how often each program runs (default 5)
	  --size BYTES    of a message (default 512)
	  --iters N       round trips of a run (default 5000)
	END
}
build=build rounds=5 size=512 iters=5000
while [ $# -gt 0 ]; do
	case $1 in
	--build) build=$2; shift 2 ;;
	--rounds) rounds=$2; shift 2 ;;
	--size) size=$2; shift 2 ;;
	--iters) iters=$2; shift 2 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
run=("$build/bin/prism-run" --device=prism_lo)
[ -x "${run[0]}" ] || { echo "pingpong_table.sh: no ${run[0]}: build first, or name the folder with --build" >&2; exit 1; }
export PRISM_LOCAL=0 # over sockets, like the others
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
port=20000

listens() { [ -n "$(ss -H -ltn "sport = :$port")" ]; }

# both SERVER-PORT CLIENT-PORT COMMAND...: runs a server, and a client, which gets 127.0.0.1 as well; prints the
# client's output. The ports are options, which some programs spell differently for their two sides.
both() {
	local listen_on=$1 connect_to=$2
	shift 2
	timeout 60 "$@" "$listen_on" $port >"$work/server" 2>&1 &
	local server=$! i
	for ((i = 0; i < 100; i++)); do
		listens && break
		sleep 0.05
	done
	timeout 60 "$@" "$connect_to" $port 127.0.0.1 2>"$work/errors" || { cat "$work/errors" >&2; exit 1; }
	wait $server || { cat "$work/server" >&2; exit 1; }
}

perftest() { both -p -p "${run[@]}" ib_send_lat -s "$size" -n "$iters" "$@" | awk -v s="$size" '$1 == s { print $5 }'; }
ucx() {
	local lanes=$1
	shift
	UCX_TLS=$lanes UCX_WARN_UNUSED_ENV_VARS=n both -p -p "$@" ucx_perftest -t tag_lat -s "$size" -n "$iters" |
		awk '/^Final:/ { print $3 }'
}
# Prints the time of a transfer, which is half a round trip; the units follow the number.
libfabric() {
	local prefix=()
	[ "$1" = sockets ] || prefix=("${run[@]}")
	shift
	both -B -P "${prefix[@]}" fi_pingpong -S "$size" -I "$iters" "$@" | awk -v s="$size" '$1 == s { print $7 }'
}

programs=(
	"ib_send_lat -c UD, userspace device|perftest -c UD"
	"ib_send_lat (RC), userspace device|perftest"
	"ucx_perftest UCX_TLS=ud_v, userspace device|ucx ud_v ${run[*]}"
	"ucx_perftest UCX_TLS=rc_v, userspace device|ucx rc_v ${run[*]}"
	"ucx_perftest UCX_TLS=tcp, sockets|ucx tcp"
	"fi_pingpong -p udp -e dgram, sockets|libfabric sockets -p udp -e dgram"
	"fi_pingpong -p tcp -e msg, sockets|libfabric sockets -p tcp -e msg"
	"fi_pingpong -p verbs -e dgram, userspace device|libfabric device -p verbs -e dgram"
)
for ((round = 1; round <= rounds; round++)); do
	for ((i = 0; i < ${#programs[@]}; i++)); do
		printf '\rround %d of %d, program %d of %d ' $round "$rounds" $((i + 1)) ${#programs[@]} >&2
		# shellcheck disable=SC2086 # the words of a command
		${programs[i]#*|} >>"$work/samples.$i"
		port=$((port + 1))
	done
done
printf '\n%d bytes, half a round trip in usec: medians of %d runs of %d, in turns\n' "$size" "$rounds" "$iters"
for ((i = 0; i < ${#programs[@]}; i++)); do
	[ "$(wc -l <"$work/samples.$i")" -eq "$rounds" ] || { echo "${programs[i]%%|*}: no figures" >&2; exit 1; }
	printf '%8.2f  %s\n' "$(sort -n "$work/samples.$i" | sed -n $(((rounds + 1) / 2))p)" "${programs[i]%%|*}"
done | sort -n
