#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Builds the Debian packages on a bare machine that has the packages that debian/control names and nothing else, and
# runs lintian.
# usage: build.sh MACHINES PACKAGES: machines of tests/machine, and the folder for the packages. CCACHE_DIR: as in
# check.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) source=$(cd "$(dirname "$0")/../.." && pwd)
machines=$(realpath "$1") packages=$(realpath -m "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/../machine/checkout.sh" "$work/prism"
cat >"$work/build" <<'END'
set -euo pipefail
cd "$1"
fail() { echo "FAIL: $*"; exit 1; }
. /apt.sh
apt-get update -qq
apt_quietly install dpkg-dev ccache
apt_quietly build-dep ./
# Files that check.sh has compiled with the same options come from its cache; without one, this takes minutes. The
# folder has the same name, as some files include others by their whole paths.
. scripts/package_flags.sh
unset DEB_BUILD_MAINT_OPTIONS
export DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc) $package_paths" PATH=/usr/lib/ccache:$PATH CCACHE_DIR=/ccache
ccache -z >/dev/null
dpkg-buildpackage -us -uc -b >/tmp/log 2>&1 || { grep -A12 -E 'CMake Error|error:|FAILED' /tmp/log | head -n 60; tail -n 20 /tmp/log; exit 1; }
ccache -s | grep -iE 'hits|misses' || true
mkdir /packages
mv ../*.deb ../*.changes ../*.buildinfo /packages
END
rm -rf "$packages"
cache=${CCACHE_DIR:-$work/ccache}
mkdir -p "$cache"
"$here/../machine/machine.sh" run bookworm "$machines" --put "$work/prism=$source" --put "$work/build=/build" \
	--put "$here/apt.sh=/apt.sh" --put "$cache=/ccache" --get "/packages=$packages" -- bash /build "$source"
ls -s "$packages"

wanted='libprism-dev libprism-ext0 libprism-stores0 libprism1 prism-apps prism-utils python3-pyprism rxe-prism-dkms wireshark-prism'
found=$(cd "$packages" && for file in *.deb; do echo "${file%%_*}"; done | sort | tr '\n' ' ')
[ "$found" = "$wanted " ] || { echo "FAIL: packages: $found"; exit 1; }
dpkg-deb -c "$packages"/rxe-prism-dkms_*.deb >"$work/module"
for line in 6.1 6.12; do
	grep -q "/usr/src/rxe-prism-.*/$line/rxe_resp.c$" "$work/module" || { echo "FAIL: rxe-prism-dkms has no sources for $line"; exit 1; }
done
lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file "$packages"/*.changes
