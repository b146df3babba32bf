#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# prism-gam-bench --simulated as a user runs it, and the figures drawn from it. Virtual time: a busy machine is no
# excuse.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
# shellcheck source=tests/apps/gam_tools/support.sh
. "$(dirname "$0")/support.sh"
need_program python3

workload="--nodes 8 --sharing-ratio 50 --cache 50 --blocks 128 -D 0.001 --warm-up 0.001"
for protocol in directory latch; do
	# shellcheck disable=SC2086
	expect 0 "$protocol" bench --simulated --protocol $protocol $workload --json "$work/json"
	holds 'i["simulated"] and i["hardware"]["hop"] == 0.9 and r["clean"] and r["operations"] > 1000'
	holds '0.5 < r["spread"]["fairness"] <= 1 and 0 < r["spread"]["busiest_processor"] <= 1'
	holds 'r["latency"]["t_min"] == 0.06 and r["latency"]["t_typical"] <= r["latency"]["percentile_99"]'
	grep -q 'simulated' "$work/out" || fail "it does not say that it is no measurement" "$work/out"
	cp "$work/json" "$work/first"
	# shellcheck disable=SC2086
	expect 0 "$protocol again" bench --simulated --protocol $protocol $workload --json "$work/json"
	cmp "$work/json" "$work/first" || fail "the same seed gave another run"
	# shellcheck disable=SC2086
	expect 0 "$protocol, another seed" bench --simulated --protocol $protocol $workload --seed 2 --json "$work/json"
	! cmp -s "$work/json" "$work/first" || fail "another seed gave the same run"
done
expect 0 "a case" bench --simulated --protocol directory --case clean-miss -n 10 --message-cost 100 --json "$work/json"
holds '200 < r["latency"]["t_min"] == r["latency"]["t_max"] < 203 and r["stats"]["messages"] == 20'
expect 0 "64 nodes" bench --simulated --nodes 64 --blocks 16 --cache 100 -n 20 --json "$work/json"
holds 'r["clean"] and r["operations"] == 1280'

# refused TEXT OPTION...: expects an error of usage that says TEXT
refused() {
	local text=$1
	shift
	expect 2 "refused: $*" bench "$@"
	says "$text"
}
refused "simulated nodes in another way" --simulated --in-process
refused "simulated nodes in another way" --simulated --master 127.0.0.1:1
refused "owners that forward" --forwards
refused "owners that forward" --simulated --forwards --protocol latch
refused "such a simulated home" --simulated --case clean-miss --home computes
refused "say --simulated as well" --hop 1
refused "--hop" --simulated --hop 0
refused "--gigabits" --simulated --gigabits=-1
pass "prism-gam-bench --simulated"

need_program /usr/bin/python3
/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || skip "gam_scale_figures: no matplotlib for /usr/bin/python3"

"$bin/gam_scale_figures" --quick --out "$work/figures" >"$work/out" 2>"$work/err" ||
	fail "gam_scale_figures --quick fails" "$work/err" "$work/out"
[ "$(find "$work/figures" -name '*.png' | wc -l)" = 7 ] || fail "not seven figures" "$work/out"
grep -Eq '^2 nodes, 50% shared: latch / directory +[0-9.]+' "$work/out" || fail "no ratio of the protocols" "$work/out"
grep -q 'no measurement' "$work/figures/gam-scale.md" || fail "the table does not say what it is" "$work/figures/gam-scale.md"
[ "$(grep -c '^| latch, SC |' "$work/figures/gam-scale.md")" = 16 ] || fail "not all points" "$work/figures/gam-scale.md"
"$bin/gam_scale_figures" --redraw "$work/figures/gam-scale.json" --out "$work/again" >"$work/out" 2>&1 ||
	fail "gam_scale_figures --redraw fails" "$work/out"
diff -r "$work/figures" "$work/again" >"$work/out" || fail "drawn again, the figures are others" "$work/out"
if "$bin/gam_scale_figures" --experiments none --out "$work/none" >"$work/out" 2>&1; then
	fail "an experiment that there is not" "$work/out"
fi
grep -q 'choose from' "$work/out" || fail "it does not say which there are" "$work/out"
pass "gam_scale_figures"

# The figures in the tree come from this program: run some of their points again. Other compilers may round differently.
/usr/bin/python3 - "$PRISM_SOURCE/docs/figures/model/gam-scale.json" "$bin/prism-gam-bench" "$work/json" <<'END' ||
import json, subprocess, sys

def points(value):
    if isinstance(value, dict) and "arguments" in value:
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from points(part)

kept, program, path = sys.argv[1:]
small = [point for point in points(json.load(open(kept))["samples"]) if "--nodes 2 " in point["arguments"]]
assert len(small) == 10, len(small)
for point in small:
    subprocess.run([program, "--simulated", *point["arguments"].split(), "--json", path], check=True, stdout=subprocess.DEVNULL)
    now = json.load(open(path))["results"]["rate"]
    if abs(now - point["rate"]) > 0.03 * now:
        sys.exit(f"{point['arguments']}: {now:.0f} a second, {point['rate']:.0f} are kept")
END
	fail "docs/figures/model/gam-scale.json is not what prism-gam-bench says: run gam_scale_figures"
pass "docs/figures/model"
finish
