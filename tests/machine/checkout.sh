#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# usage: checkout.sh FOLDER: makes the clone of this checkout that a user would get, including uncommitted changes
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
cd "$source"
mkdir -p "$1"
{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path './build*' -not -path './.git/*'; } |
	while IFS= read -r file; do
		[ ! -e "$file" ] || printf '%s\n' "$file"
	done | tar -cf - -T - | tar -C "$1" -xf -
