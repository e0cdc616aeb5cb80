# The parts for users' tests, and the one for certificates: a machine in the simulator, code that locks without a cluster. Asking for a part that does not exist is an error that says so.
include(${here}/steps.cmake)
set(folder ${build}/consumers/components)
configure_and_build(${here}/components ${folder} -D CMAKE_PREFIX_PATH=${prefix} -D examples=${source}/examples)
run(${folder}/machine_test 3)
run(${folder}/unit_test)

# Certificates, and libssl, only for those who ask for them.
run(${build}/tools/coordkit-certificates ${folder}/certificates)
run_for_output(output ${folder}/one_encrypted ${folder}/certificates)
expect("a replica with certificates" "${output}" "OK")
run_for_output(needed objdump -p ${folder}/one_encrypted)
expect("a program with certificates" "${needed}" "NEEDED +libssl")
run_for_output(needed objdump -p ${folder}/one_plain)
expect_not("a program without" "${needed}" "libssl")

# A process without a replica links no storage.
run_for_output(output ${folder}/one_remote)
expect("a program without a replica" "${output}" "no gateway: .+")
run_for_output(needed objdump -p ${folder}/one_remote)
expect_not("a program without a replica" "${needed}" "lmdb")

execute_process(COMMAND ${CMAKE_COMMAND} -S ${here}/components -B ${folder} -D wanted=telepathy RESULT_VARIABLE code ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "a component that does not exist was found")
endif()
expect("a component that does not exist" "${output}" "no component named telepathy")
