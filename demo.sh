#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# On a fresh Debian 12 or newer: install what is missing, build, and show on the userspace device what PRISM is for: its
# operations beside the same work done with plain verbs, a key-value store beside Pilaf. Needs neither a kernel module nor
# root, except for installing packages.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/packages.sh

case "${1:-}" in
'') ;;
-h | --help)
	echo "usage: ./demo.sh    install what is missing, build into build/, compare (about five minutes)"
	exit 0
	;;
*) stop "no such option: $1 (usage: ./demo.sh)" ;;
esac
need_folder

echo "== packages"
install_packages "${build_packages[@]}"
echo "== build (log: build.log)"
configure_and_build build demo -DCMAKE_UNITY_BUILD=ON
echo "== the userspace device, as unmodified verbs programs see it"
build/bin/prism-run ibv_devinfo -d prism_lo | sed -n 1,8p
echo
echo "== PRISM beside plain verbs, two processes on loopback"
build/bin/ib_prism_ratios --short
for path in local udp; do
	echo
	echo "== PRISM-KV beside Pilaf, whose PUT is a call, --path $path: YCSB-C is reads, YCSB-A half updates"
	build/bin/kv_figures --path $path --table --systems prism,pilaf --clients 1,4 --rounds 3 --duration 0.3
done
cat <<'END'

== what to type next
build/bin/prism-kv-server --records 100000 &                 # a store, and its client
build/bin/prism-kv put greeting "hello world"
build/bin/prism-kv get greeting
build/bin/examples/pointer_chase --self                      # a first program: examples/pointer_chase.cpp
build/bin/prism-run ib_read_lat -d prism_lo -x 0 -F &        # Debian's own programs, on the userspace device
sleep 1                                                      # their clients do not wait for their servers
build/bin/prism-run ib_read_lat -d prism_lo -x 0 -F 127.0.0.1
ninja -C build programs                                      # the rest: replicated blocks, transactions (README.md)
END
