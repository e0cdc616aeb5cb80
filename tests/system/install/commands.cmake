# What a command of ./dev declares is enough for it: the tree configures, and knows the command's targets, where of the packages
# that only some targets want no other can be found. Nothing is compiled. Headers and libraries that are found without a CMake
# package cannot be hidden like this; for those there is ./dev fresh.
cmake_minimum_required(VERSION 3.25)
set(scratch ${build}/consumers/commands)
set(optional gRPC Protobuf benchmark CLI11 nlohmann_json SQLite3 GTest)

function(expect_enough command preset targets)  # ARGN: the packages that the command's groups bring
  set(hidden)
  foreach(package IN LISTS optional)
    if(NOT package IN_LIST ARGN)
      list(APPEND hidden -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
    endif()
  endforeach()
  execute_process(COMMAND ${CMAKE_COMMAND} --preset ${preset} -S ${source} -B ${scratch}/${command} ${hidden}
                  WORKING_DIRECTORY ${source} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "./dev ${command} needs more packages than it declares (preset ${preset}):\n${output}")
  endif()
  execute_process(COMMAND ninja -C ${scratch}/${command} -n ${targets} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "./dev ${command} does not find its targets with the packages it declares (preset ${preset}):\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${scratch})
set(programs CLI11 nlohmann_json)
expect_enough(demo release "coordkit-demo" ${programs})
expect_enough(sim release "coordkit-sim;coordkit-explore;coordctl;coordkit-experiment" ${programs})
expect_enough(test dev "all;test_house;coordkit-demo;coordkit-sim" ${programs} GTest SQLite3)
expect_enough(mutants mutants "coordkit-sim;test_raft" ${programs} GTest SQLite3)
expect_enough(bench bench "coordkit-bench" ${programs} gRPC Protobuf benchmark)
expect_enough(embedder release "all")  # a plain build of the library wants none of them
file(REMOVE_RECURSE ${scratch})
