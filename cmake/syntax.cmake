# COORDKIT_SYNTAX_ONLY: clang reads every source, without precompiled headers, and nothing can be linked. An object file is an empty
# note that nothing was found, so a second pass reads only what has changed since: the source, a header of it, its flags or the
# rules in .clang-tidy. The objects of a target's units (docs/decisions/0014) are read by clang-tidy, which would look at the same
# headers sixteen times; those of TARGET_each by clang alone, which says whether a file includes what it needs. The analyzer looks
# less deep than it could: it takes half of the time. The rules were chosen with clang-tidy 14; a newer one may have more to say.
if(NOT COORDKIT_SYNTAX_ONLY)
  return()
endif()
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.clang-tidy)
file(SHA256 ${PROJECT_SOURCE_DIR}/.clang-tidy rules)
set(CMAKE_CXX_COMPILE_OBJECT
    "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -Wreserved-identifier -fsyntax-only <SOURCE>"
    "${CMAKE_COMMAND} -E touch <OBJECT>")
# A unit includes sources; that the flags name the rules makes a change of them a change of the objects.
find_program(COORDKIT_CLANG_TIDY NAMES clang-tidy-14 clang-tidy REQUIRED)
set(CMAKE_CXX_CLANG_TIDY ${COORDKIT_CLANG_TIDY} --quiet --checks=-bugprone-suspicious-include --extra-arg=-Xclang
    --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
add_compile_definitions(COORDKIT_RULES_${rules})
