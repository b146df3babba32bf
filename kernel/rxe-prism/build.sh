#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build rxe_prism.ko: rxe from the distribution's kernel source, the patch series of its kernel line, our own files.
set -euo pipefail
unset CDPATH
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)

usage() {
	cat <<-END
	usage: build.sh [--kernel RELEASE | --kernel-build FOLDER] [--source WHERE] [--out FOLDER] [-- MAKE-ARGUMENT...]
	       build.sh --prepare LINE [--source WHERE] --out FOLDER
	       build.sh --checksums LINE [--source WHERE]
	       build.sh --series LINE
	  --kernel RELEASE      the kernel to build for, as uname -r prints it (default: the one that runs)
	  --kernel-build FOLDER its headers or build tree (default: /lib/modules/RELEASE/build)
	  --source WHERE        kernel source of the same line: a linux-source tar file, or an unpacked tree
	                        (default: /usr/src/linux-source-LINE.tar.xz of the package linux-source-LINE)
	  --out FOLDER          where to build; the module is then FOLDER/rxe_prism.ko (default: ./rxe-prism-RELEASE)
	  --prepare LINE        only fill FOLDER with the patched sources of a kernel line, such as 6.1
	  --checksums LINE      print what patches/LINE/sources should say of this source, for those who adapt a series
	  --series LINE         print the files below patches/ that the series of a kernel line consists of, in their order
	END
}

fail() { echo "build.sh: $*" >&2; exit 1; }

rxe=drivers/infiniband/sw/rxe
kernel=$(uname -r) kernel_build='' source='' out='' line='' step=module
while [ $# -gt 0 ]; do
	case $1 in
	--kernel | --kernel-build | --source | --out | --prepare | --checksums | --series)
		[ $# -ge 2 ] || fail "$1 needs a value: see build.sh --help" ;;&
	--kernel) kernel=$2; shift 2 ;;
	--kernel-build) kernel_build=$2; shift 2 ;;
	--source) source=$2; shift 2 ;;
	--out) out=$2; shift 2 ;;
	--prepare) step=prepare line=$2; shift 2 ;;
	--checksums) step=checksums line=$2; shift 2 ;;
	--series) step=series line=$2; shift 2 ;;
	--) shift; break ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

# Finds the kernel that the module is for: its release, its line, and if the module can run on it. That depends on its
# configuration, not on the machine that builds.
find_kernel() {
	local config
	: "${kernel_build:=/lib/modules/$kernel/build}"
	[ -e "$kernel_build/Makefile" ] ||
		fail "no headers at $kernel_build: install linux-headers-$kernel, or name them with --kernel-build"
	[ -r "$kernel_build/include/config/kernel.release" ] ||
		fail "$kernel_build is not configured: it lacks include/config/kernel.release"
	kernel=$(cat "$kernel_build/include/config/kernel.release")
	line=$(grep -oE '^[0-9]+\.[0-9]+' <<<"$kernel") || fail "'$kernel' is no kernel release"
	config=$kernel_build/include/config/auto.conf
	[ -r "$config" ] || fail "$kernel_build is not configured: it lacks include/config/auto.conf"
	if ! grep -qE '^CONFIG_(X86_64|ARM64)=y' "$config" || grep -q '^CONFIG_CPU_BIG_ENDIAN=y' "$config"; then
		fail "kernel $kernel is not for a little-endian 64-bit machine (x86_64 or arm64)"
	fi
	grep -qE '^CONFIG_INFINIBAND=[ym]' "$config" || fail "kernel $kernel has no RDMA: CONFIG_INFINIBAND is off"
}

find_series() {
	[[ $line =~ ^[0-9]+\.[0-9]+$ ]] || fail "'$line' is no kernel line, such as 6.1"
	patches=$here/patches/$line
	[ -d "$patches" ] ||
		fail "no patch series for kernel line '$line': there are series for $(cd "$here/patches" && echo *). The userspace device (prism-run) needs no module."
}

# series: prints the files named in the line's series file; without one, all of its folder
series() {
	if [ -e "$patches/series" ]; then
		sed '/^#/d; /^patched /d' "$patches/series"
	else
		(cd "$here/patches" && printf '%s\n' "$line"/*.patch "$line"/*.h)
	fi
}

# Finds the kernel source that the series is for
find_source() {
	local program
	for program in patch tar xz sha256sum; do
		command -v $program >/dev/null || fail "no program $program: install it (Debian: patch, tar, xz-utils, coreutils)"
	done
	: "${source:=/usr/src/linux-source-$line.tar.xz}"
	[ -e "$source" ] || fail "no kernel source at $source: install linux-source-$line, or name it with --source"
}

# copy_rxe FOLDER: copies rxe from the kernel source
copy_rxe() {
	if [ ! -d "$source" ]; then
		tar -C "$1" --force-local -xf "$source" --strip-components=5 --wildcards "*/$rxe/*.[ch]" ||
			fail "$rxe could not be unpacked from $source (above: why)"
	elif [ -e "$source/$rxe/rxe.c" ]; then
		cp "$source/$rxe"/*.[ch] "$1/"
	else
		fail "$source has no $rxe"
	fi
}

# checksums FOLDER: prints those of rxe's files there
checksums() { (cd "$1" && sha256sum ./*.[ch] | sed 's,\./,,'); }

# With one line of context, patch may find a wrong place, and our own files build upon unpatched ones. So each file must
# match, to the byte, one that the series was made for.
check_sources() {
	local file sum unknown=()
	while read -r sum file; do
		grep -q "^$sum  $file\$" "$patches/sources" || unknown+=("$file")
	done < <(checksums "$1")
	while read -r sum file; do
		[ -e "$1/$file" ] || unknown+=("$file")
	done < <(grep -v '^#' "$patches/sources")
	[ ${#unknown[@]} -eq 0 ] ||
		fail "the series for $line was not made for this kernel source. $source has another ${unknown[*]}; patches/$line/sources says which is known, and docs/kernel-module.md how to adapt the series."
}

# apply_series FOLDER. A patch of the line's own must apply at its stated place. A patch shared with another line may
# apply some lines further on, so there the result must match to the byte.
apply_series() {
	local patch said patched made
	patched=$(sed -n 's/^patched //p' "$patches/series" 2>/dev/null) || true
	while read -r patch; do
		[[ $patch == *.patch ]] || continue
		said=$(patch --fuzz=0 --no-backup-if-mismatch --directory "$1" -p1 <"$here/patches/$patch" 2>&1) ||
			fail "$patch does not apply to $source: $said"
		[ -n "$patched" ] || ! grep -qE 'offset|fuzz' <<<"$said" || fail "$patch applies elsewhere in $source: $said"
	done < <(series)
	made=$(checksums "$1" | sha256sum | cut -d ' ' -f 1)
	[ "${patched:-$made}" = "$made" ] ||
		fail "the series for $line applies elsewhere in $source than when somebody last looked: docs/kernel-module.md says how to look, and patches/$line/series then has to say: patched $made"
}

# make_sources FOLDER: makes the module's sources there, patched
make_sources() {
	local file
	copy_rxe "$1"
	check_sources "$1"
	apply_series "$1"
	cp "$here"/*.[ch] "$here/Kbuild" "$1/"
	series | grep '\.h$' | while read -r file; do cp "$here/patches/$file" "$1/"; done
	mkdir "$1/core"
	cp "$here"/core/*.[ch] "$1/core/"
}

# Prepares the output folder. Files of an earlier run in it are removed, so it must be such a folder, or empty.
take_folder() {
	mkdir -p "$out" 2>/dev/null || true
	[ -w "$out" ] || fail "cannot write to '$out': name another folder with --out"
	out=$(cd "$out" && pwd -P)
	[[ $out != *[[:space:]:]* ]] ||
		fail "the kernel's make takes no folder with a space or a colon in its name: '$out'. Name another with --out."
	[ -z "$(ls -A "$out")" ] || grep -qs '^obj-m := rxe_prism.o' "$out/Kbuild" ||
		fail "'$out' has other files than this script's: name an empty or a new folder with --out"
	[ "$out" != "$here" ] || fail "'$out' is the project's own folder: name another with --out"
}

# put_sources FOLDER: puts the sources where they are built; removes the output of an earlier run
put_sources() {
	rm -rf "${out:?}"/rxe* "$out"/prism* "$out/core"
	cp -R "$1/." "$out/"
}

[ "$step" != module ] || find_kernel
[ "$step" != prepare ] || [ -n "$out" ] || fail "--prepare needs --out"
find_series
[ "$step" != series ] || { series; exit; }
find_source
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "$step" = checksums ]; then
	copy_rxe "$work"
	checksums "$work"
	exit
fi
: "${out:=rxe-prism-$kernel}"
take_folder
make_sources "$work"
put_sources "$work"
[ "$step" != prepare ] || exit 0
# No BTF: it would need the debug information of the kernel itself.
make -C "$kernel_build" -j "$(nproc)" M="$out" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules
[ -f "$out/rxe_prism.ko" ] || fail "make has made no $out/rxe_prism.ko"
