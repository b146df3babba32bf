#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Statements of docs/frameworks.md about another Debian's UCX, Open MPI and libfabric: runs
# tests/integration/frameworks.sh on a machine with them, over libprism as built with Debian 12's libibverbs, and fio
# over librdmacm.
# usage: frameworks.sh SUITE MACHINES. PRISM_BUILD is a folder that was built on Debian 12.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${PRISM_BUILD:?is the build folder}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/build/bin" "$work/build/lib" "$work/tests/integration"
cp "$PRISM_BUILD/bin/prism-run" "$work/build/bin"
cp -a "$PRISM_BUILD"/lib/libprism.so* "$PRISM_BUILD/lib/libprism-preload.so" "$work/build/lib"
cp "$here"/../integration/{frameworks.sh,common.sh,mpi_exchange.c} "$work/tests/integration"

# fio uses librdmacm, which has no device at the loopback interface.
cat >"$work/fio" <<'END'
set -euo pipefail
ip link set lo up
ip link add prismtest type veth peer name prismtest1
ip addr add 192.168.47.1/24 dev prismtest
ip link set prismtest1 up
ip link set prismtest up
fio=(timeout -k 5 60 /prism/build/bin/prism-run -d prism_prismtest fio --ioengine=rdma --port=19600 --bs=64k --size=4m)
for verb in write read send; do
	# Its sender neither counts the receives that its peer has posted nor allows retries of a SEND: all 64 must be
	# there.
	"${fio[@]}" --iodepth=64 --name=server --rw=read >/tmp/server 2>&1 &
	server=$!
	sleep 2 # only librdmacm knows when it listens
	if "${fio[@]}" --iodepth=8 --name=client --rw=write --hostname=192.168.47.1 --verb=$verb >/tmp/client 2>&1 && wait $server &&
		grep -q 'WRITE:.*io=4096KiB' /tmp/client; then
		echo "ok: fio --ioengine=rdma --verb=$verb"
	else
		cat /tmp/server /tmp/client
		echo "FAIL: fio --ioengine=rdma --verb=$verb"
		exit 1
	fi
done
END
cat >"$work/script" <<'END'
set -euo pipefail
fail() { echo "FAIL: $*"; exit 1; }
. /apt.sh
apt-get update -qq
apt_quietly install gcc libc6-dev libisal2 ibverbs-providers ucx-utils openmpi-bin libopenmpi-dev libfabric-bin fio iproute2 python3
dpkg-query -W libibverbs1 libucx0 openmpi-bin libfabric1 fio
export LD_LIBRARY_PATH=/prism/build/lib # folder of libprism.so.1
status=0
PRISM_BUILD=/prism/build PRISM_SOURCE=/prism /prism/tests/integration/frameworks.sh || status=1
unshare -n bash /prism/fio || status=1
exit $status
END
"$here/../machine/machine.sh" run "$1" "$2" --put "$here/apt.sh=/apt.sh" --put "$work/script=/script" --put "$work=/prism" \
	-- bash /script
