# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by the tests of replicated volumes: volumes of three replicas, each in its own process.
# shellcheck source=tests/integration/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../integration/common.sh"
alone "$@"
need_program ss python3 cmp

patience=2    # seconds that prism-rs waits for a quorum
volume=''     # location of its configuration
replica_pid=() # of the volume's replicas, by number

rs() {
	timeout -k 5 30 "$bin/prism-rs" --timeout "$patience" -c "$volume" "$@"
}

# tells REGEX: checks that the last command's standard error matches it
tells() {
	grep -Eq -- "$1" "$work/err" || fail "it does not tell '$1':" "$work/err"
}

# prints TEXT: checks that the last command printed TEXT, among other things
prints() {
	grep -Fq -- "$1" "$work/out" || fail "it does not print '$1':" "$work/out"
}

# serve NUMBER [OPTION...]: starts a replica of the volume
serve() {
	local number=$1
	shift
	: >"$work/replica-$number"
	start "$work/replica-$number" "$bin/prism-rs-server" -c "$volume" -r "$number" --bind 127.0.0.1 "$@"
	replica_pid[number]=$started
	wait_for 20 grep -q ' port ' "$work/replica-$number" || {
		fail "replica $number does not start" "$work/replica-$number"
		finish
	}
}

# new_volume LOCATION BLOCK-SIZE BLOCKS: creates it, and starts its replicas; their ports are in $ports
new_volume() {
	local number
	volume=$1
	ports=()
	read -ra ports <<<"$(free_ports 3)"
	expect 0 "create $1" rs create -s "$2" -b "$3" "${ports[@]/#/127.0.0.1:}" || finish
	for number in 0 1 2; do
		serve "$number" --new
	done
}

# end PID [SIGNAL]: ends a child of this shell
end() {
	kill "-${2:-TERM}" "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

lose_replica() {
	end "${replica_pid[$1]}" KILL
}

end_volume() {
	local pid
	for pid in "${replica_pid[@]}"; do
		end "$pid"
	done
	replica_pid=()
}
