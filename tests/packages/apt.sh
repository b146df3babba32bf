# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Sourced on bare machines by the scripts of this folder; each of them defines fail().
export DEBIAN_FRONTEND=noninteractive
export INITRD=No # for the kernel that headers bring: nothing is booted here

# apt_quietly ARGUMENT...: runs apt-get, without packages that are only recommended
apt_quietly() {
	apt-get -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends "$@" >/tmp/apt.log 2>&1 || {
		tail -n 30 /tmp/apt.log
		fail "apt-get $*"
		return 1
	}
}
