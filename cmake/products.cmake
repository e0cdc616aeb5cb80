# What users link, put together from the objects of the folders:
#
#   coordkit::core      static: doors 2 and 3, everything that is pure. Needs neither LMDB nor threads
#   coordkit::remote    static: Remote, and the sessions, locks and keys of door 1, on top of core. Needs no LMDB
#   coordkit::static    static: door 1, on top of remote
#   coordkit::shared    with BUILD_SHARED_LIBS: all three doors in one library, nothing visible but what public headers declare
#   coordkit::coordkit  the one of these two that programs mean
#   coordkit::asio      coordkit::coordkit for programs that use Asio themselves
#   coordkit::tls       certificates and encryption between replicas, for programs that say Tls{}: the only one that links libssl
#   coordkit::compare   recipes for locks side by side in the simulator, on top of coordkit::sim
#   coordkit::c         shared in every build: the C interface of callers without a replica, with all that it needs, for programs in C
#                       and languages that call C
#   coordkit::sim, coordkit::testing   for users' tests. Static in every build, because they reach into what a shared library hides
#
# Each folder is in exactly one product, so that nothing is linked twice (docs/decisions/0015).

# Folders below these, themselves included, bottom up; sets OUT, and OUT_needs to what they link besides.
function(coordkit_below out)
  set(folders "")
  set(needs "")
  foreach(name IN LISTS ARGN)
    get_target_property(links coordkit_${name} COORDKIT_LINK)
    foreach(link IN LISTS links)
      if(link MATCHES "^coordkit_(.*)$")
        coordkit_below(below ${CMAKE_MATCH_1})
        list(APPEND folders ${below})
        list(APPEND needs ${below_needs})
      else()
        list(APPEND needs ${link})
      endif()
    endforeach()
    list(APPEND folders ${name})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(REMOVE_DUPLICATES needs)
  set(${out} ${folders} PARENT_SCOPE)
  set(${out}_needs ${needs} PARENT_SCOPE)
endfunction()

# coordkit_product(NAME KIND FILE FOLDERS folder... [ON product...]): the folders, and what lies below them and not in the
# products ON, as libFILE. What public headers include is linked publicly; the rest is nobody's business but the linker's.
set(coordkit_in_headers absl::any_invocable absl::function_ref absl::status absl::statusor)
function(coordkit_product name kind file)
  cmake_parse_arguments(arg "" "" "FOLDERS;ON" ${ARGN})
  coordkit_below(folders ${arg_FOLDERS})
  set(needs ${folders_needs})
  foreach(product IN LISTS arg_ON)
    get_target_property(taken coordkit_product_${product} COORDKIT_FOLDERS)
    get_target_property(linked coordkit_product_${product} COORDKIT_NEEDS)
    list(REMOVE_ITEM folders ${taken})
    list(REMOVE_ITEM needs ${linked})
    list(TRANSFORM product PREPEND coordkit_product_ OUTPUT_VARIABLE on)
    list(APPEND below ${on})
  endforeach()
  set(objects ${folders})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:coordkit_\\1>")
  set(target coordkit_product_${name})
  add_library(${target} ${kind} ${objects})
  coordkit_settings(${target})
  target_link_libraries(${target} PUBLIC ${below} ${coordkit_in_headers} PRIVATE ${needs} $<BUILD_INTERFACE:coordkit_flags>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${file} EXPORT_NAME ${name} COORDKIT_FOLDERS "${folders}"
                        COORDKIT_NEEDS "${needs}")
  add_library(coordkit::${name} ALIAS ${target})
endfunction()

coordkit_product(core STATIC coordkit_core FOLDERS client remote log)
coordkit_product(remote STATIC coordkit_remote FOLDERS service ON core)
coordkit_product(static STATIC coordkit FOLDERS replica ON remote core)
coordkit_product(sim STATIC coordkit_sim FOLDERS sim ON core)
coordkit_product(compare STATIC coordkit_compare FOLDERS compare ON sim core)
coordkit_product(testing STATIC coordkit_testing FOLDERS testing ON static remote core)
set(coordkit_linked coordkit_product_static)
if(BUILD_SHARED_LIBS)
  coordkit_product(shared SHARED coordkit FOLDERS replica log)
  # Before 1.0 a minor version may break programs, and so may its library.
  set_target_properties(coordkit_product_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_options(coordkit_product_shared PRIVATE -Wl,--no-undefined -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map)
  set_target_properties(coordkit_product_shared PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
  set(coordkit_linked coordkit_product_shared)
endif()
add_library(coordkit::coordkit ALIAS ${coordkit_linked})

# Static in every build: it needs nothing of the others but what public headers declare.
if(BUILD_SHARED_LIBS)
  coordkit_product(tls STATIC coordkit_tls FOLDERS tls ON shared)
else()
  coordkit_product(tls STATIC coordkit_tls FOLDERS tls ON remote core)
endif()

# Nothing is visible but coordkit_* functions, and whoever links it needs nothing of C++. Before 1.0 a minor version may break
# programs; the node of its symbols is named after the version that they came with.
coordkit_product(c SHARED coordkit_c FOLDERS c)
set_target_properties(coordkit_product_c PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                      INTERFACE_LINK_LIBRARIES "" INTERFACE_COMPILE_FEATURES ""
                      LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports_c.map)
target_link_options(coordkit_product_c PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports_c.map)
if(NOT COORDKIT_SANITIZE)  # whose symbols the program has
  target_link_options(coordkit_product_c PRIVATE -Wl,--no-undefined)
endif()

# Headers alone, include/coordkit/asio/asio.h, and the threads that Asio wants. It has its name where Boost is new enough; an installed
# coordkit decides that where it is used.
add_library(coordkit_product_asio INTERFACE)
target_link_libraries(coordkit_product_asio INTERFACE ${coordkit_linked} Threads::Threads)
set_target_properties(coordkit_product_asio PROPERTIES EXPORT_NAME asio)
if(coordkit_boost_version VERSION_GREATER_EQUAL coordkit_boost_least_asio)
  add_library(coordkit::asio ALIAS coordkit_product_asio)
endif()

# Inside another project only what it links is built; one that installs coordkit with its own files gets the library in any case.
if(NOT PROJECT_IS_TOP_LEVEL)
  get_property(products DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER products INCLUDE REGEX "^coordkit_product_")
  list(REMOVE_ITEM products coordkit_product_asio)
  set_target_properties(${products} PROPERTIES EXCLUDE_FROM_ALL ON)
  if(COORDKIT_INSTALL)
    set_target_properties(${coordkit_linked} PROPERTIES EXCLUDE_FROM_ALL OFF)
  endif()
endif()
