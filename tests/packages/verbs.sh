#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libprism1 as built with Debian 12's libibverbs (44), on a machine with another Debian's: it needs only public parts of
# libibverbs (providers/prism/verbs/operations.hpp). Runs the verbs suite, Debian's own programs, and ours.
# usage: verbs.sh SUITE MACHINES PACKAGES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${PRISM_BUILD:?is the build folder}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Our tools need a library of Debian 12's, which has another name elsewhere.
mkdir "$work/programs"
cp "$PRISM_BUILD"/bin/{prism-verbs-test,prism-run,ib_prism_read_lat} "$PRISM_BUILD/lib/libprism-preload.so" "$work/programs"
cp -a "$PRISM_BUILD"/lib/libprism-ext.so.0* "$work/programs"
ldd "$PRISM_BUILD/bin/ib_prism_read_lat" | awk '$1 ~ /^libfmt/ { print $3 }' | xargs -I{} cp -L {} "$work/programs"

cat >"$work/script" <<'END'
set -euo pipefail
fail() { echo "FAIL: $*"; exit 1; }
. /apt.sh
apt-get update -qq
apt_quietly install /packages/libprism1_*.deb ibverbs-providers ibverbs-utils perftest python3-pyverbs
# Places of the files as in prism-utils
libraries=$(dirname "$(dpkg -L libprism1 | grep 'libprism.so.1$')")
mkdir "$libraries/prism"
mv /programs/libprism-preload.so "$libraries/prism"
mv /programs/prism-run /usr/bin
export PATH=/programs:$PATH LD_LIBRARY_PATH=/programs PRISM_DEVICES=lo
echo "libibverbs $(dpkg-query -W -f '${Version}' libibverbs1), perftest $(dpkg-query -W -f '${Version}' perftest)"

held() { echo "held: $*"; }
# pair PROGRAM ARGUMENT...: runs a server and a client
pair() {
	timeout 60 "$@" >/tmp/server 2>&1 &
	local server=$! tries=0
	until grep -q ' [0-9A-F]*:4993 [0-9A-F]*:0000 0A ' /proc/net/tcp /proc/net/tcp6 2>/dev/null; do # port 18835, LISTEN
		[ $((++tries)) -le 100 ] || { cat /tmp/server; fail "$*: no server"; }
		sleep 0.1
	done
	timeout 60 "$@" 127.0.0.1 >/tmp/client 2>&1 || { cat /tmp/client; fail "$*"; }
	wait $server || { cat /tmp/server; fail "$*, the server"; }
	held "$@"
}
prism-run ibv_devinfo -d prism_lo | grep -q PORT_ACTIVE || fail "ibv_devinfo"
held ibv_devinfo
for verb in send write read atomic; do
	pair prism-run ib_${verb}_lat -d prism_lo -x 0 -F -n 200 -p 18835
done
pair prism-run ib_send_lat -d prism_lo -x 0 -F -n 200 -p 18835 -c UD
pair prism-run ib_send_bw -d prism_lo -x 0 -F -n 200 -p 18835 -b -e
pair prism-run ib_write_bw -d prism_lo -x 0 -F -n 200 -p 18835 -b
pair ib_prism_read_lat -d prism_lo -n 200 -p 18835
prism-run python3 -c '
from pyverbs.device import Context, get_device_list
from pyverbs.pd import PD
from pyverbs.mr import MR
from pyverbs.cq import CQ
from pyverbs.qp import QP, QPCap, QPInitAttr
LOCAL_WRITE, RC, ACTIVE = 1, 2, 4 # from rdma-core 59 on, pyverbs has these in another module
assert [device.name for device in get_device_list()] == [b"prism_lo"]
context = Context(name="prism_lo")
pd, cq = PD(context), CQ(context, 10)
mr = MR(pd, 4096, LOCAL_WRITE)
qp = QP(pd, QPInitAttr(qp_type=RC, scq=cq, rcq=cq, cap=QPCap(max_send_wr=1, max_recv_wr=1)))
assert mr.lkey and qp.qp_num and context.query_gid(1, 0) and context.query_port(1).state == ACTIVE
for each in qp, mr, cq, pd, context:
    each.close()' || fail "pyverbs"
held pyverbs
prism-verbs-test --gtest_brief=1 --gtest_filter='*/ipv4_*:Process.*'
END
"$here/../machine/machine.sh" run "$1" "$2" --put "$3=/packages" --put "$here/apt.sh=/apt.sh" --put "$work/script=/script" \
	--put "$work/programs=/programs" -- bash /script
