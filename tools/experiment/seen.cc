#include "tools/experiment/seen.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace coordkit::experiment {
namespace {

using nlohmann::json;

bool is(const json& line, const char* op) { return line["op"] == op; }
std::string outcome(const json& line) { return line.value("outcome", std::string("unknown")); }
bool ok(const json& line) { return outcome(line) == "ok"; }

// It took effect between its call and that moment.
void took_effect(json& line, int64_t by, json out) {
  line["outcome"] = "ok";
  line["return"] = by;
  line["out"] = std::move(out);
}

std::string text_of(uint64_t revision, const std::string& key, const std::optional<std::string>& value) {
  return (value ? "put of " + *value + " at " : "delete of ") + key + ", revision " + std::to_string(revision);
}

}  // namespace

Seen::Seen(const std::vector<std::filesystem::path>& lives) {
  for (const std::filesystem::path& file : lives) lives_.push_back(read(file));
}

// A killed process may have been in the middle of its last line.
Seen::Life Seen::read(const std::filesystem::path& file) {
  Life life;
  life.name = file.filename();
  std::ifstream in(file);
  for (std::string text; std::getline(in, text);) {
    const json record = json::parse(text, nullptr, false);
    if (!record.is_object()) continue;
    if (record.contains("begin")) life.calls[record["begin"]].line = record["line"];
    if (record.contains("end")) life.calls[record["end"]].line.update(record["more"]);
    if (record.contains("trusted")) life.calls[record["trusted"]].trusted = record["at"];
    if (!record.contains("changed")) continue;
    const json& changed = record["changed"];
    Change change{.key = changed["key"], .value = std::nullopt, .at = record["at"]};
    if (changed.contains("value")) change.value = changed["value"];
    const uint64_t revision = changed["revision"];
    const bool later = life.changes.empty() || life.changes.rbegin()->first < revision;
    if (!later) life.errors.push_back(life.name + " was given a second time: " + text_of(revision, change.key, change.value));
    life.changes.emplace(revision, std::move(change));
  }
  return life;
}

// A hold ends once. If it is not known that a release did it, something did that needs no caller, from the moment on at which
// the holder trusted it last; of a grant that nobody was told of even the token is unknown.
std::vector<Seen::Line> Seen::endings_of(const Life& life) {
  std::set<std::pair<std::string, uint64_t>> released;
  for (const auto& [number, call] : life.calls) {
    if (is(call.line, "release") && ok(call.line)) released.emplace(call.line["key"], call.line["in"]["token"]);
  }
  std::vector<Line> endings;
  for (const auto& [number, call] : life.calls) {
    const Line& line = call.line;
    if (!is(line, "acquire") || outcome(line) == "refused") continue;
    Line ending{{"model", line["model"]}, {"op", "expire"}, {"key", line["key"]}, {"client", line["client"]}};
    ending["call"] = call.trusted.value_or(line["call"].get<int64_t>());
    if (ok(line)) {
      const json token = line["out"]["token"];
      if (released.contains({line["key"], token})) continue;
      ending["in"] = {{"token", token}};
    }
    endings.push_back(std::move(ending));
  }
  return endings;
}

// Each as it was given first.
std::map<uint64_t, Seen::Change> Seen::earliest_changes() const {
  std::map<uint64_t, Change> all;
  for (const Life& life : lives_) {
    for (const auto& [revision, change] : life.changes) {
      Change& known = all.try_emplace(revision, change).first->second;
      known.at = std::min(known.at, change.at);
    }
  }
  return all;
}

// Writes without an answer, in the order of their calls. Which delete of a key it was does not matter: that which was called
// first may have taken effect whenever another one may.
void Seen::settle(std::vector<Line>& lines) const {
  std::map<std::string, std::pair<uint64_t, int64_t>> puts;  // by value: revision, and when it was given
  std::map<uint64_t, Change> deletes;
  for (const auto& [revision, change] : earliest_changes()) {
    if (change.value) {
      puts[*change.value] = {revision, change.at};
    } else {
      deletes[revision] = change;
    }
  }
  for (const Line& line : lines) {
    if (is(line, "delete") && ok(line)) deletes.erase(line["out"]["revision"].get<uint64_t>());
  }
  const auto settle_put = [&puts](Line& line, const std::string& value, const json& also) {
    const auto found = puts.find(value);
    if (found == puts.end()) return;
    json out = also;
    out["revision"] = found->second.first;
    took_effect(line, std::max(line["call"].get<int64_t>(), found->second.second), std::move(out));
  };
  for (Line& line : lines) {
    if (outcome(line) != "unknown") continue;
    if (is(line, "put")) settle_put(line, line["in"]["value"], json::object());
    if (is(line, "txn")) {
      settle_put(line, line["in"]["then"][0]["value"], {{"succeeded", true}});
      settle_put(line, line["in"]["else"][0]["value"], {{"succeeded", false}});
    }
    if (!is(line, "delete")) continue;
    const auto mine = [key = line["key"].get<std::string>(), called = line["call"].get<int64_t>()](const auto& each) {
      return each.second.key == key && each.second.at >= called;
    };
    const auto found = std::ranges::find_if(deletes, mine);
    if (found == deletes.end()) continue;
    took_effect(line, found->second.at, {{"deleted", 1}, {"revision", found->first}});
    deletes.erase(found);
  }
}

std::vector<std::string> Seen::history() const {
  std::vector<Line> lines;
  for (const Life& life : lives_) {
    for (const auto& [number, call] : life.calls) {
      if (!is(call.line, "release") || ok(call.line)) lines.push_back(call.line);
    }
    std::ranges::move(endings_of(life), std::back_inserter(lines));
  }
  std::ranges::stable_sort(lines, {}, [](const Line& line) { return line["call"].get<int64_t>(); });
  settle(lines);
  std::vector<std::string> texts;
  for (Line& line : lines) {
    if (line["model"] == "kv") line["model"] = "transaction";  // which takes these too, and allows no gap between revisions
    texts.push_back(line.dump());
  }
  return texts;
}

uint64_t Seen::answered() const {
  uint64_t answered = 0;
  for (const Life& life : lives_) {
    for (const auto& [number, call] : life.calls) answered += ok(call.line) ? 1 : 0;
  }
  return answered;
}

// A watch that begins is given what comes from then on, so the ends of what a life was given are its own.
std::vector<std::string> Seen::watch_errors() const {
  const std::map<uint64_t, Change> all = earliest_changes();
  std::vector<std::string> errors;
  for (const Life& life : lives_) {
    std::ranges::copy(life.errors, std::back_inserter(errors));
    if (life.changes.empty()) continue;
    const auto end = all.upper_bound(life.changes.rbegin()->first);
    for (auto each = all.find(life.changes.begin()->first); each != end; ++each) {
      const auto given = life.changes.find(each->first);
      const std::string what = text_of(each->first, each->second.key, each->second.value);
      if (given == life.changes.end()) errors.push_back(life.name + " was not given the " + what);
      if (given != life.changes.end() && !given->second.same(each->second)) {
        errors.push_back(life.name + " was given something else than the " + what);
      }
    }
  }
  for (const Life& life : lives_) {
    for (const auto& [number, call] : life.calls) {
      const Line& line = call.line;
      if (!is(line, "put") || !ok(line)) continue;
      const uint64_t revision = line["out"]["revision"];
      const bool within = !all.empty() && revision > all.begin()->first && revision < all.rbegin()->first;
      const Change written{.key = line["key"], .value = line["in"]["value"]};
      const auto change = all.find(revision);
      const bool there = change != all.end() && change->second.same(written);
      if (within && !there) errors.push_back("no watch was given the " + text_of(revision, written.key, written.value));
    }
  }
  return errors;
}

Seen::Pauses Seen::pauses(const std::vector<Disturbance>& disturbances) const {
  std::vector<std::pair<int64_t, int64_t>> answers;  // from call to answer
  for (const Life& life : lives_) {
    for (const auto& [number, call] : life.calls) {
      const Line& line = call.line;
      if (ok(line) && line["model"] != "fenced-mutex") answers.emplace_back(line["call"], line["return"]);
    }
  }
  std::ranges::sort(answers);
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> pauses;
  for (const Disturbance& each : disturbances) {
    if (!each.leader_alone) continue;
    int64_t first = kNone;
    for (auto at = std::ranges::lower_bound(answers, std::pair(each.at_ns, int64_t{0}));
         at != answers.end() && at->first < first; ++at) {
      first = std::min(first, at->second);
    }
    if (first != kNone) pauses.push_back((first - each.at_ns) / 1'000'000);
  }
  if (pauses.empty()) return {};
  std::ranges::sort(pauses);
  return {pauses.size(), pauses[pauses.size() / 2], pauses.back()};
}

}  // namespace coordkit::experiment
