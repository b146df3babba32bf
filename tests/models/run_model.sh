#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Checks one configuration of a model with spin: kv.pml is PRISM-KV, rs.pml is PRISM-RS (the names with rs_), tx.pml is
# PRISM-TX (the names with tx_), rpc.pml is calls whose answers are fetched (the names with rpc_), gam_directory.pml is
# the directory protocol of GAM (the names with gam_), gam_latch.pml is the same by PRISM's operations (the names with
# latch_).
#
#   run_model.sh NAME             build and run it; status 0 exactly when the outcome is the expected one
#   run_model.sh --changed NAME   the same, unless the file "passed" says that exactly this has passed before
#   run_model.sh --record NAME    the same as the first, and note in "passed" that it has
#   run_model.sh --list           all names, with the set that each belongs to and what is expected
#
# A search always comes to the same end, so one that has passed need not be run again: "passed" has a hash of all that it
# depends on (the model's text, its macros, the search, spin's version), and what was found.
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
add clean insert clean all '-DOPS=2 -DOPS_0=1 -DKINDS=47'
add clean insert_crash clean all '-DOPS=2 -DOPS_0=1 -DMORTAL=1 -DKINDS=37 -DKINDS_0=33'
add clean hints clean all '-DHINTS -DOPS=2 -DOPS_0=1'

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
add control insert_updates insert_replaces_nothing all '-DINSERT_UPDATES -DSLOTS=3 -DSTARTS_EMPTY -DKINDS=32'
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

# The sets of a transaction: 1 reads and 3 reads and writes cell 0; the same times four is about cell 1; 15 is all.
helped='-DHELPERS=1'
mortal='-DCRASHES=1'
taken='-DCRASHES=1 -DTAKEN_OVER'
loses='-DCRASHES=1 -DTAKEN_OVER -DLOSES'
reuse='-DTXS=3 -DTXS_0=2 -DSET_0=15'
succession="$reuse -DSET_1=3 -DSET_2=3 -DRECORDED=1 -DCRASHES=2 -DTAKEN_OVER $helped"
in_time='-DREAL_TIME'
# Two reads of one lane, one after the other, and two writers; a writer of both cells and two readers
singles="-DTXS=4 -DTXS_0=2 $in_time -DSET_0=1 -DSET_1=4 -DSET_2=3 -DSET_3=13"
readers="-DTXS=3 $in_time -DSET_0=15 -DSET_1=1 -DSET_2=4"
keeps='-DTXS=3 -DTXS_0=2 -DKEEP'
erased='-DTXS=3 -DORDERED -DSET_0=2 -DSET_1=6 -DSET_2=8' # a blind write; one that aborts; and why it does
add clean tx_alone clean all '-DTXS=1'
add clean tx_basic clean all ''
add clean tx_helped clean all "$helped"
add clean tx_two_helpers clean all '-DHELPERS=2'
add clean tx_helped_twice clean all '-DHELPERS=1 -DHELPS=2'
add clean tx_crash clean all "$mortal $helped"
add clean tx_takeover clean all "$taken $helped"
add clean tx_takeover_twice clean all "-DCRASHES=2 -DTAKEN_OVER $helped"
add clean tx_one_shard clean all "-DSHARDS=1 $taken $helped"
add clean tx_fast clean all "-DSHARDS=1 -DFAST $taken $helped"
add clean tx_reuse clean all "$reuse -DSET_1=15 -DSET_2=3 $helped"
add clean tx_reuse_one_shard clean all "$reuse -DSET_1=12 -DSET_2=15 -DSHARDS=1 $taken $helped"
add clean tx_succession clean all "$succession"
add clean tx_real_time clean all "$in_time $helped"
add clean tx_real_time_crash clean all "$in_time $mortal $helped"
add clean tx_real_time_fast clean all "$in_time -DSHARDS=1 -DFAST $taken $helped"
add clean tx_real_time_three clean all "-DTXS=3 $in_time -DSET_0=13 -DSET_1=7"
add clean tx_single_reads clean all "$singles"
add clean tx_single_reads_crash clean all "$readers $mortal $helped"
add clean tx_keep clean all "$keeps $in_time -DSET_0=15 -DSET_1=15 -DSET_2=15"
add clean tx_keep_read clean all "$keeps $in_time -DSET_0=13 -DSET_1=13 -DSET_2=15 $helped"
add clean tx_validate_first clean all "-DVALIDATE_FIRST $taken $helped"
add clean tx_validate_first_fast clean all "-DVALIDATE_FIRST -DSHARDS=1 -DFAST $in_time $taken $helped"
add clean tx_lost clean all "$loses $helped"
add clean tx_lost_fast clean all "-DSHARDS=1 -DFAST $loses $helped"
add clean tx_lost_again clean all "-DTXS=3 -DTXS_0=2 -DSET_0=3 -DSET_1=3 -DSET_2=3 $loses $helped"
add clean tx_lost_alone clean all "-DTXS=3 -DSET_0=3 -DSET_1=3 -DSET_2=3 $loses $helped"
add clean tx_paper clean all '-DPAPER'
add clean tx_paper_alone clean all '-DPAPER -DTXS=1'
add clean tx_paper_erased clean all "-DPAPER $erased"
add clean tx_paper_three clean all '-DPAPER -DTXS=3 -DSET_2=6'

add control tx_late_rc serializable all '-DLATE_RC'
add control tx_own_pr alone_commits all '-DOWN_PR -DTXS=1'
add control tx_no_decision atomic_commit all "-DNO_DECISION $mortal"
add control tx_decide_anyway atomic_commit all "-DDECIDE_ANYWAY $helped"
add control tx_no_immediate installed_is_staged all "-DNO_IMMEDIATE $reuse -DSET_1=15 -DSET_2=3 $helped -DBY_EFFECT"
add control tx_early_next installed_is_staged all "-DEARLY_NEXT $reuse -DSET_1=15 -DSET_2=3 -DBY_EFFECT"
add control tx_free_first freed_once all "-DFREE_FIRST $taken"
add control tx_reused atomic_commit all "-DREUSED $reuse -DSET_1=15 -DSET_2=1 $mortal -DBY_EFFECT"
add control tx_unconditional atomic_commit all "-DUNCONDITIONAL -DSHARDS=1 -DFAST $helped"
add control tx_bump_unraised c_at_most_pw all '-DBUMP_UNRAISED'
add control tx_bump_unraised_effect atomic_commit all '-DBUMP_UNRAISED -DBY_EFFECT'
add control tx_bump_staged c_at_most_pw all "-DBUMP_STAGED $taken"
add control tx_bump_staged_effect atomic_commit all "-DBUMP_STAGED $taken -DBY_EFFECT"
add control tx_free_single freed_is_unreachable all "-DFREE_SINGLE $taken"
add control tx_clear_ts cell_is_free all "-DCLEAR_TS $succession"
add control tx_paper_late_rc serializable all '-DPAPER -DLATE_RC'
add control tx_paper_own_pr alone_commits all '-DPAPER -DOWN_PR -DTXS=1'
add control tx_paper_bump_validated cell_is_free all '-DPAPER -DBUMP_VALIDATED'
add control tx_paper_bump_validated_erased committed_is_installed all "-DPAPER -DBUMP_VALIDATED $erased"
add control tx_paper_bump_raised committed_is_installed all '-DPAPER -DBUMP_RAISED'

add control tx_guess_aborted aborted_is_invisible all "-DGUESS_ABORTED $loses $helped"
add control tx_ignore_later aborted_is_invisible all "-DIGNORE_LATER -DTXS=3 -DSET_0=3 -DSET_1=3 -DSET_2=3 $loses $helped"
add control tx_unchecked_read real_time_order all "-DUNCHECKED_READ $readers $mortal $helped"
add control tx_told_early real_time_order all "-DUNCHECKED_READ $readers"
add control tx_reads_first real_time_order all "-DREADS_FIRST $singles"

add long long_tx_three clean 'bitstate 32' "-DTXS=3 -DSET_0=15 -DSET_1=15 -DSET_2=3 $helped"
add long long_tx_three_alone clean 'bitstate 32' '-DTXS=3 -DSET_0=15'
add long long_tx_takeover clean 'bitstate 32' "$reuse -DSET_1=15 -DSET_2=15 $taken $helped"
add long long_tx_succession clean all "$reuse -DSET_1=15 -DSET_2=3 -DCRASHES=2 -DTAKEN_OVER $helped"
add long long_tx_paper_three clean 'bitstate 32' '-DPAPER -DTXS=3'

fetch='-DPROTOCOL=1 -DCALLS=2'
slots='-DPROTOCOL=2'
window='-DPROTOCOL=3'
two_slots="$slots -DCLIENTS=2"
shared="$fetch -DEARLY=0 -DSHARED_LANDING"
add clean rpc_fetch clean all "$fetch"
add clean rpc_fetch_three clean all "-DPROTOCOL=1 -DCALLS=3 -DEARLY=0"
add clean rpc_fetch_break clean all "$fetch -DBREAKS=1"
add clean rpc_fetch_again clean all "$fetch -DDUPLICATES=1"
add clean rpc_fetch_death clean all "$fetch -DEARLY=0 -DMORTAL=3"
add clean rpc_fetch_patience clean all "$shared -DPATIENCE"
add clean rpc_slots clean all "$slots -DCALLS=4 -DEARLY=2 -DDUPLICATES=2"
add clean rpc_slots_break clean all "$slots -DBUFFERS=2 -DBREAKS=2 -DDUPLICATES=1 -DMORTAL=3"
add clean rpc_slots_two clean all "$two_slots -DCALLS=2 -DBREAKS=1"
add clean rpc_slots_death clean all "$two_slots -DCALLS=1 -DBREAKS=1 -DMORTAL=3"
add clean rpc_window clean all "$window -DCALLS=5 -DEARLY=2 -DDUPLICATES=1"
add clean rpc_window_around clean all "$window -DCALLS=12"
add clean rpc_window_least clean all "$window -DCALLS=8 -DCELLS=5"
add clean rpc_window_death clean all "$window -DCALLS=4 -DDUPLICATES=1 -DMORTAL=3"
add clean rpc_window_eager clean all "$window -DEAGER -DREORDERED -DCALLS=5 -DEARLY=2 -DDUPLICATES=1"
add clean rpc_window_eager_least clean all "$window -DEAGER -DREORDERED -DCALLS=8 -DCELLS=3"
add clean rpc_window_eager_death clean all "$window -DEAGER -DREORDERED -DCALLS=4 -DDUPLICATES=1 -DMORTAL=3"

add control rpc_fetch_bare_status answer_is_its_calls all "$fetch -DBARE_STATUS"
add control rpc_fetch_no_crc answer_is_whole all "$fetch -DNO_CRC"
add control rpc_fetch_no_request_crc request_is_whole all "$fetch -DNO_REQUEST_CRC"
add control rpc_fetch_no_last_read nobody_waits_for_ever all "$fetch -DNO_LAST_READ"
add control rpc_fetch_no_fences nobody_waits_for_ever all "$fetch -DNO_FENCES"
add control rpc_slots_one_half pair_is_whole all "$slots -DONE_HALF"
add control rpc_slots_ptr_first pair_is_whole all "$slots -DPTR_FIRST"
add control rpc_slots_ack_in_chain answer_is_whole all "$slots -DACK_IN_CHAIN -DDUPLICATES=1"
add control rpc_slots_forgotten_pin answer_is_whole all "$slots -DFORGOTTEN_PIN"
add control rpc_slots_no_fences answer_is_whole all "$slots -DNO_FENCES"
add control rpc_slots_no_acquire request_is_whole all "$slots -DNO_ACQUIRE"
add control rpc_slots_no_null answer_is_whole all "$slots -DNO_NULL"
add control rpc_slots_abandon buffer_is_accounted_for all "$slots -DBUFFERS=2 -DABANDON"
add control rpc_slots_resend_blindly buffer_is_accounted_for all "$slots -DBUFFERS=2 -DRESEND_BLINDLY -DBREAKS=1"
add control rpc_slots_no_seq call_runs_once all "$slots -DNO_SEQ -DRESEND_BLINDLY -DBREAKS=1"
add control rpc_window_other_order next_epoch_is_open all "$window -DOTHER_ORDER"
add control rpc_window_one_pointer next_epoch_is_open all "$window -DONE_POINTER"
add control rpc_window_bound_first answer_is_its_calls all "$window -DBOUND_FIRST"
add control rpc_window_no_fences answer_is_its_calls all "$window -DNO_FENCES"
add control rpc_window_ack_in_chain nobody_waits_for_ever all "$window -DACK_IN_CHAIN -DDUPLICATES=1"
add control rpc_window_small_ring nobody_waits_for_ever all "$window -DCALLS=8 -DCELLS=4"
add control rpc_window_reordered consumed_is_there all "$window -DREORDERED -DCALLS=5 -DDUPLICATES=1"
add control rpc_window_eager_other_order answer_is_its_calls all "$window -DEAGER -DCALLS=4 -DOTHER_ORDER"
add control rpc_window_eager_two_ahead answer_is_its_calls all "$window -DEAGER -DCALLS=5 -DTWO_AHEAD"
add control rpc_window_eager_one_pointer answer_is_its_calls all "$window -DEAGER -DONE_POINTER"
add control rpc_window_eager_ack_in_chain nobody_waits_for_ever all "$window -DEAGER -DACK_IN_CHAIN -DDUPLICATES=1"

add limit rpc_fetch_shared_landing nobody_waits_for_ever all "$fetch -DSHARED_LANDING"

add long long_rpc_fetch clean all "-DPROTOCOL=1"
add long long_rpc_fetch_death clean all "$fetch -DEARLY=0 -DBREAKS=1 -DMORTAL=3"
add long long_rpc_fetch_patience clean all "$shared -DPATIENCE -DBREAKS=1"
add long long_rpc_slots_death clean all "$two_slots -DCALLS=1 -DBUFFERS=2 -DBREAKS=1 -DMORTAL=3"
add long long_rpc_slots_two clean all "$two_slots -DCALLS=2 -DMORTAL=1"

add clean gam_directory clean all ''
add clean gam_directory_evictions clean all '-DEVICTIONS=3'
add clean gam_directory_three clean all '-DOPS=3 -DOPS_0=2'
add clean gam_directory_home clean all '-DOPS_0=4'

add control gam_grant_to_non_sharer hit_is_the_last_write all '-DGRANT_TO_NON_SHARER'
add control gam_grant_early hit_is_the_last_write all '-DGRANT_EARLY'
add control gam_keep_invalidated hit_is_the_last_write all '-DKEEP_INVALIDATED'
add control gam_queue_invalidate nobody_waits_for_ever all '-DQUEUE_INVALIDATE'
add control gam_forget_evicted nobody_waits_for_ever all '-DFORGET_EVICTED'
add control gam_answer_at_once hit_is_the_last_write all '-DANSWER_AT_ONCE'
add control gam_own_without_home message_is_expected all '-DOWN_WITHOUT_HOME'

add long long_gam_directory clean all '-DOPS=4 -DOPS_0=3 -DEVICTIONS=2'

dies='-DMORTAL=2'
returns="$dies -DREBORN"
late="$dies -DLATE" # a CAS that misses is known later, and a death is forgotten when all have swept
home_dies='-DHOME_MORTAL'
waits='-DPATIENCE=1' # turned away once, a node makes itself the entry's waiter
all_six='-DKINDS=63'
add clean latch_basic clean all ''
add clean latch_evictions clean all '-DOPS_0=1 -DEVICTIONS=3'
add clean latch_kinds clean all "-DOPS_0=1 $all_six -DEVICTIONS=0"
add clean latch_waiter clean all "-DOPS_0=1 $waits"
add clean latch_waiter_tries clean all '-DOPS_0=1 -DPATIENCE=2 -DKINDS=43 -DEVICTIONS=0'
add clean latch_death clean all "-DOPS_0=1 $dies -DEVICTIONS=0"
add clean latch_death_evictions clean all "-DOPS=1 $dies -DEVICTIONS=2"
add clean latch_death_kinds clean all "-DOPS=1 $dies $all_six"
add clean latch_death_waiter clean all "-DOPS_0=1 $dies $waits -DEVICTIONS=0"
add clean latch_return clean all "-DOPS_0=1 $returns -DEVICTIONS=0"
add clean latch_return_kinds clean all "-DOPS=1 $returns $all_six"
add clean latch_return_waiter clean all "-DOPS=1 $returns $waits"
add clean latch_late clean all "-DOPS=1 $late"
add clean latch_late_breaks clean all "-DOPS=1 $late -DBREAKS=1 -DEVICTIONS=0"
add clean latch_late_return clean all "-DOPS=1 $late -DREBORN -DEVICTIONS=0"
add clean latch_breaks clean all '-DOPS_0=1 -DBREAKS=1 -DEVICTIONS=0'
add clean latch_breaks_kinds clean all "-DOPS=1 -DBREAKS=2 $all_six"
add clean latch_freed clean all "-DOPS=1 -DFREED=1 $all_six -DEVICTIONS=0"
add clean latch_freed_again clean all "-DOPS=1 -DFREED=2 -DBREAKS=1 $waits -DEVICTIONS=0"
add clean latch_home clean all "-DOPS=2 -DOPS_0=0 $home_dies"
add clean latch_home_breaks clean all "-DOPS=1 $home_dies -DBREAKS=1 -DEVICTIONS=0"
add clean latch_grant_first_alive clean all '-DOPS_0=1 -DGRANT_FIRST -DBY_EFFECT'

add control latch_own_early owner_is_alone all '-DOWN_EARLY'
add control latch_no_version owner_is_alone all '-DNO_VERSION'
add control latch_keep_fetched hit_is_the_last_write all '-DKEEP_FETCHED -DBY_EFFECT'
add control latch_keep_newer owner_is_alone all '-DKEEP_NEWER -DBY_EFFECT -DOPS_0=1'
add control latch_keep_left owner_is_alone all '-DKEEP_LEFT'
add control latch_blind_upgrade value_is_of_this_time all '-DBLIND_UPGRADE'
add control latch_whole_entry owner_is_alone all '-DWHOLE_ENTRY -DBY_EFFECT'
add control latch_whole_entry_itself holder_is_in_the_entry all '-DWHOLE_ENTRY'
add control latch_ack_locked lock_is_held all '-DACK_LOCKED -DKINDS=7'
add control latch_undo_early hit_is_the_last_write all \
	'-DUNDO_EARLY -DBY_EFFECT -DOPS_0=1 -DKINDS_0=4 -DKINDS_1=1 -DKINDS_2=34 -DEVICTIONS=0'
add control latch_turn_away moved_means_news all '-DTURN_AWAY'
add control latch_ignore_waiter waiter_is_next all "-DIGNORE_WAITER $waits"
add control latch_queue_behind_waiter nobody_waits_for_ever all "-DQUEUE_BEHIND_WAITER $waits"
add control latch_keep_waiter nobody_waits_for_ever all "-DKEEP_WAITER -DOPS_0=1 $dies $waits -DEVICTIONS=0"
add control latch_await_dead nobody_waits_for_ever all "-DAWAIT_DEAD -DOPS=1 $dies"
add control latch_grant_first owner_is_alone all "-DGRANT_FIRST -DBY_EFFECT -DOPS=1 $dies"
add control latch_grant_read_first seen_is_not_lost all "-DGRANT_FIRST -DBY_EFFECT -DOPS=1 -DKINDS=1 -DKINDS_2=2 $dies"
add control latch_keep_queue_pairs dead_is_not_in_the_entry all "-DKEEP_QUEUE_PAIRS -DOPS=1 $dies"
add control latch_no_lease owner_is_alone all "-DNO_LEASE -DBY_EFFECT -DOPS=1 $dies"
add control latch_sweep_early dead_is_not_in_the_entry all "-DSWEEP_EARLY -DOPS=1 $dies"
add control latch_confirm_early dead_is_not_in_the_entry all "-DCONFIRM_EARLY -DOPS=1 $dies"
add control latch_hear_dead message_is_expected all "-DHEAR_DEAD -DOPS=1 $dies"
add control latch_reuse_early nobody_waits_for_ever all "-DREUSE_EARLY -DOPS=1 $returns"
add control latch_grant_reborn message_is_expected all "-DGRANT_REBORN -DOPS=1 $returns"
add control latch_take_back_unsure holder_is_in_the_entry all '-DTAKE_BACK_UNSURE -DOPS=1 -DBREAKS=1'
add control latch_grant_unsure moved_means_news all '-DGRANT_UNSURE -DBY_EFFECT -DOPS=1 -DBREAKS=1'
add control latch_miss_is_the_end nobody_waits_for_ever all '-DMISS_IS_THE_END -DOPS=1 -DBREAKS=1'
add control latch_forget_undo moved_means_news all '-DFORGET_UNDO -DOPS=1 -DBREAKS=1 -DKINDS=38 -DEVICTIONS=0'
add control latch_confirm_unsure dead_is_not_in_the_entry all "-DCONFIRM_UNSURE -DOPS=1 $dies -DBREAKS=1"
add control latch_ask_swept nobody_waits_for_ever all "-DASK_SWEPT -DOPS=1 $late"
add control latch_tell_swept nobody_waits_for_ever all "-DTELL_SWEPT -DOPS=1 $late"
add control latch_reread_swept nobody_waits_for_ever all "-DREREAD_SWEPT -DOPS=1 $late -DBREAKS=1"
add control latch_swept_by_no_word nobody_waits_for_ever all "-DSWEPT_BY_NO_WORD -DOPS=1 $late"
add control latch_free_silently free_is_gone all '-DFREE_SILENTLY -DOPS=1 -DFREED=1'
add control latch_grant_free free_is_gone all '-DGRANT_FREE -DOPS=1 -DFREED=1'
add control latch_keep_marks nobody_waits_for_ever all "-DKEEP_MARKS -DOPS=1 -DFREED=2 $waits -DEVICTIONS=0"
add control latch_keep_marks_writer moved_means_news all '-DKEEP_MARKS -DOPS=1 -DFREED=2 -DBREAKS=1 -DEVICTIONS=0'
add control latch_keep_under_way holder_is_in_the_entry all "-DKEEP_UNDER_WAY -DOPS=1 $home_dies"
add control latch_keep_under_way_effect owner_is_alone all "-DKEEP_UNDER_WAY -DBY_EFFECT -DOPS=1 $home_dies"
add control latch_keep_resting hit_is_the_last_write all "-DKEEP_RESTING -DOPS=1 $home_dies -DBREAKS=1"
add control latch_answer_late message_is_expected all "-DANSWER_LATE -DOPS_0=1 $home_dies -DEVICTIONS=0"
add control latch_swept_by_one_word message_is_expected all "-DSWEPT_BY_ONE_WORD -DOPS_0=1 $home_dies -DEVICTIONS=0"

add long long_latch clean all '-DOPS=3 -DOPS_0=1'
add long long_latch_kinds clean all "-DOPS_0=1 $all_six"
add long long_latch_waiter clean all "$waits"
add long long_latch_death clean all "-DOPS_0=1 $dies"
add long long_latch_death_two clean 'bitstate 32' "$dies"
add long long_latch_death_kinds clean all "-DOPS_0=1 $dies $all_six -DEVICTIONS=0"
add long long_latch_late_two clean all "-DOPS_0=1 $late -DEVICTIONS=0"
add long long_latch_breaks_waiter clean all "-DOPS_0=1 -DBREAKS=1 $waits"
add long long_latch_home clean all "-DOPS_0=1 $home_dies -DEVICTIONS=0"
add long long_latch_home_kinds clean all "-DOPS=2 -DOPS_0=0 $home_dies $all_six"
add long long_latch_return clean 'bitstate 32' "-DOPS_0=1 $returns"

if [ "${1:-}" = --list ]; then
	for name in "${names[@]}"; do
		printf '%-8s %-30s %s\n' "${sets[$name]}" "$name" "${expected[$name]}"
	done
	exit 0
fi
mode=run
case ${1:-} in
--changed | --record) mode=${1#--}; shift ;;
esac
name=${1:-}
if [ $# -ne 1 ] || [ -z "${expected[$name]:-}" ]; then
	echo "usage: run_model.sh [--changed | --record] NAME | --list" >&2
	exit 2
fi
if ! command -v spin >/dev/null; then
	echo "SKIP: spin is not installed"
	exit 77
fi

case $name in
*latch*) model=gam_latch.pml ;;
*gam_*) model=gam_directory.pml ;;
*rs_*) model=rs.pml ;;
*tx_*) model=tx.pml ;;
*rpc_*) model=rpc.pml ;;
*) model=kv.pml ;;
esac

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

passed=$here/passed
hash=$({ cat "$here/$model" && sed '1,/^work=/d' "$0" && echo "${expected[$name]}; ${macros[$name]}; ${compile[*]}; ${run[*]}" && spin -V; } | sha256sum)
hash=${hash%% *}
if [ "$mode" = changed ] && grep -q "^$name $hash " "$passed"; then
	echo "not run: unchanged since it passed: $(sed -n "s/^$name $hash //p" "$passed")"
	exit 0
fi

# Several models may end at the same time.
record() {
	(
		flock 9
		{ grep -v "^$name " "$passed" || true; echo "$name $hash $1"; } | LC_ALL=C sort >"$passed.new"
		mv "$passed.new" "$passed"
	) 9<"$here"
}

work=$(mktemp -d "${TMPDIR:-/tmp}/prism-model.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

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
violated=$(sed -n 's/^pan:[0-9]*: //p' pan.log | sed 's/ (at depth.*//' | sed -n 1p)
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

if [ "${expected[$name]}" = clean ]; then
	[ "$status" -eq 0 ] || fail "the search ended with $status"
	[ "$errors" = 0 ] || fail "expected: no error"
	if grep -Eq 'max search depth too small|reached -DMEMLIM|Search not completed|out of memory' pan.log; then
		fail "the search is not complete"
	fi
elif [ "$violated" != "assertion violated ${expected[$name]}" ]; then
	fail "expected: ${expected[$name]} violated"
fi
[ "$mode" != record ] || record "$states states, depth $depth${violated:+, $violated}"
