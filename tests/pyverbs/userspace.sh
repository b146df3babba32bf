#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rdma-core's pyverbs suite, as Debian ships it, on the userspace device: no failure, and every test that passed before
# passes.
set -euo pipefail
: "${PRISM_BUILD:?is the build folder}"
here=$(cd "$(dirname "$0")" && pwd)
suite=/usr/share/doc/rdma-core/tests
report=$PRISM_BUILD/pyverbs-userspace.json

skip() {
	echo "SKIP: $*"
	exit 77
}

[ -e $suite/run_tests.py ] || skip "no $suite: package rdma-core, with its documentation"
/usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null || skip "package python3-pyverbs is not installed"

# The suite's client and server open the device twice and assume that both have the same GIDs. Two contexts on an
# address that they share do, and in a namespace of its own no other process shares it.
if [ -z "${IN_NAMESPACE:-}" ] && unshare -rn true 2>/dev/null; then
	IN_NAMESPACE=1 exec unshare -rn "$0"
fi
if [ -n "${IN_NAMESPACE:-}" ]; then
	ip link set lo up
	ip address add 10.9.1.1/32 dev lo
	pattern='::ffff:10\.9\.1\.1'
else
	pattern='::1'
fi
run=("$PRISM_BUILD/bin/prism-run" --device=prism_lo)
gid=$("${run[@]}" ibv_devinfo -v | sed -nE "s/.*GID\[ *([0-9]+)\]:[[:space:]]*$pattern(,.*)?\$/\1/p" | sed -n 1p)
[ -n "$gid" ] || skip "no address that two contexts share: no namespaces for this user, and no ::1"

timeout 200 "${run[@]}" /usr/bin/python3 "$here/run.py" --dev prism_lo --gid "$gid" --suite $suite --out "$report" \
	--expect "$here/userspace.json"
/usr/bin/python3 "$here/compare.py" --clean "$here/userspace.json" "$report"
