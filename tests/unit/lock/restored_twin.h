// A table, and one that was restored from its rows on the way. Both take every step, and must answer alike: what a replica says
// may not depend on when it was restored.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lock/lock_table.h"

namespace coordkit::lock {

class RestoredTwin {
 public:
  const Table* operator->() const { return &table_; }
  Table* operator->() { return &table_; }
  void restored(Table copy) { copy_ = std::move(copy); }

  AcquireVerdict acquire(const Attempt& attempt, TokenCounter& tokens) {
    return both(tokens, [&](Table& table, TokenCounter& own, Decisions&) { return table.acquire(attempt, own); });
  }
  bool release(const HoldKey& key, uint64_t number) {
    return both([&](Table& table, Decisions&) { return table.release(key, number); });
  }
  CancelVerdict cancel(SessionId session, std::string_view tag, std::string_view name, const RequestId& acquire,
                       Decisions& decisions) {
    return both([&](Table& table, Decisions& own) { return table.cancel(session, tag, name, acquire, own); }, &decisions);
  }
  bool time_out(Index queued, Decisions& decisions) {
    return both([&](Table& table, Decisions& own) { return table.time_out(queued, own); }, &decisions);
  }
  bool end_delay(uint64_t id, Decisions& decisions) {
    return both([&](Table& table, Decisions& own) { return table.end_delay(id, own); }, &decisions);
  }
  bool clear_delay(std::string_view name, Decisions& decisions) {
    return both([&](Table& table, Decisions& own) { return table.clear_delay(name, own); }, &decisions);
  }
  void end(SessionId session, Table::Ending ending, TokenCounter& tokens, Decisions& decisions) {
    both(
        tokens,
        [&](Table& table, TokenCounter& own, Decisions& made) {
          table.end(session, ending, own, made);
          return true;
        },
        &decisions);
  }
  void decide_waits(Index index, TokenCounter& tokens, Decisions& decisions) {
    both(
        tokens,
        [&](Table& table, TokenCounter& own, Decisions& made) {
          table.decide_waits(index, own, made);
          return true;
        },
        &decisions);
    if (copy_) {
      EXPECT_EQ(copy_->digest(), table_.digest());
    }
  }
  ModeVerdict downgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
    return both(tokens,
                [&](Table& table, TokenCounter& own, Decisions&) { return table.hold_changes().downgrade(key, index, own); });
  }
  ModeVerdict upgrade(const HoldKey& key, Index index, TokenCounter& tokens) {
    return both(tokens,
                [&](Table& table, TokenCounter& own, Decisions&) { return table.hold_changes().upgrade(key, index, own); });
  }
  bool update_value(const HoldKey& key, std::string_view value) {
    return both([&](Table& table, Decisions&) { return table.hold_changes().update_value(key, value); });
  }
  void regrant_all(SessionId session, Index index, TokenCounter& tokens) {
    both(tokens, [&](Table& table, TokenCounter& own, Decisions&) {
      table.hold_changes().regrant_all(session, index, own);
      return true;
    });
  }
  std::optional<Token> refill(const HoldKey& key, TokenCounter& tokens) {
    return both(tokens, [&](Table& table, TokenCounter& own, Decisions&) { return table.delegations().refill(key, own); });
  }
  std::optional<bool> put_forward(std::string_view name, Token token) {
    return both([&](Table& table, Decisions&) {
      const auto hold = table.delegations().put_forward(name, token);
      return hold ? std::optional(true) : std::nullopt;
    });
  }

 private:
  template <typename Step>
  std::invoke_result_t<Step&, Table&, TokenCounter&, Decisions&> both(TokenCounter& tokens, Step step,
                                                                      Decisions* decisions = nullptr) {
    TokenCounter copys_tokens = tokens;
    Decisions made, copys;
    auto answer = step(table_, tokens, made);
    if (copy_) {
      EXPECT_TRUE(same(answer, step(*copy_, copys_tokens, copys))) << "a table that was restored answers something else";
      EXPECT_EQ(copys_tokens.last(), tokens.last());
      EXPECT_EQ(text_of(copys), text_of(made)) << "a table that was restored decides something else";
    }
    if (decisions != nullptr) append(std::move(made), *decisions);
    return answer;
  }
  template <typename Step>
  std::invoke_result_t<Step&, Table&, Decisions&> both(Step step, Decisions* decisions = nullptr) {
    TokenCounter none;
    return both(
        none, [&](Table& table, TokenCounter&, Decisions& made) { return step(table, made); }, decisions);
  }

  static bool same(const AcquireVerdict& a, const AcquireVerdict& b) {
    return std::tie(a.kind, a.token, a.since, a.position, a.releases) ==
           std::tie(b.kind, b.token, b.since, b.position, b.releases);
  }
  template <typename Verdict>
  requires requires(Verdict verdict) { verdict.since; }
  static bool same(const Verdict& a, const Verdict& b) {
    return std::tie(a.kind, a.token, a.since) == std::tie(b.kind, b.token, b.since);
  }
  template <typename Plain>
  static bool same(const Plain& a, const Plain& b) {
    return a == b;
  }

  static std::string text_of(const Decisions& decisions) {
    std::string text;
    for (const Decision& one : decisions.waits) {
      text += std::to_string(static_cast<int>(one.kind)) + " of " + std::to_string(one.queued.value()) + " token " +
              std::to_string(one.token.value()) + "\n";
    }
    for (const DelayChange& one : decisions.delays) {
      text += "delay " + std::to_string(static_cast<int>(one.kind)) + " " + std::to_string(one.id) + "\n";
    }
    std::vector<std::string> rest;
    for (const std::string& name : decisions.led) rest.push_back("led " + name);
    for (const Asked& one : decisions.asked) rest.push_back("asked " + one.name + " " + std::to_string(one.token.value()));
    std::ranges::sort(rest);
    rest.erase(std::unique(rest.begin(), rest.end()), rest.end());
    for (const std::string& line : rest) text += line + "\n";
    return text;
  }
  static void append(Decisions made, Decisions& to) {
    std::ranges::move(made.waits, std::back_inserter(to.waits));
    std::ranges::move(made.delays, std::back_inserter(to.delays));
    std::ranges::move(made.led, std::back_inserter(to.led));
    std::ranges::move(made.asked, std::back_inserter(to.asked));
  }

  Table table_;
  std::optional<Table> copy_;
};

}  // namespace coordkit::lock
