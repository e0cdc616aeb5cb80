# The parts for users' tests: a machine in the simulator, code that locks without a cluster. A part that does not exist is told so.
include(${here}/steps.cmake)
set(folder ${build}/consumers/components)
configure_and_build(${here}/components ${folder} -D CMAKE_PREFIX_PATH=${prefix} -D examples=${source}/examples)
run(${folder}/machine_test 3)
run(${folder}/unit_test)

execute_process(COMMAND ${CMAKE_COMMAND} -S ${here}/components -B ${folder} -D wanted=telepathy RESULT_VARIABLE code ERROR_VARIABLE said)
if(code EQUAL 0)
  message(FATAL_ERROR "a component that does not exist was found")
endif()
expect("a component that does not exist" "${said}" "no component named telepathy")
