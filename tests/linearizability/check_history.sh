#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# check-history on files: exit status and output for good, broken and foreign ones. Argument: the folder of programs.
set -euo pipefail
bin=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/prism-history.XXXXXX")
trap 'rm -rf "$work"' EXIT

# expect STATUS PATTERN FILE...
expect() {
	local status=0 wanted=$1 pattern=$2
	shift 2
	"$bin/check-history" "$@" >"$work/output" 2>&1 || status=$?
	cat "$work/output"
	if [ "$status" -ne "$wanted" ] || ! grep -Eq "$pattern" "$work/output"; then
		echo "FAIL: status $status, expected $wanted and '$pattern'"
		exit 1
	fi
}

"$bin/make-history" "$work/good" --operations 300000 --clients 16 --keys 100
"$bin/make-history" "$work/unknown" --operations 100000 --clients 16 --keys 20 --unknown 1 --seed 2
"$bin/make-history" "$work/stale" --operations 100000 --keys 10 --stale --seed 3
echo nonsense >"$work/foreign"
expect 0 '^linearizable: 300000 operations on 100 keys' "$work/good"
expect 0 '^linearizable: 100000 operations on 20 keys' "$work/unknown"
expect 1 '^key 0x[0-9a-f]+: not linearizable' "$work/stale"
# One store cannot have had both histories: all values were put twice.
expect 2 'malformed' "$work/good" "$work/unknown"
expect 2 'HistoryWriter' "$work/foreign"
