#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks the formatting of C++ and the names of its data members, lints the shell scripts, and finds files without a
# licence.
set -euo pipefail
cd "$(dirname "$0")/.."

# Without git, or outside a checkout: the files here, except for build output.
in_git() { [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ]; }
list_files() { if in_git; then git ls-files "$@"; else find . -type f -not -path './.git/*' -not -path './build*'; fi; }

list_files '*.cpp' '*.hpp' | grep -E '\.(cpp|hpp)$' | xargs -r -n 50 -P "$(nproc)" clang-format --dry-run -Werror
list_files '*.cpp' '*.hpp' | grep -E '\.(cpp|hpp)$' | xargs -r scripts/members.py
list_files '*.sh' | grep -E '\.sh$' | xargs -r -n 10 -P "$(nproc)" shellcheck -x
# A comment on a function begins with a verb, one on a type or a member with a noun: never with a word that begins a
# relative clause. At the opening of a comment, or on the line behind it.
# shellcheck disable=SC2016 # awk's own
asking=$(list_files | grep -E '\.(c|cpp|h|hpp|py|pyx|pxd|sh|cmake|pml)$|CMakeLists\.txt$' | grep -v '^findings/' | xargs -r awk '
	FNR == 1 { opened = 0 }
	{
		opens = match($0, /(\/\*\*?<?|\/\/|"""|^[ \t]*#)[ \t]*/)
		text = opens ? substr($0, RSTART + RLENGTH) : opened && match($0, /^[ \t]*\*?[ \t]*/) ? substr($0, RLENGTH + 1) : ""
		follows = previous_is_hash && /^[ \t]*#/
		if (text ~ /^(What|Who|Whom|Whose|Where|Whether|How)[^A-Za-z]/ && !follows)
			print FILENAME ":" FNR ": " $0
		opened = opens && text == ""
		previous_is_hash = /^[ \t]*#/
	}')
if [ -n "$asking" ]; then
	printf 'comments must begin with a verb or a noun:\n%s\n' "$asking" >&2
	exit 1
fi
unlicensed=$(list_files | grep -vE '^(\./)?(LICENSES/|debian/(changelog|source/format)$)|\.(json|png)$' |
	xargs -r grep -L 'SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB' || true)
if [ -n "$unlicensed" ]; then
	printf 'no SPDX line in:\n%s\n' "$unlicensed" >&2
	exit 1
fi
unrunnable=$(list_files | while IFS= read -r file; do
	[ -x "$file" ] || ! head -c 2 "$file" | grep -q '#!' || echo "$file"
done)
if [ -n "$unrunnable" ]; then
	printf 'scripts that are not executable:\n%s\n' "$unrunnable" >&2
	exit 1
fi
