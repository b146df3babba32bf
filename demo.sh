#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# On a fresh Debian 12: install what is missing, build, run the PRISM operations beside the same work done with plain
# verbs, between two processes on the userspace device, and print the ratios. Needs neither a module nor root, except
# for installing packages.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/packages.sh

case "${1:-}" in
-h | --help)
	echo "usage: ./demo.sh    build, then compare PRISM operations with plain verbs (about two minutes)"
	exit 0
	;;
esac

echo "== packages"
install_packages "${build_packages[@]}"
echo "== build (log: build.log)"
configure_and_build build all -DBUILD_TESTING=OFF -DPRISM_APPS=OFF
echo "== the userspace device, as unmodified verbs programs see it"
build/bin/prism-run ibv_devinfo -d prism_lo | sed -n 1,8p
echo
echo "== PRISM beside plain verbs, two processes on loopback: medians of interleaved runs"
build/bin/ib_prism_ratios
