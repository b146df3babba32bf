#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Fetch the distribution's kernel of one line, without installing it, as a kernel folder (common.sh). It is the release
# whose headers are installed, so that modules built here fit.
set -euo pipefail
# shellcheck source=tests/kernel/vm/common.sh
. "$(dirname "$0")/common.sh"

usage() {
	cat <<-END
	usage: image.sh --line 6.1|6.12 --out DIR [--deb FILE]
	  --deb  the package file, instead of one from the package archive
	END
}

line='' out='' deb=''
while [ $# -gt 0 ]; do
	case $1 in
	--line) line=$2; shift 2 ;;
	--out) out=$(realpath -m "$2"); shift 2 ;;
	--deb) deb=$(realpath "$2"); shift 2 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
case $line in
6.1) headers=linux-headers-amd64 ;;
6.12) headers=linux-headers-6.12-amd64 ;;
*) usage >&2; exit 2 ;;
esac
[ -n "$out" ] || { usage >&2; exit 2; }

# Prints the release that the installed metapackage depends on
installed_release() {
	dpkg-query -W -f '${Depends}' "$headers" 2>/dev/null | grep -oE 'linux-headers-[^ ,]+' | sed 's/^linux-headers-//'
}

fetch() {
	local folder=$out/download
	mkdir -p "$folder"
	say "fetching $1"
	(cd "$folder" && apt-get download -q "$1") >"$out/fetch.log" 2>&1 || {
		cat "$out/fetch.log" >&2
		die "$1 cannot be fetched: is the archive newer than the installed $headers? Then upgrade that."
	}
	deb=$(echo "$folder"/*.deb)
}

main() {
	local release stamp
	release=$(installed_release) || die "install the package $headers"
	stamp="$release $(package_version "linux-headers-$release")"
	if [ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ]; then
		refresh_initrd "$out"
		say "$out is up to date ($release)"
		return
	fi
	rm -rf "$out"
	mkdir -p "$out"
	[ -n "$deb" ] || fetch "linux-image-$release"
	say "unpacking $(basename "$deb")"
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$out" ./boot ./lib
	rm -rf "$out/download"
	mv "$out/boot/vmlinuz-$release" "$out/vmlinuz"
	mv "$out/boot/config-$release" "$out/config"
	rm -r "${out:?}/boot"
	ln -s "/usr/src/linux-headers-$release" "$out/build"
	echo "$release" >"$out/version"
	depmod -b "$out" "$release"
	refresh_initrd "$out"
	echo "$stamp" >"$out/stamp"
	say "$out is ready: $release"
}

main
