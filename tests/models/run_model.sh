#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks one configuration of a model with spin: kv.pml is PRISM-KV, rs.pml is PRISM-RS (the names with rs_).
#
#   run_model.sh NAME    build and run it; status 0 exactly when the outcome is the expected one
#   run_model.sh --list  all names, with the set that each belongs to and what is expected
#
# A clean configuration must be searched to the end (with "bitstate": as far as the hash array goes) without an error.
# A broken variant, and a known limit, must violate the rule that is named; any other error is a failure too.
# Environment: CC (default gcc), SECONDS_LIMIT (default 600) for one search.
set -euo pipefail
LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
crash='-DOPS=2 -DOPS_0=1 -DMORTAL=1'

# add SET NAME EXPECTED SEARCH MACROS: SEARCH is "all", or "bitstate" and the logarithm of the bits
declare -A expected search macros sets
names=()
add() {
	names+=("$2")
	sets[$2]=$1
	expected[$2]=$3
	search[$2]=$4
	macros[$2]=$5
}

all_kinds='-DKINDS=31'
add clean two_clients clean all '-DOPS=2'
add clean two_keys clean all '-DOPS=2 -DOPS_0=1 -DKEYS=2'
add clean three_slots clean all '-DOPS=2 -DOPS_0=1 -DSLOTS=3 -DBUFFERS=4'
add clean conditional clean all "-DOPS=2 -DOPS_0=1 $all_kinds -DANY_BUFFER"
add clean crash clean all "$crash"
add clean both_crash clean all '-DMORTAL=3'
add clean dead_claim clean all '-DMORTAL=1 -DALONE -DSTARTS_EMPTY -DRETRIES=2'
add clean three_clients clean all '-DCLIENTS=3 -DRETRIES=0'

add control no_tag handle_is_current all '-DNO_TAG -DOPS=2 -DOPS_0=1 -DKINDS_0=8 -DKINDS=1'
add control no_fingerprint slot_has_its_key all '-DNO_FINGERPRINT -DKEYS=2'
add control naive_insert one_member_per_key all '-DNAIVE_INSERT -DOPS=2 -DKEYS=2 -DSLOTS=3'
add control no_reread one_member_per_key all '-DNO_REREAD -DSLOTS=3'
add control lost_buffer nothing_leaked all '-DLOST_BUFFER'
add control no_grace object_is_intact all '-DNO_GRACE -DOPS=2'
add control no_first_ack released_is_unreachable all "-DNO_FIRST_ACK $crash"
add control no_second_ack released_once all "-DNO_SECOND_ACK $crash"
add control flush_at_once released_once all "-DFLUSH_AT_ONCE $crash"
add control keep_claims no_claim_left all '-DKEEP_CLAIMS -DMORTAL=1'
add control home_only value_is_of_this_time all '-DHOME_ONLY'
add control always_give_way alone_is_never_busy all \
	'-DALWAYS_GIVE_WAY -DMORTAL=1 -DALONE -DSTARTS_EMPTY -DRETRIES=2'

add long long_conditional clean all "-DOPS=2 $all_kinds"
add long long_two_keys clean 'bitstate 32' '-DOPS=2 -DKEYS=2 -DSLOTS=3 -DBUFFERS=4'
add long long_retries clean all '-DOPS=2 -DOPS_0=1 -DSLOTS=3 -DBUFFERS=4 -DRETRIES=3'
add long long_crash clean 'bitstate 32' '-DOPS=2 -DOPS_0=1 -DMORTAL=3 -DBUFFERS=4'
add long long_three_clients clean 'bitstate 32' '-DCLIENTS=3'
add long long_three_crash clean 'bitstate 32' '-DCLIENTS=3 -DMORTAL=1 -DRETRIES=0'

once='-DCRASHES=1 -DCRASHING=1' # the replicas are alike: which one it is makes no difference
one_put='-DWRITERS=1 -DGETS=1'
one_writer='-DWRITERS=1 -DPUTS=2 -DGETS=2'
owners='-DEXCLUSIVE=3 -DPUTS=2'
debris='-DDEBRIS -DWRITERS=1 -DPUTS=2 -DREADERS=2 -DGETS=2 -DGETS_1=1'
unlucky="$owners -DREADERS=0 -DTIMEOUTS=1 -DBREAKS=2 -DSUCCESSION"
dead_owners='-DEXCLUSIVE=7 -DWRITERS=3 -DREADERS=0 -DPUTS=2 -DSUCCESSION'
late_owner='-DEXCLUSIVE=2 -DPUTS_1=2 -DGETS=2'
add clean rs_basic clean all ''
add clean rs_two_puts clean all '-DPUTS_0=2'
add clean rs_two_readers clean all '-DREADERS=2 -DGETS=2'
add clean rs_stopped clean all '-DPUTS_0=2 -DSTOPPED=4'
add clean rs_breaks clean all '-DBREAKS=1'
add clean rs_lost clean all "$one_writer -DTIMEOUTS=1 -DBREAKS=2"
add clean rs_timeouts clean all '-DPUTS_0=2 -DGETS=2 -DTIMEOUTS=1 -DRECONNECTED'
add clean rs_incarnation clean all '-DSUCCESSION'
add clean rs_ge_register clean all '-DGE_FOR_GT -DREGISTER_ONLY'
add clean rs_repair clean all "$once -DGETS=1"
add clean rs_repair_twice clean all "-DCRASHES=2 $one_put"
add clean rs_repair_again clean all "$once -DRESTARTS=1 -DWRITERS=1 -DGETS=2"
add clean rs_repair_stray clean all "$once -DSTRAYS=1 $one_put"
add clean rs_exclusive clean all '-DEXCLUSIVE=1 -DWRITERS=1 -DPUTS=3'
add clean rs_exclusive_lost clean all '-DEXCLUSIVE=1 -DWRITERS=1 -DPUTS=3 -DGETS=2 -DTIMEOUTS=1 -DBREAKS=1'
add clean rs_exclusive_repair clean all "$once $one_put -DEXCLUSIVE=1 -DPUTS=2"
add clean rs_succession clean all "$owners -DGETS=2 -DSUCCESSION"
add long rs_succession_three clean all '-DEXCLUSIVE=7 -DWRITERS=3 -DGETS=2 -DSUCCESSION'
add clean rs_two_owners clean all "$owners -DGETS=1"
add long rs_two_owners_read_again clean all "$owners -DGETS=2 -DREAD_AGAIN"
add clean rs_debris clean all "$debris"
add clean rs_debris_read_again clean all "$debris -DEXCLUSIVE=1 -DREAD_AGAIN"
add clean rs_generations clean all "$dead_owners -DGENERATIONS"
add clean rs_generations_lost clean all "$unlucky -DGENERATIONS"

add control rs_no_write_back linearizable all '-DNO_WRITE_BACK'
add control rs_ge_for_gt installed_once all '-DGE_FOR_GT'
add control rs_quorum_of_one linearizable all '-DQUORUM=1'
add control rs_no_client_id linearizable all '-DNO_CLIENT_ID'
add control rs_same_id linearizable all '-DSAME_ID -DSUCCESSION'
add control rs_tag_again linearizable all "-DTAG_AGAIN $one_writer -DTIMEOUTS=1 -DBREAKS=2"
add control rs_miss_is_ack linearizable all "-DMISS_IS_ACK $owners -DGETS=1"
add control rs_retry_guess linearizable all "-DRETRY_GUESS $late_owner -DREAD_AGAIN"
add control rs_empty_serves linearizable all "-DEMPTY_SERVES $once -DWRITERS=1 -DGETS=2"
add control rs_no_epochs linearizable all "-DNO_EPOCHS $once $one_put"
add control rs_keep_queue_pairs linearizable all "-DKEEP_QUEUE_PAIRS $once $one_put"
add control rs_hearsay linearizable all "-DHEARSAY -DCRASHES=2 $one_put"
add control rs_repaired_first linearizable all "-DREPAIRED_FIRST -DCRASHES=2 $one_put"

add limit rs_two_owners_stale_read linearizable all "$late_owner"
add limit rs_debris_stale_read linearizable all "$debris -DEXCLUSIVE=1"
add limit rs_two_dead_owners owner_is_never_stale all "$dead_owners"
add limit rs_one_dead_owner owner_is_never_stale all "$unlucky"

add long long_rs_repair clean 'bitstate 32' "$once -DGETS=2"
add long long_rs_repair_twice clean all '-DCRASHES=2 -DWRITERS=1 -DPUTS=2 -DGETS=2'
add long long_rs_repair_stray clean all "$once -DSTRAYS=1 -DRESTARTS=1 $one_put"
add long long_rs_two_puts clean all '-DPUTS=2 -DGETS=3'
add long long_rs_succession clean all "$owners -DGETS=2 -DTIMEOUTS=1 -DSUCCESSION"

if [ "${1:-}" = --list ]; then
	for name in "${names[@]}"; do
		printf '%-8s %-26s %s\n' "${sets[$name]}" "$name" "${expected[$name]}"
	done
	exit 0
fi
name=${1:-}
if [ $# -ne 1 ] || [ -z "${expected[$name]:-}" ]; then
	echo "usage: run_model.sh NAME | --list" >&2
	exit 2
fi
if ! command -v spin >/dev/null; then
	echo "SKIP: spin is not installed"
	exit 77
fi

case $name in
*rs_*) model=rs.pml ;;
*) model=kv.pml ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/prism-model.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

read -ra defines <<<"${macros[$name]}"
read -ra how <<<"${search[$name]}"
compile=(-O2 -w -DSAFETY -DMEMLIM=2048)
[ "${expected[$name]}" = clean ] || compile+=(-O0) # found before an optimizing compiler would have ended
run=(-m20000)
if [ "${how[0]}" = bitstate ]; then
	compile+=(-DBITSTATE)
	run+=("-w${how[1]}")
else
	compile+=(-DCOLLAPSE)
	run+=(-w22)
fi

spin -a "${defines[@]}" "$here/$model" >spin.log || {
	cat spin.log
	exit 1
}
"${CC:-gcc}" "${compile[@]}" -o pan pan.c
status=0
timeout "${SECONDS_LIMIT:-600}" ./pan "${run[@]}" >pan.log 2>&1 || status=$?

errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
depth=$(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' pan.log)
states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
memory=$(sed -n 's/^ *\([0-9.]*\).*total actual memory usage.*/\1/p' pan.log)
seconds=$(sed -n 's/.*elapsed time \([0-9.]*\) seconds.*/\1/p' pan.log)
violated=$(sed -n 's/^pan:[0-9]*: //p' pan.log | sed 's/ (at depth.*//' | head -n 1)
echo "$name (${defines[*]}; ${search[$name]}): ${states:-?} states, depth ${depth:-?}, ${errors:-?} errors," \
	"${memory:-?} MiB, ${seconds:-?} s${violated:+; $violated}"

fail() {
	echo "FAIL: $1"
	tail -n 30 pan.log
	if [ -f "$model.trail" ]; then
		echo "The way there:"
		spin -t -k "$model.trail" -g "${defines[@]}" "$here/$model" | tail -n 200 || true
	fi
	exit 1
}

if [ "${expected[$name]}" != clean ]; then
	[ "$violated" = "assertion violated ${expected[$name]}" ] || fail "expected: ${expected[$name]} violated"
	exit 0
fi
[ "$status" -eq 0 ] || fail "the search ended with $status"
[ "$errors" = 0 ] || fail "expected: no error"
if grep -Eq 'max search depth too small|reached -DMEMLIM|Search not completed|out of memory' pan.log; then
	fail "the search is not complete"
fi
