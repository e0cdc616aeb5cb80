# What every folder's CMakeLists.txt is written with. One library per folder, one test program per folder; a library links
# only what its floor allows (ARCHITECTURE.md), and tests/proof/house checks the includes besides.

# Warnings are for our own tree: inside another project nobody can do anything about ours, least of all with its -Werror.
add_library(coordkit_flags INTERFACE)
target_compile_features(coordkit_flags INTERFACE cxx_std_20)
target_include_directories(coordkit_flags SYSTEM INTERFACE ${coordkit_folders})
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(coordkit_flags INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:$<TARGET_PROPERTY:COORDKIT_TEST>>>:-Wshadow> -Wconversion
                         -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
                         $<$<NOT:$<BOOL:$<TARGET_PROPERTY:COORDKIT_EXAMPLE>>>:-Wno-missing-field-initializers> -fno-omit-frame-pointer)
else()
  target_compile_options(coordkit_flags INTERFACE -w)
endif()
if(COORDKIT_WERROR)
  target_compile_options(coordkit_flags INTERFACE -Werror)
endif()
if(COORDKIT_SANITIZE)
  target_compile_options(coordkit_flags INTERFACE -fsanitize=${COORDKIT_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(coordkit_flags INTERFACE -fsanitize=${COORDKIT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # With instrumentation g++ 12 takes members of std::function and std::variant for uninitialised.
    target_compile_options(coordkit_flags INTERFACE -Wno-maybe-uninitialized)
  elseif(COORDKIT_SANITIZE MATCHES undefined)
    # What clang 14 writes before each function to check calls by pointer, its assembler cannot place before a coroutine.
    target_compile_options(coordkit_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(COORDKIT_FUZZ)
  target_compile_options(coordkit_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(COORDKIT_COVERAGE)
  target_compile_options(coordkit_flags INTERFACE --coverage)
  target_link_options(coordkit_flags INTERFACE --coverage)
endif()

set(coordkit_public $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)

# What every target of ours has that users link: they need C++20, may be shared libraries, and see only what public headers export.
function(coordkit_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC ${coordkit_public})
  target_link_directories(${target} INTERFACE $<BUILD_INTERFACE:${coordkit_libraries}>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# coordkit_together(TARGET [ALONE file...]): its sources are compiled in units of sixteen, which costs a fourth of the time
# (docs/decisions/0014). So two files of a folder must not give one name to different things in their anonymous namespaces. A file
# whose names are a vocabulary of its own is compiled ALONE, and so is one whose public class keeps a type of its anonymous
# namespace: inside a unit g++ takes it for a header. In our own tree TARGET_each stands beside each such target, built only when asked
# for: every file alone, for tools that read compile_commands.json. The folders are object libraries of ours, so a project around us
# gets units as well; COORDKIT_TOGETHER=OFF compiles each file alone.
function(coordkit_together target)
  cmake_parse_arguments(arg "" "" "ALONE" ${ARGN})
  if(NOT COORDKIT_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # the units of a project around us know nothing of ALONE
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX TARGET_OBJECTS)
  add_library(${target}_each OBJECT EXCLUDE_FROM_ALL ${sources})
  target_compile_features(${target}_each PRIVATE cxx_std_20)
  target_compile_definitions(${target}_each PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_include_directories(${target}_each PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_link_libraries(${target}_each PRIVATE $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
  get_target_property(test ${target} COORDKIT_TEST)
  set_target_properties(${target}_each PROPERTIES COORDKIT_TEST "${test}" CXX_CLANG_TIDY "")
endfunction()

# coordkit_library(NAME LINK target... [ALONE file...]): the sources of this folder, and of those below it, as coordkit_NAME. Tests
# and tools link folders; what users link is put together from them in cmake/products.cmake.
function(coordkit_library name)
  cmake_parse_arguments(arg "" "" "LINK;ALONE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  add_library(coordkit_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  coordkit_library_settings(coordkit_${name} ${arg_LINK})
  set_target_properties(coordkit_${name} PROPERTIES COORDKIT_LINK "${arg_LINK}")
  coordkit_together(coordkit_${name} ALONE ${arg_ALONE})
endfunction()

function(coordkit_library_settings target)
  coordkit_settings(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/verify)
  target_link_libraries(${target} PUBLIC ${ARGN} PRIVATE coordkit_flags)
endfunction()

# coordkit_tests(NAME LINK target... [ALONE file...] [WITHOUT file...]): the *_test.cc of this folder as programs, one ctest entry per test. What takes long
# says so in its name, and is left out where the label tells (./dev test quick; ctest matches any part of a label):
#
#   *_test.cc       test_NAME, label NAME; single tests called *_Slow_* have the label NAME-slow
#   *_slow_test.cc  test_NAME_slow, label NAME-slow
#   *_full_test.cc  test_NAME_full, label NAME-full
#
# Other *.cc of the folder are helpers and are linked into each. No test asserts on wall time; TIMEOUT only ends a hang.
function(coordkit_tests name)
  cmake_parse_arguments(arg "" "" "LINK;ALONE;WITHOUT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(TRANSFORM arg_WITHOUT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${arg_WITHOUT})
  set(quick ${sources})
  set(slow ${sources})
  set(full ${sources})
  set(helpers ${sources})
  list(FILTER slow INCLUDE REGEX "_slow_test\\.cc$")
  list(FILTER full INCLUDE REGEX "_full_test\\.cc$")
  list(FILTER quick INCLUDE REGEX "_test\\.cc$")
  list(FILTER quick EXCLUDE REGEX "_(slow|full)_test\\.cc$")
  list(FILTER helpers EXCLUDE REGEX "_test\\.cc$")
  if(helpers)
    add_library(test_${name}_helpers OBJECT ${helpers})
    coordkit_test_settings(test_${name}_helpers ${arg_LINK})
    coordkit_together(test_${name}_helpers ALONE ${arg_ALONE})
    set(helpers $<TARGET_OBJECTS:test_${name}_helpers>)
  endif()
  if(quick)
    coordkit_test_program(test_${name} "${quick};${helpers}" "${arg_ALONE}" ${arg_LINK})
    coordkit_discover(test_${name} 300 "-*_Slow_*" ${name})
    coordkit_discover(test_${name} 900 "*_Slow_*" ${name}-slow)
  endif()
  if(slow)
    coordkit_test_program(test_${name}_slow "${slow};${helpers}" "${arg_ALONE}" ${arg_LINK})
    coordkit_discover(test_${name}_slow 900 "*" ${name}-slow)
  endif()
  if(full)
    coordkit_test_program(test_${name}_full "${full};${helpers}" "${arg_ALONE}" ${arg_LINK})
    coordkit_discover(test_${name}_full 3600 "*" ${name}-full)
  endif()
endfunction()

function(coordkit_test_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/verify ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE coordkit_flags coordkit_test_support ${ARGN} GTest::gmock)
  target_compile_options(${target} PRIVATE ${COORDKIT_TEST_FLAGS})
  set_target_properties(${target} PROPERTIES COORDKIT_TEST ON)  # gtest's own macros nest lambdas with equal names
endfunction()

function(coordkit_test_program target sources alone)
  add_executable(${target} ${sources})
  coordkit_test_settings(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE GTest::gtest_main)
  coordkit_together(${target} ALONE ${alone})
endfunction()

# Temporary files of tests (testing::TempDir) stay in the build folder too, on the disk that is really used.
set(coordkit_test_tmp ${PROJECT_BINARY_DIR}/tmp)
file(MAKE_DIRECTORY ${coordkit_test_tmp})

# What takes long begins first (COST), so that a run does not end with one of them alone.
function(coordkit_discover target timeout filter label)
  set(cost 0)
  if(label MATCHES "-(slow|full)$")
    set(cost 1)
  endif()
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 TEST_FILTER "${filter}" NO_PRETTY_TYPES NO_PRETTY_VALUES
                       PROPERTIES TIMEOUT ${timeout} LABELS ${label} COST ${cost} ENVIRONMENT TEST_TMPDIR=${coordkit_test_tmp})
endfunction()

# coordkit_fuzz(NAME LINK target...): NAME.cc, which defines LLVMFuzzerTestOneInput, as a libFuzzer program; only when asked.
function(coordkit_fuzz name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  if(NOT COORDKIT_FUZZ)
    return()
  endif()
  add_executable(${name} ${name}.cc)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/verify ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE coordkit_flags ${arg_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
