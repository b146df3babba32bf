# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Sourced by the tests of transactional stores: stores whose shards are processes of their own.
# shellcheck source=tests/integration/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../integration/common.sh"
alone "$@"
need_program python3 cmp awk

patience=2   # seconds that prism-tx waits
store=''     # the addresses of its shards
addresses=() # by number
shard_pid=() # by number

tx() {
	timeout -k 5 30 "$bin/prism-tx" --timeout "$patience" "$store" "$@"
}

head -c 32 /dev/urandom >"$work/secret"

# start_shard NUMBER OPTION...: starts a shard; its log is in shard-NUMBER. For a rival the options begin with --store:
# rivals have no secret.
start_shard() {
	local number=$1 secret=(--secret "$work/secret")
	shift
	[ "$1" != --store ] || secret=()
	start_server "shard-$number" "shard $number" "$bin/prism-tx-server" --bind 127.0.0.1 --json "${secret[@]}" "$@"
	shard_pid[number]=$started
}

# start_store SHARDS OPTION...: starts a store, beside one that may run already
start_store() {
	local shards=$1 number ports=()
	shift
	read -ra ports <<<"$(free_ports "$shards")"
	addresses=("${ports[@]/#/127.0.0.1:}")
	printf -v store '%s,' "${addresses[@]}"
	store=${store%,}
	for ((number = 0; number < shards; number++)); do
		start_shard "$number" --shard "$number" --shards "$shards" --port "${ports[number]}" "$@"
	done
}

# end_shard NUMBER [SIGNAL]
end_shard() {
	end_child "${shard_pid[$1]}" "${2:-TERM}"
}

end_store() {
	local number
	for number in "${!addresses[@]}"; do
		end_shard "$number"
	done
}

# nothing_lost: true if nothing is prepared, and every buffer in use is a cell's
nothing_lost() {
	tx status --json >"$work/out" 2>"$work/err" && python3 -c 'import json, sys
for shard in json.load(sys.stdin):
    used = sum(c["buffers"] - c["available"] for c in shard["classes"])
    assert used == shard["cells"]["written"] and not shard["cells"]["prepared"]' <"$work/out" 2>"$work/err"
}
