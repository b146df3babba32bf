#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Compiles all programs and tests on a bare machine with compilers that it has beside its own: without a warning, and
# the results work. A compiler that is too old is refused, with a helpful message.
# usage: compilers.sh SUITE MACHINES [COMPILER...]: gcc-13 or clang-19 for instance, or gcc or clang, which is the newest
# that SUITE has; default: both of these, but on bookworm, whose gcc is the check's own, with two that are too old instead
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ $# -ge 2 ] || { echo "usage: compilers.sh SUITE MACHINES [COMPILER...]" >&2; exit 2; }
suite=$1 machines=$2
shift 2
if [ $# -eq 0 ]; then
	if [ "$suite" = bookworm ]; then set -- gcc-11 clang-13 clang; else set -- gcc clang; fi
fi

"$here/checkout.sh" "$work/prism"
cat >"$work/compile" <<'END_OF_SCRIPT'
set -euo pipefail
cd /root/prism
. scripts/packages.sh

# newest FAMILY: prints the name of the newest of gcc or clang that the suite has
newest() {
	# Other packages, clang-tidy-19 for instance, begin and end alike.
	apt-cache pkgnames "${1/gcc/g++}-" | sed -n "s/^${1/gcc/g++}-\([0-9]*\)$/$1-\1/p" | sort -V | tail -n 1 | grep . ||
		{ echo "FAIL: no $1 here" >&2; exit 1; }
}

# use COMPILER: makes it the only compiler from here on. A gcc that is older than the suite's own links with a libstdc++
# of its own, which lacks symbols that Debian's libraries need (gtest is a static one). The newer one, which is loaded,
# has them; the linker takes them from it only if it comes after the objects.
use() {
	install_packages "${1/gcc/g++}"
	case $1 in
	gcc-*)
		export CC=$1 CXX=g++-${1#gcc-} LDFLAGS=-Wl,--allow-shlib-undefined
		;;
	*) export CC=$1 CXX=clang++-${1#clang-} LDFLAGS= ;;
	esac
	unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
}

too_old() { [ "${1#*-}" -lt "$([[ $1 = gcc-* ]] && echo 12 || echo 14)" ]; }

# refused COMPILER: expects that CMake refuses it, and that the remedy in its message helps. The compiler may compile C,
# beside a newer one for C++.
refused() {
	! cmake -S . -B "build-$1" >"$1.log" 2>&1 || { echo "FAIL: $1 is not refused"; exit 1; }
	tr -s '\n ' ' ' <"$1.log" | grep -oE "is (GNU|Clang) ${1#*-}\.[0-9.]+, which is too old: .* for instance\." ||
		{ cat "$1.log"; echo "FAIL: $1 is refused with other words"; exit 1; }
	rm -rf "build-$1"
	CXX=g++ configure_and_build "build-$1" prism -DCMAKE_UNITY_BUILD=ON
}

# compile COMPILER: compiles as demo.sh does, but everything. Warnings of clang come from its front end, so it need not
# optimize; gcc finds many while it optimizes, and ignores warnings in precompiled headers.
compile() {
	local options=(-DPRISM_GTESTS=together -DCMAKE_UNITY_BUILD=ON)
	if [[ $1 = clang-* ]]; then
		export CMAKE_C_COMPILER_LAUNCHER=$PWD/quickly CMAKE_CXX_COMPILER_LAUNCHER=$PWD/quickly
		options+=(-DPRISM_PRECOMPILE=all)
	else
		options+=(-DCMAKE_CXX_STANDARD_LIBRARIES="/usr/lib/$(uname -m)-linux-gnu/libstdc++.so.6")
	fi
	configure_and_build "build-$1" all "${options[@]}"
	# A clang that is newer than the suite's libstdc++ warns of what that does in its own headers.
	! grep -qP '^(?!/usr/\S*/include/c\+\+/).*warning: ' "build-$1.log" || {
		grep -A4 'warning: ' "build-$1.log"
		echo "FAIL: $1 warns"
		exit 1
	}
}
printf '#!/bin/sh\nexec "$@" -O0 -g0\n' >quickly
chmod 755 quickly

# works FOLDER: checks libprism below another program, the operations, and pyprism, whose layout and Cython differ from
# suite to suite. All programs have been asked for their options.
works() {
	"$1/prism-run" ibv_devinfo -d prism_lo | grep 'hca_id:.*prism_lo'
	for example in pointer_chase out_of_place_update plain_post_send; do
		"$1/examples/$example" --self >/dev/null
	done
	"$1/differential_walk" --steps 20000 --seed 7
	"$1/core_tests" --gtest_brief=1
	PYTHONPATH=$1/../python "$1/prism-run" /usr/bin/python3 tests/python/run_tests.py --dev prism_lo
}

install_packages "${build_packages[@]}" libgtest-dev
for compiler in "$@"; do
	begun=$SECONDS
	[ "$compiler" != "${compiler%-*}" ] || compiler=$(newest "$compiler")
	use "$compiler"
	if too_old "$compiler"; then
		refused "$compiler"
	else
		compile "$compiler"
		bash -euo pipefail -c "$(declare -f works); works build-$compiler/bin" >works.log 2>&1 || { cat works.log; echo "FAIL: what $compiler makes does not work"; exit 1; }
		echo "ok: $("$CXX" --version | sed -n 1p): no warning, it works ($((SECONDS - begun)) s)"
	fi
	rm -rf "build-$compiler"
done
END_OF_SCRIPT
"$here/machine.sh" run "$suite" "$machines" --put "$work/prism=/root/prism" --put "$work/compile=/root/compile" -- \
	bash /root/compile "$@"
