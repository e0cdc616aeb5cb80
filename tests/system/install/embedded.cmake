# A project that builds coordkit as a part of it, under its own -Werror, and asks for the part for tests by linking it.
include(${here}/steps.cmake)
set(folder ${build}/consumers/embedded)
configure_and_build(${here}/embedded ${folder} -D coordkit=${source} -D with_tests=ON -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher})
run_for_output(output ${folder}/one_lock)
expect("a program with coordkit inside" "${output}" "token [1-9]")
run(${folder}/unit_test)
