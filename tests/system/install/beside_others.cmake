# Every public header compiles after headers of other libraries that define macros under plain names (foreign_macros.h). The
# standard library, Abseil, Boost and GoogleTest come first: they are not ours to mend. Coordkit cannot avoid a macro that these
# do not survive either; `unsurvivable` lists such macros, and a header of theirs proves each. No name of coordkit makes
# testing:: ambiguous under "using namespace coordkit".
include(${here}/steps.cmake)
set(folder ${build}/consumers/beside_others)
file(REMOVE_RECURSE ${folder})
set(compile ${compiler} -std=c++20 -w -fsyntax-only -I${source}/include -I${here})

file(GLOB_RECURSE headers RELATIVE ${source}/include ${source}/include/coordkit/*.h)
list(SORT headers)
set(theirs "")
set(ours "")
foreach(header IN LISTS headers)
  file(STRINGS ${source}/include/${header} includes REGEX "^#include (<|\"(absl|boost|gmock|gtest)/)")
  list(APPEND theirs ${includes})
  string(APPEND ours "#include \"${header}\"\n")
endforeach()
list(REMOVE_DUPLICATES theirs)
list(SORT theirs)
list(JOIN theirs "\n" theirs)
set(before "${theirs}\n#include \"foreign_macros.h\"\n")
set(after "using namespace coordkit;\nclass MyTest : public testing::Test {};\n")
file(WRITE ${folder}/every_header.cc "${before}${ours}${after}")
run(${compile} ${folder}/every_header.cc)

# expect_refused(NAME TEXT): a source that must not compile.
function(expect_refused name text)
  file(WRITE ${folder}/${name}.cc "${text}")
  execute_process(COMMAND ${compile} ${folder}/${name}.cc RESULT_VARIABLE code ERROR_VARIABLE errors)
  if(code EQUAL 0)
    message(FATAL_ERROR "${name} compiles, so this test shows nothing")
  endif()
endfunction()

file(STRINGS ${here}/foreign_macros.h macros REGEX "^#define ")
list(LENGTH macros count)
if(count LESS 200)
  message(FATAL_ERROR "only ${count} macros")
endif()
expect_refused(an_enumerator "#include \"foreign_macros.h\"\nenum class Order { None };\n")
expect_refused(a_function "#include \"foreign_macros.h\"\nint max(int a, int b);\n")

# Macro, expansion, header of others that does not compile after it, and where the macro comes from.
set(unsurvivable
    "Status|int|absl/status/status.h|Xlib.h, and absl::Status is what functions of coordkit return"
    "yield|@|thread|boost/asio/yield.hpp, and std::this_thread::yield"
    "fork|@|unistd.h|boost/asio/yield.hpp, and the system call"
    "move(y, x)|@|utility|curses.h in C, and std::move"
    "erase()|@|string|curses.h in C, and std::string::erase"
    "clear()|@|string|curses.h in C, and std::string::clear"
    "new|new (@)|new|MFC and leak detectors")
foreach(row IN LISTS unsurvivable)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 macro)
  list(GET row 1 expansion)
  list(GET row 2 header)
  string(REGEX REPLACE "\\(.*" "" name "${macro}")
  if(before MATCHES "#define ${name}[( ]")
    message(FATAL_ERROR "${name} is avoided and unsurvivable at once")
  endif()
  expect_refused(unsurvivable_${name} "#define ${macro} ${expansion}\n#include <${header}>\n")
endforeach()
message("${count} macros of others, and every public header after them")
