# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# With PRISM_PRECOMPILE, what most files include is compiled once, for each set of compiler options that targets have: a
# quarter less to do for the compiler. It then stands in front of every file, so that a file which forgets an include is
# found only by builds without: check.sh's for the fuzzers, and contributors'.
set(PRISM_COMMON_HEADERS <algorithm> <array> <atomic> <bit> <cerrno> <charconv> <chrono> <compare> <condition_variable>
    <coroutine> <cstddef> <cstdint> <cstdio> <cstdlib> <cstring> <deque> <functional> <iostream> <limits> <map> <memory>
    <mutex> <numeric> <optional> <random> <set> <span> <sstream> <string> <string_view> <thread> <type_traits>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <infiniband/verbs.h>)

# One set of options for programs and libraries, in this folder
macro(prism_precompiled_options)
    add_compile_options(-fPIC -fno-semantic-interposition)
    # GCC 12 does not always know code inlined from precompiled system headers as theirs: it warns of std::string for no reason.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        add_compile_options(-Winvalid-pch -Wno-array-bounds -Wno-stringop-overflow)
    endif()
    add_compile_definitions(_FILE_OFFSET_BITS=64 GTEST_HAS_PTHREAD=1) # which some libraries ask for
endmacro()

# prism_headers(NAME HEADER...): beside the common ones, for targets that have the options of this folder
function(prism_headers name)
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "/* the place of ${name} */\n")
    add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    target_link_libraries(${name} PRIVATE PkgConfig::IBVERBS)
    target_precompile_headers(${name} PRIVATE ${PRISM_COMMON_HEADERS} ${ARGN})
endfunction()

# prism_precompile(NAME FOLDER...): the targets below use it, if they have its options and are C++. Folders that this build
# does not have are left out.
function(prism_precompile name)
    get_target_property(options ${name} COMPILE_OPTIONS)
    get_property(added DIRECTORY PROPERTY SUBDIRECTORIES)
    foreach(folder IN LISTS ARGN)
        set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
        if(NOT folder IN_LIST added)
            continue()
        endif()
        prism_targets_below(${folder} targets)
        foreach(target IN LISTS targets)
            prism_use_headers(${target} ${name} "${options}")
        endforeach()
    endforeach()
endfunction()

function(prism_use_headers target name options)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "UTILITY|INTERFACE")
        return()
    endif()
    get_target_property(own_options ${target} COMPILE_OPTIONS)
    list(REMOVE_ITEM own_options ${PRISM_TOGETHER} -Wno-shadow) # which change no meaning
    list(REMOVE_ITEM options ${PRISM_TOGETHER} -Wno-shadow)
    get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
    get_target_property(sources ${target} SOURCES)
    if(own_options STREQUAL options AND NOT visibility AND NOT sources MATCHES "\\.c(;|$)")
        target_precompile_headers(${target} REUSE_FROM ${name})
    endif()
endfunction()
