# libcoordkit.so: programs, shared libraries and plug-ins link it and nothing else; it shows what public headers declare and hides the
# rest. Nothing but the library is built here, so the parts for tests are missing, and asking for one is an error. It is compiled as
# the build is, so that a compiler cache knows all of it.
include(${here}/steps.cmake)
set(folder ${build}/shared)
string(TOUPPER "${build_type}" type)
set(prefix ${folder}/installed)
file(REMOVE_RECURSE ${prefix})
run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D BUILD_SHARED_LIBS=ON
    -D CMAKE_BUILD_TYPE=${build_type} -D CMAKE_CXX_FLAGS_${type}=${flags} -D COORDKIT_SANITIZE=${sanitize} -D COORDKIT_WERROR=${werror}
    -D COORDKIT_TOGETHER=${together} -D COORDKIT_TESTS=OFF -D COORDKIT_PROGRAMS=OFF)
run(${CMAKE_COMMAND} --build ${folder} --target coordkit_product_shared)
run(${CMAKE_COMMAND} --install ${folder} --prefix ${prefix})

file(GLOB_RECURSE library ${prefix}/libcoordkit.so)
find_program(nm nm REQUIRED)
run_for_output(symbols ${nm} --dynamic --defined-only --demangle ${library})
foreach(shown "coordkit::Replica::open\\(" "coordkit::Mutex::lock\\(" "coordkit::raft::Core::step" "coordkit::Engine::recover\\("
        "typeinfo for coordkit::StateMachine" "vtable for coordkit::TcpTransport")
  expect("libcoordkit.so" "${symbols}" "${shown}")
endforeach()
foreach(hidden "coordkit::lock::" "coordkit::storage::" "coordkit::mvcc::" "mdb_" "fmt::"
        "coordkit::[A-Za-z:]+::(Impl|Disk|Endpoint|Writer)::")
  expect_not("libcoordkit.so" "${symbols}" " ${hidden}")
endforeach()

# Nothing else is shown: no template of Boost, Abseil or the standard library (cmake/exports.map).
run_for_output(symbols ${nm} --dynamic --defined-only ${library})
string(REPLACE "\n" ";" symbols "${symbols}")
list(LENGTH symbols count)
if(count LESS 500)
  message(FATAL_ERROR "libcoordkit.so shows only ${count} names")
endif()
list(FILTER symbols EXCLUDE REGEX " _Z(T[ISVTC]|T[hvc][^N]*|GV|Z|GVZ)?N[KOR]*8coordkit[0-9A-Z]")
if(symbols)
  message(FATAL_ERROR "libcoordkit.so shows what is not coordkit's: ${symbols}")
endif()

get_filename_component(libraries ${library} DIRECTORY)
set(ENV{LD_LIBRARY_PATH} ${libraries})
readme_project(${build}/consumers/shared)
configure_and_build(${build}/consumers/shared ${build}/consumers/shared/build -D CMAKE_PREFIX_PATH=${prefix})
run(${source}/tests/system/examples/quick_start.sh ${build}/consumers/shared/build/quick_start ${build}/consumers/shared/run)
run_for_output(needed objdump -p ${build}/consumers/shared/build/quick_start)
expect("README's program" "${needed}" "NEEDED +libcoordkit\\.so\\.0\\.1")
expect_not("README's program" "${needed}" "liblmdb|libfmt")
include(${here}/pkg_config.cmake)
include(${here}/plug_in.cmake)
include(${here}/built_alike.cmake)
include(${here}/other_boost.cmake)

execute_process(COMMAND ${CMAKE_COMMAND} -S ${here}/components -B ${build}/consumers/incomplete -G ${generator} -D CMAKE_PREFIX_PATH=${prefix}
                        -D CMAKE_CXX_COMPILER=${compiler} -D examples=${source}/examples RESULT_VARIABLE code ERROR_VARIABLE output)
if(code EQUAL 0)
  message(FATAL_ERROR "a part that was not built was found")
endif()
expect("a part that was not built" "${output}" "installed[ \n]+without[ \n]+its[ \n]+part[ \n]+\"sim\"")
