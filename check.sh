#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install what is missing, build in every flavour, run every test. Ends with the test runner's own summary.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/packages.sh

fuzz_seconds=12 debug_kernel=''
usage() {
	cat <<-END
	usage: ./check.sh [--fuzz-seconds N] [--debug-kernel]
	  --fuzz-seconds N   how long each fuzzer runs (default $fuzz_seconds; the long run is 600)
	  --debug-kernel     test the kernel module on a kernel with KCSAN too, not only on the one with KASAN and lockdep,
	                     and repeat on Debian's 6.1, at full length, what that one has run; the verbs suite whole on each
	Everything else is fixed: the check is the same here, in CI and for the reader of its result.
	END
}
while [ $# -gt 0 ]; do
	case $1 in
	--fuzz-seconds) fuzz_seconds=$2; shift 2 ;;
	--debug-kernel) debug_kernel=yes; shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

step() { printf '== %s (%d s)\n' "$1" $SECONDS; }

step "packages"
install_packages "${build_packages[@]}" "${apps_packages[@]}" "${check_packages[@]}" "${kernel_packages[@]}"
step "style: clang-format, shellcheck, SPDX"
scripts/style.sh
# -g1: lines and functions are all that a failure needs, and half of the compiler's time goes into the rest
step "build: gcc, as it is shipped (log: build.log)"
configure_and_build build all -DPRISM_CHECK=ON -DPRISM_KERNEL_TESTS=ON \
	-DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -g1 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1 -DNDEBUG" \
	-DPRISM_KERNELS="debian-6.1;debian-6.12;kasan-6.1${debug_kernel:+;kcsan-6.1}" ${debug_kernel:+-DPRISM_KERNEL_REPEAT=ON}
step "build: address and undefined behaviour sanitizers"
configure_and_build build-asan sanitized-tests -DPRISM_SANITIZE=address,undefined
step "build: thread sanitizer"
configure_and_build build-tsan threaded-tests -DPRISM_SANITIZE=thread
step "build: fuzzers (clang)"
CC=clang CXX=clang++ configure_and_build build-fuzz all -DPRISM_FUZZ=ON -DPRISM_FUZZ_SECONDS="$fuzz_seconds"
step "tests"
again=build/kernel/emulator-failed # guests that were run twice (tests/kernel/kernel_test.sh)
failed=build/Testing/Temporary/LastTestsFailed.log
rm -f "$again" "$failed"
tell_again() { [ ! -s "$again" ] || { echo "== the emulator failed, and these ran again:" && cat "$again"; }; }
trap tell_again EXIT
[ -z "$debug_kernel" ] || export VERBS_ALL=1
run_tests() { ctest --test-dir build --output-on-failure "$@"; }
run_tests -j "$(nproc)" || {
	# Emulated machines and hundreds of processes on two cores miss time limits now and then. What fails twice, the second
	# time with nothing beside it, is broken; what passes then is told here, to be looked into.
	step "failed, once more with nothing beside it: $(cut -d: -f2 "$failed" | tr '\n' ' ')"
	run_tests --rerun-failed
}
