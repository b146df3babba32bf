#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What a newcomer does on a bare machine, as README says it: a clone of this checkout, ./demo.sh, and then what it says to
# type next. A normal user with sudo does it, and nothing but sudo is installed.
# usage: demo.sh SUITE MACHINES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/checkout.sh" "$work/prism"
python3 "$here/../documentation/run_page.py" --where machine --script README.md >"$work/readme"
cat >"$work/newcomer" <<'END'
set -euo pipefail
cd prism
TIMEFORMAT="demo.sh took %R s, and of processor time %U s beside %S s of the kernel's"
time bash ../readme >../demo.out || { cat ../demo.out; exit 1; }
cat ../demo.out
grep -Eq '^64 B READ : UDP echo, latency +[0-9.]+ +[0-9.]+ +[0-9.]+' ../demo.out || { echo "FAIL: no table of ratios"; exit 1; }
grep -Eq '^GET latency, one client: Pilaf / PRISM-KV +[0-9.]+ +[0-9.]+ +[0-9.]+' ../demo.out || { echo "FAIL: no PRISM-KV beside Pilaf"; exit 1; }
# What it says to type next
sed '1,/^== what to type next/d' ../demo.out | grep -E '^[a-z]' >../next
grep -c build/bin ../next
echo "set -euxo pipefail; $(sed 's/& *#.*/\& sleep 2/' ../next)" >../type
timeout 600 bash ../type
pkill prism-kv-server
# Once more: nothing to install, nothing to build
begun=$SECONDS
./demo.sh >../again.out
echo "demo.sh again took $((SECONDS - begun)) s"
! grep -q installing ../again.out || { echo "FAIL: it installs again"; exit 1; }
END
"$here/machine.sh" run "$1" "$2" --user --put "$work/prism=/home/dev/prism" --put "$work/readme=/home/dev/readme" \
	--put "$work/newcomer=/home/dev/newcomer" -- bash newcomer
