# What our own sources include most is read once, for coordkit_base, and all libraries above it borrow that: 1 to 3 s less for each of
# their units. Only the standard library and Abseil: no change of ours makes it anew, and no macro of a folder means anything in it, so
# g++ takes it everywhere. Tests would gain nothing, since what takes them long is templates; and a file that is read alone (TARGET_each,
# ./dev lint) has no part in it, so that a forgotten include is seen there.
set(coordkit_often_included
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <functional> <map> <memory> <mutex> <optional> <set> <span>
    <string> <string_view> <thread> <utility> <variant> <vector> <absl/container/btree_map.h> <absl/container/flat_hash_map.h>
    <absl/container/flat_hash_set.h> <absl/functional/any_invocable.h> <absl/functional/function_ref.h> <absl/status/statusor.h>)

function(coordkit_precompiled target)
  if(NOT COORDKIT_TOGETHER)
    return()
  endif()
  if("${target}" STREQUAL coordkit_base)
    target_precompile_headers(${target} PRIVATE ${coordkit_often_included})
  else()
    target_precompile_headers(${target} REUSE_FROM coordkit_base)
  endif()
endfunction()
