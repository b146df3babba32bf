#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The negative control: a module with real faults in a real kernel, each of which scan_log.sh must find in the log.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
vm=$here/../vm

[ $# -eq 3 ] || { echo "usage: run.sh KERNEL-FOLDER debian|kasan|kcsan RESULTS-FOLDER" >&2; exit 2; }
kernel=$(realpath "$1") variant=$2 results=$(realpath -m "$3")

# fault=title that the report must have
warn='warn=WARNING: .*fault_warn'
locks=('lock_order=possible circular locking' 'sleep=sleeping function called from invalid context')
case $variant in
debian) wanted=("$warn") ;;
kasan)
	wanted=("${locks[@]}" "$warn" 'leak=kmemleak: [0-9]+ new'
		'out_of_bounds=KASAN: slab-out-of-bounds in fault_out_of_bounds'
		'use_after_free=KASAN: (slab-)?use-after-free in fault_use_after_free')
	;;
kcsan) wanted=("${locks[@]}" "$warn" 'race=KCSAN: data-race in .*(fault_race|increment)') ;;
*) echo "unknown variant $variant" >&2; exit 2 ;;
esac

module=$results/module
rm -rf "$module"
mkdir -p "$module"
cp "$here"/Kbuild "$here"/*.c "$module"
make -C "$kernel/build" M="$module" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$module/build.log" 2>&1 || {
	tail -n 20 "$module/build.log"
	exit 1
}
"$vm/run.sh" --kernel "$kernel" --script "$here/guest.sh" --results "$results" --time 200 --append kmemleak=on -- \
	"$module/prism_negative.ko" "${wanted[@]%%=*}"

status=0
"$vm/scan_log.sh" --kcsan-in prism_negative "$results/guest.log" >"$results/scan" || status=$?
grep '^report:' "$results/scan" || true
missed=0
[ $status -eq 1 ] || { echo "the scan ended with $status"; missed=1; }
for one in "${wanted[@]}"; do
	grep -Eq "^report: .*${one#*=}" "$results/scan" && continue
	echo "not found: ${one%%=*}"
	missed=1
done
exit $missed
