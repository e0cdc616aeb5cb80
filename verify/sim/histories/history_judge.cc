#include "sim/histories/history_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace coordkit::sim {
namespace {

constexpr size_t kSentencesMax = 3;  // of a kind

std::string text_of(const KeyChange& change) {
  return fmt::format("{}={} of revision {}", change.key, change.value, change.revision);
}

// Something that contradicts a call: where it was seen, the change that was seen there (its revision may be zero: none), and
// how.
using Found = std::function<void(const KeyCall& contradicted, uint32_t place, const KeyChange& seen, const std::string& how)>;

// Holds answers against calls whose answers are true.
class Against {
 public:
  explicit Against(std::vector<const KeyCall*> truth) : truth_(std::move(truth)) {
    std::ranges::sort(truth_, {}, &KeyCall::answered);
    for (const KeyCall* call : truth_) {
      newest_.push_back(newest_.empty() || newest_.back()->revision < call->revision ? call : newest_.back());
      if (call->changed != 0) by_revision_.emplace(call->changed, call);
      if (call->put) of_key_[call->key][call->changed] = call;
    }
  }

  void hold(const KeyCall& answer, const Found& found) const {
    const auto later = std::ranges::lower_bound(truth_, answer.called, {}, &KeyCall::answered);
    if (later != truth_.begin()) {
      const KeyCall& newest = *newest_[static_cast<size_t>(later - truth_.begin()) - 1];
      if (answer.revision < newest.revision) {
        found(newest, answer.place, {}, fmt::format("answered later at revision {}", answer.revision));
      }
    }
    if (answer.changed != 0) hold(answer.place, answer.change(), found);
    const auto writes = of_key_.find(answer.key);
    if (answer.put || writes == of_key_.end()) return;
    const auto next = writes->second.upper_bound(answer.revision);
    if (next == writes->second.begin() || answer.changed >= std::prev(next)->first) return;
    found(*std::prev(next)->second, answer.place, answer.change(),
          fmt::format("read {} of revision {} at revision {}", answer.key, answer.changed, answer.revision));
  }

  void hold(uint32_t place, const KeyChange& seen, const Found& found) const {
    const auto [begin, end] = by_revision_.equal_range(seen.revision);
    const auto other = std::find_if(begin, end, [&](const auto& each) { return each.second->change() != seen; });
    if (other != end) found(*other->second, place, seen, "has " + text_of(seen));
  }

 private:
  std::vector<const KeyCall*> truth_;   // in the order of their answers
  std::vector<const KeyCall*> newest_;  // of those up to there: the one with the highest revision
  std::multimap<uint64_t, const KeyCall*> by_revision_;
  std::map<std::string, std::map<uint64_t, const KeyCall*>> of_key_;
};

class Judge {
 public:
  explicit Judge(const Evidence& evidence) : evidence_(evidence) {
    for (const KeyCall& call : evidence.calls) {
      if (call.put) written_.emplace(std::pair(call.key, call.value), &call);
    }
  }

  std::vector<std::string> sentences() {
    for_all_shown([this](uint32_t place, const KeyChange& seen) { find_invented(place, seen); });
    find_silent();
    find_two_at_rest();
    const auto at_rest = [this](const KeyCall& call) { return call.answers_since(evidence_.rest); };
    if (evidence_.said.empty() && std::ranges::none_of(evidence_.calls, at_rest)) {
      add("wordless", "no call is answered, and no replica says why");
    }
    return std::move(sentences_);
  }

 private:
  void add(const std::string& kind, const std::string& what) {
    if (counts_[kind]++ < kSentencesMax) sentences_.push_back(kind + ": " + what);
  }

  template <typename F>
  void for_all_shown(F seen) const {
    for (const KeyCall& call : evidence_.calls) {
      if (call.end == KeyCall::End::Answered && call.changed != 0) seen(call.place, call.change());
    }
    for (uint32_t place = 0; place < evidence_.shown.size(); ++place) {
      for (const KeyChange& change : evidence_.shown[place]) seen(place, change);
    }
  }

  void find_invented(uint32_t place, const KeyChange& seen) {
    if (!written_.contains({seen.key, seen.value})) {
      add("invented", fmt::format("n{} shows {}, which no client wrote", place + 1, text_of(seen)));
    }
  }

  static std::set<uint32_t> places_with(const std::vector<std::set<KeyChange>>& changes, const KeyChange& change) {
    std::set<uint32_t> places;
    for (uint32_t place = 0; place < changes.size(); ++place) {
      if (changes[place].contains(change)) places.insert(place);
    }
    return places;
  }
  std::set<uint32_t> holders_of(const KeyChange& change) const { return places_with(evidence_.held, change); }

  void find_silent() {
    struct Contradicted {
      std::set<uint32_t> parties;
      std::string how;
      bool soon = false;
    };
    std::map<const KeyCall*, Contradicted> all;
    bool soon = false;
    const Found found = [&](const KeyCall& write, uint32_t place, const KeyChange& seen, const std::string& how) {
      auto [one, first] = all.try_emplace(&write);
      if (first) one->second = {places_with(evidence_.shown, write.change()), fmt::format("n{} {}", place + 1, how)};
      one->second.soon = one->second.soon || (soon && write.answered <= evidence_.soon);
      one->second.parties.insert(place);
      one->second.parties.merge(holders_of(seen));
    };
    std::vector<const KeyCall*> held;
    for (const KeyCall& call : evidence_.calls) {
      const bool acknowledged = call.put && call.end == KeyCall::End::Answered;
      if (acknowledged && !holders_of(call.change()).empty()) held.push_back(&call);
    }
    const Against against(std::move(held));
    for (const KeyCall& call : evidence_.calls) {
      soon = call.answered <= evidence_.soon;
      if (call.answers_since(std::max(evidence_.struck, evidence_.remembers[call.place]))) against.hold(call, found);
    }
    soon = false;
    for (uint32_t place = 0; place < evidence_.held.size(); ++place) {
      for (const KeyChange& change : evidence_.held[place]) against.hold(place, change, found);
    }
    for_all_shown([&](uint32_t place, const KeyChange& seen) {
      const auto written = written_.find({seen.key, seen.value});
      if (written == written_.end() || written->second->end != KeyCall::End::Refused) return;
      found(*written->second, place, seen, "has " + text_of(seen) + ", which was refused");
    });
    for (const auto& [write, one] : all) {
      const auto said = [&](uint32_t place) { return (one.soon ? evidence_.said_soon : evidence_.said).contains(place); };
      if (std::ranges::any_of(one.parties, said)) continue;
      std::string parties;
      for (const uint32_t place : one.parties) parties += fmt::format(" n{}", place + 1);
      add("silent", fmt::format("n{} was told of its write of {}, and {}; parties are{}", write->place + 1,
                                text_of(write->change()), one.how, parties));
    }
  }

  void find_two_at_rest() {
    std::vector<const KeyCall*> rest;
    for (const KeyCall& call : evidence_.calls) {
      if (call.answers_since(evidence_.rest)) rest.push_back(&call);
    }
    const Against against(rest);
    for (const KeyCall* call : rest) {
      against.hold(*call, [this](const KeyCall& other, uint32_t place, const KeyChange&, const std::string& how) {
        add("two at rest", fmt::format("n{} answered at revision {} with {}, and n{} {}", other.place + 1, other.revision,
                                       text_of(other.change()), place + 1, how));
      });
    }
  }

  const Evidence& evidence_;
  std::map<std::pair<std::string, std::string>, const KeyCall*> written_;
  std::map<std::string, size_t> counts_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> judge(const Evidence& evidence) { return Judge(evidence).sentences(); }

}  // namespace coordkit::sim
