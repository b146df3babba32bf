#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Programs that handle descriptors by number, fork, or look up functions by name under prism-run.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program gcc ibv_devinfo
[ -e /dev/infiniband/rdma_cm ] && skip "this host has a connection manager of the kernel's"

# holds NAME COMMAND...: expects that it ends in time, with 0
holds() {
	local name=$1
	shift
	if timeout -k 5 60 "$@" >"$work/out" 2>&1; then
		pass "$name"
	else
		fail "$name" "$work/out"
	fi
}

# The program built with large files, and then the preloaded library
holds "descriptors are told apart" "$bin/prism-run" "$bin/descriptors"
holds "descriptors are told apart, large files" "$bin/prism-run" "$bin/descriptors_64"
for program in descriptors descriptors_64; do
	holds "$program under a library with large files" \
		env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$PRISM_BUILD/lib/libprism-preload-64.so" "$bin/$program"
done
holds "a process ends whose descriptors are closed" "$bin/prism-run" "$bin/descriptors" closed
holds "a device without descriptors" "$bin/prism-run" "$bin/descriptors" scarce
grep -q 'prism: cannot open .*Too many open files' "$work/out" || fail "it does not say what is missing" "$work/out"
holds "connections outlive a lack of descriptors" "$bin/prism-run" "$bin/connections" descriptors
holds "a killed client whose name a child keeps" "$bin/prism-run" "$bin/connections" kept
holds "a killed client whose name somebody takes" "$bin/prism-run" "$bin/connections" taken
if unshare -rpf true 2>/dev/null; then
	holds "a child in a PID namespace of its own" unshare -rpf "$bin/prism-run" "$bin/connections" first
fi
holds "a channel's number is another file's" "$bin/prism-run" "$bin/connections" renumbered
holds "a connection manager without memory" "$bin/prism-run" "$bin/starved"
holds "a thread is cancelled in a verb or beside a channel" "$bin/prism-run" "$bin/cancelled"
holds "children beside threads that use librdmacm" "$bin/prism-run" "$bin/connections" forks
for slow in getifaddrs pipe2 sigaction; do
	holds "a child that is born during another thread's first use, in $slow()" "$bin/first_use" $slow
done
holds "ibv_fork_init()" "$bin/prism-run" "$bin/forks"
holds "RDMAV_FORK_SAFE" env RDMAV_FORK_SAFE=1 "$bin/prism-run" "$bin/forks" asked
holds "handlers of faults" "$bin/prism-run" "$bin/faults"
holds "handlers of faults, without prism-run" "$bin/faults" alone
# The runtimes of sanitizers call functions that the preloaded library replaces before they are ready for most of its
# work.
for runtime in asan tsan; do
	[ -z "${LD_PRELOAD:-}" ] || continue # in a sanitizer's tree
	holds "a program with $runtime" env LD_PRELOAD="$(gcc -print-file-name=lib$runtime.so)" ASAN_OPTIONS=detect_leaks=0 \
		"$bin/prism-run" ibv_devinfo -d prism_lo
	grep -q PORT_ACTIVE "$work/out" || fail "a program with $runtime finds no device" "$work/out"
done
holds "a library that is unloaded" "$bin/unloaded" "$PRISM_BUILD/lib/libprism.so.1"
holds "functions that are looked up" "$bin/prism-run" --only "$bin/lookups" \
	"$PRISM_BUILD/lib/liblookup_behind.so" "$PRISM_BUILD/lib/liblookup_first.so"
finish
