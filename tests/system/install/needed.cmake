# What is missing or too old is named when the tree is configured, all of it in one go, each with what it is for and the packages that
# have it; and what lies elsewhere is used from there. Nothing is compiled. Small files stand for the libraries.
cmake_minimum_required(VERSION 3.25)
include(${here}/steps.cmake)
set(folder ${build}/consumers/needed)
set(fake ${folder}/fake)
file(REMOVE_RECURSE ${folder})

# What cmake/needed.cmake asks for: name, least version, use. docs/install.md has the same in its table.
file(READ ${source}/cmake/needed.cmake text)
file(READ ${source}/docs/install.md documented)
string(REGEX MATCHALL "\ncoordkit_need_(package|header)\\([^)]+\\)" needs "${text}")
set(rows "")
foreach(need IN LISTS needs)
  string(REGEX MATCH " ([A-Za-z]+) ([0-9.]+) \"([^\"]+)\"[ \n]+\"([^\"]+)\"" need "${need}")
  set(row "${CMAKE_MATCH_1}=${CMAKE_MATCH_2}=${CMAKE_MATCH_3}")
  list(APPEND rows "${row}")
  set(begins "| ${CMAKE_MATCH_1} | ${CMAKE_MATCH_2} | ${CMAKE_MATCH_3} | `")
  string(REGEX REPLACE "^.*Fedora: " "" fedora "${CMAKE_MATCH_4}")
  string(FIND "${documented}" "${begins}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "docs/install.md has no row for ${row}")
  endif()
  string(SUBSTRING "${documented}" ${at} -1 rest)
  string(REGEX MATCH "^[^\n]*" rest "${rest}")
  expect("docs/install.md" "${rest}" "\\| `${fedora}` \\|$")
endforeach()
list(LENGTH rows count)
if(count LESS 7)
  message(FATAL_ERROR "only these were read from cmake/needed.cmake: ${rows}")
endif()

function(make_fakes boost lmdb xxhash protozero openssl absl fmt)
  file(WRITE ${fake}/include/boost/asio/io_context.hpp "")
  file(WRITE ${fake}/include/boost/version.hpp "#define BOOST_LIB_VERSION \"${boost}\"\n")
  foreach(row lmdb.h=lmdb.h=MDB_VERSION=PATCH=${lmdb} xxhash.h=xxhash.h=XXH_VERSION=RELEASE=${xxhash}
          protozero/pbf_reader.hpp=protozero/version.hpp=PROTOZERO_VERSION=PATCH=${protozero}
          openssl/evp.h=openssl/opensslv.h=OPENSSL_VERSION=PATCH=${openssl})
    string(REPLACE "=" ";" row "${row}")
    list(GET row 0 header)
    list(GET row 1 versions)
    list(GET row 2 prefix)
    list(GET row 3 last)
    list(GET row 4 version)
    string(REPLACE "." ";" version "${version}")
    list(GET version 0 major)
    list(GET version 1 minor)
    list(GET version 2 patch)
    file(WRITE ${fake}/include/${header} "")
    file(WRITE ${fake}/include/${versions}
         "#define ${prefix}_MAJOR ${major}\n#define ${prefix}_MINOR\t${minor}\n# define ${prefix}_${last}  ${patch}\n")
  endforeach()
  foreach(row absl=absl::status=${absl} fmt=fmt::fmt=${fmt})
    string(REGEX MATCH "^(.*)=(.*)=(.*)$" row ${row})
    file(WRITE ${fake}/lib/cmake/${CMAKE_MATCH_1}/${CMAKE_MATCH_1}Config.cmake "add_library(${CMAKE_MATCH_2} INTERFACE IMPORTED GLOBAL)\n")
    file(WRITE ${fake}/lib/cmake/${CMAKE_MATCH_1}/${CMAKE_MATCH_1}ConfigVersion.cmake "set(PACKAGE_VERSION ${CMAKE_MATCH_3})\n")
  endforeach()
endfunction()

function(complaint_of out)  # option...: what configuring prints when it refuses
  file(REMOVE_RECURSE ${folder}/build)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${folder}/build -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D COORDKIT_TESTS=OFF
                          -D COORDKIT_PROGRAMS=OFF ${ARGN} RESULT_VARIABLE code ERROR_VARIABLE text OUTPUT_QUIET)
  if(code EQUAL 0)
    message(FATAL_ERROR "the tree was configured with ${ARGN}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Too old, all of them.
make_fakes(1_73 0.9.23 0.8.0 1.7.0 1.1.1 20211102 9.0)
complaint_of(text -D CMAKE_PREFIX_PATH=${fake})
foreach(row IN LISTS rows)
  string(REGEX MATCH "^(.*)=(.*)=(.*)$" row ${row})
  expect("what is too old" "${text}" "\n +${CMAKE_MATCH_1} ${CMAKE_MATCH_2} or newer, for ${CMAKE_MATCH_3}: [^\n]*/fake/[^\n]* is version [0-9.]+ \\([^\n]*Fedora: [^\n]+\\)")
endforeach()

# Missing, all of them.
complaint_of(text -D CMAKE_DISABLE_FIND_PACKAGE_absl=ON -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON
             "-DCMAKE_IGNORE_PATH=/usr/include;/usr/include/x86_64-linux-gnu;/usr/include/aarch64-linux-gnu")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^(.*)=(.*)=(.*)$" row ${row})
  expect("what is missing" "${text}" "\n +${CMAKE_MATCH_1} ${CMAKE_MATCH_2} or newer, for ${CMAKE_MATCH_3}: none was found \\(Debian[^\n]*Fedora: [^\n]+\\)")
endforeach()

# A compiler, a system.
complaint_of(text -D CMAKE_CXX_COMPILER_ID=GNU -D CMAKE_CXX_COMPILER_VERSION=11.4 -D CMAKE_CXX_COMPILER_ID_RUN=1 -D CMAKE_CXX_COMPILER_FORCED=1
             -D CMAKE_SIZEOF_VOID_P=8)
expect("an old compiler" "${text}" "\n +g\\+\\+ 12 or newer, for C\\+\\+20: [^\n]* is version 11\\.4")
complaint_of(text -D CMAKE_SYSTEM_NAME=FreeBSD -D CMAKE_CXX_COMPILER_FORCED=1 -D CMAKE_SIZEOF_VOID_P=8)
expect("another system" "${text}" "\n +Linux on a machine of 64 bits: this is FreeBSD")

# New enough and elsewhere: that is where headers and libraries are taken from.
make_fakes(1_90 0.9.99 0.8.99 1.99.0 3.9.0 20990101 99.0)
foreach(library lmdb crypto)
  file(WRITE ${fake}/lib/lib${library}.so "")
endforeach()
file(REMOVE_RECURSE ${fake}/lib/cmake)
run(${CMAKE_COMMAND} -S ${here}/embedded -B ${folder}/elsewhere -G ${generator} -D CMAKE_CXX_COMPILER=${compiler} -D coordkit=${source}
    -D CMAKE_PREFIX_PATH=${fake})
if(generator STREQUAL "Ninja")
  find_program(ninja NAMES ninja ninja-build REQUIRED)
  run_for_output(commands ${ninja} -C ${folder}/elsewhere -t commands all)
  expect("how storage is compiled" "${commands}" "-isystem [^\n]*/needed/fake/include[\" ][^\n]*coordkit_storage\\.dir")
  expect("how a program is linked" "${commands}" "-L[^\n]*/needed/fake/lib[\" ][^\n]*-llmdb")
endif()
