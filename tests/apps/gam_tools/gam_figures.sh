#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# gam_figures as its users run it: a few systems at few points, single cases, and figures drawn again.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
need_program /usr/bin/python3
/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || skip "gam_figures: no matplotlib for /usr/bin/python3"

# figures ARGUMENT...
figures() {
	timeout -k 5 240 "$bin/gam_figures" "$@" >"$work/out" 2>"$work/err"
}

# rows TITLE: prints the number of lines in the table below that title, without the header
rows() {
	awk -v title="## $1" 'index($0, "## ") == 1 { inside = index($0, title) == 1 } inside && /^\| / { lines++ } END { print lines - 1 }' \
		"$work/figures/gam-figures.md"
}

figures --quick --systems directory,directory-sc --experiments reads-remote-100,operation,cases,hits \
	--out "$work/figures" || fail "gam_figures --quick fails" "$work/err" "$work/out"
grep -Eq '^all writes, all remote: directory / directory-sc +[0-9.]+ +goal: at least 1.6, reached: (yes|no); paper: 1.6' \
	"$work/out" || fail "no ratio of PSO and SC" "$work/out"
[ "$(grep -Ec '^(read|write)-hit, [12] threads: directory / 100 ns +[0-9.]+ +goal: at most 1, reached: (yes|no);' "$work/out")" -eq 4 ] ||
	fail "not four ratios of hits" "$work/out"
[ "$(rows "Operations/s over the reads")" -eq 4 ] || fail "not all points of the reads" "$work/figures/gam-figures.md"
[ "$(rows "Operations/s by kind")" -eq 2 ] || fail "not all kinds" "$work/figures/gam-figures.md"
[ "$(rows "Single cases")" -eq 18 ] || fail "not all cases" "$work/figures/gam-figures.md"
[ "$(grep -Ec '^\| [a-z-]+ \| (waits|sleeps|computes) .*\| yes \|$' "$work/figures/gam-figures.md")" -eq 18 ] ||
	fail "messages and home events are not those of the table" "$work/figures/gam-figures.md"
[ "$(ls "$work/figures")" = "$(printf 'gam-%s\n' case-computes.png case-sleeps.png case-waits.png figures.json figures.md \
	operation.png reads-remote-100.png)" ] || fail "other files" "$work/out"
for figure in case-waits operation reads-remote-100; do
	[ "$(head -c 4 "$work/figures/gam-$figure.png" | tail -c 3)" = PNG ] || fail "no figure gam-$figure.png"
done
pass "gam_figures"

"$bin/gam_figures" --redraw "$work/figures/gam-figures.json" --out "$work/again" >"$work/out" 2>&1 ||
	fail "gam_figures --redraw fails" "$work/out"
diff -r "$work/figures" "$work/again" >"$work/out" || fail "drawn again, the figures are others" "$work/out"
pass "gam_figures --redraw"

# Stores beside their rivals; without Redis, that is reported
systems=4 # of the table; GAM is two of them
command -v redis-server >/dev/null || systems=3
figures --quick --systems directory,latch --experiments table,tpcc --out "$work/stores" ||
	fail "gam_figures fails with stores" "$work/err" "$work/out"
[ "$(ls "$work/stores")" = "$(printf 'gam-%s\n' figures.json figures.md table-uniform.png table-zipfian.png tpcc.png)" ] ||
	fail "other files of stores" "$work/out"
[ "$(grep -Ec '^\| (GAM, latch|GAM, directory|PRISM-KV|PRISM-TX|FaRM|Redis) \| [0-9]+ \| [1-9]' "$work/stores/gam-figures.md")" -eq \
	$((2 * (2 * systems + 4))) ] || fail "not all points of stores" "$work/stores/gam-figures.md"
grep -Eq '^table-uniform, 100% GET: GAM, latch / PRISM-KV +[0-9.]+' "$work/out" || fail "no ratio to PRISM-KV" "$work/out"
grep -Eq '^tpcc, 100% distributed: GAM, directory / FaRM +[0-9.]+' "$work/out" || fail "no ratio to FaRM" "$work/out"
pass "gam_figures: stores"
mkdir "$work/path"
for program in python3 timeout; do
	ln -s "$(command -v $program)" "$work/path/$program"
done
PATH=$work/path figures --quick --systems directory --experiments table --rivals redis --table ||
	fail "gam_figures fails without Redis" "$work/err"
grep -Fxq 'gam_figures: redis is not measured: redis-server is not installed' "$work/err" ||
	fail "it does not say that there is no Redis" "$work/err"
pass "gam_figures: no Redis"

if figures --quick --systems none; then
	fail "a system that there is not" "$work/out"
fi
grep -q 'choose from' "$work/err" || fail "it does not say which there are" "$work/err"
if figures --quick --systems directory --experiments space --ib-dev none_such --table; then
	fail "a device that there is not" "$work/out"
fi
grep -q 'none_such' "$work/err" || fail "it does not say what the program said" "$work/err"
pass "gam_figures: errors"
finish
