#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Installs the packages on a bare machine, uses them as their users do, removes them: nothing may be left.
# usage: install.sh MACHINES PACKAGES
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../machine/machine.sh" run bookworm "$1" --put "$2=/packages" --put "$here/apt.sh=/apt.sh" \
	--put "$here/in_machine.sh=/in_machine.sh" -- bash /in_machine.sh
