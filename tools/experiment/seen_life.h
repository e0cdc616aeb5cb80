// One life of a member of the history experiment, as its file tells it (history_node.cc writes it).
//
// A file has one JSON object a line. {"begin": n, "line": {...}}: call n is about to be made, as a line of a history
// (docs/format-history.md). {"end": n, "more": {...}, "at": t}: it was answered; the other members of that line. {"trusted": n,
// "at": t}: the hold that acquire n was granted was trusted at t. {"changed": {"revision", "key", "value"}, "at": t}: what the
// watch of this life was given; a delete has no value. Every value is written once, and every revision changes one key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace coordkit::experiment {

struct SeenCall {
  nlohmann::json line;
  std::optional<int64_t> trusted;
};

struct SeenChange {
  std::string key;
  std::optional<std::string> value;  // none: a delete
  int64_t at = 0;
  bool same(const SeenChange& other) const { return key == other.key && value == other.value; }
};

struct SeenLife {
  std::string name;
  std::map<uint64_t, SeenCall> calls;      // by number
  std::map<uint64_t, SeenChange> changes;  // by revision
  std::vector<std::string> errors;         // of its watch
};

// Reads what was known at `until`: calls that were made later are left out, those that were answered later have no answer.
inline constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
SeenLife read_life(const std::filesystem::path& file, int64_t until = kToTheEnd);

// Facts about a line of a history.
inline bool is(const nlohmann::json& line, const char* op) { return line["op"] == op; }
inline std::string outcome(const nlohmann::json& line) { return line.value("outcome", std::string("unknown")); }
inline bool ok(const nlohmann::json& line) { return outcome(line) == "ok"; }

std::string text_of(uint64_t revision, const std::string& key, const std::optional<std::string>& value);

}  // namespace coordkit::experiment
