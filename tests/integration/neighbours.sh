#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Processes that share memory with each other: many pairs, one with many neighbours, two that are stopped, some that
# come and go or are killed, one that opens its device again and again, and one whose child holds all its files open.
# docs/local-path.md has figures of longer runs.
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
# Does not use alone(): in a user namespace there are no other users.
if [ -z "${IN_NAMESPACE:-}" ] && [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then
	IN_NAMESPACE=1 exec unshare -n "$0" "$@"
fi
alone "$@"
[ -z "${PRISM_LOCAL:-}" ] || skip "PRISM_LOCAL is set"

# shellcheck disable=SC2015 # pass cannot fail
run() {
	timeout -k 5 100 "$bin/neighbours" "$@" >"$work/out" 2>&1 && pass "$*" || fail "$*" "$work/out"
}

run pairs 20
run star 20 1
run stopped 10
run leavers 30
run reopened 10
run alone
run forked
if setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
	run others
else
	echo "left out: other users, for want of root"
fi
finish
