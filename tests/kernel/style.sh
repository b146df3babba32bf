#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks the module's own files with checkpatch --strict of the kernel's source, the form of the patch series, and the
# size of our own part. (sparse and W=1 are checked when the module is built: kernel_test.sh.)
set -euo pipefail
cd "$(dirname "$0")/../../kernel/rxe-prism"
max_lines=200

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xf /usr/src/linux-source-6.1.tar.xz --strip-components=1 \
	--wildcards '*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'

status=0
perl "$work/scripts/checkpatch.pl" --no-tree --strict --max-line-length=120 --terse --no-summary -f \
	./*.[ch] core/*.[ch] patches/*/*.h || status=1

for line in patches/*; do
	mapfile -t series < <(./build.sh --series "${line#*/}" | sed 's,^,patches/,')
	printf '%s\n' "${series[@]}" >>"$work/named"
	changed=$(printf '%s\n' "${series[@]}" | grep '/01.*\.patch$' | xargs cat | grep -cE '^(\+|-)([^+-]|$)')
	echo "$line: ${#series[@]} files, $changed changed lines of our own, of at most $max_lines"
	[ "$changed" -lt $max_lines ] || status=1
	# Changes are never more than two lines of context apart, and begin after at most one: -U1.
	if ! awk '/^@@/ { context = 0; begun = 0 } /^[+-]/ { context = 0; begun = 1 }
		/^ / && ++context > (begun ? 2 : 1) { bad = 1 } END { exit bad }' "$line"/*.patch; then
		echo "$line: more than one line of context"
		status=1
	fi
	# Faults of stock rxe: fixed without anything of ours, with the trailers that upstream needs.
	for patch in "$line"/00*.patch; do
		if sed '1d' "$patch" | grep -qi prism || ! grep -q '^Subject: RDMA/rxe: ' "$patch" ||
			! grep -qE '^Fixes: [0-9a-f]{12} \(".+"\)$' "$patch" ||
			! grep -q '^Cc: stable@vger.kernel.org$' "$patch"; then
			echo "$patch: does not stand alone, or has no subject and trailers"
			status=1
		fi
		# Names of persons, and any address but the list's, are for the submitter to add.
		if sed '/^diff /,$d' "$patch" | grep -v '^Cc: stable@vger.kernel.org$' |
			grep -E '@|^(From|Author|[A-Z][A-Za-z-]*-by): '; then
			echo "$patch: names somebody"
			status=1
		fi
		name=$(basename "$patch" .patch)
		if ! grep -q "^| ${name#*-} |" ../../docs/kernel-module.md; then
			echo "$patch: is not in docs/kernel-module.md"
			status=1
		fi
	done
done
# A patch that no series names is dead.
for patch in patches/*/*.patch patches/*/*.h; do
	grep -qxF "$patch" "$work/named" || { echo "$patch: of no series"; status=1; }
done
exit $status
