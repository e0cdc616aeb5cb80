# COORDKIT_SYNTAX_ONLY: clang and clang-tidy read every source, each by itself and without precompiled headers; nothing can be
# linked. An object file is an empty note that both found nothing, so a second pass reads only what has changed since: the source,
# a header of it, its flags or the rules in .clang-tidy. The analyzer looks less deep than it could: it takes half of the time.
if(NOT COORDKIT_SYNTAX_ONLY)
  return()
endif()
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
set(CMAKE_UNITY_BUILD OFF)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.clang-tidy)
file(SHA256 ${PROJECT_SOURCE_DIR}/.clang-tidy rules)
set(CMAKE_CXX_COMPILE_OBJECT
    "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -Wreserved-identifier -fsyntax-only <SOURCE>"
    "clang-tidy-14 --quiet <SOURCE> -- <DEFINES> <INCLUDES> <FLAGS> -DCOORDKIT_RULES_${rules} -Xclang -analyzer-config -Xclang mode=shallow"
    "${CMAKE_COMMAND} -E touch <OBJECT>")
