#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Boot a kernel in a virtual machine, run a script in it as root, and end with the script's exit status.
set -euo pipefail
# shellcheck source=tests/kernel/vm/common.sh
. "$(dirname "$0")/common.sh"

usage() {
	cat <<-END
	usage: run.sh --kernel DIR --script FILE [OPTION...] [-- ARGUMENT...]
	  --kernel DIR      kernel folder (image.sh, debug_kernel.sh)
	  --script FILE     bash script for the guest, which gets the ARGUMENTs; what it writes below \$RESULTS is kept
	  --results DIR     \$RESULTS on the host (default: a folder beside the log)
	  --log FILE        the console and then all kernel messages (default: DIR of --results/log)
	  --time SECONDS    of wall time, then the machine is killed (default 300)
	  --env NAME=VALUE  for the script; may be repeated
	  --append TEXT     more of the kernel's command line
	  --cpus N          (default 2)
	  --memory MIB      (default 2048)
	  --name NAME       of the machine, when several share --results (default: guest)
	  --net OWN:PEER    a network card, joined with another machine's by two socket paths
	  --icount          the guest's clock counts its instructions, one a nanosecond: slow, and always the same
	  --quiet           do not show what the script prints
	exit status: the script's; 124 out of time; 125 the machine ended without one (a panic: see the log)
	END
}

kernel='' script='' results='' log='' seconds=300 append='' cpus=2 memory=2048 name=guest net='' quiet=''
accelerator=(-accel "tcg,thread=multi")
variables=()
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) kernel=$(realpath "$2"); shift 2 ;;
	--script) script=$(realpath "$2"); shift 2 ;;
	--results) results=$(realpath -m "$2"); shift 2 ;;
	--log) log=$(realpath -m "$2"); shift 2 ;;
	--time) seconds=$2; shift 2 ;;
	--env) variables+=("$2"); shift 2 ;;
	--append) append="$append $2"; shift 2 ;;
	--cpus) cpus=$2; shift 2 ;;
	--memory) memory=$2; shift 2 ;;
	--name) name=$2; shift 2 ;;
	--net) net=$2; shift 2 ;;
	--icount) accelerator=(-accel "tcg,thread=single" -icount "shift=0,sleep=off"); shift ;;
	--quiet) quiet=1; shift ;;
	--) shift; break ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
if [ -z "$kernel" ] || [ -z "$script" ] || [ -z "$results$log" ]; then
	usage >&2
	exit 2
fi
[ -s "$kernel/initrd.gz" ] || die "$kernel is no kernel folder"
command -v qemu-system-x86_64 >/dev/null || die "install the package qemu-system-x86"
results=${results:-$log.results}
log=${log:-$results/$name.log}
own=$results/$name # of this machine: its script, its status, its console
console=$own/console

# Writes the script that the initramfs becomes. The variables and arguments are quoted once, here, and never pass
# through a command line.
write_boot() {
	local variable
	rm -rf "$own"
	mkdir -p "$own"
	{
		echo "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C"
		echo "export RESULTS=/run/prism MACHINE=$name"
		for variable in "${variables[@]}"; do
			printf 'export %s=%q\n' "${variable%%=*}" "${variable#*=}"
		done
		echo "cd / && ip link set lo up"
		printf '/bin/bash %q' "$script"
		[ $# -eq 0 ] || printf ' %q' "$@"
		cat <<-END
		 </dev/null
		status=\$?
		dmesg >"\$RESULTS/$name/dmesg"
		echo \$status >"\$RESULTS/$name/status"
		sync
		echo o >/proc/sysrq-trigger
		while true; do :; done
		END
	} >"$own/boot"
}

start_machine() {
	# Without ERMS the kernel copies words: the emulation makes a step for each byte of "rep movsb". A fifth level
	# of page tables and keys of pages only cost time. Every processor has one counter here, so it is a clock,
	# unlike the HPET, each reading of which leaves the emulated code. Retpolines would protect from nobody. The
	# kernel tests timers by waiting for some, for which the host may have no time.
	local options="console=ttyS0 loglevel=5 panic=-1 log_buf_len=16M kasan_multi_shot"
	options+=" tsc=reliable no_timer_check mitigations=off"
	local command=(qemu-system-x86_64 "${accelerator[@]}" -cpu "max,-erms,-la57,-pku" -smp "$cpus" -m "$memory"
		-display none -monitor none -no-reboot -serial "file:$console"
		-kernel "$kernel/vmlinuz" -initrd "$kernel/initrd.gz"
		-append "$options prism.name=$name prism.kernel=$kernel$append"
		-virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$results,mount_tag=results,security_model=none,multidevs=remap")
	if [ -n "$net" ]; then
		local last
		last=$(printf %s "$name" | cksum | awk '{ printf "%02x", $1 % 254 + 1 }')
		command+=(-device "virtio-net-pci,netdev=n0,mac=52:54:00:00:00:$last"
			-netdev "dgram,id=n0,local.type=unix,local.path=${net%%:*},remote.type=unix,remote.path=${net#*:}")
	else
		command+=(-nic none)
	fi
	exec timeout -k 5 "$seconds" "${command[@]}" </dev/null
}

# show_output PID: prints the script's output, without the kernel's messages, until the machine ends
show_output() {
	tail -q -s 0.3 --pid="$1" -f "$console" 2>/dev/null | stdbuf -o0 tr -d '\r' |
		grep --line-buffered -vE '^\[ *[0-9]+\.[0-9]+\]' || true
}

write_log() {
	{
		tr -d '\r' <"$console"
		[ ! -s "$own/dmesg" ] || cat "$own/dmesg"
	} >"$log"
}

main() {
	local ended=0 machine viewer=''
	write_boot "$@"
	mkdir -p "$(dirname "$log")"
	: >"$console"
	start_machine >"$own/qemu" 2>&1 &
	machine=$!
	# shellcheck disable=SC2064 # this process, now
	trap "kill $machine 2>/dev/null || true" EXIT
	if [ -z "$quiet" ]; then
		show_output $machine &
		viewer=$!
	fi
	wait $machine || ended=$?
	[ -z "$viewer" ] || wait "$viewer" || true
	write_log
	cat "$own/qemu" >&2
	[ ! -s "$own/status" ] || return "$(cat "$own/status")"
	if [ "$ended" -eq 124 ]; then
		say "out of time ($seconds s), log: $log"
		return 124
	fi
	say "the machine ended without a status, log: $log"
	return 125
}

main "$@"
