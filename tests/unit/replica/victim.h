// A process that uses a replica as hard as it can and is killed for it: the other half of kill_all_full_test.cc.
//
// Standard input: "go ROUND", "get KEY", "holder LOCK". Standard output, a line each, the lower-case letter before the call and
// the upper-case one when it was answered with success:
//
//   ready                                  p KEY N / P KEY N              put the number N
//   G LOCK TOKEN SESSION KIND              granted; KIND "kept": never released, in a session that outlives the test
//   r LOCK TOKEN / R LOCK TOKEN            released
//   value KEY N                            answer to get; 0: no such key
//   holder LOCK TOKEN SESSION              answer to holder; 0 0: none
//   failed WHAT                            something that must not happen
#pragma once

#include <string>
#include <vector>

namespace coordkit::testkit {

inline constexpr char kVictimRole[] = "victim";

// Arguments: own id, data directory, the addresses of all members in the order of their ids.
int run_victim(const std::vector<std::string>& arguments);

}  // namespace coordkit::testkit
