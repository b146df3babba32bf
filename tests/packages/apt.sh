# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Sourced on bare machines by the scripts of this folder, each of which says with fail() what becomes of a failure.
export DEBIAN_FRONTEND=noninteractive
export INITRD=No # for the kernel that headers bring: nothing is booted here

# apt_quietly ARGUMENT...: of apt-get, without what is only recommended
apt_quietly() {
	apt-get -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >/tmp/apt.log 2>&1 || {
		tail -n 30 /tmp/apt.log
		fail "apt-get $*"
		return 1
	}
}
