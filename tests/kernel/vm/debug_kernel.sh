#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Builds a debug kernel from the distribution's linux-source package, small and with the checks of one variant. The
# result is a kernel folder as image.sh makes one (see common.sh there), with its build tree for our module.
set -euo pipefail
# shellcheck source=tests/kernel/vm/common.sh
. "$(dirname "$0")/common.sh"

usage() {
	cat <<-END
	usage: debug_kernel.sh --line 6.1|6.12 --variant kasan|kcsan --out DIR [--sources DIR] [--jobs N]
	  --out      the kernel folder; nothing is built if it is up to date
	  --sources  where the sources are unpacked, one folder a line, shared by the variants (default: OUT/..)
	END
}

line='' variant='' out='' sources='' jobs=$(nproc)
while [ $# -gt 0 ]; do
	case $1 in
	--line) line=$2; shift 2 ;;
	--variant) variant=$2; shift 2 ;;
	--out) out=$(realpath -m "$2"); shift 2 ;;
	--sources) sources=$(realpath -m "$2"); shift 2 ;;
	--jobs) jobs=$2; shift 2 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
fragments=("$vm_folder/config/base.config" "$vm_folder/config/$variant.config")
if [ -z "$line" ] || [ -z "$out" ] || [ ! -f "${fragments[1]}" ]; then
	usage >&2
	exit 2
fi
# Configuration of one line alone
[ ! -f "$vm_folder/config/$variant-$line.config" ] || fragments+=("$vm_folder/config/$variant-$line.config")
package=linux-source-$line
archive=/usr/src/$package.tar.xz
tree=${sources:-${out%/*}}/$package
log=$out/build.log

# unpack VERSION: unpacks the sources of the installed package version, with the changes of this script
unpack() {
	local version=$1
	[ "$(cat "$tree/.prism_version" 2>/dev/null)" != "$version" ] || return 0
	say "unpacking $archive"
	rm -rf "$tree" "$tree.new"
	mkdir -p "$tree.new"
	# Leaves out folders that no configuration of ours enters, as far as nothing reads their Kconfig
	tar -xf "$archive" -C "$tree.new" --strip-components=1 --exclude='*/Documentation/*.rst' --exclude='*/Documentation/*.yaml' \
		--exclude='*/boot/dts/*' --exclude='*/tools/testing/*' --exclude='*/tools/perf/*' \
		--exclude='*/sound/*/*.[ch]' --exclude='*/drivers/gpu/*/*.[ch]' --exclude='*/drivers/media/*/*.[ch]' \
		--exclude='*/drivers/staging/*/*.[ch]' --exclude='*/drivers/net/*/*/*.[ch]' --exclude='*/drivers/scsi/*/*.[ch]'
	leave_uninstrumented "$tree.new"
	echo "$version" >"$tree.new/.prism_version"
	mv "$tree.new" "$tree"
}

# KASAN and UBSAN watch code that handles our module's memory: RDMA, the network, the code that pins and maps memory,
# and the library that copies and compares for all. The rest of the kernel never handles it, and would take more than
# half of the time of building and of running if it were watched.
leave_uninstrumented() {
	local object
	find "$1"/{arch/x86,block,certs,crypto,drivers,fs,init,io_uring,ipc,kernel,mm,security,virt} \
		"$1"/net/{9p,ethtool,netlink,packet,unix} -name Makefile \
		-not -path '*/drivers/infiniband/*' -not -path '*/arch/x86/lib/*' -print0 |
		xargs -0 sed -i '1i KASAN_SANITIZE := n\nUBSAN_SANITIZE := n'
	for object in gup hmm mmu_notifier util vmalloc; do
		printf '%s_SANITIZE_%s.o := y\n' KASAN $object UBSAN $object
	done >>"$1/mm/Makefile"
}

make_kernel() {
	nice -n 10 make -C "$tree" O="$out/build" -j "$jobs" "$@" >>"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		die "make $* failed, log: $log"
	}
}

# Every line of the fragments must have survived the dependencies.
check_config() {
	local wanted missing=0
	while read -r wanted; do
		case $wanted in
		*=n) grep -q "^${wanted%=n}=" "$out/build/.config" || continue ;;
		*) ! grep -qxF "$wanted" "$out/build/.config" || continue ;;
		esac
		echo "not in the configuration: $wanted" >&2
		missing=1
	done < <(grep -h '^CONFIG_' "${fragments[@]}")
	[ $missing -eq 0 ] || die "the configuration of $package lacks what the fragments want"
}

# Options that the fragments do not name are off, whatever the kernel's defaults say.
configure() {
	{
		cat "${fragments[@]}"
		echo "CONFIG_LOCALVERSION=\"-$variant\""
	} >"$out/build/fragments.config"
	make_kernel KCONFIG_ALLCONFIG="$out/build/fragments.config" allnoconfig
	check_config
}

# Prints progress while make runs: the number of objects.
watch() {
	while sleep 60; do
		say "$(find "$out/build" -name '*.o' | wc -l) objects"
	done
}

main() {
	local version stamp
	version=$(package_version "$package")
	stamp=$(cat <(echo "$version") "${fragments[@]}" "$0" | sha256sum | cut -d ' ' -f 1)
	if [ "$(cat "$out/stamp" 2>/dev/null)" = "$stamp" ]; then
		refresh_initrd "$out"
		say "$out is up to date ($package $version, $variant)"
		return
	fi
	unpack "$version $(cksum <"$0")"
	rm -rf "$out"
	mkdir -p "$out/build"
	say "building $package $version, $variant (log: $log)"
	configure
	watch &
	local watcher=$!
	# shellcheck disable=SC2064 # this process, now
	trap "kill $watcher" EXIT
	make_kernel bzImage modules
	make_kernel INSTALL_MOD_PATH="$out" modules_install
	cp "$out/build/arch/x86/boot/bzImage" "$out/vmlinuz"
	cp "$out/build/.config" "$out/config"
	make -s -C "$tree" O="$out/build" kernelrelease | tail -n 1 >"$out/version"
	refresh_initrd "$out"
	echo "$stamp" >"$out/stamp"
	say "$out is ready: $(cat "$out/version")"
}

main
