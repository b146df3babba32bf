#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rpc_figures as its users run it: all ways at few points, values that are counted once, and figures drawn again.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/rpc_tools/support.sh
. "$(dirname "$0")/support.sh"
need_program /usr/bin/python3
/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || skip "rpc_figures: no matplotlib for /usr/bin/python3"

# Ports of this test; those of other tests begin elsewhere
port=$((27000 + $$ % 500 * 4))
all=$(IFS=, && echo "${ways[*]}")

# figures ARGUMENT...
figures() {
	timeout -k 5 120 "$bin/rpc_figures" --port "$port" "$@" >"$work/out" 2>"$work/err"
}

# rows TITLE: prints the number of lines in the table below that title
rows() {
	sed -n "/^## $1/,/^## /p" "$work/figures/rpc-figures.md" | grep -Ec '^\| [^|]+ \| [^|]+ \| [0-9]'
}

figures --quick --ways "$all,fetch-at-once" --experiments time,size-rate,depth --out "$work/figures" ||
	fail "rpc_figures --quick fails" "$work/err" "$work/out"
[ "$(grep -Ec '^(latency|packets|calls/s).*: [a-z]+ / [a-z-]+ +[0-9.]+ ' "$work/out")" -eq 6 ] || fail "not six ratios" "$work/out"
[ "$(grep -Ec 'goal: at most .*reached: (yes|no);' "$work/out")" -eq 2 ] || fail "not two goals" "$work/out"
[ "$(rows "Latency over the server's time")" -eq $((2 * (${#ways[@]} + 1))) ] || fail "not all points of P are in the table"
[ "$(rows "Rate over the size")" -eq "${#ways[@]}" ] || fail "not all points of S are in the table"
[ "$(ls "$work/figures")" = "$(printf 'rpc-%s\n' depth-packets.png depth.png figures.json figures.md size-rate.png time.png)" ] ||
	fail "other files" "$work/out"
for figure in depth size-rate time; do
	[ "$(head -c 4 "$work/figures/rpc-$figure.png" | tail -c 3)" = PNG ] || fail "no figure rpc-$figure.png"
done
pass "rpc_figures"

"$bin/rpc_figures" --redraw "$work/figures/rpc-figures.json" --out "$work/again" >"$work/out" 2>&1 ||
	fail "rpc_figures --redraw fails" "$work/out"
diff -r "$work/figures" "$work/again" >"$work/out" || fail "drawn again, the figures are others" "$work/out"
pass "rpc_figures --redraw"

# Some messages of 8 KiB for each client: RFP's server has room for those of each client, the slots' for the load
figures --quick --ways fetch,slots --experiments memory --clients 1,40 --out "$work/figures" ||
	fail "rpc_figures does not measure memory" "$work/err" "$work/out"
[ "$(rows Memory)" -eq 8 ] || fail "not all numbers of clients are in the table" "$work/figures/rpc-figures.md"
grep -Eq "client's messages: slots / fetch +[0-9]" "$work/out" || fail "the ways' memory is not compared" "$work/out"
# Check the plan: the kernel's count of pages depends on how many requests wait, and so on the machine's load
planned_for_a_client() { # WAY LENGTH, KiB
	awk -F ' *[|] *' -v way="$1" -v length_="$2" '$2 == way && $3 == length_ && $4 == "each one more" { print $6 }' \
		"$work/figures/rpc-figures.md"
}
awk -v fetch="$(planned_for_a_client "RFP, paced" 8192)" -v slots="$(planned_for_a_client "PRISM slots" 8192)" \
	'BEGIN { exit !(fetch > 60 && slots != "" && slots < 1) }' ||
	fail "memory by clients is not told from memory by load" "$work/out" "$work/figures/rpc-figures.md"
[ -s "$work/figures/rpc-memory.png" ] || fail "no figure of the memory"
pass "rpc_figures: memory"

if figures --quick --ways none; then
	fail "a way that there is not" "$work/out"
fi
grep -q 'choose from' "$work/err" || fail "it does not say which there are" "$work/err"
if figures --quick --ways two-sided --experiments time --ib-dev none_such --table; then
	fail "a device that there is not" "$work/out"
fi
grep -q 'none_such' "$work/err" || fail "it does not say what the server said" "$work/err"
pass "rpc_figures: errors"

if command -v valgrind >/dev/null; then
	figures --quick --ways two-sided --experiments instructions --out "$work/figures" ||
		fail "rpc_figures does not count instructions" "$work/err" "$work/out"
	# The numbers contain the server's own work for a call, and the echo's work
	grep -Eq '^\| SEND, SEND \| [1-9][0-9]{2,3} \| [1-9][0-9]{2} \| -?[0-9]+ \| [1-9][0-9]{2} \| [1-9][0-9]{2,5} \|$' \
		"$work/figures/rpc-figures.md" || fail "not the instructions of a call" "$work/figures/rpc-figures.md"
	pass "rpc_figures: instructions"
elif [ "$failures" -eq 0 ]; then
	skip "the instructions: valgrind is not installed"
fi
finish
