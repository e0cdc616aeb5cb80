# What a user gets: headers, one static library per folder, and a package for find_package(coordkit). coordkit::coordkit is all of
# door 1; coordkit::sim is the simulator, which needs neither Asio nor LMDB.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(coordkit_installed GLOBAL PROPERTY coordkit_libraries)
install(TARGETS ${coordkit_installed} EXPORT coordkit ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coordkit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT coordkit NAMESPACE coordkit:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/coordkit)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/coordkit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/coordkit-config.cmake ${PROJECT_BINARY_DIR}/coordkit-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/coordkit)
