// Answers that are put together from several questions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/client/keys.h"
#include "coordkit/client/options.h"
#include "machine/query.h"

namespace coordkit::client {

// A range.
struct Paging {
  RangeOperation range;  // what is still to be read
  ReadOptions options;   // of the next question
  RangeResult so_far;
  bool begun = false;
};

// A lease with its keys, or all leases; and what the leader says of their timers.
struct LeaseReading {
  machine::Query next;  // what is still to be read
  ReadOptions options;
  std::vector<machine::LeaseRow> rows;
  std::vector<std::string> keys;
  absl::btree_map<TimerId, Duration> rests;
  size_t looked = 0;  // rows whose timers have been asked about
  Revision revision;
  Index as_of;
  bool begun = false;
};
using ReadingRef = std::shared_ptr<LeaseReading>;

// A question to the leader about timers.
struct Look {
  CallId call;
  ReadingRef reading;
  std::vector<TimerId> timers;
};

}  // namespace coordkit::client
