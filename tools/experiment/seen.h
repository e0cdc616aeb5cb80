// All that the callers of the history experiment saw: the files of all lives of all members (history_node.cc), made into lines
// of one history (docs/format-history.md) and into what can be said beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/experiment/seen_life.h"

namespace coordkit::experiment {

// A moment at which members were disturbed.
struct Disturbance {
  int64_t at_ns = 0;
  std::string kind;           // as a report names it
  bool leader_alone = false;  // the leader, and no other
};

// The spread of durations in milliseconds.
struct Spread {
  uint64_t count = 0;
  int64_t median_ms = 0;
  int64_t most_ms = 0;
};
Spread spread_of(std::vector<int64_t> lengths_ms);

// Without an answered write: one for each disturbance of a kind.
struct Gaps {
  std::vector<int64_t> lengths_ms;  // the longest after each that was followed by a write
  uint64_t without_end = 0;         // disturbances behind which no write was answered, or none in the last second
};

class Seen {
 public:
  // `until`: that of read_life().
  explicit Seen(const std::vector<std::filesystem::path>& lives, int64_t until = kToTheEnd);

  // In the order of the calls. A hold that was not released for certain may have ended from the moment on at which its holder
  // trusted it last. A write without an answer whose change a watch was given has taken effect by then: the search need not
  // guess.
  std::vector<std::string> history() const;
  uint64_t answered() const;
  // Sentences: changes that watches were given differently, twice, or not at all, or that are not what was written.
  std::vector<std::string> watch_errors() const;

  // After the leader alone was disturbed: how long until a read or write of a key that was called later was answered, anywhere.
  std::vector<int64_t> pauses_ms(const std::vector<Disturbance>& disturbances) const;
  // By kind of disturbance: the longest time from one to the next, of the last to `end`, in which no write of a key was
  // answered anywhere.
  std::map<std::string, Gaps> write_gaps(const std::vector<Disturbance>& disturbances, int64_t end_ns) const;

 private:
  using Line = nlohmann::json;
  static std::vector<Line> endings_of(const SeenLife& life);
  std::map<uint64_t, SeenChange> earliest_changes() const;
  void settle(std::vector<Line>& lines) const;

  std::vector<SeenLife> lives_;
};

}  // namespace coordkit::experiment
