// Answers that are put together from several questions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/client/keys.h"
#include "coordkit/client/options.h"
#include "machine/reads.h"

namespace coordkit::client {

// A range.
struct Paging {
  RangeOperation range;  // what is still to be read
  ReadOptions options;   // of the next question
  RangeResult so_far;
  bool begun = false;
};

// A lease with or without its keys, or all leases; and what the leader says of their timers.
struct LeaseReading {
  std::optional<LeaseId> one;  // absent: all of them
  bool with_keys = false;
  machine::Leases page(const machine::Reads& state) const {
    if (one) return state.lease(*one, with_keys, keys.empty() ? "" : keys.back());
    return state.leases_after(rows.empty() ? LeaseId() : rows.back().id, 0);
  }

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
