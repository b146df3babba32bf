# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the tests of this folder, after common.sh.

# All ways
ways=(two-sided reply fetch slots window datagram)

# serve WAY OPTION...: starts a server at a port of its choice, which is in $port; its pid is in $started
serve() {
	local way=$1
	shift
	: >"$work/server"
	start "$work/server" "$bin/prism-rpc-bench" --server --way "$way" -p 0 --bind 127.0.0.1 "$@"
	wait_for 20 grep -q ' port ' "$work/server" || {
		fail "$way: the server does not start" "$work/server"
		finish
	}
	port=$(sed -n 's/.* port \([0-9]*\)$/\1/p' "$work/server")
}

# stop: checks that the server ends well
stop() {
	kill "$started"
	wait "$started" || fail "the server does not end well" "$work/server"
}

# bench OPTION...: runs a client of the server
bench() {
	timeout -k 5 60 "$bin/prism-rpc-bench" 127.0.0.1 -p "$port" "$@"
}

# says TEXT: checks that the last command, which failed, said TEXT
says() {
	grep -Fq -- "$1" "$work/err" || fail "it does not say '$1':" "$work/err"
}

# holds EXPRESSION: checks it for the report in $work/json, as r (results) and i (test_info)
holds() {
	python3 - "$work/json" "$1" <<'END' || fail "does not hold: $1" "$work/json"
import json, sys
with open(sys.argv[1]) as file:
    report = json.load(file)
sys.exit(not eval(sys.argv[2], {"r": report["results"], "i": report["test_info"]}))
END
}
