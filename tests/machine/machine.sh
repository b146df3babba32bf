#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Bare machines: a minimal Debian in a folder, in namespaces of its own, thrown away after use. Works as root, and as any
# user who may make user namespaces.
set -euo pipefail
LC_ALL=C

usage() {
	cat <<-END
	usage: machine.sh make SUITE MACHINES                 a minimal Debian (bookworm, trixie, forky), as MACHINES/SUITE.tar
	       machine.sh run SUITE MACHINES [OPTION...] -- COMMAND [ARGUMENT...]
	                                                      in a fresh copy of it; ends with the command's status
	  --put WHAT=PATH     copy a file or folder of the host to PATH of the machine; may be repeated
	  --get PATH=FOLDER   copy PATH of the machine to a folder of the host, if the command succeeds; may be repeated
	  --user              a normal user, dev, who may sudo, runs COMMAND and owns what was put; the default is root
	  --no-network        but for a loopback interface
	  --save NAME         keep the machine as MACHINES/NAME.tar, if the command succeeds
	Packages that machines download are kept in MACHINES/packages, for the next machine.
	END
}

die() {
	echo "machine.sh: $*" >&2
	exit 1
}

# Packages of a machine at the first login of a user: sudo, and the certificates of the archive
included=sudo,ca-certificates

# enter COMMAND...: in namespaces in which this user is root, and there are others
enter() {
	local spaces=(--mount --pid --fork --kill-child) whom=()
	[ -z "$no_network" ] || spaces+=(--net)
	[ "$(id -u)" -eq 0 ] || whom=(--map-auto --map-root-user)
	unshare "${whom[@]}" "${spaces[@]}" "$@"
}

# Machines live in memory if there is plenty: most of the cost of installing and building is in files, and in their
# disk.
plenty_of_memory() { [ "$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 12 ]; }

# with_memory FOLDER COMMAND...: runs it as root, with temporary files in memory, mounted there for this command alone
with_memory() {
	local folder=$1
	shift
	if [ "$(id -u)" -ne 0 ] || ! plenty_of_memory; then
		"$@"
		return
	fi
	mkdir -p "$folder"
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount sh -c 'mount -t tmpfs -o mode=755 machine "$0" && TMPDIR=$0 exec "$@"' "$folder" "$@"
}

# skip_if_lacking SUITE FOLDER: skips if the mirror lacks the suite, so that no machine could be made
skip_if_lacking() {
	! grep -qs ' does not have a Release file' "$2/$1.log" || { echo "SKIP: the mirror has no suite $1"; exit 77; }
}

make_machine() {
	local suite=$1 folder=$2 mode=unshare
	[ "$(id -u)" -ne 0 ] || mode=root
	# Remains of machines that were killed; none runs for so long.
	enter find "$folder" -maxdepth 1 -name "$suite.??????" -mmin +120 -exec rm -rf --one-file-system {} +
	mkdir -p "$folder/packages"
	[ ! -s "$folder/$suite.tar" ] || return 0
	# No translations of descriptions, nor a wait for the disk: the machine will be thrown away. A mirror may lag
	# behind: its files of a suite that is not released yet are valid for some days only.
	with_memory "$folder/tmp" mmdebstrap --mode=$mode --variant=minbase --include=$included \
		--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Check-Valid-Until "false"' --dpkgopt=force-unsafe-io \
		"$suite" "$folder/new-$suite.tar" >"$folder/$suite.log" 2>&1 || {
		skip_if_lacking "$suite" "$folder"
		tail -n 20 "$folder/$suite.log" >&2
		die "no machine of $suite: is there a network?"
	}
	mv "$folder/new-$suite.tar" "$folder/$suite.tar"
}

# Inside ------------------------------------------------------------------------------------------------------------

mount_devices() {
	local node
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount -t tmpfs -o mode=755 dev "$root/dev"
	for node in null zero full random urandom tty; do
		: >"$root/dev/$node"
		mount --bind "/dev/$node" "$root/dev/$node"
	done
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
}

# copy WHAT TO: copies on the host
copy() {
	mkdir -p "$(dirname "$2")"
	cp -aT "$1" "$2"
}

# lend_packages: lends packages that earlier machines have fetched; packages that this one fetches are kept, too.
lend_packages() {
	mkdir -p "$root/packages-lent"
	mount --bind "$machines/packages" "$root/packages-lent"
	mount -o remount,bind,ro "$root/packages-lent" 2>/dev/null || true # users may not, on some file systems
	find "$machines/packages" -maxdepth 1 -name '*.deb' -printf '/packages-lent/%f\0' |
		xargs -r0 ln -st "$root/var/cache/apt/archives"
}
keep_packages() {
	local file
	find "$root/var/cache/apt/archives" -maxdepth 1 -name '*.deb' -type f | while IFS= read -r file; do
		# Another machine may read the folder now.
		cp -a "$file" "$machines/packages/.new.$$" && mv "$machines/packages/.new.$$" "$machines/packages/${file##*/}"
	done
}

make_user() {
	chroot "$root" useradd --create-home --shell /bin/bash dev
	echo 'dev ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/dev"
}

# may_enter PATH: gives the copied files to the user, and lets him pass the folders above
may_enter() {
	local above=$1
	chroot "$root" chown -R dev: "$1"
	while above=$(dirname "$above") && [ "$above" != / ]; do
		chmod a+x "$root$above"
	done
}

# Runs as the root of the namespaces, which alone can remove the files that it leaves.
inside() {
	local status=0 pair home=/root login=(bash -c)
	root=$(mktemp -d "$machines/$suite.XXXXXX")
	# Detached even if something still runs there, which ends with the namespaces. As a whole: users may not unmount one
	# by one what they got from the host.
	trap 'umount -l "$root" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
	if plenty_of_memory; then mount -t tmpfs -o mode=755 machine "$root"; else mount --bind "$root" "$root"; fi
	tar -C "$root" --exclude='./dev/*' -xpf "$machines/$suite.tar"
	lend_packages
	mount_devices
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	[ -z "$no_network" ] || ip link set lo up
	if [ -n "$user" ]; then
		[ -d "$root/home/dev" ] || make_user
		home=/home/dev login=(su - dev -c)
	fi
	for pair in "${put[@]}"; do
		copy "${pair%%=*}" "$root${pair#*=}"
		[ -z "$user" ] || may_enter "${pair#*=}"
	done
	# Not by chroot, below which the kernel allows no user namespaces
	# shellcheck disable=SC2016 # the inner shell's
	env -i HOME=$home TERM="${TERM:-dumb}" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		CI="${CI:-}" unshare --mount sh -c 'cd "$0" && pivot_root . . && umount -l . && exec "$@"' "$root" \
		"${login[@]}" "$(printf '%q ' "$@")" </dev/null || status=$?
	keep_packages
	[ $status -eq 0 ] || return $status
	for pair in "${get[@]}"; do
		copy "$root${pair%%=*}" "${pair#*=}"
	done
	if [ -n "$save" ]; then
		umount -l "$root/dev" "$root/sys" "$root/proc" "$root/packages-lent"
		rm -f "$root"/var/cache/apt/archives/*.deb
		tar -C "$root" --one-file-system -cpf "$machines/$save.tar.new" .
		mv "$machines/$save.tar.new" "$machines/$save.tar"
	fi
}

put=() get=() user='' no_network='' save=''
[ $# -ge 3 ] || { usage >&2; exit 2; }
step=$1 suite=$2
mkdir -p "$3/packages"
machines=$(realpath "$3")
shift 3
options=("$@")
while [ $# -gt 0 ]; do
	case $1 in
	--put) put+=("$2"); shift 2 ;;
	--get) get+=("$2"); shift 2 ;;
	--user) user=yes; shift ;;
	--no-network) no_network=yes; shift ;;
	--save) save=$2; shift 2 ;;
	--) shift; break ;;
	*) usage >&2; exit 2 ;;
	esac
done

# skip_without_namespaces: unshare --map-auto never ends where there are none for users, in a chroot for instance.
skip_without_namespaces() {
	local why
	why=$({ [ "$(id -u)" -eq 0 ] || unshare --user true; } 2>&1 && enter true 2>&1) ||
		{ echo "SKIP: no namespaces for $(id -un): $why"; exit 77; }
}

case $step in
make)
	skip_without_namespaces
	make_machine "$suite" "$machines"
	;;
run)
	skip_without_namespaces
	[ -s "$machines/$suite.tar" ] || skip_if_lacking "$suite" "$machines"
	[ -s "$machines/$suite.tar" ] || die "make the machine first: machine.sh make $suite $machines"
	enter "$0" inside "$suite" "$machines" "${options[@]}"
	;;
inside) inside "$@" ;;
*) usage >&2; exit 2 ;;
esac
