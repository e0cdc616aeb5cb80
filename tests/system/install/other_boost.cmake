# A host that has another Boost beside libcoordkit.so: coordkit calls its own. The host of this test defines each function of Boost
# that the library has under the same name, exports it, and ends the process when one is called.
include(${here}/steps.cmake)
file(GLOB_RECURSE library ${prefix}/libcoordkit.so)
find_program(nm nm REQUIRED)
run_for_output(symbols ${nm} --defined-only ${library})
string(REGEX MATCHALL "[TtWw] _ZNK?5boost[A-Za-z0-9_]+\n" found "${symbols}")
list(REMOVE_DUPLICATES found)
list(LENGTH found count)
if(count LESS 100)
  message(FATAL_ERROR "only ${count} functions of Boost are in ${library}")
endif()
string(CONCAT text "#include <cstdlib>\n#include <iostream>\n\nextern \"C\" void host_was_called();\nextern \"C\" void host_was_called() {\n"
       "  std::cout << \"coordkit called the host's Boost\" << std::endl;\n  std::abort();\n}\n\n#if defined(__x86_64__)\n"
       "#define JUMP \"jmp host_was_called@PLT\"\n#else\n#define JUMP \"b host_was_called\"\n#endif\nasm(\".text\\n\"\n")
foreach(function IN LISTS found)
  string(REGEX REPLACE "^. ([A-Za-z0-9_]+)\n" "\\1" function "${function}")
  string(APPEND text "    \".globl ${function}\\n.type ${function}, %function\\n${function}:\\n\"\n")
endforeach()
string(APPEND text "    JUMP);\n")
file(WRITE ${build}/consumers/other_boost.cc "${text}")
configure_and_build(${here}/other_boost ${build}/consumers/other_boost -D CMAKE_PREFIX_PATH=${prefix}
                    -D functions=${build}/consumers/other_boost.cc)
run_for_output(exported ${nm} --dynamic --defined-only ${build}/consumers/other_boost/host)
expect("the host" "${exported}" " T _ZN5boost")
run_for_output(output ${build}/consumers/other_boost/host)
expect("a host with another Boost" "${output}" "^coordkit [0-9.]+, token [1-9]")
