#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Frameworks on verbs, as Debian ships them, over the userspace device: UCX, Open MPI over UCX, libfabric.
# shellcheck disable=SC2015,SC2317 # "A && pass || fail" cannot go wrong in between; functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
need_program ucx_info ucx_perftest mpicc mpirun fi_info fi_pingpong python3 ip ss

device=prism_lo
port=${PRISM_TEST_PORT:-19500}
run=(timeout -k 5 60 "$bin/prism-run")
# A ucx_perftest with MPI takes standard input that is no terminal as a sign that MPI started it.
ucx_perftest=(ucx_perftest)
! ucx_perftest -h 2>&1 | grep -q -- '-P <0|1>' || ucx_perftest+=(-P 0)
# The log of UCX has the lanes that it chose.
export UCX_LOG_LEVEL=info UCX_WARN_UNUSED_ENV_VARS=n
# mpirun wants two confirmations before it runs as root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Opens the files that programs look for, as they do it: by the C library's functions.
files() {
	cat >"$work/files.py" <<'PYTHON'
import ctypes
import errno
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
folder = "/sys/class/infiniband/prism_lo/ports/1/gid_attrs/"
device = b"/dev/infiniband/prism_lo"


def failure():
    return errno.errorcode[ctypes.get_errno()]


def open_file(path, flags=os.O_RDONLY):
    descriptor = libc.open(path.encode(), flags, 0)
    return descriptor if descriptor >= 0 else failure()


def content(path):
    descriptor = open_file(path)
    return descriptor if isinstance(descriptor, str) else os.read(descriptor, 100).decode()


def write_to(path):
    try:
        return os.write(open_file(path), b"x")
    except OSError as error:
        return errno.errorcode[error.errno]


def status(path):
    return failure() if libc.stat(path, ctypes.create_string_buffer(512)) else "there"


def may_use(path):
    return failure() if libc.access(path, os.R_OK | os.W_OK) else "yes"


seen = wrong = 0
for what, got, expected in [
    ("type of GID 0", content(folder + "types/0"), "RoCE v2\n"),
    ("interface of GID 0", content(folder + "ndevs/0"), "lo\n"),
    ("writing", write_to(folder + "types/0"), "EPERM"),
    ("opened for writing", open_file(folder + "types/0", os.O_RDWR), "ENOENT"),
    ("a GID that is not there", content(folder + "types/4095"), "ENOENT"),
    ("no number", content(folder + "types/0x"), "ENOENT"),
    ("another file", content(folder + "color/0"), "ENOENT"),
    ("another device", content(folder.replace("prism_lo", "prism_x") + "types/0"), "ENOENT"),
    ("a file of the kernel", content("/proc/self/comm")[:6], "python"),
    ("created", isinstance(open_file(sys.argv[1], os.O_CREAT | os.O_WRONLY), int), True),
    ("the device", status(device), "there"),
    ("another device", status(b"/dev/infiniband/prism_x"), "ENOENT"),
    ("no path", status(None), "EFAULT"),
    ("access to the device", may_use(device), "yes"),
    ("access to another device", may_use(b"/dev/infiniband/prism_x"), "ENOENT"),
]:
    seen += 1
    if got != expected:
        wrong += 1
        print(f"{what}: {got!r}, not {expected!r}")
print(f"{seen} looked at, {wrong} wrong")
sys.exit(wrong != 0)
PYTHON
	"${run[@]}" -d "$device" python3 "$work/files.py" "$work/created" >"$work/files" 2>&1 &&
		pass "files of the device" || fail "files of the device" "$work/files"
	# Devices that prism-run hides must not be found that way either.
	"${run[@]}" -d no_such_device python3 -c \
		'import ctypes, sys; sys.exit(ctypes.CDLL(None).access(b"/dev/infiniband/prism_lo", 0) == 0)' &&
		pass "a hidden device has no files" || fail "a hidden device has files"
}

ucx_devices() {
	"${run[@]}" -d "$device" ucx_info -d >"$work/ucx_info" 2>&1 || fail "ucx_info -d" "$work/ucx_info"
	local transport
	for transport in rc_verbs ud_verbs; do
		grep -A1 "Transport: $transport" "$work/ucx_info" | grep -q "Device: $device:1" ||
			fail "ucx_info -d does not list $transport of $device" "$work/ucx_info"
	done
	! grep -q 'gid_attrs' "$work/ucx_info" || fail "UCX misses a file of the device" "$work/ucx_info"
	pass "ucx_info -d"
}

# over TRANSPORT FILE: true if the lanes in a log of UCX are those of this transport on the device, and no other. Its
# line is "ep_cfg[0]: tag(LANES)", and of newer ones "ucp_context_0 inter-node cfg#1 tag(LANES)".
over() {
	grep -E ' (ep_cfg\[0\]:|[a-z-]+ cfg#[0-9]+) ' "$2" >"$work/lanes"
	[ -s "$work/lanes" ] && ! grep -qv "($1_verbs/$device:1" "$work/lanes"
}

# ucx TRANSPORT TEST ARGUMENT...: limits both sides to one transport, so that no other can carry the data
ucx() {
	local transport=$1 before=$failures
	shift
	port=$((port + 1))
	export UCX_TLS=${transport}_v
	local command=("${run[@]}" -d "$device" "${ucx_perftest[@]}" -p "$port" -t "$@")
	pair "ucx_perftest $transport $*" "$port" '^Final: +[0-9]+' "${command[@]}" -- "${command[@]}" 127.0.0.1
	unset UCX_TLS
	[ "$failures" -gt "$before" ] || over "$transport" "$work/client" ||
		fail "ucx_perftest $transport $*: by another way" "$work/client"
}

# uct TRANSPORT TEST ARGUMENT...: tests the transport itself, without UCX's choice of protocols
uct() {
	local transport=$1
	shift
	port=$((port + 1))
	local command=("${run[@]}" -d "$device" "${ucx_perftest[@]}" -p "$port" -d "$device:1" -x "${transport}_verbs" -t "$@")
	pair "ucx_perftest -x ${transport}_verbs $*" "$port" '^Final: +[0-9]+' "${command[@]}" -- "${command[@]}" 127.0.0.1
}

ucx_all() {
	local transport
	uct rc am_lat -D short -s 8 -n 500
	uct rc am_bw -D zcopy -s 4000 -n 500
	uct rc put_lat -D short -s 32 -n 500
	uct rc put_bw -D zcopy -s 65536 -n 200
	uct rc get -D zcopy -s 100000 -n 100
	uct rc fadd -s 8 -n 200
	uct rc cswap -s 8 -n 200
	uct ud am_lat -D short -s 8 -n 500
	uct ud am_bw -D bcopy -s 4000 -n 500
	for transport in rc ud; do
		ucx $transport tag_lat -s 512 -n 500
		ucx $transport tag_lat -s 512 -n 200 -E sleep
		ucx $transport tag_bw -s 1000000 -n 20
		ucx $transport stream_bw -s 8192 -n 200
		ucx $transport ucp_put_lat -s 64 -n 100
		ucx $transport ucp_get -s 100000 -n 20
		ucx $transport ucp_fadd -s 8 -n 50
	done
}

# Debian's 1.23.0~rc1-1 has no verbs (findings/ucx-without-verbs.sh).
ucx_has_verbs() {
	local library
	library=$(ldconfig -p | sed -n 's/^[[:space:]]*libuct\.so\.0 .*=> //p' | head -n 1)
	[ -e "${library%/*}/ucx/libuct_ib.so.0" ]
}

# mpi TRANSPORT
mpi() {
	if two_ranks --mca pml ucx --mca osc ucx -x UCX_TLS="$1_v" -x UCX_LOG_LEVEL; then
		over "$1" "$work/mpi" && pass "mpirun, UCX over $1" || fail "mpirun $1: by another way" "$work/mpi"
	else
		fail "mpirun, UCX over $1" "$work/mpi"
	fi
}

# two_ranks ARGUMENT-OF-MPIRUN...
two_ranks() {
	TMPDIR=$work/session timeout -k 5 60 mpirun --oversubscribe -np 2 "$@" "$bin/prism-run" -d "$device" \
		"$work/mpi_exchange" >"$work/mpi" 2>&1 </dev/null &&
		grep -q '^mpi_exchange: .* all right$' "$work/mpi"
}

mpi_all() {
	mkdir "$work/session"
	mpicc -O2 -Wall -Wextra -Werror -o "$work/mpi_exchange" "$PRISM_SOURCE/tests/integration/mpi_exchange.c" ||
		fail "mpi_exchange.c does not compile"
	if ucx_has_verbs; then
		mpi rc
		mpi ud
	fi
	# Open MPI before 5 can run one-sided operations over messages: then they use the device, too.
	local one_sided=(--mca osc '^ucx')
	! ompi_info 2>/dev/null | grep -q 'MCA osc: pt2pt' || one_sided=(--mca osc pt2pt --mca btl self)
	two_ranks --mca pml cm --mca mtl ofi "${one_sided[@]}" --mca mtl_ofi_provider_include 'verbs;ofi_rxd' &&
		pass "mpirun, libfabric's verbs;ofi_rxd" || fail "mpirun, libfabric's verbs;ofi_rxd" "$work/mpi"
}

# libfabric DEVICE ADDRESS PROVIDER ENDPOINT-TYPE: runs ping-pong and checks its contents
libfabric() {
	local device=$1 address=$2
	shift 2
	port=$((port + 1))
	local command=("${run[@]}" -d "$device" fi_pingpong -p "$1" -e "$2" -I 50 -c)
	pair "fi_pingpong -p $1 -e $2" "$port" '^(4k|1m) +50 +=50 ' \
		"${command[@]}" -B "$port" -- "${command[@]}" -P "$port" "$address"
}

# Datagrams work on the loopback interface. libfabric does not use it for connections.
libfabric_all() {
	"${run[@]}" -d "$device" fi_info -p verbs >"$work/fi_info" 2>&1 &&
		grep -q "domain: $device-dgram" "$work/fi_info" && pass "fi_info -p verbs" ||
		fail "fi_info -p verbs does not list $device" "$work/fi_info"
	libfabric "$device" 127.0.0.1 verbs dgram
	libfabric "$device" 127.0.0.1 'verbs;ofi_rxd' rdm
}

# Runs in a network namespace of our own, without other interfaces
libfabric_connected() {
	local address=192.168.47.1
	{ ip link set lo up && ip link add prismtest type veth peer name prismtest1 && ip addr add $address/24 dev prismtest &&
		ip link set prismtest1 up && ip link set prismtest up; } || {
		fail "no interface in the namespace"
		return
	}
	# libfabric uses the first device that has an address, wherever the peer is, and both ends have an address once
	# the kernel has checked the IPv6 one.
	libfabric prism_prismtest $address verbs msg
	# When the peer has closed, libfabric destroys the queue pair without polling its completions, and reports SENDs
	# as flushed that have completed (docs/frameworks.md): seldom, and hardly ever three times.
	local before=$failures tries
	for tries in 1 2 3; do
		failures=$before
		libfabric prism_prismtest $address 'verbs;ofi_rxm' rdm >"$work/rdm"
		[ "$failures" -gt "$before" ] && grep -q 'Work Request Flushed' "$work/rdm" || break
	done
	cat "$work/rdm"
}

in_namespace() {
	local unshare
	for unshare in 'unshare -n' 'unshare -rn'; do
		$unshare true 2>/dev/null || continue
		$unshare "$0" connected || failures=$((failures + 1))
		return
	done
	echo "not run: connections of libfabric, for which this host would have to allow network namespaces"
}

if [ "${1:-}" = connected ]; then
	libfabric_connected
	exit $((failures > 0))
fi
files
if ucx_has_verbs; then
	ucx_devices
	ucx_all
else
	echo "not run: UCX, and Open MPI over it, as this UCX has been built without verbs"
fi
mpi_all
libfabric_all
in_namespace
finish
