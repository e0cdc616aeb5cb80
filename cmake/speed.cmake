# ccache and mold when they are there, and only for our own tree: a project that embeds coordkit chooses its own tools.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
find_program(COORDKIT_CCACHE ccache)
if(COORDKIT_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${COORDKIT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${COORDKIT_CCACHE})
endif()
find_program(COORDKIT_MOLD mold)
if(COORDKIT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# A file is called what it is called in this tree, wherever that lies: so the cache serves every checkout of it.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# g++ collects garbage while it compiles, again and again, and for our units that is a sixth of the time. Where there is memory for it
# (a unit takes 1.3 GB then, not 0.9) it collects once in a while. What comes out is the same, so ./dev lets the cache look past it.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # in MiB
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR share "${memory} / ${cores}")
  if(share GREATER 3000)
    add_compile_options(--param=ggc-min-heapsize=2000000)
  endif()
endif()
