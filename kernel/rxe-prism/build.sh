#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build rxe_prism.ko: rxe from the distribution's kernel source, the patch series of its kernel line, our own files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
	cat <<-END
	usage: build.sh [--kernel RELEASE | --kernel-build FOLDER] [--source FILE-OR-FOLDER] [--out FOLDER] [--prepare] [-- MAKE-ARGUMENT...]
	  --kernel RELEASE      the kernel to build for, as uname -r prints it (default: the one that runs)
	  --kernel-build FOLDER its headers or build tree (default: /lib/modules/RELEASE/build)
	  --source WHERE        kernel source of the same line: a linux-source tar file, or an unpacked tree
	                        (default: /usr/src/linux-source-LINE.tar.xz of the package linux-source-LINE)
	  --out FOLDER          where to build; the module is then FOLDER/rxe_prism.ko (default: ./rxe-prism-RELEASE)
	  --prepare             only fill FOLDER with the sources
	END
}

fail() { echo "build.sh: $*" >&2; exit 1; }

kernel=$(uname -r) kernel_build='' source='' out='' prepare=''
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$2; shift 2 ;;
	--kernel-build) kernel_build=$2; shift 2 ;;
	--source) source=$2; shift 2 ;;
	--out) out=$2; shift 2 ;;
	--prepare) prepare=yes; shift ;;
	--) shift; break ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

: "${kernel_build:=/lib/modules/$kernel/build}"
[ -e "$kernel_build/Makefile" ] ||
	fail "no headers at $kernel_build: install linux-headers-$kernel, or name them with --kernel-build"
if [ -r "$kernel_build/include/config/kernel.release" ]; then
	kernel=$(cat "$kernel_build/include/config/kernel.release")
fi
line=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$kernel")
patches=$here/patches/$line
[ -d "$patches" ] ||
	fail "no patch series for kernel $kernel: there are series for $(cd "$here/patches" && echo *). The userspace device (prism-run) needs no module."
[ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || fail "only little-endian 64-bit machines are supported"
: "${source:=/usr/src/linux-source-$line.tar.xz}"
[ -e "$source" ] || fail "no kernel source at $source: install linux-source-$line, or name it with --source"
: "${out:=rxe-prism-$kernel}"

rxe=drivers/infiniband/sw/rxe
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "${out:?}"/rxe*.[ch] "$out"/prism*.[ch] "$out/core"
if [ -d "$source" ]; then
	cp "$source/$rxe"/*.[ch] "$out/"
else
	tar -C "$out" -xf "$source" --strip-components=5 --wildcards "*/$rxe/*.[ch]"
fi
for patch in "$patches"/*.patch; do
	patch --quiet --directory "$out" -p1 <"$patch" ||
		fail "$(basename "$patch") does not apply to $source: it is made for the $line line as Debian has it"
done
cp "$here"/*.[ch] "$here/Kbuild" "$patches"/*.h "$out/"
mkdir -p "$out/core"
cp "$here"/core/*.[ch] "$out/core/"
[ -z "$prepare" ] || exit 0

# No BTF: it would want the debug information of the kernel itself.
make -C "$kernel_build" M="$out" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules
