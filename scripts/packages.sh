# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by demo.sh and check.sh: install the Debian packages that are missing, with sudo where that is needed.

build_packages=(g++ cmake ninja-build pkg-config libibverbs-dev libisal-dev libcli11-dev nlohmann-json3-dev libfmt-dev
	libgtest-dev ibverbs-utils perftest iproute2 python3)
apps_packages=(libsodium-dev libboost-dev libhiredis-dev libmemcached-dev libcurl4-openssl-dev nbdkit-plugin-dev)
check_packages=(clang libclang-rt-14-dev clang-format librdmacm-dev tshark tcpdump ethtool python3-scapy mandoc
	shellcheck binutils redis-server memcached spin cython3 python3-dev python3-pyverbs python3-matplotlib procps
	ucx-utils openmpi-bin libopenmpi-dev libfabric-bin
	nbdkit libnbd-bin fio qemu-utils e2fsprogs etcd-server)
# Building the kernel module, with the kernels that it is tested in
kernel_packages=(linux-source-6.1 linux-source-6.12 linux-headers-amd64 linux-headers-6.12-amd64 make patch xz-utils
	flex bison bc libelf-dev libssl-dev dwarves sparse perl dkms dh-dkms debhelper
	qemu-system-x86 busybox-static kmod cpio rdma-core rdmacm-utils python3-pyverbs)

# install_packages NAME...: apt-get install what dpkg does not know as installed
install_packages() {
	local missing=() package
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	echo "installing: ${missing[*]}"
	local as_root=()
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || {
			echo "error: run as root, or install sudo, or install these packages yourself: ${missing[*]}" >&2
			return 1
		}
		as_root=(sudo)
	fi
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			"${missing[@]}" >/dev/null
}

# configure_and_build FOLDER TARGET [CMAKE-ARGUMENT...]
configure_and_build() {
	local folder=$1 target=$2
	shift 2
	cmake -S . -B "$folder" -G Ninja "$@" >"$folder.log" 2>&1 || { tail -n 30 "$folder.log"; return 1; }
	ninja -C "$folder" "$target" >>"$folder.log" 2>&1 || { grep -B2 -A12 -E 'error:|FAILED' "$folder.log" | head -n 60; return 1; }
}
