#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Does what README tells a newcomer on a bare machine: clones this checkout, runs ./demo.sh and the commands that it
# prints, and then all commands of pages. Pages that build or install something come last; the others use what ./demo.sh
# leaves. All is pasted: nothing waits for jobs in the background. A normal user with sudo does it, and nothing but sudo
# is installed.
# usage: demo.sh SUITE MACHINES [PAGE...]: default is README. CCACHE_DIR, if there is one: as in check.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ $# -gt 2 ] || set -- "$@" README.md

"$here/checkout.sh" "$work/prism"
python3 "$here/../documentation/run_page.py" --where machine --script README.md >"$work/readme"

# check.sh has compiled the same files, if its cache knows them, headers included. The cache holds results for the
# options that packages are built with, so these replace a demo's. Without a cache, all is compiled here.
put=()
if [ -n "${CCACHE_DIR:-}" ] && command -v ccache >/dev/null && command -v dpkg-buildflags >/dev/null; then
	mkdir -p "$CCACHE_DIR"
	# shellcheck source=scripts/package_flags.sh
	. "$source/scripts/package_flags.sh"
	cat >"$work/launcher" <<-END
		#!/bin/bash
		export CCACHE_DIR=/home/dev/cache CCACHE_BASEDIR='$source' CCACHE_COMPILERCHECK=content
		export CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=locale
		case \$1 in *++) options='$package_cxxflags' ;; *) options='$package_cflags' ;; esac
		command=()
		for word; do
			case \$word in -g | -g1) command+=(\$options) ;; -O2 | -DNDEBUG) ;; *) command+=("\$word") ;; esac
		done
		/home/dev/ccache --version >/dev/null 2>&1 || exec "\$@"
		exec /home/dev/ccache "\${command[@]}"
	END
	chmod 755 "$work/launcher"
	put=(--put "$work/launcher=/home/dev/launcher" --put "$(command -v ccache)=/home/dev/ccache" --put "$CCACHE_DIR=/home/dev/cache")
fi

cat >"$work/newcomer" <<'END'
set -euo pipefail
cd "$1"
shift
# The cached objects have no debug information, so the linker's optimizer must not make any: gcc 12's fails then.
[ ! -e ~/launcher ] || export CMAKE_C_COMPILER_LAUNCHER=$HOME/launcher CMAKE_CXX_COMPILER_LAUNCHER=$HOME/launcher LDFLAGS=-g0
TIMEFORMAT="demo.sh took %R s, and of processor time %U s beside %S s of the kernel's"
# README's commands on a machine are demo.sh, and the build of the rest, which demo.sh also tells the user to type next.
sed '/^ninja/Q' ~/readme >~/first
time bash ~/first >~/demo.out || { cat ~/demo.out; exit 1; }
cat ~/demo.out
[ ! -e ~/launcher ] || CCACHE_DIR=~/cache ~/ccache -s | grep -iE 'hits|misses' || true
grep -Eq '^64 B READ : UDP echo, latency +(udp|local) +[0-9.]+ +[0-9.]+ +[0-9.]+' ~/demo.out || { echo "FAIL: no table of ratios"; exit 1; }
grep -Eq '^GET, one client, median: PRISM-KV / Pilaf +[0-9.]+ .*goal' ~/demo.out || { echo "FAIL: no PRISM-KV beside Pilaf"; exit 1; }
! pgrep -u "$(id -u)" -a 'prism|ib_|redis|memcached' || { echo "FAIL: demo.sh leaves processes"; exit 1; }
# needs PAGE: prints the step that its reader has to do after ./demo.sh
needs() { if grep -q 'sudo apt' "$1"; then echo packages; elif grep -q 'ninja -C build programs' "$1"; then echo programs; else echo nothing; fi; }
failed=()
type_pages() {
	local page begun
	for page; do
		begun=$SECONDS
		[ "$page" = README.md ] || tests/documentation/run_page.py --where machine --here --seconds 900 "$page" || failed+=("$page")
		tests/documentation/run_page.py "$page" || failed+=("$page") # a user who cannot make a host, too
		echo "the commands of $page took $((SECONDS - begun)) s"
	done
}
nothing=() programs=() packages=()
for page; do
	declare -n pages=$(needs "$page")
	pages+=("$page")
done
type_pages "${nothing[@]}"
# Commands that it tells the user to type next
sed -n '/^== what to type next/,$p' ~/demo.out | grep -E '^[a-z]' >~/next
grep -c build/bin ~/next
echo "set -euxo pipefail; $(cat ~/next)" >~/type
timeout 1200 bash ~/type
pkill prism-kv-server
echo 'APT::Get::Assume-Yes "true";' | sudo tee /etc/apt/apt.conf.d/yes # the user also answers questions
type_pages "${programs[@]}" "${packages[@]}"
[ ${#failed[@]} -eq 0 ] || { echo "FAIL: the commands of ${failed[*]}"; exit 1; }
# Once more: nothing to install, nothing to build. Its result is known as soon as it begins to show the device.
begun=$SECONDS
{ ./demo.sh 2>&1 || true; } | sed '/^== the userspace device/q' >~/again.out
echo "demo.sh again came to its tables in $((SECONDS - begun)) s"
tail -n 1 ~/again.out | grep -q '^== the userspace device' || { cat ~/again.out; echo "FAIL: it does not build again"; exit 1; }
! grep -q installing ~/again.out || { echo "FAIL: it installs again"; exit 1; }
grep -q 'ninja: no work to do' build.log || { cat build.log; echo "FAIL: it builds again"; exit 1; }
END
"$here/machine.sh" run "$1" "$2" --user --put "$work/prism=$source" --put "$work/readme=/home/dev/readme" "${put[@]}" \
	--put "$work/newcomer=/home/dev/newcomer" -- bash newcomer "$source" "${@:3}"
