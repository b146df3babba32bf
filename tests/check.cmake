# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What check.sh builds beside this tree, as tests of this tree, so that one run counts everything.
function(prism_tree flavour)
    add_test(NAME tree_${flavour}
             COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${CMAKE_SOURCE_DIR}/build-${flavour} --output-on-failure -j2 ${ARGN})
    set_tests_properties(tree_${flavour} PROPERTIES TIMEOUT 3600 LABELS sanitizer RUN_SERIAL ON)
endfunction()

# A thousand seeds, and a million transactions, run in the plain build; here what is shorter does.
prism_tree(asan -LE integration -E "sim_bad_network|kv_sim_(bad|c|l|m|r|slow)|^check_transactions")
# Where there are threads: the device itself, and the libraries and programs upon it.
prism_tree(tsan -R "^verbs_|net_udp|ext_device|ext_tcp|example_|store_c|rivals_pilaf|rs_(client|abdlock|block_device)|tx_client")
set_tests_properties(tree_tsan PROPERTIES
    ENVIRONMENT "TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.supp history_size=7;GTEST_FILTER=-*Churn*")
prism_tree(fuzz -L fuzz)
set_tests_properties(tree_fuzz PROPERTIES RUN_SERIAL OFF) # one core, for a fixed time
