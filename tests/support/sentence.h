// Is a caller's error message a sentence to act on? Every refusal matched by a test of door 1 is checked. With the environment
// variable COORDKIT_SENTENCES naming a file, each is also written there, one a line, to be read from top to bottom:
//
//   COORDKIT_SENTENCES=/tmp/sentences out/dev/tests/replica/test_replica --gtest_filter='Bad*:Sentence*' && sort -u
//   /tmp/sentences
#pragma once

#include <string>

#include "absl/status/status.h"

namespace coordkit::testkit {

// Empty, or what is wrong with it: no reason, bytes of a payload, a reason stated twice, the same word twice in a row, nothing
// but a word or two, unreadable bytes.
std::string fault_of_sentence(const absl::Status& refusal);

// The same for a sentence that is no status (of health, say).
std::string fault_of_words(const std::string& sentence);

}  // namespace coordkit::testkit
