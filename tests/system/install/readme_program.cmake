# The program that README shows, copied word for word into an empty folder with the lines of CMake that README shows, builds and does
# what README says: three processes, one of them killed.
include(${here}/steps.cmake)
set(folder ${build}/consumers/readme)
readme_project(${folder})
configure_and_build(${folder} ${folder}/build -D CMAKE_PREFIX_PATH=${prefix})
run(${source}/tests/system/examples/quick_start.sh ${folder}/build/quick_start ${folder}/run)
