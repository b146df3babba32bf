#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rxe-prism-dkms on a bare machine with kernel headers and no kernel source: DKMS makes a module for each line's kernel. A
# kernel that there is no series for is refused with a message, and a removed package leaves no module.
# usage: dkms.sh MACHINES PACKAGES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/script" <<'END'
set -euo pipefail
fail() { echo "FAIL: $*"; find /var/lib/dkms -name make.log -exec tail -n 20 {} +; exit 1; }
. /apt.sh
modules() { find /lib/modules -name 'rxe_prism.ko*'; }
apt-get update -qq
apt_quietly install linux-headers-amd64 linux-headers-6.12-amd64 kmod
! ls /usr/src/linux-source-* 2>/dev/null || fail "there is kernel source on this machine"
apt_quietly install /packages/rxe-prism-dkms_*.deb
for line in 6.1. 6.12.; do
	module=$(modules | grep -F "/lib/modules/$line") || fail "no module for $line: $(dkms status)"
	release=$(cut -d/ -f4 <<<"$module")
	modinfo -F vermagic "$module" | grep -q "^$release " || fail "$module is for $(modinfo -F vermagic "$module")"
	modinfo "$module" | grep -Eq '^parm: +udp_port' || fail "$module is not ours"
	echo "ok: $module"
done
# The line of another kernel, whose headers look like those of 6.1
mkdir -p /lib/modules/5.15.0-prism
ln -s "$(readlink -f /lib/modules/6.1.*/build)" /lib/modules/5.15.0-prism/build
! dkms install -m rxe-prism -v "$(dpkg-query -W -f '${Version}' rxe-prism-dkms)" -k 5.15.0-prism >/tmp/other 2>&1 ||
	fail "a module was built for 5.15"
grep -Eq '^rxe-prism: no module for kernel 5.15.0-prism, only for 6.1 6.12\..*prism-run' /tmp/other || { cat /tmp/other; fail "the message does not say why"; }
echo "ok: 5.15 is refused: $(grep ^rxe-prism: /tmp/other)"
rm -r /lib/modules/5.15.0-prism
apt_quietly purge rxe-prism-dkms
[ -z "$(modules)" ] && [ ! -e /var/lib/dkms/rxe-prism ] && ! ls -d /usr/src/rxe-prism* 2>/dev/null || fail "left: $(modules)"
echo "ok: removed"
END
"$here/../machine/machine.sh" run bookworm "$1" --put "$2=/packages" --put "$here/apt.sh=/apt.sh" --put "$work/script=/script" -- bash /script
