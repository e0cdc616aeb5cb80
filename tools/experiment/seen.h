// What the callers of the history experiment saw: the files of all lives of all members (history_node.cc), made into lines of
// one history (docs/format-history.md) and into what can be said beside it.
//
// A file has one JSON object a line. {"begin": n, "line": {...}}: call n is about to be made, as a line of a history. {"end":
// n, "more": {...}}: it was answered; the other members of that line. {"trusted": n, "at": t}: the hold that acquire n was
// granted was trusted at t. {"changed": {"revision", "key", "value"}, "at": t}: what the watch of this life was given; a delete
// has no value. Every value is written once, and every revision changes one key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace coordkit::experiment {

// A moment at which members were disturbed.
struct Disturbance {
  int64_t at_ns = 0;
  bool leader_alone = false;  // the leader, and no other
};

class Seen {
 public:
  explicit Seen(const std::vector<std::filesystem::path>& lives);

  // In the order of the calls. A hold that was not released for certain may have ended from the moment on at which its holder
  // trusted it last. A write without an answer whose change a watch was given has taken effect by then: the search need not
  // guess.
  std::vector<std::string> history() const;
  uint64_t answered() const;
  // Sentences: changes that watches were given differently, twice, or not at all, or that are not what was written.
  std::vector<std::string> watch_errors() const;

  // After the leader alone was disturbed: how long until a read or write of a key that was called later was answered, anywhere.
  struct Pauses {
    uint64_t count = 0;
    int64_t median_ms = 0;
    int64_t most_ms = 0;
  };
  Pauses pauses(const std::vector<Disturbance>& disturbances) const;

 private:
  using Line = nlohmann::json;
  struct Call {
    Line line;
    std::optional<int64_t> trusted;
  };
  struct Change {
    std::string key;
    std::optional<std::string> value;  // none: a delete
    int64_t at = 0;
    bool same(const Change& other) const { return key == other.key && value == other.value; }
  };
  struct Life {
    std::string name;
    std::map<uint64_t, Call> calls;      // by number
    std::map<uint64_t, Change> changes;  // by revision
    std::vector<std::string> errors;     // of its watch
  };
  static Life read(const std::filesystem::path& file);
  static std::vector<Line> endings_of(const Life& life);
  std::map<uint64_t, Change> earliest_changes() const;
  void settle(std::vector<Line>& lines) const;

  std::vector<Life> lives_;
};

}  // namespace coordkit::experiment
