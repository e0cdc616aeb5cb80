# What a package is missing for is left out, in one line, and the rest is configured as ever. Others of the same target may be
# missing here as well: the line names them all.
include(${here}/steps.cmake)
set(folder ${build}/consumers/without)
foreach(pair CLI11=coordkit-sim nlohmann_json=coordkit-demo gRPC=coordkit-bench Protobuf=coordkit-bench OpenSSL=coordkit-bench
        SQLite3=examples/05_sql_fence GTest=the.tests)
  string(REGEX MATCH "^(.*)=(.*)$" pair ${pair})
  set(package ${CMAKE_MATCH_1})
  set(target ${CMAKE_MATCH_2})
  file(REMOVE_RECURSE ${folder})
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${folder} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
                          -D CMAKE_DISABLE_FIND_PACKAGE_${package}=ON RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE complaint)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "without ${package}: ${complaint}")
  endif()
  expect("without ${package}" "${output}" "coordkit: without [^\n]*${target}[^\n]*, for want of ([^\n]*, )?${package}(, [^\n]*)?\n")
  expect_not("without ${package}" "${complaint}" "Error")
endforeach()
