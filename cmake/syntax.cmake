# COORDKIT_SYNTAX_ONLY: every source goes through the compiler's front end and no further, each by itself and without precompiled
# headers. An object file is an empty note that this was done, so a second pass reads only what has changed; nothing can be linked.
if(NOT COORDKIT_SYNTAX_ONLY)
  return()
endif()
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
set(CMAKE_UNITY_BUILD OFF)
set(CMAKE_CXX_COMPILE_OBJECT
    "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE>"
    "${CMAKE_COMMAND} -E touch <OBJECT>")
