#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libibverbs has another private ABI with nearly every release.
#
# One would guess: what a provider is built for is a number that changes when the ABI does. It was so: IBVERBS_PRIVATE_34,
# verbs_register_driver_34() and plug-ins named *-rdmav34.so from rdma-core 34 to 56, which is five years.
# What happens: from rdma-core 57 on the number is that of a release, of nearly every one (59 in 60.0). A provider or a program that is linked with the
# private symbols of one release does not load with the next, though no function may have changed. Debian 12 (44) and
# 13 (56) still have 34, forky (65) has 65.
# Source: rdma-core, CMakeLists.txt (IBVERBS_PABI_VERSION beside PACKAGE_VERSION) and
# libibverbs/libibverbs.map.in; in Debian the symbols file of libibverbs1.
# shellcheck source=findings/debian.sh
. "$(dirname "$0")/debian.sh"

# check SUITE VERSION NUMBER: the private ABI of this release
check() {
	local version=$2 number=$3 library symbols plugin
	use "$1"
	fetch "libibverbs1=$version" "ibverbs-providers=$version"
	mkdir "$place/unpacked"
	for deb in "$place"/debs/*.deb; do dpkg-deb -x "$deb" "$place/unpacked"; done
	library=$(find "$place/unpacked" -name 'libibverbs.so.1.*' -type f)
	symbols=$(dpkg-deb -I "$place"/debs/libibverbs1_*.deb symbols | grep -o 'IBVERBS_PRIVATE_[0-9]*' | sort -u)
	plugin=$(find "$place/unpacked" -name 'libmlx5-rdmav*.so' -printf '%f\n')
	printf '\n%s: libibverbs1 %s\n' "$1" "$version"
	echo "  private symbols:   $symbols"
	echo "  in the library:    $(grep -a -o 'IBVERBS_PRIVATE_[0-9]*' "$library" | sort -u | xargs)," \
		"$(grep -a -o 'verbs_register_driver_[0-9]*' "$library" | sort -u | xargs)"
	echo "  a plug-in:         $plugin"
	expect "$1: the private ABI is $number" [ "$symbols" = "IBVERBS_PRIVATE_$number" ]
	expect "$1: the library registers drivers of $number" grep -qa "verbs_register_driver_$number" "$library"
	expect "$1: plug-ins are named *-rdmav$number.so" [ "$plugin" = "libmlx5-rdmav$number.so" ]
	[ "$number" = 34 ] || expect "$1: there is no verbs_register_driver_34" has_no verbs_register_driver_34 "$library"
}

# Succeeds if the library's bytes do not contain the name, so that it is not exported.
has_no() { ! grep -qa "$1" "$2"; }

check bookworm 44.0-2 34
check trixie 56.1-1 34
check forky 65.0-1.1 65

# The consequence: a plug-in of Debian 12 beside the libibverbs of forky
plugin=$(find "$folder/bookworm/unpacked" -name 'librxe-rdmav34.so')
unpack libibverbs1=65.0-1.1
cp "$plugin" "$root/tmp/"
printf '\nlibrxe-rdmav34.so of 44.0-2 with libibverbs1 65.0-1.1:\n'
said=$(within /lib64/ld-linux-x86-64.so.2 --list /tmp/librxe-rdmav34.so 2>&1) || true
grep 'not found' <<<"$said" || true
expect "a plug-in of before does not load" grep -q "version .IBVERBS_PRIVATE_34. not found" <<<"$said"
finish
