# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the tests of this folder, after common.sh.

# All ways
ways=(two-sided reply fetch slots window datagram)

# serve WAY OPTION...: starts a server at a port of its choice, which is in $port; its pid is in $started
serve() {
	local way=$1
	shift
	start_server server "$way: the server" "$bin/prism-rpc-bench" --server --way "$way" -p 0 --bind 127.0.0.1 "$@"
	port=$served_port
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
