#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libprism as it was built with Debian 12's libibverbs (44), on a machine with Debian 13's (56): the private ABI is the same,
# but struct ibv_qp_ex has grown (providers/prism/verbs_layout.hpp). The verbs suite, with builders and without.
# usage: newer_verbs.sh MACHINES PACKAGES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${PRISM_BUILD:?is the build folder}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/script" <<'END'
set -euo pipefail
fail() { echo "FAIL: $*"; exit 1; }
. /apt.sh
apt-get update -qq
apt_quietly install /packages/libprism1_*.deb ibverbs-providers
version=$(dpkg-query -W -f '${Version}' libibverbs1)
echo "libibverbs $version"
dpkg --compare-versions "$version" ge 45 || fail "no newer libibverbs here"
PRISM_DEVICES=lo /prism-verbs-test --gtest_brief=1 --gtest_filter='*/ipv4_*'
END
"$here/../machine/machine.sh" run trixie "$1" --put "$2=/packages" --put "$here/apt.sh=/apt.sh" --put "$work/script=/script" \
	--put "$PRISM_BUILD/bin/prism-verbs-test=/prism-verbs-test" -- bash /script
