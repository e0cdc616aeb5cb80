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

// It took effect between its call and that moment.
void took_effect(json& line, int64_t by, json out) {
  line["outcome"] = "ok";
  line["return"] = by;
  line["out"] = std::move(out);
}

constexpr int64_t kStoppedFor = 1'000'000'000;

bool changes_keys(const json& line) { return is(line, "put") || is(line, "delete") || is(line, "txn"); }

}  // namespace

Seen::Seen(const std::vector<std::filesystem::path>& lives, int64_t until) {
  for (const std::filesystem::path& file : lives) lives_.push_back(read_life(file, until));
}

// A hold ends once. If no release is known to have ended it, something did that needs no caller, from the moment on at which
// the holder trusted it last. If nobody was told of a grant, even its token is unknown.
std::vector<Seen::Line> Seen::endings_of(const SeenLife& life) {
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
std::map<uint64_t, SeenChange> Seen::earliest_changes() const {
  std::map<uint64_t, SeenChange> all;
  for (const SeenLife& life : lives_) {
    for (const auto& [revision, change] : life.changes) {
      SeenChange& known = all.try_emplace(revision, change).first->second;
      known.at = std::min(known.at, change.at);
    }
  }
  return all;
}

// Writes without an answer, in the order of their calls. Which delete of a key it was does not matter: that which was called
// first may have taken effect whenever another one may.
void Seen::settle(std::vector<Line>& lines) const {
  std::map<std::string, std::pair<uint64_t, int64_t>> puts;  // by value: revision, and when it was given
  std::map<uint64_t, SeenChange> deletes;
  for (const auto& [revision, change] : earliest_changes()) {
    if (change.value) {
      puts[*change.value] = {revision, change.at};
    } else {
      deletes[revision] = change;
    }
  }
  for (const Line& line : lines) {
    if (is(line, "delete") && ok(line) && line["out"]["deleted"] == 1) deletes.erase(line["out"]["revision"].get<uint64_t>());
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
  for (const SeenLife& life : lives_) {
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
  for (const SeenLife& life : lives_) {
    for (const auto& [number, call] : life.calls) answered += ok(call.line) ? 1 : 0;
  }
  return answered;
}

// A watch that begins is given what comes from then on, so the ends of what a life was given are its own.
std::vector<std::string> Seen::watch_errors() const {
  const std::map<uint64_t, SeenChange> all = earliest_changes();
  std::vector<std::string> errors;
  for (const SeenLife& life : lives_) {
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
  for (const SeenLife& life : lives_) {
    for (const auto& [number, call] : life.calls) {
      const Line& line = call.line;
      if (!is(line, "put") || !ok(line)) continue;
      const uint64_t revision = line["out"]["revision"];
      const bool within = !all.empty() && revision > all.begin()->first && revision < all.rbegin()->first;
      const SeenChange written{.key = line["key"], .value = line["in"]["value"]};
      const auto change = all.find(revision);
      const bool there = change != all.end() && change->second.same(written);
      if (within && !there) errors.push_back("no watch was given the " + text_of(revision, written.key, written.value));
    }
  }
  return errors;
}

Spread spread_of(std::vector<int64_t> lengths_ms) {
  if (lengths_ms.empty()) return {};
  std::ranges::sort(lengths_ms);
  return {lengths_ms.size(), lengths_ms[lengths_ms.size() / 2], lengths_ms.back()};
}

std::vector<int64_t> Seen::pauses_ms(const std::vector<Disturbance>& disturbances) const {
  std::vector<std::pair<int64_t, int64_t>> answers;  // from call to answer
  for (const SeenLife& life : lives_) {
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
  return pauses;
}

std::map<std::string, Gaps> Seen::write_gaps(const std::vector<Disturbance>& disturbances, int64_t end_ns) const {
  std::vector<int64_t> written;
  for (const SeenLife& life : lives_) {
    for (const auto& [number, call] : life.calls) {
      if (ok(call.line) && changes_keys(call.line)) written.push_back(call.line["return"]);
    }
  }
  std::ranges::sort(written);
  std::map<std::string, Gaps> gaps;
  for (size_t i = 0; i < disturbances.size(); ++i) {
    const int64_t begin = disturbances[i].at_ns, end = i + 1 < disturbances.size() ? disturbances[i + 1].at_ns : end_ns;
    int64_t last = begin, longest = 0;
    const auto first = std::ranges::lower_bound(written, begin), behind = std::ranges::lower_bound(written, end);
    for (auto at = first; at != behind; last = *at++) longest = std::max(longest, *at - last);
    Gaps& of = gaps[disturbances[i].kind];
    if (first == behind || end - last >= kStoppedFor) {
      ++of.without_end;
    } else {
      of.lengths_ms.push_back(std::max(longest, end - last) / 1'000'000);
    }
  }
  return gaps;
}

}  // namespace coordkit::experiment
