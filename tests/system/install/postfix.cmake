# A configuration may add to the names of libraries (CMAKE_DEBUG_POSTFIX), and the packages for CMake and pkg-config name them so. Nothing
# is compiled here: empty files stand for the libraries.
include(${here}/steps.cmake)
set(folder ${build}/consumers/postfix)
set(prefix ${folder}/installed)
install_hollow(${folder} -d coordkit coordkit_remote coordkit_core coordkit_sim coordkit_compare coordkit_testing coordkit_tls)

file(GLOB_RECURSE pc ${prefix}/coordkit.pc)
file(STRINGS ${pc} libraries REGEX "^Libs:")
expect("coordkit.pc" "${libraries}" "-lcoordkit-d -lcoordkit_remote-d -lcoordkit_core-d ")
file(GLOB_RECURSE pc ${prefix}/coordkit-tls.pc)
file(STRINGS ${pc} libraries REGEX "^Libs:")
expect("coordkit-tls.pc" "${libraries}" "-lcoordkit_tls-d ")
# LMDB and OpenSSL, which the libraries name without a folder, are looked for beside them too.
file(GLOB_RECURSE targets ${prefix}/coordkit-libraries.cmake)
file(READ ${targets} targets)
expect("coordkit-libraries.cmake" "${targets}" "INTERFACE_LINK_DIRECTORIES \"\\\${_IMPORT_PREFIX}/lib[^;\"]*\"")

configure(${here}/components ${folder}/consumer -D CMAKE_PREFIX_PATH=${prefix} -D examples=${source}/examples)
