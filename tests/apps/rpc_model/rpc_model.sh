#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rpc_model as its users run it, and the figures drawn from it.
set -euo pipefail

bin=$PRISM_BUILD/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAIL: $*"
	exit 1
}

# value FILE EXPRESSION: prints it for the rows of FILE
value() { /usr/bin/python3 -c "import json; rows = json.load(open('$1')); print($2)"; }

"$bin/rpc_model" --ways reply,fetch --process-times 1,7 --fetch-sizes 64,256 --duration 500 >"$work/rows"
[ "$(value "$work/rows" 'len(rows)')" = 6 ] || fail "two points of reply and four of fetch, not $(value "$work/rows" 'len(rows)')"
[ "$(value "$work/rows" 'rows[0]["way"], rows[0]["process_time"]')" = "reply 1.0" ] || fail "the first point is another"
[ "$(value "$work/rows" 'all(row["rate"] > 0 and row["median"] <= row["percentile_99"] for row in rows)')" = True ] ||
	fail "rates or latencies make no sense"
"$bin/rpc_model" --ways reply,fetch --process-times 1,7 --fetch-sizes 64,256 --duration 500 | cmp - "$work/rows" ||
	fail "the same seed gave other figures"

for wrong in "--ways none" "--process-times -1" "--sizes 0" "--threads 65" "--duration nan" "--fetch-sizes 15"; do
	status=0
	# shellcheck disable=SC2086
	"$bin/rpc_model" $wrong >"$work/text" 2>&1 || status=$?
	[ "$status" = 2 ] || fail "$wrong: ended with $status: $(cat "$work/text")"
done

/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || {
	echo "SKIP: rpc_model_figures: no matplotlib for /usr/bin/python3"
	exit 77
}
"$bin/rpc_model_figures" --duration 300 --out "$work/figures" >/dev/null
[ "$(find "$work/figures" -name '*.png' | wc -l)" = 7 ] || fail "not seven figures"
"$bin/rpc_model_figures" --redraw "$work/figures/rpc-model.json" --out "$work/again" >/dev/null
diff -r "$work/figures" "$work/again" || fail "drawn again it is another figure"
# The figures in the tree come from this model. Other compilers round differently, so single points may differ a little.
"$bin/rpc_model_figures" --out "$work/full" >/dev/null
/usr/bin/python3 - "$work/full/rpc-model.json" "$PRISM_SOURCE/docs/figures/model/rpc-model.json" <<'END' ||
import json, sys

def rates(value):
    if isinstance(value, dict) and "rate" in value:
        yield value["rate"]
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from rates(part)

now, kept = ([*rates(json.load(open(name))["samples"])] for name in sys.argv[1:])
far = [(new, old) for new, old in zip(now, kept) if abs(new - old) > 0.05 * old]
sys.exit(f"{len(now)} points, {len(kept)} kept, {far[:5]}" if len(now) != len(kept) or far else 0)
END
	fail "docs/figures/model is not what the model says: run rpc_model_figures"
