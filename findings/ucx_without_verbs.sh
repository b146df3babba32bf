#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# One would guess that Debian's UCX has the verbs transports (rc_verbs, ud_verbs), as those of Debian 12 and 13 do. That of
# forky, 1.23.0~rc1-1, does not: libucx0 has no ucx/libuct_ib.so.0 and does not depend on libibverbs1, so no RDMA device is used,
# whatever it is. Source: the package's list of files and of dependencies. No RDMA device is needed to see it.
# usage: findings/ucx_without_verbs.sh, on a Debian with apt and a network
set -euo pipefail
version=1.23.0~rc1-1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir -p lists/partial cache/partial
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian forky main" >sources.list
apt=(-o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists"
	-o Dir::Cache="$work/cache" -o Acquire::Check-Valid-Until=false -o Acquire::Languages=none -o APT::Sandbox::User=root)
apt-get "${apt[@]}" update -qq || { echo "SKIP: this mirror has no forky"; exit 77; }
apt-get "${apt[@]}" download -qq "libucx0=$version" || { echo "SKIP: this mirror has no libucx0 $version"; exit 77; }
dpkg-deb -x libucx0_*.deb files
dpkg-deb -f libucx0_*.deb Depends | tr ',' '\n' >depends
echo "libucx0 $version: $(find files -name 'libuct_*.so.0' -printf '%f ')"
if [ -n "$(find files -name 'libuct_ib*')" ] || grep -q libibverbs1 depends; then
	echo "it has verbs now: this finding is out of date"
	exit 1
fi
echo "no libuct_ib.so.0, no dependency on libibverbs1: UCX uses no RDMA device there"
