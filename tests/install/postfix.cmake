# A configuration may add to the names of libraries (CMAKE_DEBUG_POSTFIX), and the packages for CMake and pkg-config name them so. Nothing
# is compiled here: empty files stand for the libraries.
include(${here}/steps.cmake)
set(folder ${build}/consumers/postfix)
set(prefix ${folder}/installed)
file(REMOVE_RECURSE ${folder})
run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Debug
    -D CMAKE_DEBUG_POSTFIX=-d -D COORDKIT_TESTS=OFF -D COORDKIT_PROGRAMS=OFF)
foreach(library coordkit coordkit_core coordkit_sim coordkit_compare coordkit_testing coordkit_tls)
  file(WRITE ${folder}/lib${library}-d.a "")
endforeach()
run(${CMAKE_COMMAND} --install ${folder} --prefix ${prefix})

file(GLOB_RECURSE pc ${prefix}/coordkit.pc)
file(STRINGS ${pc} libraries REGEX "^Libs:")
expect("coordkit.pc" "${libraries}" "-lcoordkit-d -lcoordkit_core-d ")
file(GLOB_RECURSE pc ${prefix}/coordkit-tls.pc)
file(STRINGS ${pc} libraries REGEX "^Libs:")
expect("coordkit-tls.pc" "${libraries}" "-lcoordkit_tls-d ")
configure(${here}/components ${folder}/consumer -D CMAKE_PREFIX_PATH=${prefix} -D examples=${source}/examples)
