#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Boot two machines, a and b, with one network link between them and the same script in both, which finds its own name
# in $MACHINE and a folder common to both in $RESULTS. Ends with 0 if both scripts do, else with the status of the one
# that ended first.
set -euo pipefail
# shellcheck source=tests/kernel/vm/common.sh
. "$(dirname "$0")/common.sh"

usage() {
	cat <<-END
	usage: run_pair.sh --kernel DIR [--kernel-b DIR] --script FILE --results DIR [OPTION of run.sh]... [-- ARGUMENT...]
	logs: DIR of --results/a.log and b.log
	END
}

kernel='' kernel_b='' results='' options=()
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2; shift 2 ;;
	--kernel-b) kernel_b=$2; shift 2 ;;
	--results) results=$(realpath -m "$2"); shift 2 ;;
	--) break ;;
	-h | --help) usage; exit 0 ;;
	--quiet) options+=("$1"); shift ;;
	--*) options+=("$1" "$2"); shift 2 ;;
	*) usage >&2; exit 2 ;;
	esac
done
if [ -z "$kernel" ] || [ -z "$results" ]; then
	usage >&2
	exit 2
fi

rm -rf "$results"
mkdir -p "$results"
sockets=$(mktemp -d) # a socket's path may not be long, the results' may
machines=()
# shellcheck disable=SC2317 # called by the trap
clean_up() {
	[ ${#machines[@]} -eq 0 ] || kill "${machines[@]}" 2>/dev/null || true
	rm -rf "$sockets"
}
trap clean_up EXIT

start() {
	local name=$1 peer=$2 folder=$3
	shift 3
	"$vm_folder/run.sh" --kernel "$folder" --results "$results" --name "$name" --net "$sockets/$name:$sockets/$peer" \
		"${options[@]}" "$@" &
	machines+=($!)
}

start a b "$kernel" "$@"
start b a "${kernel_b:-$kernel}" "$@"

# A machine that ends without a status (run.sh: 124 and above) leaves the other without a peer.
status=0
for _ in a b; do
	ended=0
	wait -n || ended=$?
	[ $status -ne 0 ] || status=$ended
	if [ $ended -ge 124 ]; then
		kill "${machines[@]}" 2>/dev/null || true
	fi
done
machines=()
exit $status
