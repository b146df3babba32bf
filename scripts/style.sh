#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Formatting of C++, the shell scripts' own linter, and a licence on every file.
set -euo pipefail
cd "$(dirname "$0")/.."

# Without git, or outside a checkout: what lies here, less what was built.
list_files() { git ls-files "$@" 2>/dev/null || find . -type f -not -path './.git/*' -not -path './build*'; }

list_files '*.cpp' '*.hpp' | grep -E '\.(cpp|hpp)$' | xargs -r clang-format --dry-run -Werror
list_files '*.sh' | grep -E '\.sh$' | xargs -r shellcheck -x
unlicensed=$(list_files | grep -vE '^(\./)?(LICENSES/|debian/(changelog|source/format)$)|\.(json|png|svg)$' |
	xargs -r grep -L 'SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB' || true)
if [ -n "$unlicensed" ]; then
	printf 'no SPDX line in:\n%s\n' "$unlicensed" >&2
	exit 1
fi
