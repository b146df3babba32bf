# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The target programs: all that has been added so far, which is everything but the tests.
function(prism_targets_below folder result)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    foreach(subfolder IN LISTS subfolders)
        prism_targets_below(${subfolder} below)
        list(APPEND targets ${below})
    endforeach()
    set(${result} ${targets} PARENT_SCOPE)
endfunction()

prism_targets_below(${CMAKE_SOURCE_DIR} all)
add_custom_target(programs)
foreach(target IN LISTS all)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL UTILITY) # such as those of CTest, which run tests
        add_dependencies(programs ${target})
    endif()
endforeach()
