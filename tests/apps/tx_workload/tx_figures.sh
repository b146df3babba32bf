#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tx_figures with servers that only listen, and a driver over stores in memory.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/../../integration/common.sh"
need_program /usr/bin/python3
/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || skip "tx_figures: no matplotlib for /usr/bin/python3"

# The script runs the programs of its own folder.
mkdir "$work/bin"
cp "$PRISM_SOURCE"/apps/bench/tx/{tx_figures,tx_stores.py} "$PRISM_SOURCE/apps/bench/frame/store_figures.py" \
	"$PRISM_SOURCE/apps/bench/gam/driver/gam_cluster.py" \
	"$PRISM_SOURCE/perftest-ext/figures/measuring.py" "$work/bin"
cp "$bin/tx-fake-bench" "$work/bin/prism-tx-bench"
cat >"$work/bin/prism-tx-server" <<'END'
#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
import os, socket, sys, time

with open(os.path.join(os.path.dirname(__file__), "started"), "a") as log:
    print(*sys.argv[1:], file=log)
if os.environ.get("BROKEN"):
    sys.exit("this one is broken")
with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
    listener.listen()
    time.sleep(60)
END
chmod +x "$work/bin/prism-tx-server"

# Ports of this test; those of other tests begin elsewhere
port=$((29000 + $$ % 500 * 6))

# figures ARGUMENT...
figures() {
	timeout -k 5 60 "$work/bin/tx_figures" --port "$port" "$@" >"$work/out" 2>"$work/err"
}

small=(--rounds 1 -D 0.03 --warm-up 0 --records 300 --accounts 300 --items 100 --customers 20 --tpcc-transactions 100)
figures "${small[@]}" --clients 1,4 --thetas 0,0.99 --skew-clients 2,4 --bench-clients 4 --out "$work/figures" ||
	fail "tx_figures fails" "$work/err" "$work/out"
[ "$(grep -Ec 'PRISM-TX / FaRM +[0-9.]+ .*goal: at .*reached: (yes|no);' "$work/out")" -eq 5 ] ||
	fail "not five goals" "$work/out"
[ "$(grep -Ec 'PRISM-TX / .* +[0-9.]+ .*goal: -' "$work/out")" -eq 15 ] || fail "not fifteen other ratios" "$work/out"
# For each of five systems: two numbers of clients, two exponents, one line for each benchmark
rows=$(grep -Ec '^\| (PRISM-TX|FaRM|two-phase locking)[^|]* \| [0-9]' "$work/figures/tx-figures.md")
[ "$rows" -eq 30 ] || fail "$rows points are in the table" "$work/figures/tx-figures.md"
for figure in clients skew skew-aborts smallbank tpcc; do
	[ "$(head -c 4 "$work/figures/tx-$figure.png" | tail -c 3)" = PNG ] || fail "no figure tx-$figure.png"
	grep -aq 'SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB' "$work/figures/tx-$figure.png" || fail "no licence"
done
[ "$(wc -l <"$work/bin/started")" -eq 15 ] || fail "not a server for each system and workload" "$work/bin/started"
grep -q -- '--store prism .*--keys 300 --value-size 512 --commit paper' "$work/bin/started" ||
	fail "no server of the paper's commit" "$work/bin/started"
pass "tx_figures"

"$work/bin/tx_figures" --redraw "$work/figures/tx-figures.json" --out "$work/again" >"$work/out" 2>&1 ||
	fail "tx_figures --redraw fails" "$work/out"
diff -r "$work/figures" "$work/again" >"$work/out" || fail "drawn again, the figures are others" "$work/out"
pass "tx_figures --redraw"

: >"$work/bin/started"
figures --quick --systems prism,farm --workloads smallbank --shards 3 --numbered --out "$work/part" ||
	fail "a part of it fails" "$work/err" "$work/out"
[ "$(ls "$work/part")" = "$(printf 'tx-figures.json\ntx-figures.md\ntx-smallbank.png')" ] || fail "other files"
[ "$(grep -c -- '--shards 3 .*--numbered' "$work/bin/started")" -eq 6 ] || fail "not three shards" "$work/bin/started"
pass "tx_figures: one workload, three shards"

if BROKEN=1 figures --quick --out "$work/none"; then
	fail "servers that do not start go unnoticed" "$work/out"
fi
grep -q 'this one is broken' "$work/err" || fail "it does not say what the server said" "$work/err"
if figures --systems none; then
	fail "a system that there is not" "$work/out"
fi
grep -q 'choose from' "$work/err" || fail "it does not say which there are" "$work/err"
if figures --shards 0; then
	fail "no shards" "$work/out"
fi
pass "tx_figures: errors"
finish
