#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The UCX of Debian's forky has no verbs transports.
#
# One would guess: UCX drives RDMA devices (rc_verbs, ud_verbs), as those of Debian 12 and 13 do.
# What happens: libucx0 1.23.0~rc1-1 has no ucx/libuct_ib.so.0 and does not depend on libibverbs1, so it uses no RDMA device,
# whatever there is, and programs over it fall back on TCP. libucx0 1.13.1-1 has and does both.
# Source: the lists of files and of dependencies of these packages.
# shellcheck source=findings/debian.sh
. "$(dirname "$0")/debian.sh"

# look VERSION: sets libraries and depends
look() {
	fetch "libucx0=$1"
	dpkg-deb -x "$place"/debs/libucx0_*.deb "$root"
	libraries=$(find "$root" -name 'libuct_*.so.0' -printf '%f ')
	depends=$(dpkg-deb -f "$place"/debs/libucx0_*.deb Depends)
	printf '\n%s: libucx0 %s\n  transports: %s\n  depends on: %s\n' "$suite" "$1" "$libraries" "$depends"
}

use bookworm
look 1.13.1-1
expect "bookworm: there is a library of verbs transports" grep -q libuct_ib <<<"$libraries"
expect "bookworm: it depends on libibverbs1" grep -q libibverbs1 <<<"$depends"
use forky
look 1.23.0~rc1-1
expect "forky: there is none" [ -z "$(grep -o libuct_ib <<<"$libraries")" ]
expect "forky: it does not depend on libibverbs1" [ -z "$(grep -o libibverbs1 <<<"$depends")" ]
finish
