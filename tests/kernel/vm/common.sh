# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this folder. They share one layout, the kernel folder:
#
#	vmlinuz config version    the kernel, its configuration, its release
#	lib/modules/RELEASE/      its modules, with what depmod makes
#	build                     against what modules are built: a headers package or the build tree
#	initrd.gz                 made by initrd.sh for this kernel
#	stamp                     what all that was made from

vm_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin # depmod and modprobe, which are not in a Debian user's path

say() {
	printf '%s: %s (%d s)\n' "$(basename "$0" .sh)" "$*" $SECONDS
}

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

# package_version NAME: prints the version of an installed package
package_version() {
	local version
	version=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || true
	[ -n "$version" ] || die "install the package $1"
	echo "$version"
}

# refresh_initrd FOLDER: makes the initrd of a kernel folder if it is missing or older than its script
refresh_initrd() {
	[ "$1/initrd.gz" -nt "$vm_folder/initrd.sh" ] || "$vm_folder/initrd.sh" --kernel "$1"
}
