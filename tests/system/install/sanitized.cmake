# A program with sanitizers on, and coordkit as it was installed, without them: what both lay out must lie alike. Abseil's containers
# do not: with AddressSanitizer their nodes and iterators have more in them.
include(${here}/steps.cmake)
if(sanitize)
  message("skipped: this coordkit has sanitizers in it")
  return()
endif()
string(APPEND warnings " -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all")
set(folder ${build}/consumers/sanitized)
configure_and_build(${here}/sanitized ${folder} -D CMAKE_PREFIX_PATH=${prefix} -D examples=${source}/examples)
run_for_output(output ${folder}/ledger)
expect("a machine with rows" "${output}" "^[1-9][0-9]* rows")
run_for_output(output ${folder}/one_lock)
expect("a program with sanitizers" "${output}" "token [1-9]")
