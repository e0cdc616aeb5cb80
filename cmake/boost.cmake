# Which Boost is there: an installed coordkit asks the same where it is used.
set(coordkit_boost_least_asio 1.81)  # for coordkit::asio; include/coordkit/asio/asio_boost.h says the same

# coordkit_find_boost(FOLDER VERSION): the folder of Boost's headers and their version, such as 1.83, or two empty strings.
function(coordkit_find_boost folder version)
  set(${folder} "" PARENT_SCOPE)
  set(${version} "" PARENT_SCOPE)
  find_path(found boost/version.hpp NO_CACHE)
  if(found)
    cmake_path(NORMAL_PATH found)
    string(REGEX REPLACE "/$" "" found "${found}")
    file(STRINGS "${found}/boost/version.hpp" line REGEX "define +BOOST_LIB_VERSION +\"")
    string(REGEX MATCH "[0-9]+_[0-9]+" number "${line}")
    string(REPLACE "_" "." number "${number}")
    set(${folder} "${found}" PARENT_SCOPE)
    set(${version} "${number}" PARENT_SCOPE)
  endif()
endfunction()
