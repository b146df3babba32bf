# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the tests of this folder, after common.sh.

# bench OPTION...
bench() {
	timeout -k 5 60 "$bin/prism-gam-bench" "$@"
}

# says TEXT: checks that the last command wrote TEXT to its standard error
says() {
	grep -Fq -- "$1" "$work/err" || fail "it does not say '$1':" "$work/err"
}

# prints TEXT: checks that the last command printed TEXT and nothing else
prints() {
	[ "$(cat "$work/out")" = "$1" ] || fail "it does not print '$1':" "$work/out"
}

# start_master LEASE [PORT]: starts a master; its address is in $master, its pid in $master_pid
start_master() {
	start_server master "the master" "$bin/prism-gam-master" --lease "$1" -p "${2:-0}" --address 127.0.0.1
	master_pid=$started
	master=127.0.0.1:$served_port
}

# end PID...: kills at once
end() {
	local pid
	for pid in "$@"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}
