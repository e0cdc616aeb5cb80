# packaging/docker/Dockerfile, step by step in bare Debian roots: it builds, and the program of its image becomes ready and ends when told.
include(${here}/steps.cmake)
execute_process(COMMAND bash ${here}/dockerfile.sh ${source} ${source}/packaging/docker/Dockerfile ${build}/docker RESULT_VARIABLE code
                OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE)
if(code EQUAL 77)
  return()
endif()
if(NOT code EQUAL 0)
  message(FATAL_ERROR "a step of the Dockerfile failed")
endif()
expect("the program of the image" "${output}" "ready: HTTP/1\\.[01] 200 ")
