#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The tests in virtual machines, one step a call. KERNEL is debian-6.1, kasan-6.12, kcsan-6.1 and so on.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${PRISM_BUILD:?is the build folder}"
: "${PRISM_KERNEL_WORK:=$PRISM_BUILD/kernel}"

usage() {
	cat <<-END
	usage: kernel_test.sh prepare KERNEL                  fetch or build the kernel
	       kernel_test.sh module KERNEL                   build rxe_prism.ko for it
	       kernel_test.sh series KERNEL                   what build.sh must refuse (series.sh), where modules are built for it
	       kernel_test.sh guest KERNEL NAME KIND GROUP... run groups of parts (guest/part_*.sh); KIND: stock or prism
	       kernel_test.sh pair KERNEL NAME KIND           two guests: stock rxe and KIND
	       kernel_test.sh negative KERNEL                 the control: faults on purpose must be found
	environment: PRISM_BUILD, PRISM_KERNEL_WORK (default PRISM_BUILD/kernel), PRISM_KO (instead of building),
	PRISM_MACHINES (bare machines, default PRISM_BUILD/machines),
	PARTS_ONLY (a regular expression: only these parts), SPEED_ROUNDS, SPEED_COUNTED (of the group speed: anything, to
	count instructions instead of time), FIGURES_ARGUMENTS (of prism_figures in the group figures), VERBS_ALL (the verbs suite whole on debug kernels), SHORT (a shorter selection on debian-6.1 too),
	SHARE (1 or 2, or empty for both: what is shared by two kernels)
	END
	exit 2
}

[ $# -ge 2 ] || usage
step=$1 kernel=$2
shift 2
variant=${kernel%%-*} line=${kernel#*-}
folder=$PRISM_KERNEL_WORK/$kernel
module=${PRISM_KO:-$PRISM_KERNEL_WORK/module-$kernel/rxe_prism.ko}
# The suite that has the kernel, if that is not the host's
suite=''
[ "$line" != 7.2 ] || suite=forky
suite_sh=("$here/vm/suite.sh" "" "$suite" "$line" "${PRISM_MACHINES:-$PRISM_BUILD/machines}")

prepare() {
	mkdir -p "$PRISM_KERNEL_WORK"
	case $variant${suite:+ of another suite} in
	"debian of another suite") on_suite make "$folder" ;;
	debian) "$here/vm/image.sh" --line "$line" --out "$folder" ;;
	*) "$here/vm/debug_kernel.sh" --line "$line" --variant "$variant" --out "$folder" ;;
	esac
}

# on_suite STEP ARGUMENT...: runs a step of suite.sh
on_suite() {
	suite_sh[1]=$1
	"${suite_sh[@]}" "${@:2}"
}

# on_machine OPTION... -- COMMAND...: runs it on the machine on which modules for a kernel of another suite are built.
# The checkout is /prism, rxe's source /source.
on_machine() {
	on_suite run --put "$here/../../kernel=/prism/kernel" --put "$here=/prism/tests/kernel" --put "$folder/source=/source" "$@"
}

build_module() {
	local out=${module%/*} source=/usr/src/linux-source-$line.tar.xz checks=(W=1 C=1 CF=-D__CHECK_ENDIAN__)
	[ -z "${PRISM_KO:-}" ] || return 0
	[ ! -d "$PRISM_KERNEL_WORK/linux-source-$line" ] || source=$PRISM_KERNEL_WORK/linux-source-$line
	mkdir -p "$PRISM_KERNEL_WORK"
	# The checks read the source, which is the same for all kernels of a line, and take longer than the compiler.
	[ "$variant" = debian ] || checks=()
	if [ -n "$suite" ]; then
		rm -rf "$out"
		on_machine --get "/out=$out" -- /prism/kernel/rxe-prism/build.sh --kernel "$(cat "$folder/version")" \
			--source /source --out /out -- "${checks[@]}" CHECK=/prism/tests/kernel/sparse.sh
	else
		"$here/../../kernel/rxe-prism/build.sh" --kernel-build "$(realpath "$folder/build")" --source "$source" --out "$out" \
			-- "${checks[@]}" CHECK="$here/sparse.sh"
	fi 2>&1 | tee "$out.log"
	[ -f "$module" ]
	# Warnings of the compiler and of sparse count in our own files; rxe's are left as they are.
	if grep -E '/(prism[^/]*|core/[^/]*)\.[ch]:[0-9]+:[0-9]+: (warning|error)' "$out.log"; then
		echo "kernel_test.sh: warnings in our own files"
		return 1
	fi
}

# The options of run.sh that a kernel and a kind need
options=(--env "PRISM_BUILD=$PRISM_BUILD" --env "PARTS_ONLY=${PARTS_ONLY:-.}" --env "SPEED_ROUNDS=${SPEED_ROUNDS:-30}"
	--env "FIGURES_ARGUMENTS=${FIGURES_ARGUMENTS:-}"
	--env "VERBS_ALL=${VERBS_ALL:-}")
set_options() {
	options+=(--kernel "$folder" --script "$here/guest/main.sh" --results "$1" --env "KIND=$2")
	[ "$2" != prism ] || options+=(--env "KO=$module")
	[ -z "${SPEED_COUNTED:-}" ] || options+=(--icount --cpus 1 --env SPEED_COUNTED=1)
	case $variant in
	kasan | kcsan) options+=(--env TIME_FACTOR=5 --time 1500) ;;
	*) options+=(--time 600) ;;
	esac
	# Kernels that watch memory also look for leaks: the last part of the group unload asks for them.
	[ "$variant" != kasan ] || options+=(--append kmemleak=on)
	# At most one kernel runs all of it; the others run shorter selections that differ. Parts that two kernels can
	# share are split between the kernels of a line.
	case $kernel in
	debian-6.1) options+=(--env "SHORT=${SHORT:-}" --env "SHARE=${SHARE-${SHORT:+1}}") ;;
	debian-*) options+=(--env SHORT=1 --env "SHARE=${SHARE-2}" --env "VERBS_FILTER=*/ipv6_list") ;;
	kasan-6.1) options+=(--env SHORT=1 --env "SHARE=${SHARE-1}") ;;
	*) options+=(--env SHORT=1 --env "SHARE=${SHARE-}") ;;
	esac
}

# scan LOG KIND: searches a log; data races in the rest of the kernel are not ours
scan() {
	local own=rxe_prism
	[ "$2" = prism ] || own=rdma_rxe
	echo "scanning $1"
	"$here/vm/scan_log.sh" --kcsan-in "$own" "$1"
}

# machines RUNNER KIND RESULTS GROUP...: runs them and searches their logs
machines() {
	local runner=$1 kind=$2 results=$3 status=0 log
	shift 3
	rm -rf "$results"
	"$here/vm/$runner" "${options[@]}" -- "$@" || status=$?
	for log in "$results"/*.log; do
		scan "$log" "$kind" || status=1
	done
	return $status
}

# QEMU's TCG has been seen to corrupt a processor's flags. No processor sets the reserved bits of EFLAGS, whatever its
# kernel does: a report with one of them is the emulator's fault, and says nothing of the module. Nor does a report of a
# machine that ended while it booted: nothing of ours runs before init.
emulator_failed() {
	local flags log
	for log in "$1"/*.log; do
		if ! grep -q 'Run /init as init process' "$log"; then
			echo "the machine ended while it booted: $log"
			return 0
		fi
	done
	while read -r flags; do
		if (((16#$flags & 16#ffc08028) != 0 || (16#$flags & 2) == 0)); then
			echo "the emulator failed: EFLAGS $flags is no processor's"
			return 0
		fi
	done < <(sed -nE 's/.*EFLAGS: ([0-9a-f]{8})\b.*/\1/p' "$1"/*.log)
	return 1
}

# Runs the machines again, once, if the emulator failed; check.sh reports it at its end.
twice_at_most() {
	local results=$3 status=0
	machines "$@" || status=$?
	if [ $status -ne 0 ] && emulator_failed "$results"; then
		rm -rf "$results.emulator-failed"
		mv "$results" "$results.emulator-failed"
		echo "$kernel ${*:4}: run again" | tee -a "$PRISM_KERNEL_WORK/emulator-failed"
		status=0
		machines "$@" || status=$?
	fi
	return $status
}

guest() {
	local name=$1 kind=$2
	local results=$PRISM_KERNEL_WORK/results/$kernel-$name
	shift 2
	set_options "$results" "$kind"
	[[ "$*" != *speed* && "$*" != *figures* ]] || options+=(--time 3600)
	twice_at_most run.sh "$kind" "$results" "$@"
}

pair() {
	local name=$1 kind=$2
	local results=$PRISM_KERNEL_WORK/results/$kernel-$name
	set_options "$results" "$kind"
	twice_at_most run_pair.sh "$kind" "$results" interop
}

if [ -n "$suite" ] && [ "$step" != prepare ] && [ ! -e "$folder/stamp" ]; then
	echo "SKIP: there is no kernel $line here: kernel_test.sh prepare $kernel says why"
	exit 77
fi
case $step in
prepare) prepare ;;
module) build_module ;;
series) on_machine -- /prism/tests/kernel/series.sh "$line" /source ;;
guest) [ $# -ge 3 ] || usage; guest "$@" ;;
pair) [ $# -eq 2 ] || usage; pair "$@" ;;
negative) "$here/negative/run.sh" "$folder" "$variant" "$PRISM_KERNEL_WORK/results/$kernel-negative" ;;
*) usage ;;
esac
