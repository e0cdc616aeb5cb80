# Inside another project coordkit costs as little as it can: several of its files are compiled as one unit unless the project says
# otherwise, and only what the project's programs link is built. The steps are counted, and nothing is compiled.
include(${here}/steps.cmake)
if(NOT generator STREQUAL "Ninja")
  message("skipped: asks ninja what would be built")
  return()
endif()
find_program(ninja NAMES ninja ninja-build REQUIRED)
set(folder ${build}/consumers/only_what_is_linked)

# count_steps(OUT option...): the steps of coordkit's that `all` takes; coordkit_steps lists them.
function(count_steps out)
  configure(${here}/embedded ${folder} -D coordkit=${source} ${ARGN})
  run_for_output(steps ${ninja} -C ${folder} -t commands all)
  string(REPLACE ";" "," steps "${steps}")
  string(REGEX MATCHALL "[^\n]+ -o coordkit/[^\n]+|[^\n]+ qc coordkit/[^\n]+" steps "${steps}")
  list(LENGTH steps count)
  set(${out} ${count} PARENT_SCOPE)
  set(coordkit_steps "${steps}" PARENT_SCOPE)
endfunction()

count_steps(apart -D COORDKIT_TOGETHER=OFF)
if(apart LESS 200)
  message(FATAL_ERROR "only ${apart} steps of coordkit's were seen with every file by itself: this test does not count right")
endif()
count_steps(together)
message("steps of coordkit's: ${together}, and ${apart} with every file by itself")
if(together GREATER 70)
  message(FATAL_ERROR "coordkit takes ${together} steps inside another project")
endif()
expect("what is built" "${coordkit_steps}" "libcoordkit\\.a")
expect_not("what is built" "${coordkit_steps}" "coordkit_(sim|compare|check|timeline|testing|tls|c)\\.dir|_each\\.dir")

# A file that no unit bears stays alone, also where the project around has units of its own.
count_steps(units_around -D CMAKE_UNITY_BUILD=ON)
expect("a file that is compiled alone" "${coordkit_steps}" "coordkit_engine\\.dir/wire/wire\\.cc\\.o")
if(NOT units_around EQUAL together)
  message(FATAL_ERROR "the units of the project around change the steps of coordkit's from ${together} to ${units_around}")
endif()

count_steps(core -D linked=coordkit::core)
expect("a program of door 3" "${coordkit_steps}" "libcoordkit_core\\.a")
expect_not("a program of door 3" "${coordkit_steps}" "libcoordkit\\.a|coordkit_(storage|transport|replica)\\.dir")

count_steps(remote -D linked=coordkit::remote)
expect("a program without a replica" "${coordkit_steps}" "libcoordkit_remote\\.a")
expect_not("a program without a replica" "${coordkit_steps}" "libcoordkit\\.a|coordkit_(storage|replica|backup)\\.dir")

count_steps(nothing -D linked=)
if(nothing GREATER 0)
  message(FATAL_ERROR "${nothing} steps of coordkit's for a project that links none of it: ${coordkit_steps}")
endif()
