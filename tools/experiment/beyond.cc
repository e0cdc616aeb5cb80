#include "tools/experiment/beyond.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace coordkit::experiment {
namespace {

using nlohmann::json;

constexpr size_t kSentencesMax = 5;

// A revision made this change: acknowledged to its caller, or shown to somebody.
struct Fact {
  uint64_t revision = 0;
  std::string key;
  std::optional<std::string> value;
  int64_t called = 0, answered = 0;
  bool acknowledged = false;
  int place = 0;
  std::string by;

  bool same(const Fact& other) const { return key == other.key && value == other.value; }
};

// The store as an answer shows it. With a key: that key as it was then, and what revision changed it last; zero: it is absent.
struct Look {
  uint64_t revision = 0;
  std::optional<std::string> key;
  uint64_t changed = 0;
  int64_t called = 0;
  int place = 0;
  std::string by;
};

// One who contradicts a write, and those who have it.
struct Found {
  std::vector<std::string> sentences;
  uint64_t count = 0;
  std::set<int> parties;
};

// Everything that callers and watches of an episode were evidence.
class EpisodeEvidence {
 public:
  explicit EpisodeEvidence(const Episode& episode) {
    for (const PlacedLife& each : episode.lives) add(each);
  }

  const std::vector<Fact>& facts() const { return facts_; }
  const std::vector<Look>& looks() const { return looks_; }
  uint64_t answered_since(int64_t at) const {
    return static_cast<uint64_t>(std::ranges::count_if(looks_, [at](const Look& look) { return look.called >= at; }));
  }
  // The kept places that have what this fact says.
  std::set<int> holders_of(const Fact& fact) const {
    const auto found = kept_.find({fact.revision, fact.key, fact.value});
    return found == kept_.end() ? std::set<int>() : found->second;
  }
  std::vector<std::string> invented() const;
  // Values of writes that were answered as without effect, by key.
  bool refused(const Fact& fact) const { return fact.value && refused_.contains({fact.key, *fact.value}); }

 private:
  using Content = std::tuple<uint64_t, std::string, std::optional<std::string>>;

  void add(const PlacedLife& each);
  void add_asked(const json& line);
  void add_answer(const PlacedLife& each, const json& line);

  std::vector<Fact> facts_;
  std::vector<Look> looks_;
  std::map<std::pair<std::string, std::string>, int64_t> asked_;  // key and value: when
  std::set<std::pair<std::string, std::string>> refused_;
  std::map<Content, std::set<int>> kept_;  // what watches of kept places were given
};

void EpisodeEvidence::add(const PlacedLife& each) {
  for (const auto& [number, call] : each.life.calls) {
    add_asked(call.line);
    if (ok(call.line) && call.line["model"] != "fenced-mutex") add_answer(each, call.line);
  }
  for (const auto& [revision, change] : each.life.changes) {
    facts_.push_back(
        {revision, change.key, change.value, change.at, change.at, false, each.place, "the watch of " + each.life.name});
    if (each.kept) kept_[{revision, change.key, change.value}].insert(each.place);
  }
}

void EpisodeEvidence::add_asked(const json& line) {
  const auto ask = [&](const std::string& key, const json& value) {
    asked_[{key, value}] = line["call"];
    if (outcome(line) == "refused") refused_.insert({key, value});
  };
  if (is(line, "put")) ask(line["key"], line["in"]["value"]);
  if (!is(line, "txn")) return;
  for (const char* branch : {"then", "else"}) ask(line["in"][branch][0]["key"], line["in"][branch][0]["value"]);
}

void EpisodeEvidence::add_answer(const PlacedLife& each, const json& line) {
  const json& out = line["out"];
  const int64_t called = line["call"], answered = line["return"];
  Look look{out["revision"], std::nullopt, 0, called, each.place, each.life.name};
  const Fact fact{look.revision, {}, std::nullopt, called, answered, true, each.place, each.life.name};
  const auto changed = [&](const std::string& key, std::optional<std::string> value) {
    facts_.push_back(fact);
    facts_.back().key = key;
    facts_.back().value = std::move(value);
  };
  const auto shown = [&](const std::string& key, const json& entry) {
    if (entry["value"].is_null()) return uint64_t{0};
    changed(key, entry["value"].get<std::string>());
    facts_.back().acknowledged = false;
    return facts_.back().revision = entry["mod"];
  };
  if (is(line, "put")) changed(line["key"], line["in"]["value"].get<std::string>());
  if (is(line, "delete") && out["deleted"] == 1) changed(line["key"], std::nullopt);
  if (is(line, "get")) {
    look.key = line["key"];
    look.changed = shown(*look.key, out);
  }
  if (is(line, "txn")) {
    const json& taken = line["in"][out["succeeded"] ? "then" : "else"];
    changed(taken[0]["key"], taken[0]["value"].get<std::string>());
    shown(taken[1]["key"], out["results"][1]);
  }
  looks_.push_back(std::move(look));
}

std::vector<std::string> EpisodeEvidence::invented() const {
  std::vector<std::string> sentences;
  for (const Fact& fact : facts_) {
    if (!fact.value || sentences.size() == kSentencesMax) continue;
    const auto asked = asked_.find({fact.key, *fact.value});
    if (asked != asked_.end() && asked->second <= fact.answered) continue;
    sentences.push_back("invented: " + fact.by + " was shown a " + text_of(fact.revision, fact.key, fact.value) +
                        ", which no caller had asked for");
  }
  return sentences;
}

// Holds what was told against these facts.
class Against {
 public:
  Against(const EpisodeEvidence& evidence, std::vector<Fact> truth) : evidence_(evidence), truth_(std::move(truth)) {
    std::erase_if(acknowledged_ = truth_, [](const Fact& fact) { return !fact.acknowledged; });
    std::ranges::sort(acknowledged_, {}, &Fact::answered);
    for (const Fact& fact : acknowledged_) {
      newest_.push_back(newest_.empty() || newest_.back()->revision < fact.revision ? &fact : newest_.back());
      of_key_[fact.key].emplace(fact.revision, &fact);
    }
    for (const Fact& fact : truth_) by_revision_.emplace(fact.revision, &fact);
  }
  Against(const Against&) = delete;

  Found found(int64_t since = 0) {
    for (const Look& look : evidence_.looks()) {
      if (look.called >= since) judge(look);
    }
    for (const Fact& fact : evidence_.facts()) {
      if (fact.called >= since) judge(fact);
    }
    return std::move(found_);
  }

 private:
  void tell(int place, const std::string& by, const std::string& what, const Fact& write) {
    ++found_.count;
    found_.parties.insert(place);
    found_.parties.merge(evidence_.holders_of(write));
    if (found_.sentences.size() == kSentencesMax) return;
    found_.sentences.push_back(by + " " + what + "; " + write.by +
                               (write.acknowledged ? " was acknowledged the " : " was shown the ") +
                               text_of(write.revision, write.key, write.value));
  }

  void judge(const Look& look) {
    const auto behind = std::ranges::lower_bound(acknowledged_, look.called, {}, &Fact::answered);
    if (behind != acknowledged_.begin()) {
      const Fact& newest = *newest_[static_cast<size_t>(behind - acknowledged_.begin()) - 1];
      if (look.revision < newest.revision) {
        return tell(look.place, look.by, "was answered later at revision " + std::to_string(look.revision), newest);
      }
    }
    if (!look.key || look.changed == 0) return;
    const auto of_key = of_key_.find(*look.key);
    if (of_key == of_key_.end()) return;
    const auto next = of_key->second.upper_bound(look.revision);
    if (next == of_key->second.begin()) return;
    const Fact& write = *std::prev(next)->second;
    if (look.changed >= write.revision) return;
    tell(look.place, look.by, "was shown " + *look.key + " of revision " + std::to_string(look.changed), write);
  }

  void judge(const Fact& fact) {
    const auto [begin, end] = by_revision_.equal_range(fact.revision);
    const auto other = std::find_if(begin, end, [&](const auto& each) { return !each.second->same(fact); });
    if (other == end) return;
    tell(fact.place, fact.by, "has a " + text_of(fact.revision, fact.key, fact.value), *other->second);
  }

  const EpisodeEvidence& evidence_;
  const std::vector<Fact> truth_;
  std::vector<Fact> acknowledged_;   // in the order of their answers
  std::vector<const Fact*> newest_;  // of those up to there: the one with the highest revision
  std::map<std::string, std::map<uint64_t, const Fact*>> of_key_;
  std::multimap<uint64_t, const Fact*> by_revision_;
  Found found_;
};

template <typename Condition>
std::vector<Fact> chosen(const EpisodeEvidence& evidence, Condition condition) {
  std::vector<Fact> facts;
  std::ranges::copy_if(evidence.facts(), std::back_inserter(facts), condition);
  return facts;
}

void add_refused(const EpisodeEvidence& evidence, Found& found) {
  for (const Fact& fact : evidence.facts()) {
    if (!evidence.refused(fact)) continue;
    ++found.count;
    found.parties.insert(fact.place);
    found.parties.merge(evidence.holders_of(fact));
    if (found.sentences.size() == kSentencesMax) continue;
    found.sentences.push_back(fact.by + " has a " + text_of(fact.revision, fact.key, fact.value) + ", which was refused");
  }
}

bool said_by_one_of(const std::set<int>& parties, const std::vector<Word>& words) {
  return std::ranges::any_of(words, [&](const Word& word) { return parties.contains(word.place); });
}

void add(std::vector<std::string>& wrong, const char* kind, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) wrong.push_back(std::string(kind) + ": " + sentence);
}

}  // namespace

bool is_word(std::string_view kind, std::string_view severity, std::string_view sentence) {
  if (kind == "StateChanged" || kind == "Halted" || kind == "Diverged") return severity == "Error";
  return kind == "PeerRefused" && sentence.find("two processes act as replica") != std::string_view::npos;
}

Judgement judge(const Episode& episode) {
  const EpisodeEvidence evidence(episode);
  const auto acknowledged = [](const Fact& fact) { return fact.acknowledged; };
  const auto held = [&](const Fact& fact) { return fact.acknowledged && !evidence.holders_of(fact).empty(); };
  const auto at_rest = [&](const Fact& fact) { return fact.called >= episode.rest_ns; };
  Found contradicted = Against(evidence, chosen(evidence, held)).found();
  add_refused(evidence, contradicted);
  const Found resting = Against(evidence, chosen(evidence, at_rest)).found(episode.rest_ns);
  const bool said = said_by_one_of(contradicted.parties, episode.words);
  const bool answered = evidence.answered_since(episode.rest_ns) > 0;

  Judgement judgement{.contradictions = contradicted.count, .wrong = evidence.invented()};
  if (contradicted.count > 0 && !said) add(judgement.wrong, "silent", contradicted.sentences);
  add(judgement.wrong, "two at rest", resting.sentences);
  if (!answered && episode.words.empty())
    judgement.wrong.emplace_back("wordless: no call is answered, and no replica says why");
  for (const int place : episode.died) judgement.wrong.push_back("died: process " + std::to_string(place));
  const auto ending = [&] {
    if (!judgement.wrong.empty()) return Ending::Wrong;
    if (contradicted.count > 0) return Ending::Said;
    if (Against(evidence, chosen(evidence, acknowledged)).found().count > 0) return Ending::Excused;
    return answered ? Ending::Harmless : Ending::Stopped;
  };
  judgement.ending = ending();
  return judgement;
}

}  // namespace coordkit::experiment
