// The questions of a remote that are not answered yet. At another gateway all of them are asked once more, under other ids.
// Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "coordkit/engine/engine.h"
#include "remote/link.h"

namespace coordkit::remote {

class OpenQuestions {
 public:
  void add(Ask ask) {
    const Ticket ticket = ask.ticket;
    if (ask.deadline != LaggingTime::max()) deadlines_.emplace(ask.deadline, ticket);
    unsent_.insert(ticket);
    asked_.emplace(ticket, Asked{std::move(ask)});
  }
  // None was asked at this gateway.
  void another_gateway() {
    sent_.clear();
    for (auto& [ticket, asked] : asked_) {
      asked.id = 0;
      unsent_.insert(ticket);
    }
  }
  // `seen`: the newest entry that this remote knows of. No gateway answers from an older state.
  std::vector<Question> to_send(LaggingTime now, Index seen) {
    std::vector<Question> out;
    for (const Ticket ticket : std::exchange(unsent_, {})) {
      Asked& asked = asked_.find(ticket)->second;
      const Ask& ask = asked.ask;
      asked.id = ++last_id_;
      sent_.emplace(asked.id, ticket);
      const bool endless = ask.deadline == LaggingTime::max();
      out.push_back({.id = asked.id,
                     .machine = ask.machine,
                     .consistency = ask.consistency,
                     .at_least = std::max(ask.at_least, seen),
                     .time_left = endless ? kLongest : std::min(kLongest, ask.deadline - now),
                     .question = *ask.question,
                     .waits = ask.waits});
    }
    return out;
  }
  // Whose answer came; zero: nobody awaits it.
  Ticket answered(uint64_t id) {
    const auto found = sent_.find(id);
    const Ticket ticket = found == sent_.end() ? Ticket() : found->second;
    if (ticket) forget(ticket);
    return ticket;
  }
  // The id under which it was sent here; zero: none.
  uint64_t forget(Ticket ticket) {
    const auto found = asked_.find(ticket);
    if (found == asked_.end()) return 0;
    const uint64_t id = found->second.id;
    deadlines_.erase({found->second.ask.deadline, ticket});
    unsent_.erase(ticket);
    sent_.erase(id);
    asked_.erase(found);
    return id;
  }
  // One whose deadline has passed; zero: none.
  Ticket overdue(LaggingTime now) const {
    return !deadlines_.empty() && deadlines_.begin()->first <= now ? deadlines_.begin()->second : Ticket();
  }
  LaggingTime next_deadline() const { return deadlines_.empty() ? LaggingTime::max() : deadlines_.begin()->first; }
  std::vector<Ticket> take_all() {
    std::vector<Ticket> all;
    for (const auto& [ticket, asked] : asked_) all.push_back(ticket);
    for (const Ticket ticket : all) forget(ticket);
    return all;
  }
  size_t size() const { return asked_.size(); }

 private:
  static constexpr Duration kLongest = std::chrono::hours(1);  // a gateway keeps no question for longer
  struct Asked {
    Ask ask;
    uint64_t id = 0;  // zero: not sent at this gateway
  };
  absl::btree_map<Ticket, Asked> asked_;
  absl::btree_set<Ticket> unsent_;
  absl::btree_map<uint64_t, Ticket> sent_;  // by id
  absl::btree_set<std::pair<LaggingTime, Ticket>> deadlines_;
  uint64_t last_id_ = 0;
};

}  // namespace coordkit::remote
