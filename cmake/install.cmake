# What cmake --install and cpack bring: headers, libraries, packages for CMake and pkg-config, documents and examples. Works from
# whatever has been built: the library itself is part of every build of a program; the parts for users' tests (sim, compare, testing) come
# along when they are there, and find_package(coordkit COMPONENTS sim) says what to build when they are not.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/coordkit)

# coordkit_install(EXPORT [OPTIONAL] TARGETS product...): one file of targets each, because a file that names a library which is not
# there stops find_package.
function(coordkit_install export)
  cmake_parse_arguments(arg "OPTIONAL" "" "TARGETS" ${ARGN})
  list(TRANSFORM arg_TARGETS PREPEND coordkit_product_)
  set(optional "")
  if(arg_OPTIONAL)
    set(optional OPTIONAL)
  endif()
  install(TARGETS ${arg_TARGETS} EXPORT coordkit-${export}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development ${optional}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development ${optional})
  install(EXPORT coordkit-${export} NAMESPACE coordkit:: FILE coordkit-${export}.cmake DESTINATION ${cmake_folder} COMPONENT development)
endfunction()

if(BUILD_SHARED_LIBS)
  set(coordkit_linked_name shared)
  coordkit_install(libraries TARGETS shared asio)
  coordkit_install(static OPTIONAL TARGETS core static)
else()
  set(coordkit_linked_name static)
  coordkit_install(libraries TARGETS core static asio)
endif()
coordkit_install(sim OPTIONAL TARGETS sim)
coordkit_install(compare OPTIONAL TARGETS compare)
coordkit_install(testing OPTIONAL TARGETS testing)
coordkit_install(tls OPTIONAL TARGETS tls)
# How the files of static libraries end: a configuration may add to their names (CMAKE_DEBUG_POSTFIX).
set(coordkit_library_endings "")
foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
  string(TOUPPER "${configuration}" configuration)
  list(APPEND coordkit_library_endings "${CMAKE_${configuration}_POSTFIX}.a")
endforeach()
if(NOT coordkit_library_endings)
  set(coordkit_library_endings .a)
endif()
list(REMOVE_DUPLICATES coordkit_library_endings)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/coordkit-config.cmake.in ${PROJECT_BINARY_DIR}/coordkit-config.cmake
                              INSTALL_DESTINATION ${cmake_folder} PATH_VARS CMAKE_INSTALL_LIBDIR NO_SET_AND_CHECK_MACRO
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/coordkit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/coordkit-config.cmake ${PROJECT_BINARY_DIR}/coordkit-config-version.cmake
        DESTINATION ${cmake_folder} COMPONENT development)

# The names that pkg-config has for what a product links: modules, and plain libraries.
function(coordkit_pc_names modules libraries)
  set(found_modules "")
  set(found_libraries "")
  foreach(need IN LISTS ARGN)
    if(need MATCHES "^absl::(.*)$")
      list(APPEND found_modules absl_${CMAKE_MATCH_1})
    elseif(need MATCHES "^(.*)::\\1$" AND NOT need STREQUAL "Threads::Threads")
      list(APPEND found_modules ${CMAKE_MATCH_1})
    elseif(need STREQUAL "Threads::Threads")
      list(APPEND found_libraries -pthread)
    else()
      list(APPEND found_libraries -l${need})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found_modules)
  list(JOIN found_modules ", " found_modules)
  list(JOIN found_libraries " " found_libraries)
  set(${modules} "${found_modules}" PARENT_SCOPE)
  set(${libraries} "${found_libraries}" PARENT_SCOPE)
endfunction()

# With a shared library a program links what our headers include, and nothing else; pkg-config --static adds the rest. When there is
# only the static one, the rest is not private.
get_target_property(core_needs coordkit_product_core COORDKIT_NEEDS)
get_target_property(static_needs coordkit_product_static COORDKIT_NEEDS)
set(needs ${core_needs} ${static_needs})
list(REMOVE_ITEM needs ${coordkit_in_headers})
coordkit_pc_names(coordkit_pc_requires none ${coordkit_in_headers})
coordkit_pc_names(modules libraries ${needs})
set(coordkit_pc_requires_private "")
set(coordkit_pc_libs_private "")
if(BUILD_SHARED_LIBS)
  set(coordkit_pc_libs "-l$<TARGET_FILE_BASE_NAME:coordkit_product_shared>")
  set(coordkit_pc_libs_private "-l$<TARGET_FILE_BASE_NAME:coordkit_product_core> ${libraries}")
  set(coordkit_pc_requires_private "${modules}")
else()
  set(coordkit_pc_libs "-l$<TARGET_FILE_BASE_NAME:coordkit_product_static> -l$<TARGET_FILE_BASE_NAME:coordkit_product_core> ${libraries}")
  string(APPEND coordkit_pc_requires ", ${modules}")
endif()
file(RELATIVE_PATH coordkit_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" coordkit_pc_prefix "${coordkit_pc_prefix}")
foreach(file coordkit.pc coordkit-tls.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file}.in ${PROJECT_BINARY_DIR}/${file}.in @ONLY)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/pkgconfig/$<CONFIG>/${file} INPUT ${PROJECT_BINARY_DIR}/${file}.in)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/$<CONFIG>/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coordkit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/ARCHITECTURE.md
        ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
include(cmake/package.cmake)
