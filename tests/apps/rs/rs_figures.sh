#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-ycsb with replicated volumes, and rs_figures, as their users run them.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
need_program ss /usr/bin/python3

volume=$work/volume.json

# refuses TEXT ARGUMENT...: expects that the driver fails and says TEXT
refuses() {
	local text=$1
	shift
	if timeout -k 5 30 "$bin/prism-ycsb" "$@" >"$work/out" 2>"$work/err"; then
		fail "accepted: $*" "$work/out"
	fi
	grep -Fq -- "$text" "$work/err" || fail "it does not say '$text':" "$work/err"
}

# serve STORE: starts new replicas of $volume, in one process
serve() {
	start "$work/server" "$bin/prism-rs-server" --store "$1" -c "$volume" -r 0,1,2 --new --bind 127.0.0.1
	wait_listening "$((first + 2))" "$started" || {
		fail "the $1 server does not start" "$work/server"
		finish
	}
}

# drive SYSTEM: uses all functions of the driver for a volume; every value is checked
drive() {
	timeout -k 5 60 "$bin/prism-ycsb" --system "$1" -c "$volume" --records 200 -s 1024 --mix A -n 2000 \
		--clients 3 -t 2 --verify >"$work/out" 2>"$work/err" || fail "$1 fails" "$work/err" "$work/out"
	grep -Eq 'verified: [1-9][0-9]* values, 0 wrong' "$work/out" || fail "$1 verifies nothing" "$work/out"
}

# Ports of this test; those of other tests begin elsewhere
first=$((23000 + $$ % 2000 * 3))
"$bin/prism-rs" -c "$volume" create -s 1024 -b 200 \
	"127.0.0.1:$first" "127.0.0.1:$((first + 1))" "127.0.0.1:$((first + 2))" >"$work/out" 2>&1 ||
	fail "no volume" "$work/out"

refuses "--configuration must be given" --system rs
refuses "where its replicas are" --system rs -c "$volume" -p 1
refuses "where its replicas are" --system abdlock -c "$volume" localhost
refuses "no --configuration" --system prism -c "$volume"
refuses "numbers of 8 bytes" --system rs -c "$volume" --key-size 16
refuses "say --size 1024" --system rs -c "$volume" --records 200
refuses "say --records 200" --system abdlock -c "$volume" -s 1024 --records 201
refuses "cannot read the configuration" --system rs -c "$work/none"
refuses "replicas are needed" --system rs -c "$volume" -s 1024 --records 200 --timeout 0.5
if "$bin/prism-rs-server" --store abdlock -c "$volume" -r 0 >"$work/out" 2>&1; then
	fail "a replica of abdlock that is not new is served" "$work/out"
fi
grep -Fq "cannot be repaired" "$work/out" || fail "it does not say why" "$work/out"
pass "what cannot be is refused with a reason"

serve rs
drive rs
refuses "expected a abdlock store" --system abdlock -c "$volume" -s 1024 --records 200
kill "$started"
wait "$started" || fail "the server does not end well" "$work/server"
serve abdlock
drive abdlock
drive abdlock-pipelined
refuses "expected a rs store" --system rs -c "$volume" -s 1024 --records 200
kill "$started"
wait "$started" || fail "the server does not end well" "$work/server"
pass "prism-ycsb: rs, abdlock, abdlock-pipelined"

# Nothing fails, and no value is wrong, while a replica stands still and then is gone.
pids=()
for replica in 0 1 2; do
	start "$work/server$replica" "$bin/prism-rs-server" --store abdlock -c "$volume" -r "$replica" --new --bind 127.0.0.1
	wait_listening "$((first + replica))" "$started" || fail "no replica $replica" "$work/server$replica"
	pids+=("$started")
done
"$bin/prism-ycsb" --system abdlock -c "$volume" --records 200 -s 1024 -n 1 >"$work/out" 2>&1 || fail "loading" "$work/out"
timeout -k 5 60 "$bin/prism-ycsb" --system abdlock-pipelined -c "$volume" --records 200 -s 1024 --mix A -D 2 \
	--no-load --clients 3 --verify >"$work/out" 2>"$work/err" &
driver=$!
sleep 0.7
kill -STOP "${pids[1]}"
sleep 0.5
kill -CONT "${pids[1]}"
sleep 0.2
kill -9 "${pids[1]}"
wait "${pids[1]}" 2>/dev/null
wait "$driver" || fail "with one replica gone operations fail" "$work/err" "$work/out"
grep -Eq 'verified: [1-9][0-9]* values, 0 wrong' "$work/out" || fail "values are wrong" "$work/out"
kill "${pids[0]}" "${pids[2]}"
wait "${pids[@]}" 2>/dev/null
pass "abdlock: a replica stands still, and is gone"

if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
	timeout -k 5 120 "$bin/rs_figures" --quick --out "$work/figures" >"$work/out" 2>"$work/err" ||
		fail "rs_figures --quick fails" "$work/err" "$work/out"
	[ "$(grep -c 'goal: .* reached: \(yes\|no\);' "$work/out")" -eq 4 ] || fail "not four goals" "$work/out"
	[ "$(grep -c '^| \(PRISM-RS\|ABDLOCK\).* | [0-9]' "$work/figures/rs-figures.md")" -eq 12 ] ||
		fail "not all points are in the table" "$work/figures/rs-figures.md"
	[ "$(grep -Ec '^\| (PRISM-RS|ABDLOCK).*( [0-9]+\.[0-9]+ \([0-9.]+\), [0-9]+ \|){2}$' "$work/figures/rs-figures.md")" -eq 12 ] ||
		fail "packets are not counted" "$work/figures/rs-figures.md"
	"$bin/rs_figures" --redraw "$work/figures/rs-figures.json" --out "$work/again" >"$work/out" 2>&1 ||
		fail "rs_figures --redraw fails" "$work/out"
	diff -r "$work/figures" "$work/again" >"$work/out" || fail "drawn again, the figures are others" "$work/out"
	pass "rs_figures"
else
	[ "$failures" -eq 0 ] && skip "rs_figures: no matplotlib for /usr/bin/python3"
fi
finish
