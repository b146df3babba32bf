#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The layout that cmake --install makes: the one that a distribution expects, usable from there.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program cmake nm readelf pkg-config cc c++ file

root=$work/root
cmake_cache() {
	sed -nE "s/^$1:[A-Z]+=//p" "$PRISM_BUILD/CMakeCache.txt"
}
prefix=$(cmake_cache CMAKE_INSTALL_PREFIX)
libdir=$(cmake_cache CMAKE_INSTALL_LIBDIR)
sysconf=$(cmake_cache CMAKE_INSTALL_SYSCONFDIR)
[ -n "$(cmake_cache PRISM_SANITIZE)" ] && skip "a build with sanitizers is not one to install"
lib=$root$prefix/$libdir
stores= # the applications may have been left out
[ "$(cmake_cache PRISM_APPS)" = OFF ] || stores=$lib/libprism-stores.so.0

install_tree() {
	DESTDIR=$root cmake --install "$PRISM_BUILD" >"$work/install" 2>&1 || {
		fail "cmake --install" "$work/install"
		finish
	}
	pass "cmake --install"
}

has() {
	local path
	for path in "$@"; do
		[ -e "$path" ] || fail "not installed: ${path#"$root"}"
	done
}

layout() {
	has "$lib/libprism.so" "$lib/libprism.so.1" "$lib/libprism-ext.so" "$lib/libprism-ext.so.0" \
		"$lib/prism/libprism-preload.so" "$lib/pkgconfig/prism.pc" "$lib/pkgconfig/prism-ext.pc" \
		"$lib/cmake/prism/prismConfig.cmake" "$lib/cmake/prism-ext/prism-extConfig.cmake" \
		"$root$prefix/include/infiniband/prismdv.h" "$root$prefix/bin/prism-run" \
		"$root$prefix/bin/ib_prism_read_lat" "$root$prefix/bin/prism-stat" "$root$prefix/share/man/man7/prismdv.7" \
		"$root$prefix/share/man/man1/prism-run.1" "$root$prefix/share/man/man3/prismdv_create_qp.3"
	[ -z "$stores" ] || has "$lib/libprism-stores.so" "$stores" "$lib/pkgconfig/prism-stores.pc" \
		"$lib/cmake/prism-stores/prism-storesConfig.cmake" "$root$prefix/include/prism/kv.h" \
		"$root$prefix/include/prism/tx.h" "$root$prefix/include/prism/gam.h" "$root$prefix/include/prism/store.h"
	[ -n "$(find "$root" -path '*/wireshark/*' -name prism.lua)" ] || fail "not installed: Wireshark's prism.lua"
	local driver
	driver=$(find "$root" -path '*/libibverbs.d/prism.driver')
	case $driver in
	"$root$prefix/$sysconf/libibverbs.d/prism.driver" | "$root/etc/libibverbs.d/prism.driver") ;;
	*) fail "prism.driver is at '${driver#"$root"}'" ;;
	esac
	[ "$(cat "$driver")" = "driver prism" ] || fail "prism.driver does not say 'driver prism'"
	local plugin=("$lib"/libibverbs/libprism-rdmav*.so)
	[ -s "${plugin[0]}" ] || fail "no plug-in for the kernel device in $lib/libibverbs"
	ldd "${plugin[0]}" | grep -q "libprism.so.1 => $lib/" || fail "the plug-in does not find libprism.so.1: $(ldd "${plugin[0]}")"
	[ "$(find "$root" -xtype l | wc -l)" -eq 0 ] || fail "dangling links: $(find "$root" -xtype l)"
	pass "layout"
}

# Every function of the headers has a page, as rdma-core's have.
man_pages() {
	local name
	# shellcheck disable=SC2086 # stores: one or none
	for name in $(nm -D --defined-only "$lib/libprism.so.1" $stores |
		sed -nE 's/.* T (prism(dv)?_[a-z_]+)@@PRISM_(1\.0|STORES_0)$/\1/p'); do
		has "$root$prefix/share/man/man3/$name.3"
	done
	pass "man pages"
}

symbols() {
	local alien
	readelf -d "$lib/libprism.so.1" | grep -q 'SONAME.*\[libprism.so.1\]' || fail "SONAME of libprism"
	alien=$(nm -D --undefined-only "$lib/libprism.so.1" "$lib/prism/libprism-preload.so" | grep '@IBVERBS_PRIVATE' || true)
	[ -z "$alien" ] || fail "bound to one private interface of libibverbs: $alien"
	alien=$(nm -D --defined-only "$lib/libprism.so.1" |
		grep -vE ' T prismdv_[a-z_]+@@PRISM_(1\.0|PRIVATE_1)$| A PRISM_(1\.0|PRIVATE_1)(@@.*)?$')
	[ -z "$alien" ] || fail "libprism exports more than it should: $alien"
	grep -c ' T .*@@PRISM_1.0' <(nm -D --defined-only "$lib/libprism.so.1") >"$work/count"
	[ "$(cat "$work/count")" -gt 10 ] || fail "libprism exports only $(cat "$work/count") functions"
	if [ -n "$stores" ]; then
		readelf -d "$stores" | grep -q 'SONAME.*\[libprism-stores.so.0\]' || fail "SONAME of libprism-stores"
		alien=$(nm -D --defined-only "$stores" |
			grep -vE ' T prism_(kv|tx|gam|store)_[a-z_]+@@PRISM_STORES_0$| A PRISM_STORES_0(@@.*)?$')
		[ -z "$alien" ] || fail "libprism-stores exports more than it should: $alien"
		local declared exported
		declared=$(sed -nE 's/^[a-z].*[ *](prism_[a-z_]+)\(.*/\1/p' "$root$prefix"/include/prism/{gam,kv,store,tx}.h | sort)
		exported=$(nm -D --defined-only "$stores" | sed -nE 's/.* T (prism_[a-z_]+)@@.*/\1/p' | sort)
		[ "$declared" = "$exported" ] || fail "libprism-stores does not export what its headers declare: $(diff <(echo "$declared") <(echo "$exported"))"
	fi
	local path
	while read -r path; do
		readelf -d "$path" 2>/dev/null | grep -E '(RPATH|RUNPATH)' | grep -F "$PRISM_BUILD" &&
			fail "$path has the build folder in its run path"
	done < <(find "$root" -type f \( -name '*.so*' -o -path '*/bin/*' \))
	pass "symbols and run paths"
}

write_programs() {
	local users=$PRISM_SOURCE/tests/packages/users name
	for name in device store; do
		cp "$users/$name.c" "$work/$name.c"
		cp "$users/$name.c" "$work/$name.cpp"
	done
	local headers
	headers=$(cd "$root$prefix/include" && find prism -name '*.hpp')
	{
		for header in $headers; do
			echo "#include <$header>"
		done
		cat "$work/device.c"
	} >"$work/ext.cpp"
}

run_program() {
	LD_LIBRARY_PATH=$lib "$work/$1" >"$work/out" 2>&1 && grep -Eq "CAS_MISS|1 to 65535 servers" "$work/out" ||
		fail "$2: the program does not run" "$work/out"
}

# with_pkg_config SOURCE PACKAGE COMPILER OPTION...
with_pkg_config() {
	local source=$1 package=$2 flags
	shift 2
	flags=$(PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs "$package" 2>&1) || {
		fail "pkg-config $package: $flags"
		return
	}
	# shellcheck disable=SC2086
	"$@" "$work/$source" -o "$work/program" $flags -Wl,-rpath-link,"$lib" >"$work/compile" 2>&1 || {
		fail "pkg-config $package, $source: it does not compile" "$work/compile"
		return
	}
	run_program program "pkg-config $package, $source"
	pass "pkg-config $package, $source"
}

with_cmake() {
	local folder=$work/cmake_user
	mkdir "$folder"
	local programs="use_c use_cpp use_ext"
	cp "$work"/device.c "$work"/device.cpp "$work"/ext.cpp "$work"/store.c "$folder"
	cat >"$folder/CMakeLists.txt" <<-'END'
		cmake_minimum_required(VERSION 3.20)
		project(user LANGUAGES C CXX)
		find_package(prism REQUIRED)
		find_package(prism-ext REQUIRED)
		add_executable(use_c device.c)
		target_link_libraries(use_c prism::prism)
		add_executable(use_cpp device.cpp)
		target_link_libraries(use_cpp prism::prism)
		add_executable(use_ext ext.cpp)
		target_link_libraries(use_ext prism::prism-ext)
	END
	if [ -n "$stores" ]; then
		programs+=" use_stores"
		cat >>"$folder/CMakeLists.txt" <<-'END'
			find_package(prism-stores REQUIRED)
			add_executable(use_stores store.c)
			target_link_libraries(use_stores prism::prism-stores)
		END
	fi
	cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$root$prefix" >"$work/configure" 2>&1 &&
		cmake --build "$folder/build" >>"$work/configure" 2>&1 || {
		fail "find_package(prism), find_package(prism-ext)" "$work/configure"
		return
	}
	for program in $programs; do
		run_program "cmake_user/build/$program" "find_package, $program"
	done
	pass "find_package(prism), find_package(prism-ext)"
}

launcher() {
	LD_LIBRARY_PATH=$lib "$root$prefix/bin/prism-run" ibv_devices >"$work/devices" 2>&1 && grep -q prism_lo "$work/devices" ||
		fail "prism-run of the installed tree" "$work/devices"
	pass "prism-run of the installed tree"
}

install_tree
layout
man_pages
symbols
write_programs
with_pkg_config device.c prism cc
with_pkg_config device.cpp prism c++ -std=c++20
with_pkg_config ext.cpp prism-ext c++ -std=c++20
if [ -n "$stores" ]; then
	with_pkg_config store.c prism-stores cc -std=c11 -Wall -Wextra -Wpedantic -Werror
	with_pkg_config store.cpp prism-stores c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror
fi
with_cmake
launcher
finish
