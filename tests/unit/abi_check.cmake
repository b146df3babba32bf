# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Compares providers/prism/verbs/rdma_core_abi.h with rdma-core's own header. Distributions do not ship that one: point
# PRISM_RDMA_CORE_INCLUDE at the include/ folder of a configured rdma-core build tree (releases 37 to 56) in which the
# target kern-abi has been built. (36 has no log functions, and the same layouts otherwise.)
include(CheckCSourceCompiles)
include(CMakePushCheckState)

set(PRISM_RDMA_CORE_INCLUDE "" CACHE PATH "include/ of a configured rdma-core build tree, to compare ABIs with")

cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_FLAGS "-std=gnu11 -D_GNU_SOURCE")
set(CMAKE_REQUIRED_INCLUDES ${PRISM_RDMA_CORE_INCLUDE})
unset(PRISM_HAVE_DRIVER_H CACHE) # the answer follows PRISM_RDMA_CORE_INCLUDE
check_c_source_compiles("
    #include <infiniband/driver.h>
    int main(void) { return sizeof(struct verbs_context_ops) == 0; }" PRISM_HAVE_DRIVER_H)
cmake_pop_check_state()

if(PRISM_HAVE_DRIVER_H)
    set(abi_check_source ${CMAKE_CURRENT_LIST_DIR}/abi_check.c)
    set(abi_check_includes ${PRISM_RDMA_CORE_INCLUDE})
    add_library(abi-check-real OBJECT ${abi_check_source})
    target_compile_definitions(abi-check-real PRIVATE PRISM_ABI_REAL _GNU_SOURCE)
    target_include_directories(abi-check-real SYSTEM PRIVATE ${abi_check_includes})
    # Both against one <infiniband/verbs.h>: the structures embed public ones that grow from release to release.
    add_executable(abi_check ${abi_check_source})
    target_include_directories(abi_check PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../../providers/prism)
    target_include_directories(abi_check SYSTEM PRIVATE ${abi_check_includes})
    target_link_libraries(abi_check PRIVATE abi-check-real)
    add_test(NAME abi_check COMMAND abi_check)
else()
    add_test(NAME abi_check COMMAND ${CMAKE_COMMAND} -E echo
        "skipped: no <infiniband/driver.h>; set PRISM_RDMA_CORE_INCLUDE to a configured rdma-core tree's include/")
    set_tests_properties(abi_check PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped:")
endif()
