# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Installs the parts of a provider that is also a public library, at the places that distributions expect.
include(CMakePackageConfigHelpers)

install(TARGETS prism EXPORT prism-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES prismdv.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/infiniband)

if(TARGET prism-plugin)
    set_target_properties(prism-plugin PROPERTIES INSTALL_RPATH "$ORIGIN/..")
    install(TARGETS prism-plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/libibverbs)
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/prism.driver "driver prism\n")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/prism.driver DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/libibverbs.d)

configure_file(prism.pc.in ${CMAKE_CURRENT_BINARY_DIR}/prism.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/prism.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(PRISM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/prism)
configure_package_config_file(prismConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/prismConfig.cmake
    INSTALL_DESTINATION ${PRISM_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/prismConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/prismConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/prismConfigVersion.cmake
    DESTINATION ${PRISM_CMAKE_DIR})
install(EXPORT prism-targets NAMESPACE prism:: DESTINATION ${PRISM_CMAKE_DIR})
