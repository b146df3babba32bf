#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Bare machines: a minimal Debian in a folder, in namespaces of its own, thrown away after use. Works as root, and as any
# user who may make user namespaces.
set -euo pipefail
LC_ALL=C

usage() {
	cat <<-END
	usage: machine.sh make SUITE MACHINES                 a minimal Debian (bookworm, trixie), as MACHINES/SUITE.tar
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

# What is there when a user logs in for the first time: sudo, and the certificates of the archive
included=sudo,ca-certificates

# enter COMMAND...: in namespaces in which this user is root, and there are others
enter() {
	local spaces=(--mount --pid --fork --kill-child) whom=()
	[ -z "$no_network" ] || spaces+=(--net)
	[ "$(id -u)" -eq 0 ] || whom=(--map-auto --map-root-user)
	unshare "${whom[@]}" "${spaces[@]}" "$@"
}

make_machine() {
	local suite=$1 folder=$2 mode=unshare
	[ "$(id -u)" -ne 0 ] || mode=root
	# What a machine left that was killed; none runs for so long.
	enter find "$folder" -maxdepth 1 -name "$suite.??????" -mmin +120 -exec rm -rf --one-file-system {} +
	mkdir -p "$folder/packages"
	[ ! -s "$folder/$suite.tar" ] || return 0
	mmdebstrap --quiet --mode=$mode --variant=minbase --include=$included \
		--setup-hook="mkdir -p \"\$1/var/cache/apt/archives\"" \
		--setup-hook="sync-in '$folder/packages' /var/cache/apt/archives" \
		--customize-hook="sync-out /var/cache/apt/archives '$folder/packages'" \
		"$suite" "$folder/new-$suite.tar" >"$folder/$suite.log" 2>&1 || {
		tail -n 20 "$folder/$suite.log" >&2
		die "no machine of $suite: is there a network?"
	}
	rm -rf "$folder/packages/partial" "$folder/packages/lock"
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

# copy WHAT TO: both on the host
copy() {
	mkdir -p "$(dirname "$2")"
	cp -a "$1" "$2"
}

# Packages are linked, not copied, before the machine's folder is a mount of its own; what the machine has fetched beside
# them is kept.
lend_packages() { find "$machines/packages" -maxdepth 1 -name '*.deb' -exec cp -al -t "$root/var/cache/apt/archives" {} +; }
keep_packages() {
	local file
	find "$root/var/cache/apt/archives" -maxdepth 1 -name '*.deb' -links 1 | while IFS= read -r file; do
		# Another machine may look at the folder now.
		cp -a "$file" "$machines/packages/.new.$$" && mv "$machines/packages/.new.$$" "$machines/packages/${file##*/}"
	done
}

make_user() {
	chroot "$root" useradd --create-home --shell /bin/bash dev
	echo 'dev ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/dev"
}

# Runs as the root of the namespaces; what it leaves only they can remove.
inside() {
	local status=0 pair home=/root login=(bash -c)
	root=$(mktemp -d "$machines/$suite.XXXXXX")
	trap 'umount -R "$root" 2>/dev/null; rm -rf --one-file-system "$root"' EXIT
	tar -C "$root" -xpf "$machines/$suite.tar"
	lend_packages
	mount --bind "$root" "$root"
	mount_devices
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	[ -z "$no_network" ] || ip link set lo up
	if [ -n "$user" ]; then
		[ -d "$root/home/dev" ] || make_user
		home=/home/dev login=(su - dev -c)
	fi
	for pair in "${put[@]}"; do
		copy "${pair%%=*}" "$root${pair#*=}"
		[ -z "$user" ] || chroot "$root" chown -R dev: "${pair#*=}"
	done
	env -i HOME=$home TERM="${TERM:-dumb}" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		CI="${CI:-}" chroot "$root" "${login[@]}" "$(printf '%q ' "$@")" </dev/null || status=$?
	keep_packages
	[ $status -eq 0 ] || return $status
	for pair in "${get[@]}"; do
		copy "$root${pair%%=*}" "${pair#*=}"
	done
	if [ -n "$save" ]; then
		umount -R "$root/dev" "$root/sys" "$root/proc"
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
	[ -s "$machines/$suite.tar" ] || die "make the machine first: machine.sh make $suite $machines"
	enter "$0" inside "$suite" "$machines" "${options[@]}"
	;;
inside) inside "$@" ;;
*) usage >&2; exit 2 ;;
esac
