# What the library itself is made of. A project that has any of these already, in whatever way, is taken at its word; what is found
# here is visible to it as well, because it links what our headers include.
if(NOT TARGET Threads::Threads)
  find_package(Threads REQUIRED GLOBAL)
endif()
if(NOT TARGET absl::status)
  find_package(absl REQUIRED GLOBAL)
endif()
if(NOT TARGET fmt::fmt)
  find_package(fmt REQUIRED GLOBAL)
endif()

# Found by the compiler, not by CMake; better one sentence here than a page of errors later.
foreach(pair boost/asio/io_context.hpp=libboost1.81-dev lmdb.h=liblmdb-dev xxhash.h=libxxhash-dev protozero/pbf_reader.hpp=libprotozero-dev)
  string(REPLACE "=" ";" pair ${pair})
  list(GET pair 0 header)
  list(GET pair 1 package)
  find_path(folder ${header} NO_CACHE)
  if(NOT folder)
    message(FATAL_ERROR "coordkit needs ${header}, which is not there. On Debian: apt-get install ${package}")
  endif()
  unset(folder)
endforeach()

# coordkit_find(OUT WHAT package...): finds packages that only WHAT uses, in this order. OUT tells whether all are there; if not, WHAT
# is left out and one line says so.
function(coordkit_find out what)
  set(${out} TRUE PARENT_SCOPE)
  foreach(package IN LISTS ARGN)
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      message(STATUS "coordkit: without ${what}, for want of ${package}")
      set(${out} FALSE PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
