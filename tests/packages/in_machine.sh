#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What install.sh runs on the bare machine, as root.
set -euo pipefail
export LC_ALL=C.UTF-8
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

pass() { echo "ok: $*"; }

# shellcheck source=tests/packages/apt.sh
. /apt.sh

# All files but those that every installation changes, such as the copies that adduser and apt keep
list_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /packages -o -path /root \
		-o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune -o \
		-not -path '/etc/g*shadow-' -not -path '/etc/g*roup-' -not -path '/etc/passwd-' -print | sort
}

# In front of a command: nobody in particular runs it
as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp)

# expect NAME PATTERN COMMAND...: it succeeds and prints that, if there is a pattern
expect() {
	local name=$1 pattern=$2
	shift 2
	if timeout 60 "$@" >/tmp/out 2>&1 && { [ -z "$pattern" ] || grep -Eq -- "$pattern" /tmp/out; }; then
		pass "$name"
	else
		sed 's/^/    /' /tmp/out | tail -n 15
		fail "$name"
	fi
}

wait_for() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}

listening() { grep -qi ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; }

programs_work() {
	expect "prism-run ibv_devinfo" 'hca_id:.*prism_lo' "${as_user[@]}" prism-run ibv_devinfo
	timeout 60 "${as_user[@]}" ib_prism_read_lat -p 19815 >/tmp/server 2>&1 &
	wait_for listening 19815 || fail "ib_prism_read_lat: the server does not listen"
	expect "ib_prism_read_lat between two processes" '^ *64 ' "${as_user[@]}" ib_prism_read_lat -p 19815 -s 64 127.0.0.1
	wait $! || fail "ib_prism_read_lat: the server failed"
	timeout 120 "${as_user[@]}" prism-kv-server --records 1000 -p 19820 >/tmp/server 2>&1 &
	local server=$!
	wait_for listening 19820 || fail "prism-kv-server does not listen"
	expect "prism-kv put" '' "${as_user[@]}" prism-kv -s 127.0.0.1:19820 put greeting "hello world"
	expect "prism-kv get" '^hello world$' "${as_user[@]}" prism-kv -s 127.0.0.1:19820 get greeting
	expect "prism-stat" 'prism-kv-server' prism-stat --once
	expect "prism-ycsb" 'requests/s' "${as_user[@]}" prism-ycsb --system prism -p 19820 --records 500 -n 2000
	expect "kv_figures" 'GET, one client' "${as_user[@]}" kv_figures --table --systems prism,pilaf --mixes C --clients 1 --rounds 1 -D 0.1
	expect "pyprism.kv" "^b'hello world'" "${as_user[@]}" python3 -c \
		'import pyprism.kv; print(pyprism.kv.open("127.0.0.1:19820").get(b"greeting")[0])'
	kill $server
	expect "pyprism" CAS_MISS "${as_user[@]}" python3 -c 'import pyprism; print(pyprism.status_str(1))'
	expect "nbdkit plugin" 'prism-rs|configuration' nbdkit prism-rs --help
	expect "wireshark-prism" prism_rdma tshark -G protocols
	expect "manual pages" '^prism-run.1' ls /usr/share/man/man1
}

program_compiles() {
	# shellcheck disable=SC2016 # the inner shell's
	expect "compiling C by pkg-config prism" '' sh -c 'gcc /users/device.c -o /tmp/use $(pkg-config --cflags --libs prism)'
	expect "a C program" CAS_MISS /tmp/use
	printf '#include <prism/prism.hpp>\nint main() { prism::Chain chain; }\n' >/tmp/use.cpp
	# shellcheck disable=SC2016
	expect "compiling C++ by pkg-config prism-ext" '' \
		sh -c 'g++ -std=c++20 /tmp/use.cpp -o /tmp/use $(pkg-config --cflags --libs prism-ext)'
	expect "a C++ program" '' /tmp/use
	printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(use CXX)' 'find_package(prism-ext REQUIRED)' \
		'add_executable(use use.cpp)' 'target_link_libraries(use PRIVATE prism::prism-ext)' >/tmp/CMakeLists.txt
	expect "a CMake project with prism-ext" '' sh -c 'cmake -S /tmp -B /tmp/build-use && cmake --build /tmp/build-use'
	# shellcheck disable=SC2016
	expect "compiling C by pkg-config prism-stores" '' \
		sh -c 'gcc /users/store.c -o /tmp/store $(pkg-config --cflags --libs prism-stores)'
	expect "a C program with prism-stores" 'name 1 to 65535 servers' /tmp/store
	expect "manual pages of the library" '^prismdv.7' ls /usr/share/man/man7
}

apt-get update -qq
list_files >/tmp/before
mapfile -t runtime < <(printf '%s\n' /packages/*.deb | grep -vE '/(libprism-dev|rxe-prism-dkms)_')
apt_quietly install "${runtime[@]}" ibverbs-utils nbdkit tshark
if command -v gcc cc >/dev/null; then fail "the packages have brought a compiler"; else pass "no compiler"; fi
programs_work
apt_quietly install /packages/libprism-dev_*.deb gcc g++ libc6-dev pkgconf cmake make
program_compiles
mapfile -t names < <(printf '%s\n' "${runtime[@]##*/}" | sed 's/_.*//')
apt_quietly purge "${names[@]}" libprism-dev ibverbs-utils nbdkit tshark gcc g++ libc6-dev pkgconf cmake make
apt_quietly autoremove --purge
list_files >/tmp/after
if diff /tmp/before /tmp/after >/tmp/left; then
	pass "nothing is left after removal"
else
	cat /tmp/left
	fail "files are left, or missing, after removal"
fi
[ $failures -eq 0 ] || { echo "$failures checks failed"; exit 1; }
echo "all checks passed"
