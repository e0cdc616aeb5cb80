#include "tools/experiment/seen_life.h"

#include <fstream>
#include <utility>

namespace coordkit::experiment {
namespace {

using nlohmann::json;

void add_change(SeenLife& life, const json& record) {
  const json& changed = record["changed"];
  SeenChange change{.key = changed["key"], .value = std::nullopt, .at = record["at"]};
  if (changed.contains("value")) change.value = changed["value"];
  const uint64_t revision = changed["revision"];
  const bool later = life.changes.empty() || life.changes.rbegin()->first < revision;
  if (!later) life.errors.push_back(life.name + " was given a second time: " + text_of(revision, change.key, change.value));
  life.changes.emplace(revision, std::move(change));
}

int64_t time_of(const json& record) {
  if (record.contains("begin")) return record["line"]["call"];
  if (record.contains("end") && record["more"].contains("return")) return record["more"]["return"];
  return record.value("at", int64_t{0});
}

}  // namespace

std::string text_of(uint64_t revision, const std::string& key, const std::optional<std::string>& value) {
  return (value ? "put of " + *value + " at " : "delete of ") + key + ", revision " + std::to_string(revision);
}

// A killed process may have been in the middle of its last line.
SeenLife read_life(const std::filesystem::path& file, int64_t until) {
  SeenLife life;
  life.name = file.filename();
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    const json record = json::parse(text, nullptr, false);
    if (!record.is_object() || time_of(record) > until) continue;
    if (record.contains("begin")) life.calls[record["begin"]].line = record["line"];
    if (record.contains("changed")) add_change(life, record);
    const bool end = record.contains("end");
    if (!end && !record.contains("trusted")) continue;
    const auto call = life.calls.find(record[end ? "end" : "trusted"]);
    if (call == life.calls.end()) continue;
    if (end) call->second.line.update(record["more"]);
    if (!end) call->second.trusted = record["at"];
  }
  return life;
}

}  // namespace coordkit::experiment
