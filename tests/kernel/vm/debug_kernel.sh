#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build a debug kernel from the distribution's linux-source package, small and with the checks of one variant.
# The result is a kernel folder as image.sh makes one (see common.sh there), with its build tree for our module.
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
# What one line alone has
[ ! -f "$vm_folder/config/$variant-$line.config" ] || fragments+=("$vm_folder/config/$variant-$line.config")
package=linux-source-$line
archive=/usr/src/$package.tar.xz
tree=${sources:-${out%/*}}/$package
log=$out/build.log

# The sources of the installed package version, as this script leaves them
unpack() {
	local version=$1
	[ "$(cat "$tree/.prism_version" 2>/dev/null)" != "$version" ] || return 0
	say "unpacking $archive"
	rm -rf "$tree" "$tree.new"
	mkdir -p "$tree.new"
	# Without the folders that no configuration of ours enters, as far as nothing reads their Kconfig
	tar -xf "$archive" -C "$tree.new" --strip-components=1 --exclude='*/Documentation/*.rst' --exclude='*/Documentation/*.yaml' \
		--exclude='*/boot/dts/*' --exclude='*/tools/testing/*' --exclude='*/tools/perf/*' \
		--exclude='*/sound/*/*.[ch]' --exclude='*/drivers/gpu/*/*.[ch]' --exclude='*/drivers/media/*/*.[ch]' \
		--exclude='*/drivers/staging/*/*.[ch]' --exclude='*/drivers/net/*/*/*.[ch]' --exclude='*/drivers/scsi/*/*.[ch]'
	leave_uninstrumented "$tree.new"
	leave_out "$tree.new"
	echo "$version" >"$tree.new/.prism_version"
	mv "$tree.new" "$tree"
}

# KASAN and UBSAN watch what handles our module's memory: RDMA, the network's core, what a UDP packet passes, what pins and
# maps memory, and the library that copies and compares for everybody. The rest of the kernel gets and gives nothing of it,
# and is more than half of the time of building and of running when it is watched.
leave_uninstrumented() {
	local object
	find "$1"/{arch/x86,block,certs,crypto,drivers,fs,init,io_uring,ipc,kernel,mm,security,virt} \
		"$1"/net/{9p,ethtool,ipv4,ipv6,netlink,packet,unix} -name Makefile \
		-not -path '*/drivers/infiniband/*' -not -path '*/arch/x86/lib/*' -print0 |
		xargs -0 sed -i '1i KASAN_SANITIZE := n\nUBSAN_SANITIZE := n'
	for object in mm/{gup,hmm,mmu_notifier,util,vmalloc} \
		net/ipv4/{ip_fragment,ip_input,ip_output,ip_tunnel_core,udp,udp_offload,udp_tunnel_core,udp_tunnel_nic} \
		net/ipv6/{ip6_checksum,ip6_input,ip6_offload,ip6_output,ip6_udp_tunnel,reassembly,udp,udp_offload}; do
		printf '%s_SANITIZE_%s.o := y\n' KASAN "${object##*/}" UBSAN "${object##*/}" >>"$1/${object%/*}/Makefile"
	done
}

# What no option of a configuration leaves out:
# - objtool, which rewrites every object after it is compiled, for jump labels and static calls that we can do without
# - trace points, which lockdep's wish to know of disabled interrupts brings, with the tracer and its events in every folder;
#   of the tracer's files, one is lockdep's
# - the make of each folder of drivers that has none of ours; there are 230
# - ACPI, for a timer that needs none of it but its port (run.sh tells it). By this timer the kernel measures its clocks; by
#   the PIT alone it cannot on a host that is busy
# - the question whether QEMU is Xen: it compares names with a watched function, before KASAN is ready
leave_out() {
	sed -i '/select HAVE_OBJTOOL[[:space:]]*if X86_64/d' "$1/arch/x86/Kconfig"
	sed -i '/^config PREEMPTIRQ_TRACEPOINTS/,/^config TRACING/{/select TRACING/d; s/default y/default n/}' "$1/kernel/trace/Kconfig"
	sed -i 's/(CONFIG_TRACEPOINTS) += trace\//(CONFIG_TRACE_IRQFLAGS) += trace\//' "$1/kernel/Makefile"
	sed -i 's/(CONFIG_PREEMPTIRQ_TRACEPOINTS) +=/(CONFIG_TRACE_IRQFLAGS) +=/' "$1/kernel/trace/Makefile"
	sed -i -E '/^obj-y\s*\+=/{
		s# (block|misc|mfd|nfc|i3c|media)/##g
		/= *(amba|android|auxdisplay|bus|cdrom|char\/ipmi|clk|cxl|firewire|firmware|gpu|hwtracing\/intel_th)\//d
		/= *(i2c|idle|iommu|macintosh|mmc|nvme|platform|power|ptp|pwm|scsi|soc|ufs|video)\//d
		}
		/^obj-\$\(CONFIG_(PCI|PERF_EVENTS)\)\s*\+= (usb|perf)\//d' "$1/drivers/Makefile"
	sed -i '/^config X86_PM_TIMER/,/default/s/depends on .*/depends on X86/' "$1/drivers/acpi/Kconfig"
	sed -i 's/= xen_cpuid_base();/= 0;/' "$1/arch/x86/platform/pvh/enlighten.c"
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

# What the fragments do not name is off, and not what the kernel's defaults say.
configure() {
	{
		cat "${fragments[@]}"
		echo "CONFIG_LOCALVERSION=\"-$variant\""
	} >"$out/build/fragments.config"
	make_kernel KCONFIG_ALLCONFIG="$out/build/fragments.config" allnoconfig
	check_config
}

# Progress while make runs: how many objects there are.
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
	make_kernel vmlinux modules
	make_kernel INSTALL_MOD_PATH="$out" modules_install
	# QEMU starts it as it is (PVH): nothing to compress here, nor to decompress in each guest
	strip -o "$out/vmlinuz" "$out/build/vmlinux"
	cp "$out/build/.config" "$out/config"
	make -s -C "$tree" O="$out/build" kernelrelease | tail -n 1 >"$out/version"
	refresh_initrd "$out"
	echo "$stamp" >"$out/stamp"
	say "$out is ready: $(cat "$out/version")"
}

main
