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

# prints TEXT: checks that the last command printed TEXT, among other things
prints() {
	grep -Fq -- "$1" "$work/out" || fail "it does not print '$1':" "$work/out"
}

# serve NUMBER [OPTION...]: starts a replica of the volume
serve() {
	local number=$1
	shift
	start_server "replica-$number" "replica $number" "$bin/prism-rs-server" -c "$volume" -r "$number" \
		--bind 127.0.0.1 "$@"
	replica_pid[number]=$started
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

lose_replica() {
	end_child "${replica_pid[$1]}" KILL
}

end_volume() {
	local pid
	for pid in "${replica_pid[@]}"; do
		end_child "$pid"
	done
	replica_pid=()
}
