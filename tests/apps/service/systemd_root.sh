#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Becomes systemd as process 1 of new namespaces, with its own root: nothing that it does reaches the machine. Of the
# machine's files it sees /usr and the build, both read-only; of units only those in UNITS, so none of the system's.
#
# usage: systemd_root.sh ROOT BUILD UNITS     ROOT: an empty folder. It becomes /, BUILD becomes /build, UNITS /units.
set -e
if [ "${1:-}" != --inside ]; then
	# A cgroup of its own: the root that systemd sees and may divide.
	if [ -e /sys/fs/cgroup/cgroup.procs ]; then
		cgroup=/sys/fs/cgroup/prism-units-$$
	else
		cgroup=/sys/fs/cgroup/systemd/prism-units-$$
	fi
	mkdir "$cgroup"
	echo "$cgroup" >"$3/cgroup"
	echo $$ >"$cgroup/cgroup.procs"
	exec unshare --mount --pid --fork --kill-child --net --uts --ipc --cgroup "$0" --inside "$@"
fi
shift
# Never with the machine's own namespaces: this unmounts /, and systemd empties /tmp.
[ $$ -eq 1 ] || exit 1
root=$1
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir -p "$root"/{usr,etc/prism,etc/default,proc,sys,dev/pts,run,tmp,var/tmp,var/lib,var/log,root,home,build,units,old}
for name in bin sbin lib lib32 lib64 libx32; do
	[ ! -L "/$name" ] || cp -a "/$name" "$root/"
done
cp -a /etc/{passwd,group,nsswitch.conf,ld.so.cache,hosts} "$root/etc/"
cp "$3"/*.toml "$3"/*.json "$3"/*.secret "$root/etc/prism/"
echo PRISM_DEVICES=lo >"$root/etc/default/prism"
for pair in "/usr usr" "$2 build" "$3 units"; do
	mount --bind "${pair% *}" "$root/${pair#* }"
	mount -o remount,bind,ro "$root/${pair#* }"
done
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
if [ -e /sys/fs/cgroup/cgroup.procs ]; then
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
else
	mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
	mkdir "$root/sys/fs/cgroup/systemd"
	mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
fi
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
for device in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
	mknod -m 666 "$root/dev/${device% *}" c 1 "${device#* }"
done
ip link set lo up
cd "$root"
pivot_root . old
umount -l /old
exec env -i container=prism-test PATH=/usr/sbin:/usr/bin SYSTEMD_UNIT_PATH=/units SYSTEMD_GENERATOR_PATH=/nowhere \
	SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/nowhere /usr/lib/systemd/systemd --system --unit=basic.target \
	--log-target=null --show-status=no --crash-reboot=no
