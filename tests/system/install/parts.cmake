# find_package(coordkit) brings every part that is installed. A program that links one which is not gets a sentence with its own name
# and the part's. Nothing is compiled.
include(${here}/steps.cmake)
set(folder ${build}/consumers/parts)
install_hollow(${folder} "" coordkit coordkit_remote coordkit_core coordkit_testing)
set(configuring ${CMAKE_COMMAND} -S ${here}/parts -B ${folder}/consumer -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
                -D CMAKE_PREFIX_PATH=${folder}/installed)

run(${configuring} -D linked=testing)
foreach(where . below)
  foreach(part tls c sim compare)
    execute_process(COMMAND ${configuring} -D linked=${part} -D where=${where} RESULT_VARIABLE code ERROR_VARIABLE output OUTPUT_QUIET)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    if(code EQUAL 0)
      message(FATAL_ERROR "a program that links coordkit::${part}, which is not installed, was configured")
    endif()
    expect("the complaint" "${output}" "one_lock links coordkit::${part}, which is missing\\. coordkit was installed without its part \"${part}\"\\.")
    expect("the complaint" "${output}" "Build the target coordkit_product_${part} where coordkit was built")
  endforeach()
endforeach()

# Without fmt the parts for simulations cannot be linked, and all others can.
file(GLOB_RECURSE there ${folder}/installed/libcoordkit_testing.a)
get_filename_component(libraries ${there} DIRECTORY)
file(WRITE ${libraries}/libcoordkit_sim.a "")
run(${configuring} -D linked=sim)
run(${configuring} -D linked=testing -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
execute_process(COMMAND ${configuring} -D linked=sim -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON RESULT_VARIABLE code ERROR_VARIABLE output OUTPUT_QUIET)
if(code EQUAL 0)
  message(FATAL_ERROR "a program that links coordkit::sim was configured without fmt")
endif()
string(REGEX REPLACE "[ \n]+" " " output "${output}")
expect("the complaint" "${output}" "one_lock links coordkit::sim, which is missing\\. coordkit's part \"sim\" needs fmt")
