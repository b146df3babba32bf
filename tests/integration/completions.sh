#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Completions of bash for our programs: the same options as in their help, in both directions; also values of options,
# and subcommands in their place. tests/packages tries zsh and fish too. Columns of the help do not run together.
# shellcheck disable=SC2317 # functions are called by name
# shellcheck source=tests/integration/common.sh
. "$(dirname "$0")/common.sh"
completions=$PRISM_BUILD/base/completions
[ -d "$completions/bash" ] || skip "no completions are built here"

# offered PROGRAM WORD...: prints the completions of the last word
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	"_${1//[^a-zA-Z0-9_]/_}"
	printf '%s\n' "${COMPREPLY[@]}"
}

long='--[A-Za-z][-A-Za-z_0-9]*'

# in_help PROGRAM [SUBCOMMAND]: prints the long options that begin a line of its help, or follow a short one
in_help() {
	local front=()
	[ "$1" != prism-tx ] || [ $# -eq 1 ] || front=(SHARDS)
	"$bin/$1" "${front[@]}" "${@:2}" --help | grep -oE "^ +(-[A-Za-z0-9](,| [A-Z_]+,) ?)?$long(, ?$long)*" |
		grep -oE -- "$long" | sort -u
}

# same_as_help PROGRAM [SUBCOMMAND]
same_as_help() {
	in_help "$@" >"$work/help"
	offered "$@" -- | grep -v '^-[^-]' | sort -u >"$work/offered"
	[ -s "$work/help" ] || fail "$*: no options in its help"
	diff "$work/help" "$work/offered" >"$work/diff" || fail "$*: its help (<) has not what bash offers (>)" "$work/diff"
}

# subcommands_of PROGRAM: prints those in its help, not those offered, which may be any program (prism-run)
subcommands_of() {
	"$bin/$1" --help | sed -n '/^Subcommands:/,$s/^  \([a-z][-a-z]*\) .*/\1/p; s/^  *{\([a-z,]*\)}.*/\1/p' | tr ',' '\n'
}

# has_columns PROGRAM: each line of its help that is indented by two spaces, and is no option's, begins with a name alone
has_columns() {
	{
		echo "$1"
		"$bin/$1" --describe-options 2>/dev/null |
			awk -F'\t' '$1 == "command" { print $2 } $1 == "argument" { print $3 } { print $4 }' |
			sed 's/.*{\([^{}]*\)}.*/\1/' | tr ',' '\n'
	} | sort -u >"$work/names"
	"$bin/$1" --help | sed -n 's/^  \([A-Za-z][^ ]*\).*/\1/p' | sort -u | comm -23 - "$work/names" >"$work/strange"
	[ ! -s "$work/strange" ] || fail "$1: columns of its help run together" "$work/strange"
}

# offers WORDS PROGRAM WORD...
offers() {
	local wanted=$1
	shift
	[ "$(offered "$@" | sort | tr '\n' ' ')" = "$wanted" ] || fail "$* offers '$(offered "$@" | tr '\n' ' ')', not '$wanted'"
}

count=0
for file in "$completions"/bash/*; do
	program=${file##*/}
	# shellcheck source=/dev/null
	. "$file"
	same_as_help "$program"
	has_columns "$program"
	for subcommand in $(subcommands_of "$program"); do
		offered "$program" "$subcommand" | grep -qx "$subcommand" || fail "$program does not offer $subcommand"
		same_as_help "$program" "$subcommand"
	done
	for other in "zsh/_$program" "fish/$program.fish"; do
		grep -q -- help "$completions/$other" || fail "$other has no options"
	done
	count=$((count + 1))
done
for page in "$PRISM_SOURCE"/docs/man/*.1; do
	program=$(basename "$page" .1)
	[ ! -x "$bin/$program" ] || [ -e "$completions/bash/$program" ] || fail "nothing for $program"
done
pass "$count programs: bash offers the options that their help has, in columns"

offers 'directory latch ' prism-gam --protocol ''
offers 'directory latch ' prism-gam --protocol =
offers 'latch ' prism-gam --protocol = l
offers 'malloc ' prism-gam --master free mal
offers '--on ' prism-gam -d prism_lo malloc --o
offers '--json ' prism-tx 127.0.0.1:18720 status --j
offers '--try ' prism-gam wlock --t
offers ' ' prism-kv-server --config --
offers 'choose measure ' rpc_parameters ''
pass "values and subcommands"
finish
