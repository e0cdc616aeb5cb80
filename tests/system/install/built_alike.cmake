# A program that lays out std or absl types otherwise than the installed coordkit does not link, and the linker names the difference
# (coordkit/built_alike.h). Settings that leave these types as they are link and run.
include(${here}/steps.cmake)
set(folder ${build}/consumers/built_alike)
set(usual "${warnings}")

# build_with(FLAGS option...): sets `code` and `text` to the end and the output of a build with FLAGS.
function(build_with flags)
  set(warnings "${usual} ${flags}")
  configure(${here}/built_alike ${folder} -D CMAKE_PREFIX_PATH=${prefix} ${ARGN})
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(code ${code} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

function(expect_no_link flags named)
  build_with("${flags}")
  if(code EQUAL 0)
    message(FATAL_ERROR "a program links with ${flags}")
  endif()
  expect("a program with ${flags}" "${text}" "undefined [a-z:]+ .*coordkit::was_built_with_another_std_or_absl_than\\(${named}")
endfunction()

build_with("-O2 -DNDEBUG -D_GLIBCXX_ASSERTIONS -ffunction-sections -fdata-sections -Wl,--gc-sections" -D CMAKE_CXX_STANDARD=23)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${text}")
endif()
run_for_output(output ${folder}/host)
expect("the program" "${output}" "^3$")

set(vector "std::vector<char, std::allocator<char> ?>\\*")
expect_no_link("-D_GLIBCXX_DEBUG" "std::__debug::vector")
expect_no_link("-D_GLIBCXX_DEBUG -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections" "std::__debug::vector")
expect_no_link("-D_GLIBCXX_DEBUG -O2 -flto" "std::__debug::vector")
expect_no_link("-D_GLIBCXX_USE_CXX11_ABI=0" "${vector}, std::(basic_string|string)")

# Another Abseil: its headers with another name of the inline namespace.
file(READ /usr/include/absl/base/options.h options)
string(REGEX REPLACE "(#define ABSL_OPTION_USE_INLINE_NAMESPACE) [01]" "\\1 1" options "${options}")
string(REGEX REPLACE "(#define ABSL_OPTION_INLINE_NAMESPACE_NAME) [A-Za-z0-9_]+" "\\1 another" options "${options}")
file(WRITE ${folder}_absl/absl/base/options.h "${options}")
# A relative path: CMake's own test of the compiler takes no quoted flag with a space.
expect_no_link("-I../built_alike_absl" "${vector}, .*absl::another::Status")
