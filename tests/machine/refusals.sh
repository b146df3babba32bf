#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Refusals of demo.sh, check.sh and CMake when they cannot work: the message has the cause, and a remedy.
# usage: refusals.sh SUITE MACHINES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# cmake_refuses TEXT VARIABLE=VALUE...: expects a refusal with these in the environment
cmake_refuses() {
	local text=$1
	shift
	rm -rf "$work/build"
	if env "$@" cmake -S "$source" -B "$work/build" >"$work/log" 2>&1 || ! tr -s '\n ' ' ' <"$work/log" | grep -qF -- "$text"; then
		cat "$work/log"
		echo "FAIL: with $*, CMake does not refuse, or does not say '$text'"
		exit 1
	fi
	echo "ok: with $*, CMake says '$text'"
}

# An rdma-core like that of Debian 11
mkdir "$work/old"
sed 's/^Version:.*/Version: 1.11.33.1/' "$(pkg-config --variable=pcfiledir libibverbs)/libibverbs.pc" >"$work/old/libibverbs.pc"
cmake_refuses 'rdma-core 33 is too old: PRISM needs 44 or newer, as Debian 12 and newer have' PKG_CONFIG_PATH="$work/old"
# Compilers that claim to be too old; compilers.sh has some that are
for old in "g++ __GNUC__ 11" "clang++ __clang_major__ 13"; do
	read -r compiler macro version <<<"$old"
	printf '#!/bin/sh\nexec %s -U%s -D%s=%s "$@"\n' "$compiler" "$macro" "$macro" "$version" >"$work/old/$compiler"
	chmod 755 "$work/old/$compiler"
	cmake_refuses "which is too old: this needs gcc 12 or clang 14, or newer ones. Install one, remove $work/build, which" \
		CXX="$work/old/$compiler"
done

"$here/checkout.sh" "$work/prism"
cat >"$work/newcomer" <<'END'
useradd dev && chown -R dev: /home/dev && cd /home/dev/prism || exit 1
# refuses TEXT COMMAND...: expects that it fails with one line on the standard error, which has the text
refuses() {
	local text=$1
	shift
	if ! "$@" >/tmp/out 2>/tmp/err </dev/null && [ "$(wc -l </tmp/err)" -eq 1 ] && grep -qF -- "$text" /tmp/err; then
		echo "ok: $*: $(cat /tmp/err)"
	else
		echo "FAIL: $*: does not say '$text' in one line, but:"
		cat /tmp/out /tmp/err
		exit 1
	fi
}
refuses "the network perhaps, and start again: E: " ./demo.sh
refuses "the network perhaps, and start again: E: " ./check.sh
refuses "and start again: sudo: a " su dev -c ./demo.sh # it must not use sudo
mv /usr/bin/sudo /usr/bin/no-sudo
refuses "needs root, or sudo: apt-get install --no-install-recommends g++ " su dev -c ./demo.sh
sed -i 's/^VERSION_ID=.*/VERSION_ID=11/' /etc/os-release
refuses "Debian 11 has an rdma-core that is too old: this works on Debian 12 and newer" ./demo.sh
refuses "the check needs Debian 12" ./check.sh
END
"$here/machine.sh" run "$1" "$2" --no-network --put "$work/prism=/home/dev/prism" --put "$work/newcomer=/root/newcomer" -- \
	bash /root/newcomer
