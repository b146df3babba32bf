#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Makes the folder of a kernel of another Debian suite than the host's, which has neither its headers nor the compiler
# that they need: they are installed on a bare machine (tests/machine), kept, and modules are built there. The result is
# a kernel folder (common.sh), but with rxe's source instead of something to build against.
set -euo pipefail
# shellcheck source=tests/kernel/vm/common.sh
. "$(dirname "$0")/common.sh"

usage() {
	cat <<-END
	usage: suite.sh make SUITE LINE MACHINES KERNEL             the kernel folder KERNEL, and the machine SUITE-kernel
	       suite.sh run SUITE LINE MACHINES [OPTION...] -- ...  on that machine: machine.sh run
	exit status: 77 if the archive has no such suite, or the suite no kernel of that line
	END
	exit 2
}

[ $# -ge 5 ] || usage
step=$1 suite=$2 line=$3 machines=$4
shift 4
machine=$vm_folder/../../machine/machine.sh

skip() {
	echo "SKIP: $*"
	exit 77
}

# Script that runs on the machine. The files that it leaves in memory become the kernel folder, and are not kept with
# the machine.
write_script() {
	cat <<'END'
set -euo pipefail
fail() { echo "FAIL: $*"; exit 1; }
. /apt.sh
apt-get update -qq
release=$(apt-cache depends linux-headers-amd64 | sed -n 's/.*Depends: linux-headers-//p')
[[ $release == "$1".* ]] || { echo "its kernel is ${release:-none}"; exit 77; }
apt_quietly install linux-headers-amd64 make patch xz-utils sparse
apt_quietly install --download-only "linux-binary-$release" "linux-modules-$release" "linux-base-$release" "linux-source-$1"
kernel=/dev/shm/kernel
mkdir -p $kernel/source
cd /var/cache/apt/archives
for part in binary modules base; do
	dpkg-deb --fsys-tarfile linux-$part-"$release"_*.deb | tar -xC $kernel --strip-components=2 ./usr/lib
done
dpkg-deb --fsys-tarfile linux-source-"$1"_*.deb | tar -xO --wildcards '*.tar.xz' |
	tar -xJC $kernel/source --strip-components=1 --wildcards '*/drivers/infiniband/sw/rxe/*'
# The headers lack it, and without it make runs no checker.
printf '#!/bin/sh\necho 1\n' >/usr/src/checker-valid.sh
chmod 755 /usr/src/checker-valid.sh
ln -sf /usr/src/checker-valid.sh "$(readlink -f /usr/src/linux-headers-"${release%-amd64}"-common)/scripts/"
echo "$release" >$kernel/version
END
}

make_kernel_folder() {
	local out status=0 stamp release
	out=$(realpath -m "$1")
	# An older point release of the line is good enough: the archive is asked once.
	stamp="$line $(cksum <"$0")"
	if [ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ] && [ -s "$machines/$suite-kernel.tar" ]; then
		refresh_initrd "$out"
		say "$out is up to date ($(cat "$out/version"))"
		return
	fi
	[ -s "$machines/$suite.tar" ] || "$machine" make "$suite" "$machines" || skip "there is no machine of $suite"
	rm -rf "$out"
	mkdir -p "$out"
	write_script >"$out/script"
	"$machine" run "$suite" "$machines" --put "$vm_folder/../../packages/apt.sh=/apt.sh" --put "$out/script=/script" \
		--get "/dev/shm/kernel=$out" --save "$suite-kernel" -- bash /script "$line" || status=$?
	rm "$out/script"
	[ $status -ne 77 ] || skip "$suite has no kernel $line (above: which)"
	[ $status -eq 0 ] || die "no kernel $line of $suite (above: why)"
	release=$(cat "$out/version")
	mv "$out/lib/modules/$release"/{vmlinuz,config} "$out/"
	depmod -b "$out" "$release"
	refresh_initrd "$out"
	echo "$stamp" >"$out/stamp"
	say "$out is ready: $release"
}

case $step in
make) make_kernel_folder "$1" ;;
run) exec "$machine" run "$suite-kernel" "$machines" "$@" ;;
*) usage ;;
esac
