# coordkit inside a shared library, and inside a plug-in that is loaded by a program that knows nothing of it.
include(${here}/steps.cmake)
set(folder ${build}/consumers/plug_in)
configure_and_build(${here}/plug_in ${folder} -D CMAKE_PREFIX_PATH=${prefix} -D sanitize=${sanitize})
run_for_output(output ${folder}/host ${folder}/plug_in.so)
expect("the shared library" "${output}" "the library: INVALID_ARGUMENT")
expect("the plug-in" "${output}" "the plug-in: wrote once, then caught: .")
