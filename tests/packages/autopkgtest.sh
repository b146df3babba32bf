#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The tests that come with the source package (debian/tests), run by Debian's autopkgtest on a bare machine. It installs
# the packages that each test names and no more, as Debian's own machines do.
# usage: autopkgtest.sh MACHINES PACKAGES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/../machine/checkout.sh" "$work/source"
cat >"$work/script" <<'END_OF_SCRIPT'
set -euo pipefail
fail() { echo "FAIL: $*"; exit 1; }
. /apt.sh
apt-get update -qq
apt_quietly install autopkgtest
autopkgtest --no-built-binaries --summary-file /tmp/summary $(ls /packages/*.deb | grep -v rxe-prism-dkms) /source -- null >/tmp/log 2>&1 ||
	{ grep -A40 ': test .*: \[---' /tmp/log | cut -c1-200; cat /tmp/summary; fail "autopkgtest"; }
cat /tmp/summary
wanted=$(sed -n 's/^Tests: //p' /source/debian/tests/control)
for name in $wanted; do
	grep -Eq "^$name +PASS" /tmp/summary || fail "$name has not passed"
done
END_OF_SCRIPT
"$here/../machine/machine.sh" run bookworm "$1" --put "$2=/packages" --put "$work/source=/source" --put "$here/apt.sh=/apt.sh" \
	--put "$work/script=/script" -- bash /script
