#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Make the initramfs of a kernel folder. It mounts the host's / read-only over 9p with a tmpfs above it, so that the
# guest has the host's programs and files and can write without consequence; the kernel's own modules in /lib/modules;
# the run's folder at /run/prism; and then becomes /run/prism/NAME/boot (run.sh).
set -euo pipefail
# shellcheck source=tests/kernel/vm/common.sh
. "$(dirname "$0")/common.sh"

if [ $# -ne 2 ] || [ "$1" != --kernel ]; then
	die "usage: initrd.sh --kernel DIR"
fi
kernel=$(realpath "$2")
release=$(cat "$kernel/version")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

busybox=$(command -v busybox) || die "install the package busybox-static"
mkdir -p "$tree"/{bin,dev,proc,sys,mnt,modules}
cp "$busybox" "$tree/bin/busybox"

# Loads these in order, with their dependencies; a kernel with all of it built in has an empty list.
for module in virtio_pci 9pnet_virtio 9p overlay; do
	modprobe -d "$kernel" -S "$release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
	cp "$file" "$tree/modules/"
	basename "$file"
done >"$tree/modules/order"

cat >"$tree/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r file; do
	insmod "/modules/$file" || echo "insmod failed: $file"
done </modules/order
option() { sed -n "s/.*prism\.$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

root=/mnt/root
mkdir -p /mnt/lower /mnt/upper $root
share=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o $share,cache=loose,ro host /mnt/lower
mount -t tmpfs tmpfs /mnt/upper
mkdir /mnt/upper/data /mnt/upper/work
mount -t overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper/data,workdir=/mnt/upper/work overlay $root
mount -t proc proc $root/proc
mount -t sysfs sys $root/sys
mount -t devtmpfs dev $root/dev
mount -t tmpfs tmpfs $root/run
mkdir -p $root/dev/shm $root/dev/pts $root/run/prism
mount -t tmpfs tmpfs $root/dev/shm
mount -t devpts devpts $root/dev/pts
mount -t debugfs debugfs $root/sys/kernel/debug 2>/dev/null
mount -t 9p -o $share,cache=none results $root/run/prism

release=$(uname -r)
mkdir -p "$root/lib/modules/$release"
mount --bind "/mnt/lower$(option kernel)/lib/modules/$release" "$root/lib/modules/$release"
exec switch_root $root /bin/bash "/run/prism/$(option name)/boot"
INIT
chmod +x "$tree/init"
(cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$kernel/initrd.gz"
