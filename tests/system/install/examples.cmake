# The installed examples, as the project that they are, with nothing but the installed package: each builds, and runs to its end.
include(${here}/steps.cmake)
set(folder ${build}/consumers/examples)
configure_and_build(${prefix}/share/doc/coordkit/examples ${folder} -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_CTEST_COMMAND} --test-dir ${folder} --output-on-failure --no-tests=error)
run(${source}/tests/system/examples/quick_start.sh ${folder}/00_quick_start ${folder}/quick_start_run)
run(${source}/tests/system/examples/three_processes.sh ${folder}/16_three_processes ${folder}/three_processes_run)
