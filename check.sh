#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install what is missing, build in every flavour, run every test. Ends with the test runner's own summary.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/packages.sh

fuzz_seconds=12 debug_kernel='' all='' again=''
usage() {
	cat <<-END
	usage: ./check.sh [--fuzz-seconds N] [--debug-kernel] [--all] [--again]
	  --fuzz-seconds N   how long each fuzzer runs (default $fuzz_seconds; the long run is 600)
	  --debug-kernel     test the kernel module on a kernel with KCSAN too, not only on the one with KASAN and lockdep,
	                     and repeat on Debian's 6.1, at full length, what that one has run; the verbs suite whole on each
	  --all              run again what tests/passed and tests/models/passed say is unchanged (virtual machines,
	                     packages, models of the protocols), compile everything with the newest gcc and clang of Debian
	                     12, 13 and the one to come, run the frameworks of the newer two, and all combinations of
	                     perftest's options
	  --again            run again what has passed in build-check/ on the very same files, packages and options: else a
	                     check that was interrupted, or in which something failed, goes on where it was
	Everything else is fixed: the check is the same here, in CI and for the reader of its result.
	END
}
while [ $# -gt 0 ]; do
	case $1 in
	--fuzz-seconds) [ $# -ge 2 ] || stop "--fuzz-seconds needs a number"; fuzz_seconds=$2; shift 2 ;;
	--debug-kernel) debug_kernel=ON; shift ;;
	--all) all=ON; shift ;;
	--again) again=again; shift ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done

need_folder
[ "$(debian_release)" = 12 ] ||
	stop "the check needs Debian 12, whose kernels and programs it tests with, or a container of it; ./demo.sh works on newer ones, too"
# The caller's environment changes neither what is built nor what is tested.
for variable in ${!GTEST_@} ${!CTEST_@} ${!CMAKE_@} ${!PRISM_@} CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS ASAN_OPTIONS UBSAN_OPTIONS \
	TSAN_OPTIONS LSAN_OPTIONS SECONDS_LIMIT; do
	unset "$variable"
done

# Nothing here is shared with build/, which is demo.sh's and yours.
tree=$PWD/build-check
mkdir -p "$tree/machines/packages" # which are downloaded once, for this machine and for the bare ones that tests make
PACKAGE_CACHE=$tree/machines/packages

# step NAME: what begins, after how many seconds, and how many of processor time
step() {
	times >"$tree/times" # not through a pipe: a shell's children are its own
	printf '== %s (%d s, %d of processor time)\n' "$1" $SECONDS \
		"$(awk -F '[ms ]+' 'END { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$tree/times")"
}

step "packages"
install_packages "${build_packages[@]}" "${test_packages[@]}" "${kernel_packages[@]}" "${package_packages[@]}"
step "style: clang-format, shellcheck, SPDX"
scripts/style.sh
# With the options of debian/rules, so that packages_build finds the files compiled here in the cache. Tests that are
# one gtest program each are built and run only in the address sanitizer's tree.
step "build: gcc, as it is shipped"
. scripts/package_flags.sh
export CCACHE_DIR=$tree/ccache
CFLAGS=$package_cflags CXXFLAGS=$package_cxxflags LDFLAGS=$package_ldflags configure_and_build build-check all \
	-DCMAKE_BUILD_TYPE=None -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_SYSCONFDIR=/etc \
	-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
	-DCMAKE_UNITY_BUILD=ON -DPRISM_COMPLETE=ON -DPRISM_CHECK=ON -DPRISM_PRECOMPILE=tests -DPRISM_GTESTS=none \
	-DPRISM_ALL="${all:-OFF}" -DPRISM_KERNEL_TESTS=ON -DPRISM_KERNEL_REPEAT="${debug_kernel:-OFF}" \
	-DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DPRISM_KERNELS="debian-6.1;debian-6.12;debian-7.2;kasan-6.1${debug_kernel:+;kcsan-6.1}"
sanitized() { # NAME TARGET CMAKE-ARGUMENT...
	configure_and_build "build-check/$1" "$2" -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DPRISM_ASSERTIONS=ON -DPRISM_PRECOMPILE=all -DCMAKE_UNITY_BUILD=ON \
		-DCMAKE_C_FLAGS="$compiler_memory" -DCMAKE_CXX_FLAGS="$compiler_memory" "${@:3}"
}
step "build: address and undefined behaviour sanitizers"
sanitized asan sanitized-tests -DPRISM_SANITIZE=address,undefined -DPRISM_GTESTS=together
step "build: thread sanitizer"
sanitized tsan threaded-tests -DPRISM_SANITIZE=thread
step "build: fuzzers (clang)"
CC=clang CXX=clang++ configure_and_build build-check/fuzz all -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
	-DPRISM_ASSERTIONS=ON -DPRISM_FUZZ=ON -DPRISM_FUZZ_SECONDS="$fuzz_seconds"

# One list of all tests: those of the other trees are called asan.NAME and so on. What is left out there, programs against
# programs and simulations that show a fault on purpose, runs in the plain build.
{
	# A child that is forked while another thread notes a new stack for the sanitizer waits for it for ever (gcc 12).
	tests/rename_tests.py asan "$tree/asan" --exclude-label integration --seeds-divided-by 4 \
		--environment GTEST_FILTER=-Fork.AChildExitsWhateverAnotherThreadWasAbout \
		--exclude 'control|_(limit|month)|^check_transactions|^rpc_model'
	# Programs with threads: the device itself, and the libraries and programs upon it. The sanitizer's processes
	# can neither jump out of a fault nor use thread functions in a forked child, and its own thread takes processor
	# time. Tests that count objects have no second thread; each way of posting and each family of addresses is here
	# once.
	tests/rename_tests.py tsan "$tree/tsan" --environment "GTEST_FILTER=-*Churn*:*Unmapped*:*MayNotWrite*:Process.AChild*:Process.PortState*:Child.*:Threads.Idle*:*WhatItsTransactionsUse:Limits.*:*.LimitsAre*:*/ipv4_list:*/ipv6_builder" \
		--environment "TSAN_OPTIONS=history_size=7" \
		--only '^verbs_[^e]|core_gen|core_grace|net_udp|ext_device|ext_tcp|example_[op]|^store_[cr]|c_(kv|tx)|rivals_(pilaf|jakiro)|rs_(client|abdlock|block_device)|tx_(client|reconnect)'
	tests/rename_tests.py fuzz "$tree/fuzz"
} >"$tree/other_trees.cmake"

step "tests"
# tests/names has all tests of a check without options, so that none is left out without a word. --all and --debug-kernel
# add some, and kernel_kcsan stands for those of that kernel.
names=$tree/names
{ head -n 1 tests/names && ctest --test-dir "$tree" --show-only | sed -n 's/^ *Test *#[0-9]*: //p'; } | LC_ALL=C sort >"$names"
missing=$(LC_ALL=C comm -23 tests/names "$names" | grep -vx "${debug_kernel:+kernel_kcsan}" || true)
added=$(LC_ALL=C comm -13 tests/names "$names")
to_write="if that is meant: cp build-check/names tests/names"
[ -z "$missing" ] || stop "tests/names has what is not defined ($to_write):"$'\n'"$missing"
[ -z "$added" ] || [ -n "$all$debug_kernel" ] || stop "tests/names lacks new tests ($to_write):"$'\n'"$added"

twice=$tree/kernel/emulator-failed # guests that were run twice (tests/kernel/kernel_test.sh)
failed=$tree/Testing/Temporary/LastTestsFailed.log
# Tests that may be skipped, as this machine need not have: an unpacked rdma-core, a KCSAN kernel, namespaces that a
# systemd can be the first process of, a mirror with the Debian to come; and, for users who are not root, rights.
may_skip='(asan\.)?abi_check|kernel_kcsan|service_systemd|(machine|machine_compilers|packages_verbs)_forky|kernel_debian-7.2_.*'
[ "$(id -u)" -eq 0 ] || may_skip='.*'
rm -f "$twice" "$failed"
tell_twice() { [ ! -s "$twice" ] || { echo "== the emulator failed, and these ran again:" && cat "$twice"; }; }
trap tell_twice EXIT
trap 'exit 130' INT TERM
[ -z "$debug_kernel" ] || export VERBS_ALL=1
run_tests() { ctest --test-dir "$tree" --no-tests=error --output-on-failure "$@" | tee -a "$tree/ctest.log"; }
passed=$(tests/unchanged.py rest "$tree" "$fuzz_seconds:$all:$debug_kernel" $again)
[ "$passed" -eq 0 ] || echo "== $passed tests are left out: they have passed in build-check/ on these very files (--again runs them)"
[ -s "$tree/rest" ] || exit 0
status=0
# One more than there are processors: every sixth second of a test is one in which it waits, for a lease or a peer.
run_tests -I "$tree/rest" -j $(($(nproc) + 1)) --output-junit "$tree/results.xml" || status=$?
tests/results.py "$tree/results.xml" --names "$names" --passed-before "$tree/tested" --may-skip "$may_skip" || stop "these are no results to trust (above)"
if [ $status -ne 0 ]; then
	# Emulated machines and hundreds of processes on two cores miss time limits now and then. What fails twice, the second
	# time with nothing beside it, is broken; what passes then is told here, to be looked into.
	step "failed, once more with nothing beside it: $(cut -d: -f2 "$failed" | tr '\n' ' ')"
	run_tests --rerun-failed
else
	sed -n '/^[0-9]*% tests passed/,$p' "$tree/ctest.log" # last, as it is what readers look for
fi
