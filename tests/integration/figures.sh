#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ib_prism_ratios and prism_figures: short runs of everything that this machine has, and their reports.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program /usr/bin/python3 ss

port=${PRISM_TEST_PORT:-24200}
numbers='[0-9.]+ +[0-9.]+ +[0-9.]+'

# check_report PROGRAM FILE PYTHON: the statements see the report as `report`
check_report() {
	if /usr/bin/python3 -c '
import json, statistics, sys
report = json.load(open(sys.argv[1]))
exec(sys.argv[2])' "$2" "$3" >"$work/checked" 2>&1; then
		pass "$1: the report"
	else
		fail "$1: the report is not as it should be" "$work/checked"
	fi
}

# Every ratio follows from the samples that are written beside it.
# shellcheck disable=SC2016
ratios_hold='
for row in report["ratios"]:
    assert abs(row["value"] - statistics.median(row["of_rounds"])) < 1e-4 * row["value"], row
    assert row["quartiles"][0] <= row["value"] <= row["quartiles"][1], row
    assert len(row["of_rounds"]) == report["rounds"], row
    if "aim" in row:
        sign, bound = row["aim"].split()
        assert row["met"] == (row["value"] <= float(bound) if sign == "<=" else row["value"] >= float(bound)), row
of_udp = report["samples"]["udp"]
chosen = [row for row in report["ratios"] if row["ratio"] == "64 B indirect READ : READ, latency" and row["path"] == "udp"]
pairs = list(zip(of_udp["read prism"], of_udp["read single"]))
assert len(pairs) == report["rounds"]
for ratio, (above, below) in zip(chosen[0]["of_rounds"], pairs):
    assert abs(ratio - above / below) < 1e-4, (ratio, above, below)
traffic = report["traffic"]["udp"]
assert 0.99 < traffic["read prism"]["tx_packets"] < 1.5 and 0.99 < traffic["read prism"]["rx_packets"] < 1.5, traffic
assert 2 <= traffic["read plain"]["tx_packets"] < 3, traffic
assert 32 <= traffic["read prism"]["tx_bytes"] < 64 <= 64 + 28 <= traffic["read prism"]["rx_bytes"] < 128, traffic
'

expect 0 "ib_prism_ratios" timeout -k 5 200 "$bin/ib_prism_ratios" --rounds 2 -n 50 --path udp --store-duration 0.1 \
	--only latency,pingpong,stores -p "$port" --out_json_file="$work/ratios.json" && {
	pass "ib_prism_ratios"
	grep -Eq "^64 B READ : UDP echo, latency +udp +$numbers \[[0-9.]+\.\.[0-9.]+\] +<= 1.25 +(met|NOT MET)\$" "$work/out" ||
		fail "no ratio with quartiles, aim and verdict" "$work/out"
	grep -Eq '^PRISM-TX : FaRM.*tx_figures' "$work/out" || fail "it does not say where the others are" "$work/out"
	check_report ib_prism_ratios "$work/ratios.json" "$ratios_hold"
	# Missing programs are named, and installed ones are measured.
	for rival in "ucx_perftest:UCX over posix shared memory:ucx posix" "fi_pingpong:libfabric's shm:libfabric shm"; do
		IFS=: read -r program name sample <<<"$rival"
		if command -v "$program" >/dev/null; then
			check_report "$name" "$work/ratios.json" "assert len(report['samples']['host']['$sample']) == 2"
		else
			grep -q "left out: $name" "$work/err" || fail "$name is left out without a word" "$work/err"
		fi
	done
	if [ -x "$bin/prism-ycsb" ]; then
		check_report "PRISM-KV" "$work/ratios.json" "assert min(report['samples']['udp']['kv puts']) > 0"
	fi
}

# A missing program: another PATH, with nothing but the programs that the script itself needs
mkdir "$work/few"
ln -s "$(command -v timeout)" "$(command -v env)" /usr/bin/python3 "$work/few"
expect 0 "ib_prism_ratios without rivals" env PATH="$work/few" "$bin/ib_prism_ratios" --rounds 1 -n 50 --path udp \
	--only pingpong -p "$port" && {
	grep -q "left out: UCX over posix shared memory: ucx_perftest is not installed (package ucx-utils)" "$work/err" ||
		fail "a rival is left out without a word" "$work/err"
	! grep -q UCX "$work/out" || fail "a ratio without a rival" "$work/out"
	pass "ib_prism_ratios without rivals"
}
expect 2 "a path that there is not" "$bin/ib_prism_ratios" --path wire && grep -q 'choose from udp, local, kernel' "$work/err" &&
	pass "ib_prism_ratios: an unknown path"
expect 2 "a part that there is not" "$bin/ib_prism_ratios" --only ucx && pass "ib_prism_ratios: an unknown part"
expect 2 "no rounds" "$bin/ib_prism_ratios" --rounds 0 && pass "ib_prism_ratios: no rounds"
if [ ! -e /sys/class/infiniband ] || ! compgen -G '/sys/class/infiniband/prism*' >/dev/null; then
	expect 1 "no kernel device" "$bin/ib_prism_ratios" --path kernel &&
		grep -q 'left out: path: kernel device: no device of the kernel module' "$work/err" && pass "ib_prism_ratios: no module"
fi

# Files of --redraw that are none of its reports, and places that take no more
kept=$PRISM_SOURCE/docs/figures/prism-figures.json
mkfifo "$work/fifo"
printf '\xff{}' >"$work/latin"
printf '{}' >"$work/empty"
printf '[]' >"$work/list"
printf '[%.0s' {1..100000} >"$work/deep"
sed '/"size"/d' "$kept" >"$work/part"
sed 's/prism_figures/kv_figures/' "$kept" >"$work/other"
mkdir "$work/full"
ln -s /dev/full "$work/full/prism-figures.md"
for file in fifo latin empty list deep part other; do
	expect 1 "--redraw $file" timeout -k 5 60 "$bin/prism_figures" --table --redraw "$work/$file" && says "$work/$file: "
	tells '(name the JSON file of an earlier run|copy what it gives into one, and name that)$'
done
expect 1 "a full disk" "$bin/prism_figures" --no-figures --redraw "$kept" --out "$work/full" &&
	says "prism_figures: cannot write $work/full/prism-figures.md: No space left on device"
# shellcheck disable=SC2317 # expect calls it
without_output() {
	"$bin/prism_figures" --table --redraw "$kept" >&-
}
expect 1 "a closed standard output" without_output &&
	says 'prism_figures: cannot write to the standard output: Bad file descriptor'
"$bin/prism_figures" --path wire 2>&- >"$work/out"
if [ $? -ne 2 ] || [ -s "$work/out" ]; then
	fail "without a standard error, messages go to the output" "$work/out"
fi
pass "prism_figures: inputs and outputs that are none"

# shellcheck disable=SC2317 # wait_for calls it
nobody_is_left() {
	! pgrep -as "$started"
}

# ends_with_all SIGNAL PROGRAM...: the program, a driver and servers run. With the program all of them end.
ends_with_all() {
	start "$work/ended" env --default-signal=HUP -C "$work/tree" TMPDIR="$work/temporary" setsid "${@:2}" --rounds 1000 -p "$port"
	wait_for 60 pgrep -s "$started" -f '127.0.0.1$|prism-ycsb|sleep' >"$work/out" ||
		fail "${2##*/} drives nothing" "$work/ended"
	kill "-$1" "$started"
	wait "$started" 2>/dev/null
	[ $? -eq $((128 + $(kill -l "$1"))) ] || fail "${2##*/} does not end by SIG$1" "$work/ended"
	wait_for 20 nobody_is_left >"$work/out" || fail "SIG$1 of ${2##*/} leaves" "$work/out"
	pkill -KILL -s "$started"
}
mkdir -p "$work/temporary" "$work/tree/tests/kernel"
# Python loses what a destructor raises, so the first signal is lost.
/usr/bin/python3 -c '
import os, signal, sys, time
sys.path.append(sys.argv[1])
import measuring
class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
def main():
    Deaf()
    time.sleep(60)
    os._exit(1)  # the alarm has not come
measuring.run_main(main)' "$PRISM_SOURCE/perftest-ext/figures" 2>"$work/deaf" &
deaf=$!
ends_with_all HUP "$bin/prism_figures" --table --figures operations --path udp
[ ! -x "$bin/kv_figures" ] || ends_with_all TERM "$bin/kv_figures" --table --systems prism,rpc
[ -z "$(ls "$work/temporary")" ] || fail "left in the folder for temporary files: $(ls "$work/temporary")"
[ ! -x "$bin/kv_figures" ] || ends_with_all KILL "$bin/kv_figures" --table --systems prism,rpc
if ! compgen -G '/sys/class/infiniband/prism*' >/dev/null; then
	# The script that runs a virtual machine, which has a process group of its own
	cat >"$work/tree/tests/kernel/kernel_test.sh" <<-'END'
		#!/bin/bash
		trap '[ -z "$!" ] || kill "$!"' EXIT
		timeout 100 sleep 77 &
		wait
	END
	chmod +x "$work/tree/tests/kernel/kernel_test.sh"
	ends_with_all TERM "$bin/prism_figures" --table --no-figures --path kernel
	ends_with_all KILL "$bin/prism_figures" --table --no-figures --path kernel
	printf '#!/bin/sh\necho "the machine says why" >&2; exit 124\n' >"$work/tree/tests/kernel/kernel_test.sh"
	expect 1 "a machine that gives up" env -C "$work/tree" "$bin/prism_figures" --table --no-figures --path kernel &&
		tells "the machine says why"
fi
wait "$deaf"
[ $? -eq 143 ] || fail "a program that has lost a signal does not end by it" "$work/deaf"
pass "with a program that draws figures, all that it has started ends"

/usr/bin/python3 -c 'import matplotlib' 2>/dev/null || skip "prism_figures: no matplotlib for /usr/bin/python3"
expect 0 prism_figures timeout -k 5 200 "$bin/prism_figures" --rounds 2 -n 40 --delays 0,6 --path udp -p "$port" \
	--out "$work/figures" && {
	pass "prism_figures"
	for operation in READ 'indirect READ' 'bounded indirect READ' WRITE 'indirect WRITE' ALLOCATE 'CAS, 8 B' 'CAS, 16 B' \
		'CAS, 32 B, greater' 'ALLOCATE [+] CAS' 'WRITE [+] ALLOCATE [+] CAS'; do
		grep -Eq "^\| $operation \| .*[0-9.]+ \[[0-9.]+\.\.[0-9.]+\] \|" "$work/figures/prism-figures.md" ||
			fail "no $operation in the table" "$work/figures/prism-figures.md"
	done
	grep -q '^UDP echo: [0-9]' "$work/out" || fail "no echo beside it" "$work/out"
	[ "$(head -c 4 "$work/figures/prism-operations-udp.png" | tail -c 3)" = PNG ] || fail "no figure of the operations"
	grep -aq 'SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB' "$work/figures/prism-operations-udp.png" || fail "no licence"
	check_report prism_figures "$work/figures/prism-figures.json" '
of_udp = report["samples"]["operations"]["udp"]
assert all(len(values) == 2 for values in of_udp.values()), of_udp
assert {"read prism", "read single", "read plain", "write-alloc-cas prism"} <= set(of_udp), of_udp
assert report["traffic"]["udp"]["alloc-cas prism"]["tx_packets"] >= 1
'
	if grep -Eq 'left out: (networks|delays)' "$work/err"; then
		grep -E 'left out: (networks|delays)' "$work/err"
	else
		grep -Eq '^\| 6 \| -?[0-9.]+ \[-?[0-9.]+\.\.-?[0-9.]+\] \|' "$work/figures/prism-figures.md" ||
			fail "the delay is not measured beside the nominal one" "$work/figures/prism-figures.md"
		[ -s "$work/figures/prism-network.png" ] || fail "no figure of the networks"
		check_report "prism_figures, networks" "$work/figures/prism-figures.json" '
assert report["delayed_by"] in ("netem", "bpf"), report["delayed_by"]
points = report["samples"]["network"]
assert set(points) == {"0", "6"}, points
for point in points.values():
    assert all(len(point[name]) == 2 for name in ("echo", "read prism", "read single", "read plain")), point
'
	fi
}

expect 0 "prism_figures --redraw" "$bin/prism_figures" --redraw "$work/figures/prism-figures.json" --out "$work/again" && {
	diff -r "$work/figures" "$work/again" >"$work/out" || fail "drawn again, the figures are others" "$work/out"
	pass "prism_figures --redraw"
}
# Measurements of a machine with the module are shown beside the rest, under the module's name.
/usr/bin/python3 - "$work/figures/prism-figures.json" "$work/guest.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
for part in (report["samples"]["operations"], report["traffic"]):
    part["kernel"] = part.pop("udp")
json.dump(report, open(sys.argv[2], "w"))
PYTHON
expect 0 "prism_figures --guest-report" "$bin/prism_figures" --quick --figures operations --path udp,kernel -p "$port" \
	--guest-report "$work/guest.json" --out "$work/both" && {
	grep -q 'shape only' "$work/both/prism-figures.md" || fail "it does not say that the machine is emulated"
	[ -s "$work/both/prism-operations-kernel.png" ] || fail "no figure of the kernel device"
	pass "prism_figures: the kernel device"
}

# The reports of the documentation tell how to draw their figures. Only those that a page shows are kept.
cp -r "$PRISM_SOURCE/docs/figures" "$work/kept"
find "$work/kept" -name '*.png' -delete
while IFS= read -r samples; do
	report=${samples%.json}.md
	! grep -F '![' "$report" >"$work/out" || fail "$report shows what is not kept" "$work/out"
	read -r -a command < <(sed -n "s/^\`\(.*\)\` draws the figures beside this page\.$/\1/p" "$report")
	[ "${command[*]:1}" = "--redraw ${samples##*/}" ] || fail "$report does not say how it is drawn"
	[ -x "$bin/${command[0]}" ] || continue # no applications here
	(cd "${samples%/*}" && "$bin/${command[0]}" "${command[@]:1}") >"$work/out" 2>&1 ||
		fail "$samples is not drawn" "$work/out"
done < <(find "$work/kept" -name '*.json')
diff -r -x '*.png' "$PRISM_SOURCE/docs/figures" "$work/kept" >"$work/out" || fail "drawn again, reports are others" "$work/out"
if [ -x "$bin/kv_figures" ]; then
	while IFS= read -r picture; do
		[ -s "$PRISM_SOURCE/docs/figures/$picture" ] || fail "a page shows $picture, which is not kept"
		[ -s "$work/kept/$picture" ] || fail "no samples draw $picture"
	done < <(sed -n 's/.*](figures\/\(.*\.png\)).*/\1/p' "$PRISM_SOURCE"/docs/*.md)
fi
pass "docs/figures"
expect 2 "a path that there is not" "$bin/prism_figures" --path wire && pass "prism_figures: an unknown path"
expect 2 "too long a delay" "$bin/prism_figures" --delays 1000 && pass "prism_figures: too long a delay"
expect 1 "no report" "$bin/prism_figures" --redraw "$work/none" && pass "prism_figures: no report"
finish
