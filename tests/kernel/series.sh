#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks that kernel/rxe-prism/build.sh refuses, with a reason: sources that a series was not made for, a series that
# would apply elsewhere, kernels that the module cannot run on. Before each, checks that it accepts correct input. Last,
# checks that the patches of stock rxe's faults are a series of their own: without anything of ours they make a rxe that
# builds.
# usage: series.sh LINE [SOURCE]: SOURCE holds rxe's source, unpacked, instead of linux-source-LINE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
line=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rxe=drivers/infiniband/sw/rxe
failed=0
if [ -n "${2:-}" ]; then
	cp -r "$2" "$work/rxe"
else
	mkdir "$work/rxe"
	tar -C "$work/rxe" -xf "/usr/src/linux-source-$line.tar.xz" --strip-components=1 --wildcards "*/$rxe/*.[ch]" "*/$rxe/Makefile"
fi

# fresh: makes a copy of the module's folder, an unpacked source tree, headers of a kernel, all as they should be
fresh() {
	rm -rf "${work:?}"/{module,headers,source,out,"a b",said}
	cp -r "$here/../../kernel/rxe-prism" "$work/module"
	mkdir -p "$work/headers/include/config"
	cp -r "$work/rxe" "$work/source"
	# shellcheck disable=SC2016 # make's
	printf 'modules:\n\ttouch $(M)/rxe_prism.ko\n' >"$work/headers/Makefile"
	echo "$line.0-test" >"$work/headers/include/config/kernel.release"
	printf 'CONFIG_X86_64=y\nCONFIG_INFINIBAND=m\n' >"$work/headers/include/config/auto.conf"
}

build() { "$work/module/build.sh" --source "$work/source" --out "$work/out" "$@" >"$work/said" 2>&1; }
prepare() { build --prepare "$line"; }
make_module() { build --kernel-build "$work/headers"; }
# shellcheck disable=SC2317 # called by refused
make_in_spaces() { "$work/module/build.sh" --source "$work/source" --kernel-build "$work/headers" --out "$work/a b" >"$work/said" 2>&1; }

# refused NAME MESSAGE COMMAND
refused() {
	if "$3"; then
		echo "FAIL: $1: taken"
		failed=1
	elif ! grep -Eq -- "$2" "$work/said"; then
		echo "FAIL: $1: no '$2' in: $(cat "$work/said")"
		failed=1
	else
		echo "ok: $1: $(head -n 1 "$work/said" | cut -c 1-150)"
	fi
}

record() {
	"$work/module/build.sh" --checksums "$line" --source "$work/source" >"$work/module/patches/$line/sources"
}

fresh
prepare || { cat "$work/said"; echo "FAIL: the installed source is refused"; exit 1; }
make_module || { cat "$work/said"; echo "FAIL: the headers are refused"; exit 1; }
[ -e "$work/out/rxe_prism.ko" ] || { echo "FAIL: 0 without a module"; exit 1; }
printf 'modules:\n' >"$work/headers/Makefile"
refused "a make that makes nothing" 'made no .*rxe_prism.ko' make_module
first=$work/module/patches/$("$work/module/build.sh" --series "$line" | sed -n 1p)
file=$(sed -n 's,^--- a/,,p' "$first" | sed -n 1p)

echo '/* changed */' >>"$work/source/$rxe/$file"
refused "a file that the series was not made for" "not made for this kernel source.*$file" prepare

fresh
echo '/* changed */' >>"$work/source/$rxe/rxe_opcode.c"
refused "a file that is not patched and has changed" 'not made for this kernel source.*rxe_opcode.c' prepare

fresh
sed -i '1i /* moved */' "$work/source/$rxe/$file"
record
refused "a change that would go to another line" 'applies elsewhere' prepare

# Change the context of the first change: patch's default fuzz would accept it all the same.
fresh
context=$(grep -n -m1 '^ .*[a-z]' "$first" | cut -d: -f1)
sed -i "${context}s/[a-z]/@/" "$first"
refused "a change whose context is not there" 'does not apply' prepare

fresh
printf 'CONFIG_PPC64=y\nCONFIG_CPU_BIG_ENDIAN=y\nCONFIG_INFINIBAND=m\n' >"$work/headers/include/config/auto.conf"
refused "a kernel of another architecture" 'little-endian 64-bit' make_module

fresh
echo CONFIG_X86_64=y >"$work/headers/include/config/auto.conf"
refused "a kernel without RDMA" 'CONFIG_INFINIBAND is off' make_module

fresh
echo 5.15.0-test >"$work/headers/include/config/kernel.release"
refused "a kernel without a series" "no patch series for kernel line '5.15'.*prism-run" make_module

fresh
mkdir "$work/out"
touch "$work/out/prism_notes.h"
refused "a folder with other files" 'other files' prepare
[ -e "$work/out/prism_notes.h" ] || { echo "FAIL: and it has removed them"; failed=1; }

fresh
refused "a folder that make does not take" 'space or a colon' make_in_spaces

# stock_builds: builds with the series' first part alone
stock_builds() {
	local patch headers=("/usr/src/linux-headers-$line".*-amd64) stock=$work/rxe/$rxe
	while read -r patch; do
		patch --fuzz=0 --no-backup-if-mismatch --directory "$stock" -p1 <"$work/module/patches/$patch" || return 1
	done < <("$work/module/build.sh" --series "$line" | grep '/00.*\.patch$')
	make -s -C "${headers[-1]}" M="$stock" CONFIG_RDMA_RXE=m CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-Werror modules || return 1
	[ -e "$stock/rdma_rxe.ko" ]
}

if stock_builds >"$work/said" 2>&1; then
	echo "ok: the patches of stock rxe's faults, alone"
else
	echo "FAIL: the patches of stock rxe's faults do not make a rxe of their own: $(cat "$work/said")"
	failed=1
fi
exit $failed
