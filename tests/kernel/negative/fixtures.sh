#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The quick control of scan_log.sh: titles of reports, as kernels print them, and lines that look like them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scan=$here/../vm/scan_log.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# scan_ends STATUS NAME FILE [OPTION...]
scan_ends() {
	local wanted=$1 name=$2 file=$3 status=0
	shift 3
	"$scan" "$@" "$file" >"$work/out" || status=$?
	[ $status -eq "$wanted" ] && return
	echo "FAIL: $name: the scan ended with $status, not $wanted"
	cat "$work/out"
	failures=$((failures + 1))
}

count=0
while IFS= read -r title; do
	[[ $title != '#'* ]] || continue
	count=$((count + 1))
	printf '[    0.000000] Linux version\n[   12.345678] %s\n' "$title" >"$work/log"
	scan_ends 1 "$title" "$work/log"
	# Printed by a program, which separates it from the time stamp
	printf '[    0.000000] Linux version\n%s\n' "$title" >"$work/log"
	scan_ends 0 "a program's $title" "$work/log"
	# Behind a program's output on the same line of the console
	printf 'a program: [   12.345678] %s\n' "$title" >"$work/log"
	scan_ends 1 "in a line: $title" "$work/log"
done <"$here/titles.txt"

while IFS= read -r line; do
	[[ $line != '#'* ]] || continue
	printf '[   12.345678] %s\n' "$line" >"$work/log"
	scan_ends 0 "$line" "$work/log"
done <"$here/harmless.txt"

printf 'no kernel here\n' >"$work/log"
scan_ends 2 "no kernel messages" "$work/log"
printf '[    1.000000] WARNING: CPU: 0 PID: 1 at known+0x1/0x2\n' >"$work/log"
scan_ends 0 "an allowed one" "$work/log" --allow 'at known\+'
scan_ends 1 "another one allowed" "$work/log" --allow 'at unknown\+'
printf '[    1.%d] %s\n' 0 'BUG: KCSAN: data-race in a / b' 1 'a+0x1 [rxe_prism]' 2 '==========' 3 '[other]' \
	>"$work/log"
scan_ends 1 "a race of ours" "$work/log" --kcsan-in rxe_prism
scan_ends 0 "a race of others" "$work/log" --kcsan-in other
printf '[    1.500000] %s\n' '==========' 'BUG: KCSAN: data-race in c / d' 'c+0x1' '==========' 'a+0x1 [rxe_prism]' \
	>"$work/log"
scan_ends 0 "a race of others, all in one instant" "$work/log" --kcsan-in rxe_prism
[ $count -ge 20 ] || { echo "FAIL: only $count titles"; failures=$((failures + 1)); }
[ $failures -eq 0 ] && echo "$count titles, each found"
