#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# unchanged.py in a small project of its own: what it leaves out, and what it must not.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests" "$work/module" "$work/build"
cp "$here/unchanged.py" "$work/tests"
cd "$work"
export PRISM_BUILD=$work/build
unset PRISM_ALL

fail() { echo "FAIL: $*"; exit 1; }
# ran MEMBER COMMAND...: runs the test; succeeds if its command was run
ran() {
	rm -f ran
	tests/unchanged.py run "group/$1" module -- sh -c "touch ran; $2" >out || true
	[ -e ran ]
}

git init --quiet
echo one >module/file
git add module
cat >CMakeLists.txt <<-END
	cmake_minimum_required(VERSION 3.20)
	project(tests NONE)
	enable_testing()
	add_test(NAME group_a COMMAND $work/tests/unchanged.py run group/a module -- true)
	add_test(NAME group_b COMMAND $work/tests/unchanged.py run group/b module -- sh -c "[ -e good ]")
END
cmake -S . -B build >/dev/null

ran a true || fail "a test of which nothing is recorded is left out"
tests/unchanged.py record build
! grep -q '^group' tests/passed || fail "a group is recorded of which one test has not passed"
ran b false || fail "a test that has not passed is left out"
tests/unchanged.py record build
! grep -q '^group' tests/passed || fail "a group is recorded of which one test has failed"
ran b true || fail "a test that has failed is left out"
tests/unchanged.py record build
grep -q '^group' tests/passed || fail "a group of which all tests have passed is not recorded"
! ran a true || fail "an unchanged test is run"
grep -q '^unchanged: group/a' out || fail "nothing is said of a test that is left out"
PRISM_ALL=1 ran a true || fail "PRISM_ALL runs not all"
echo two >module/file
ran a true || fail "a test with a changed input is left out"
echo one >module/file
! ran a true || fail "a test with the old input is run"
echo one >module/another
ran a true || fail "a test with a new input is left out"
! tests/unchanged.py run group/a nothing -- true 2>out || fail "a test without an input is taken"
grep -q 'no input among nothing' out || fail "a test without an input: another message"

# left OPTIONS: the tests that are left to run, and how many are not
left() {
	tests/unchanged.py rest build "$@" | tr '\n' ' '
	cat build/rest
}
expect() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }
echo build >.gitignore
expect "nothing has run" "$(left x)" "0 0,0,0,1,2"
ctest --test-dir build -I rest >build/ctest.log || true
expect "one test has passed" "$(left x)" "1 0,0,0,2"
all_pass() { printf '%s/2 Test #%s: group_%s ....   Passed    0.01 sec\n' 1 1 a 2 2 b >build/ctest.log; }
all_pass
expect "all have passed" "$(left x)" "2 "
expect "all are wanted again" "$(left x again)" "0 0,0,0,1,2"
all_pass
expect "other options" "$(left y)" "0 0,0,0,1,2"
all_pass
echo more >>module/another
expect "a file has changed" "$(left y)" "0 0,0,0,1,2"
echo "unchanged.py leaves out what it should"
