# What the scripts of this folder share. They are given the build folder, this source tree and the compiler of the build.
if(NOT prefix)
  set(prefix ${build}/installed)
endif()
set(warnings "-Wall -Wextra -Wpedantic -Wmissing-field-initializers -Werror")
if(sanitize)
  string(APPEND warnings " -fsanitize=${sanitize}")  # as the libraries are
endif()

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# run_for_output(OUT command...): what it prints, or the end.
function(run_for_output out)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

function(expect what text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: expected ${pattern} in\n${text}")
  endif()
endfunction()

function(expect_not what text pattern)
  if(text MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: did not expect ${pattern} in\n${text}")
  endif()
endfunction()

# configure(FROM TO option...): a project from elsewhere, with nothing set but where coordkit is and which warnings there are.
function(configure from to)
  file(REMOVE_RECURSE ${to})
  run(${CMAKE_COMMAND} -S ${from} -B ${to} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${warnings} ${ARGN})
endfunction()

# configure_and_build(FROM TO option...)
function(configure_and_build from to)
  configure(${from} ${to} ${ARGN})
  run(${CMAKE_COMMAND} --build ${to})
endfunction()

# install_hollow(FOLDER ENDING library...): the tree installed into FOLDER/installed from a build folder in which nothing was compiled.
# Empty files stand for these libraries.
function(install_hollow folder ending)
  file(REMOVE_RECURSE ${folder})
  run(${CMAKE_COMMAND} -S ${source} -B ${folder} -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Debug
      -D CMAKE_DEBUG_POSTFIX=${ending} -D COORDKIT_TESTS=OFF -D COORDKIT_PROGRAMS=OFF)
  foreach(library IN LISTS ARGN)
    file(WRITE ${folder}/lib${library}${ending}.a "")
  endforeach()
  run(${CMAKE_COMMAND} --install ${folder} --prefix ${folder}/installed)
endfunction()

# readme_project(FOLDER): the program that README shows, and the CMakeLists.txt that it shows, word for word in an empty folder.
function(readme_block out readme opening)
  string(FIND "${readme}" "${opening}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "README.md has no ${opening}")
  endif()
  string(LENGTH "${opening}" length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${readme}" ${at} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} block)
  set(${out} "${block}" PARENT_SCOPE)
endfunction()

function(readme_project folder)
  file(REMOVE_RECURSE ${folder})
  file(READ ${source}/README.md readme)
  readme_block(program "${readme}" "<!-- source: examples/00_quick_start/main.cc -->\n```cpp\n")
  readme_block(project "${readme}" "```cmake\n")
  file(WRITE ${folder}/main.cc "${program}")
  file(WRITE ${folder}/CMakeLists.txt "${project}")
endfunction()
