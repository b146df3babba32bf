# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What check.sh builds beside this tree, as tests of this tree, so that one run counts everything.
foreach(flavour asan tsan fuzz)
    add_test(NAME tree_${flavour}
             COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${CMAKE_SOURCE_DIR}/build-${flavour} --output-on-failure
                     -LE integration)
    set_tests_properties(tree_${flavour} PROPERTIES TIMEOUT 1500 LABELS sanitizer RUN_SERIAL ON)
endforeach()
