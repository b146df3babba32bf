# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by the integration tests. Needs PRISM_BUILD and PRISM_SOURCE, the build and the source tree.

: "${PRISM_BUILD:?is the build folder}" "${PRISM_SOURCE:?is the source folder}"
bin=$PRISM_BUILD/bin
work=$(mktemp -d "${TMPDIR:-/tmp}/prism-test.XXXXXX")
children=()
failures=0
LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin # ethtool, mke2fs and others, which are not in a Debian user's path

skip() {
	echo "SKIP: $*"
	exit 77
}

# fail TEXT [FILE...]: reports a failure and goes on, so that one run shows all of them
fail() {
	local text=$1 file
	shift
	echo "FAIL: $text"
	for file in "$@"; do
		sed "s|^|    ${file##*/}: |" "$file" | tail -n 15
	done
	failures=$((failures + 1))
}

pass() {
	echo "ok: $*"
}

# alone ARGUMENT...: runs this script in a network namespace of its own, if this user may: then ::1 is not shared
alone() {
	if [ -z "${IN_NAMESPACE:-}" ] && unshare -rn true 2>/dev/null; then
		IN_NAMESPACE=1 exec unshare -rn "$0" "$@"
	fi
	[ -z "${IN_NAMESPACE:-}" ] || ip link set lo up
}

need_program() {
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
}

clean_up() {
	local pid
	for pid in "${children[@]}"; do
		kill -9 "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	declare -F clean_up_more >/dev/null && clean_up_more
	[ -n "${KEEP_WORK:-}" ] || rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' TERM INT

finish() {
	[ "$failures" -eq 0 ] || {
		echo "$failures checks failed"
		exit 1
	}
	echo "all checks passed"
	exit 0
}

# start LOG COMMAND...: starts the command in the background; its pid is in $started
start() {
	local log=$1
	shift
	"$@" >"$log" 2>&1 </dev/null &
	started=$!
	children+=("$started")
}

# start_server LOG NAME COMMAND...: starts a server, and waits until it says its port, which is in $served_port then.
# The log is a file of $work.
start_server() {
	local log=$work/$1 name=$2
	shift 2
	: >"$log"
	start "$log" "$@"
	wait_for 20 grep -q ' port ' "$log" || {
		fail "$name does not start" "$log"
		finish
	}
	served_port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$log")
}

# end_child PID [SIGNAL]: ends a child of this shell
end_child() {
	kill "-${2:-TERM}" "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# wait_listening PORT PID: waits until there is a listener at the port; 1 if PID ends first, or after 20 seconds
wait_listening() {
	local tries
	for ((tries = 0; tries < 400; tries++)); do
		[ -n "$(ss -Hltn "sport = :$1")" ] && return 0
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

# free_ports COUNT: prints that many free TCP ports, separated by spaces
free_ports() {
	python3 -c '
import socket, sys
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[s.getsockname()[1] for s in sockets])' "$1"
}

# wait_for SECONDS COMMAND...: waits until the command succeeds
wait_for() {
	local tries=$(($1 * 20))
	shift
	while ! "$@"; do
		((tries-- > 0)) || return 1
		sleep 0.05
	done
}

# pair NAME PORT PATTERN SERVER-COMMAND -- CLIENT-COMMAND: both must end with 0 and the client must print PATTERN
pair() {
	local name=$1 port=$2 pattern=$3 server=() client_status server_status
	shift 3
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	start "$work/server" timeout -k 5 60 "${server[@]}"
	local server_pid=$started
	wait_listening "$port" "$server_pid" || {
		fail "$name: the server does not listen" "$work/server"
		return
	}
	timeout -k 5 60 "$@" >"$work/client" 2>&1 </dev/null
	client_status=$?
	wait "$server_pid"
	server_status=$?
	if [ $client_status -ne 0 ] || [ $server_status -ne 0 ]; then
		fail "$name: client ended with $client_status, server with $server_status" "$work/client" "$work/server"
	elif ! grep -Eq -- "$pattern" "$work/client"; then
		fail "$name: no result in the client's output" "$work/client"
	else
		pass "$name"
	fi
}

# expect CODE NAME COMMAND...: expects that exit status; the output is in out and err
expect() {
	local wanted=$1 name=$2 code
	shift 2
	"$@" >"$work/out" 2>"$work/err"
	code=$?
	if [ "$code" -ne "$wanted" ]; then
		fail "$name: exit status $code, not $wanted" "$work/out" "$work/err"
		return 1
	fi
}

# shows TEXT COMMAND...: expects exactly that, with the end of a line, if the standard output is a terminal
shows() {
	local text=$1
	shift
	timeout -k 5 30 python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" >"$work/out" 2>"$work/err" </dev/null
	printf '%s\r\n' "$text" | cmp -s - "$work/out" || fail "a terminal does not show '$text' of $*" "$work/out" "$work/err"
}

# says TEXT: expects the text on the last command's standard error, in one line
says() {
	grep -Fq -- "$1" "$work/err" || fail "it does not say '$1':" "$work/err"
	[ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than one line:" "$work/err"
}

# tells REGEX: expects that the last command's standard error matches it
tells() {
	grep -Eq -- "$1" "$work/err" || fail "it does not tell '$1':" "$work/err"
}

# holds EXPRESSION: expects it of the report in $work/json, as r (results) and i (test_info)
holds() {
	python3 - "$work/json" "$1" <<'END' || fail "does not hold: $1" "$work/json"
import json, sys
with open(sys.argv[1]) as file:
    report = json.load(file)
sys.exit(not eval(sys.argv[2], {"r": report["results"], "i": report["test_info"]}))
END
}

# options_in SECTION PAGE: prints the options that this section of the manual page names
options_in() {
	sed -n "/^\.SH $1/,/^\.SH [^${1:0:1}]/p" "$2" | sed 's/\\-/-/g' | grep -oE -- '--[a-z][a-z_-]+' | sort -u
}

# page_has_options PAGE PROGRAM [ARGUMENT...]: expects that the page has every option of the program and its commands,
# and lists no other. The arguments are what a command needs before it.
page_has_options() {
	local page=$PRISM_SOURCE/docs/man/$1.1 program=$2 command
	shift 2
	{
		"$program" --help
		for command in $("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p'); do
			"$program" "$@" "$command" --help
		done
	} | grep -oE -- '(^|[ ,])--[a-z][a-z_-]+' | tr -d ' ,' | sort -u >"$work/help"
	[ -s "$work/help" ] || fail "$program --help shows no options"
	options_in OPTIONS "$page" >"$work/page"
	{
		options_in COMMANDS "$page" | sort -u - "$work/page" | comm -23 "$work/help" -
		comm -13 "$work/help" "$work/page"
	} >"$work/diff"
	[ ! -s "$work/diff" ] || fail "$program --help and its page differ in" "$work/diff"
}
