# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by demo.sh and check.sh: the Debian packages that they need, and functions to install them and to build.

# Put Debian's programs before others of the same names on the host, such as another Python. Debian keeps depmod,
# ethtool, mke2fs and others in folders that are not in the path of ordinary users.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# For building everything but the tests, and for running what README shows: the last ones for Python, and for the
# volume. Make: gcc's optimizer of whole libraries runs it.
build_packages=(g++ make cmake ninja-build pkg-config libibverbs-dev librdmacm-dev libisal-dev libcli11-dev libtomlplusplus-dev
	nlohmann-json3-dev libfmt-dev libsodium-dev libboost-dev libhiredis-dev libmemcached-dev libsasl2-dev libssl-dev
	libcurl4-openssl-dev libsystemd-dev prometheus-cpp-dev nbdkit-plugin-dev python3 ibverbs-utils perftest iproute2
	cython3 python3-dev python3-pyverbs nbdkit)
# For building and running the tests of the programs
test_packages=(libgtest-dev clang libclang-rt-14-dev clang-format tshark tcpdump ethtool python3-scapy mandoc
	shellcheck binutils git redis-server memcached spin python3-matplotlib python3-yaml procps
	ucx-utils openmpi-bin libopenmpi-dev libfabric-bin libnbd-bin fio qemu-utils e2fsprogs etcd-server jq curl systemd)
# For building the kernel module, and the kernels that it is tested in
kernel_packages=(linux-source-6.1 linux-source-6.12 linux-headers-amd64 linux-headers-6.12-amd64 patch xz-utils
	flex bison bc libelf-dev libssl-dev dwarves sparse perl
	qemu-system-x86 busybox-static kmod cpio rdma-core rdmacm-utils)
# For building the Debian packages, and for trying them on a bare machine
package_packages=(ccache dpkg-dev lintian mmdebstrap uidmap util-linux)

# stop TEXT: prints the reason and the next step, in one line, and ends
stop() {
	echo "error: $*" >&2
	exit 1
}

# need_folder: checks that this checkout can be built in
need_folder() {
	# Neither the kernel's make, for a module, nor the dynamic linker, for a library to preload, takes such a
	# folder.
	[[ $PWD != *[[:space:]:]* ]] || stop "this needs a checkout in a folder without spaces and colons in its name, not '$PWD'"
	[ -w . ] || stop "$PWD cannot be written to: copy the checkout to a folder of yours and build there"
}

# debian_release: prints 12, or the code name of one that has no number yet; nothing on other systems
debian_release() {
	# shellcheck source=/dev/null
	(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_ID:-${VERSION_CODENAME:-}}")
}

# need_release: checks that a Debian has an rdma-core, CMake and compiler that are new enough; on others CMake finds out
need_release() {
	local release
	release=$(debian_release) || true
	[[ ! "$release" =~ ^[0-9]+$ || "$release" -ge 12 ]] ||
		stop "Debian $release has an rdma-core that is too old: this works on Debian 12 and newer, or in a container of one"
}

# missing_packages NAME...: prints those that dpkg does not know as installed
missing_packages() {
	local package
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
	done
}

# as_root COMMAND...
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# install_packages NAME...: installs the missing ones of Debian; with sudo if needed. PACKAGE_CACHE is a folder for
# downloads.
install_packages() {
	local missing log keep=() environment=(DEBIAN_FRONTEND=noninteractive)
	command -v dpkg-query >/dev/null || stop "this is no Debian: install what corresponds to $* and build by CONTRIBUTING.md"
	need_release
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0
	[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
		stop "packages are missing, and installing them needs root, or sudo: apt-get install --no-install-recommends $missing"
	echo "installing: $missing"
	log=$(mktemp)
	# shellcheck disable=SC2064 # this file, now
	trap "rm -f '$log'" RETURN
	[ -z "${PACKAGE_CACHE:-}" ] || keep=(-o "Dir::Cache::archives=$PACKAGE_CACHE" -o APT::Keep-Downloaded-Packages=true)
	# Headers bring a kernel with them. A host that boots none of its own, such as a container, does not boot this
	# one either, and making its initrd takes longer than all the rest.
	compgen -G '/boot/vmlinuz-*' >/dev/null || environment+=(INITRD=No)
	# shellcheck disable=SC2086 # a list
	if ! as_root env "${environment[@]}" sh -c \
		'apt-get update -qq -o APT::Update::Error-Mode=any; apt-get install -y -qq --no-install-recommends "$@"' apt "${keep[@]}" $missing >"$log" 2>&1; then
		own_cache
		stop "cannot install them: mend this, the network perhaps, and start again: $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
	fi
	own_cache
}

# own_cache: gives this user what apt, which works as root, has downloaded.
own_cache() {
	[ -n "${PACKAGE_CACHE:-}" ] || return 0
	as_root rm -rf "$PACKAGE_CACHE/partial" "$PACKAGE_CACHE/lock"
	as_root chown -R "$(id -u):$(id -g)" "$PACKAGE_CACHE"
}

# need_build_folder FOLDER: checks the folder, as an earlier run may have left one that cannot be used
need_build_folder() {
	local folder=$1 home
	[ ! -e "$folder" ] || [ -w "$folder" ] || stop "$folder cannot be written to: remove it (sudo rm -rf $folder), then start again"
	[ ! -e "$folder.log" ] || [ -w "$folder.log" ] || stop "$folder.log cannot be written to: remove it (sudo rm -f $folder.log)"
	home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt" 2>/dev/null) || true
	[ -z "$home" ] || [ "$home" = "$PWD" ] || stop "$folder is of another checkout, $home: remove it, then start again"
}

# configure_and_build FOLDER TARGET [CMAKE-ARGUMENT...]: names all options of the project that a step depends on, so
# that the cache of an earlier run changes nothing. Of two contradicting options, the last one counts.
configure_and_build() {
	local folder=$1 target=$2 log=$1.log
	shift 2
	need_build_folder "$folder"
	cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=ON -DPRISM_APPS=ON -DPRISM_PYTHON=ON \
		-DPRISM_SANITIZE= -DPRISM_FUZZ=OFF -DPRISM_COMPLETE=OFF -DPRISM_PRECOMPILE= -DPRISM_GTESTS=each \
		-DCMAKE_UNITY_BUILD=OFF -DCMAKE_UNITY_BUILD_BATCH_SIZE=32 -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF "$@" >"$log" 2>&1 || {
		grep -A8 'CMake Error' "$log" | head -n 30 >&2
		stop "cmake failed (above, and in $log)"
	}
	ninja -C "$folder" "$target" >>"$log" 2>&1 || {
		grep -B2 -A12 -E 'error:|FAILED' "$log" | head -n 60 >&2
		stop "the build failed (above, and in $log)"
	}
}
