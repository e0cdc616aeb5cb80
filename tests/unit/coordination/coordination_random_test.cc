// Random steps over all tables: naive twins for those that decide who is next, and for all of them a copy rebuilt from
// checkpoint rows before every entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "base/random.h"
#include "tests/unit/coordination/rig.h"

namespace coordkit::coordination {
namespace {

using Outcomes = std::map<Index, std::pair<Result, Token>>;  // by the entry that asked: its final answer

// ---- naive twins: scan everything

struct NaiveSemaphore {
  struct Claim {
    Index entry;
    SessionId session;
    uint64_t count;
    Token token;
  };
  uint64_t limit = 0;
  std::deque<Claim> holds, line;

  uint64_t held() const {
    uint64_t sum = 0;
    for (const Claim& hold : holds) sum += hold.count;
    return sum;
  }
  void decide_waits(uint64_t& token, Outcomes& outcomes) {
    while (!line.empty() && held() + line.front().count <= limit) {
      line.front().token = Token(++token);
      outcomes[line.front().entry] = {Result::Granted, line.front().token};
      holds.push_back(line.front());
      line.pop_front();
    }
  }
};

struct NaiveQueue {
  struct Item {
    Index id;
    int64_t priority;
    Token claim;
    SessionId session;
  };
  std::vector<Item> items;
  std::deque<std::pair<Index, SessionId>> line;

  void decide_waits(uint64_t& token, Outcomes& outcomes) {
    while (!line.empty()) {
      Item* best = nullptr;
      for (Item& item : items) {
        if (item.claim) continue;
        if (!best || std::pair(item.priority, item.id) < std::pair(best->priority, best->id)) best = &item;
      }
      if (!best) return;
      best->claim = Token(++token);
      best->session = line.front().second;
      outcomes[line.front().first] = {Result::Granted, best->claim};
      line.pop_front();
    }
  }
};

// The answer to every entry: immediate or later.
class Recorder {
 public:
  Verdict note(Rig& rig, const Verdict& verdict) {
    if (verdict.kind != Result::Queued) outcomes[rig.index] = {verdict.kind, verdict.token};
    note(rig);
    return verdict;
  }
  void note(const Rig& rig) {
    for (const Decision& decision : rig.decisions) {
      outcomes[decision.queued] = {decision.verdict.kind, decision.verdict.token};
    }
  }
  Outcomes outcomes;
};

// Covers: S-50
TEST(RandomCoordinationTest, SemaphoresAreTheirNaiveTwin) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    Rig rig;
    Recorder real;
    NaiveSemaphore naive{.limit = 3};
    Outcomes expected;
    uint64_t token = rig.last_token;
    rig.entry([&](Step& step) { return rig.state.semaphores.set_limit(step, "s", 3); });
    for (int i = 0; i < 200; ++i) {
      const SessionId session(1 + random.below(4));
      const uint64_t count = 1 + random.below(4);
      const bool waits = random.below(3) != 0;
      switch (random.below(6)) {
        case 0: {
          naive.limit = random.below(6);
          rig.entry([&](Step& step) { return rig.state.semaphores.set_limit(step, "s", naive.limit); });
          break;
        }
        case 1: {
          rig.end({session});
          for (const auto& claim : naive.line) {
            if (claim.session == session) expected[claim.entry] = {Result::Lost, {}};
          }
          const auto dead = [&](const auto& claim) { return claim.session == session; };
          std::erase_if(naive.line, dead);
          std::erase_if(naive.holds, dead);
          break;
        }
        case 2: {
          if (naive.holds.empty()) continue;
          const auto hold = naive.holds.begin() + static_cast<long>(random.below(naive.holds.size()));
          ASSERT_TRUE(rig.release(hold->session, "s", hold->token));
          naive.holds.erase(hold);
          break;
        }
        case 3: {
          if (naive.line.empty()) continue;
          const auto wait = naive.line.begin() + static_cast<long>(random.below(naive.line.size()));
          ASSERT_TRUE(rig.cancel(wait->session, wait->entry));
          expected[wait->entry] = {Result::Cancelled, {}};
          naive.line.erase(wait);
          break;
        }
        default: {
          const Attempt attempt{.session = session, .name = "s", .waits = waits};
          real.note(rig, rig.entry([&](Step& step) { return rig.state.semaphores.acquire(step, attempt, count, {}); }));
          const bool free = naive.line.empty() && naive.held() + count <= naive.limit;
          if (free || waits) naive.line.push_back({rig.index, session, count, {}});
          if (!free && !waits) expected[rig.index] = {Result::Held, {}};
        }
      }
      naive.decide_waits(token, expected);
      real.note(rig);
      ASSERT_EQ(real.outcomes, expected) << "seed " << seed << ", step " << i;
      ASSERT_EQ(rig.last_token, token);
    }
  }
}

// Covers: S-37
TEST(RandomCoordinationTest, ClaimQueuesAreTheirNaiveTwin) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    Rig rig;
    Recorder real;
    NaiveQueue naive;
    Outcomes expected;
    uint64_t token = rig.last_token;
    const auto back = [](NaiveQueue::Item& item) { item.claim = {}; };
    for (int i = 0; i < 200; ++i) {
      const SessionId session(1 + random.below(4));
      switch (random.below(5)) {
        case 0: {
          const int64_t priority = static_cast<int64_t>(random.below(4)) - 2;
          rig.entry([&](Step& step) { return rig.state.queues.enqueue(step, "q", priority, ""); });
          naive.items.push_back({rig.index, priority, {}, {}});
          break;
        }
        case 1: {
          rig.end({session});
          for (const auto& [entry, waiting] : naive.line) {
            if (waiting == session) expected[entry] = {Result::Lost, {}};
          }
          std::erase_if(naive.line, [&](const auto& wait) { return wait.second == session; });
          for (auto& item : naive.items) {
            if (item.claim && item.session == session) back(item);
          }
          break;
        }
        case 2: {
          const auto claimed =
              std::ranges::find_if(naive.items, [](const auto& item) { return static_cast<bool>(item.claim); });
          if (claimed == naive.items.end()) continue;
          if (random.below(2) == 0) {
            ASSERT_TRUE(rig.release(claimed->session, "q", claimed->claim));
            back(*claimed);
          } else {
            const auto acknowledged = rig.entry(
                [&](Step& step) { return rig.state.queues.acknowledge(step, claimed->session, "q", claimed->claim); });
            ASSERT_EQ(acknowledged.kind, Result::Ok);
            naive.items.erase(claimed);
          }
          break;
        }
        default: {
          const bool waits = random.below(3) != 0;
          const Attempt attempt{.session = session, .name = "q", .waits = waits};
          real.note(rig, rig.entry([&](Step& step) { return rig.state.queues.claim(step, attempt, {}); }));
          const bool free =
              naive.line.empty() && std::ranges::any_of(naive.items, [](const auto& item) { return !item.claim; });
          if (free || waits) naive.line.emplace_back(rig.index, session);
          if (!free && !waits) expected[rig.index] = {Result::Held, {}};
        }
      }
      naive.decide_waits(token, expected);
      real.note(rig);
      ASSERT_EQ(real.outcomes, expected) << "seed " << seed << ", step " << i;
    }
  }
}

// ---- all tables, and a copy rebuilt from rows

// Checkpoint rows of every kind, as a state store keeps them.
class Store {
 public:
  void collect(Coordination& state) {
    state.each_rows([this]<typename Row>(Rows<Row>& rows) {
      auto& kept = of<Row>();
      rows.collect([&](auto key, const Row& row) { kept.insert_or_assign(key, row); },
                   [&](auto key) { EXPECT_EQ(kept.erase(key), 1u) << "erased, but never written"; });
    });
  }
  Coordination restore() {
    Coordination fresh;
    fresh.each_rows([this]<typename Row>(Rows<Row>& rows) {
      for (const auto& [key, row] : of<Row>()) {
        const absl::Status status = rows.restore(key, row);
        EXPECT_TRUE(status.ok()) << status;
      }
    });
    const absl::Status status = fresh.restored();
    EXPECT_TRUE(status.ok()) << status;
    return fresh;
  }
  template <typename Row>
  std::map<typename Row::Key, Row>& of() {
    return std::get<Table<Row>>(tables_).rows;
  }

 private:
  template <typename Row>
  struct Table {
    std::map<typename Row::Key, Row> rows;
  };
  std::tuple<Table<Wait>, Table<Semaphore>, Table<Permits>, Table<Latch>, Table<Barrier>, Table<DoubleBarrier>, Table<Place>,
             Table<Queue>, Table<Item>, Table<Claim>, Table<Counter>, Table<Group>, Table<Member>>
      tables_;
};

// The session changes hands, with what it holds (S-45).
void regrant(Rig& rig, SessionId session, std::vector<std::pair<SessionId, Token>>& holds) {
  const uint64_t before = rig.last_token;
  rig.entry([&](Step& step) { rig.state.regrant_all(session, step); });
  EXPECT_TRUE(rig.decisions.empty()) << "what changes hands frees nothing";
  for (uint64_t token = before + 1; token <= rig.last_token; ++token) holds.emplace_back(session, Token(token));
  const auto renewed = [&](Token token, const auto& row) {
    if (row.session == session) {
      EXPECT_GT(token.value(), before);
    }
  };
  rig.state.semaphores.permits().each(renewed);
  rig.state.double_barriers.places().each(renewed);
  rig.state.queues.claims().each(renewed);
}

// One random entry; the same for the same seed and the same state.
void random_entry(Rig& rig, Random random, std::vector<std::pair<SessionId, Token>>& holds) {
  static const std::vector<std::string> kNames = {"x", "y"};
  const std::string& name = kNames[random.below(2)];
  const SessionId session(1 + random.below(4));
  const Attempt attempt{
      .session = session, .name = name, .waits = random.below(4) != 0, .timeout = Duration(random.below(2) == 0 ? 0 : 5)};
  const uint64_t amount = 1 + random.below(3);
  Coordination& state = rig.state;
  const uint64_t kind = random.below(23);
  const Index some(1 + random.below(rig.index.value() + 1));
  const auto hold = holds.empty() ? std::pair(session, Token(1)) : holds[random.below(holds.size())];
  if (kind == 0)
    return rig.end(random.below(2) == 0 ? std::vector{session} : std::vector{session, SessionId(1 + session.value() % 4)});
  if (kind == 1) return static_cast<void>(rig.time_out(some));
  if (kind == 2) return static_cast<void>(rig.cancel(session, some));
  if (kind <= 5) return static_cast<void>(rig.release(hold.first, name, hold.second));
  if (kind == 22) return regrant(rig, session, holds);
  const Verdict verdict = rig.entry([&](Step& step) -> Verdict {
    switch (kind) {
      case 6: return state.semaphores.set_limit(step, name, random.below(5));
      case 7:
      case 8:
        return state.semaphores.acquire(step, attempt, amount, random.below(2) == 0 ? std::nullopt : std::optional(amount));
      case 9: return state.semaphores.erase(step, name);
      case 10: return state.latches.create(step, name, amount);
      case 11: return state.latches.count_down(step, name, amount);
      case 12: return random.below(5) == 0 ? state.latches.erase(step, name) : state.latches.wait(step, attempt);
      case 13: return state.barriers.close(step, session, name, AtSessionEnd(random.below(3)));
      case 14: return random.below(3) == 0 ? state.barriers.open(step, name) : state.barriers.wait(step, attempt);
      case 15:
      case 16: return state.double_barriers.enter(step, attempt, 3, AtPartyEnd(1 + random.below(2)));
      case 17: return state.double_barriers.leave(step, attempt, hold.second);
      case 18: return state.queues.enqueue(step, name, static_cast<int64_t>(random.below(3)) - 1, "v");
      case 19: return state.queues.claim(step, attempt, Duration(random.below(2)));
      case 20: return random.below(2) == 0 ? state.counters.add(step, name, 1) : state.counters.erase(step, name);
      default:
        return random.below(2) == 0 ? state.groups.join(step, {name, session, ""}, "v")
                                    : state.groups.leave(step, {name, session, ""});
    }
  });
  if (verdict.token) holds.emplace_back(session, verdict.token);
  for (const Decision& decision : rig.decisions) {
    if (decision.verdict.token) holds.emplace_back(decision.session, decision.verdict.token);
  }
}

// Covers: INV_L07
TEST(RandomCoordinationTest, ACopyFromCheckpointRowsGoesOnLikeTheOriginal) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    Rig real, copy;
    Store store;
    std::vector<std::pair<SessionId, Token>> holds, copied;
    for (int i = 0; i < 250; ++i) {
      const uint64_t draw = random();
      random_entry(real, Random(draw), holds);
      random_entry(copy, Random(draw), copied);
      ASSERT_EQ(real.decided(), copy.decided()) << "seed " << seed << ", step " << i;
      ASSERT_EQ(real.last_token, copy.last_token);
      ASSERT_EQ(real.state.digest(), real.state.recomputed_digest());
      ASSERT_EQ(real.state.digest(), copy.state.digest());
      store.collect(real.state);
      copy.state = store.restore();
      ASSERT_EQ(real.state.digest(), copy.state.digest());
      ASSERT_EQ(real.state.records(), copy.state.records());
      copy.state.each_rows([](auto& rows) {
        rows.collect([](auto, const auto&) { ADD_FAILURE() << "a restored table is clean"; },
                     [](auto) { ADD_FAILURE() << "a restored table is clean"; });
      });
    }
    std::vector<SessionId> all;
    for (uint64_t session = 1; session <= 4; ++session) all.emplace_back(session);
    real.end(all);
    real.state.every_session([](SessionId) { ADD_FAILURE() << "something is left of a session"; });
    EXPECT_EQ(real.state.waits.rows().size(), 0u);
  }
}

// ---- rows that no table would write

template <typename Row>
absl::Status restore_all(Coordination& state, typename Row::Key key, Row row) {
  absl::Status status;
  state.each_rows([&]<typename Each>(Rows<Each>& rows) {
    if constexpr (std::is_same_v<Each, Row>) status = rows.restore(key, std::move(row));
  });
  return status;
}

TEST(HostileRowsTest, RowsThatContradictEachOtherAreDataLoss) {
  const RequestId request = Rig::request(Index(5));
  const auto refused = [](auto... rows) {
    Coordination state;
    absl::Status status;
    ([&] { status.Update(restore_all(state, rows.first, rows.second)); }(), ...);
    status.Update(state.restored());
    return absl::IsDataLoss(status);
  };
  const auto row = [](auto key, auto row) { return std::pair(key, row); };
  const auto semaphore = row(Index(1), Semaphore{"s", 1});
  EXPECT_FALSE(refused(semaphore));
  EXPECT_TRUE(refused(row(Index(0), Semaphore{"s", 1})));
  EXPECT_TRUE(refused(row(Index(1), Semaphore{"", 1})));
  EXPECT_TRUE(refused(semaphore, row(Index(2), Semaphore{"s", 1}))) << "two of one name";
  EXPECT_TRUE(refused(row(Token(9), Permits{Index(1), kA, request, 1, Index(5)}))) << "permits of nothing";
  EXPECT_TRUE(refused(semaphore, row(Token(9), Permits{Index(1), kA, request, 0, Index(5)})));
  EXPECT_TRUE(refused(semaphore, row(Token(9), Permits{Index(1), SessionId(), request, 1, Index(5)})));
  EXPECT_TRUE(refused(semaphore, row(Token(8), Permits{Index(1), kA, Rig::request(Index(4)), ~0ULL, Index(4)}),
                      row(Token(9), Permits{Index(1), kA, request, 1, Index(5)})))
      << "a sum beyond its type";
  const Wait wait{WaitFor::Permits, Index(1), kA, request, {}, 1, {}};
  EXPECT_TRUE(refused(semaphore, row(Index(5), wait))) << "it could be granted";
  EXPECT_FALSE(refused(row(Index(1), Semaphore{"s", 0}), row(Index(5), wait)));
  EXPECT_TRUE(refused(row(Index(1), Semaphore{"s", 0}), row(Index(5), wait), row(Index(6), wait))) << "one request twice";
  const auto broken_wait = [&](auto spoil) {
    Wait spoilt = wait;
    spoil(spoilt);
    return refused(row(Index(1), Semaphore{"s", 0}), row(Index(5), spoilt));
  };
  EXPECT_TRUE(broken_wait([](Wait& w) { w.purpose = WaitFor(0); }));
  EXPECT_TRUE(broken_wait([](Wait& w) { w.purpose = WaitFor::Latch; }));
  EXPECT_TRUE(broken_wait([](Wait& w) { w.object = Index(2); }));
  EXPECT_TRUE(broken_wait([](Wait& w) { w.session = {}; }));
  EXPECT_TRUE(broken_wait([](Wait& w) { w.timeout = Duration(-1); }));
  EXPECT_TRUE(broken_wait([](Wait& w) { w.amount = 0; }));
  const auto waiting = [&](WaitFor purpose) { return row(Index(5), Wait{purpose, Index(1), kA, request, {}, 0, {}}); };
  EXPECT_TRUE(refused(row(Index(1), Latch{"l", 0}), waiting(WaitFor::Latch)));
  EXPECT_TRUE(refused(row(Index(1), Barrier{"b", kA, AtSessionEnd::Stays})));
  EXPECT_TRUE(refused(row(Index(1), Barrier{"b", {}, AtSessionEnd::Opens})));
  EXPECT_TRUE(refused(row(Index(1), Barrier{"b", kA, AtSessionEnd(7)})));
  const DoubleBarrier gathering{"d", 2, 2, AtPartyEnd::Breaks, false};
  EXPECT_TRUE(refused(row(Index(1), gathering))) << "no party is there";
  EXPECT_FALSE(refused(row(Index(1), gathering), waiting(WaitFor::Entering)));
  EXPECT_TRUE(refused(row(Index(1), gathering), waiting(WaitFor::Leaving)));
  EXPECT_TRUE(refused(row(Index(1), DoubleBarrier{"d", 1, 1, AtPartyEnd::Breaks, false}), waiting(WaitFor::Entering)));
  EXPECT_TRUE(refused(row(Index(1), DoubleBarrier{"d", 2, 3, AtPartyEnd::Breaks, false}), waiting(WaitFor::Entering)));
  EXPECT_TRUE(refused(row(Index(1), DoubleBarrier{"d", 2, 2, AtPartyEnd(9), false}), waiting(WaitFor::Entering)));
  EXPECT_TRUE(refused(row(Index(1), gathering), waiting(WaitFor::Entering), row(Token(9), Place{Index(1), kB, {}, Index(5)})));
  EXPECT_TRUE(refused(row(Token(9), Place{Index(1), kB, {}, Index(5)})));
  EXPECT_TRUE(refused(row(Index(1), Queue{"q"})));
  EXPECT_TRUE(refused(row(Index(2), Item{Index(1), 0, 0, "v"})));
  const auto queue = row(Index(1), Queue{"q"});
  const auto item = row(Index(1), Item{Index(1), 0, 0, "v"});
  EXPECT_FALSE(refused(queue, item));
  EXPECT_TRUE(refused(queue, item, waiting(WaitFor::Item)));
  const Claim claim{Index(1), kA, request, Index(5), {}, Index(5)};
  EXPECT_FALSE(refused(queue, item, row(Token(9), claim)));
  EXPECT_TRUE(refused(queue, item, row(Token(9), claim), row(Token(10), Claim{Index(1), kB, {}, Index(4), {}, Index(5)})));
  EXPECT_TRUE(refused(queue, item, row(Token(9), Claim{Index(2), kA, request, Index(5), {}, Index(5)})));
  EXPECT_TRUE(refused(queue, item, row(Token(9), Claim{Index(1), kA, request, Index(6), {}, Index(5)})));
  EXPECT_TRUE(refused(queue, item, row(Token(9), Claim{Index(1), kA, request, Index(5), Duration(-1), Index(5)})));
  EXPECT_TRUE(refused(row(Index(1), Group{"g"})));
  EXPECT_TRUE(refused(row(Index(2), Member{Index(1), kA, "", "v"})));
  EXPECT_TRUE(refused(row(Index(1), Group{"g"}), row(Index(1), Member{Index(1), {}, "", "v"})));
  EXPECT_TRUE(refused(row(Index(1), Group{"g"}), row(Index(1), Member{Index(1), kA, "", "v"}),
                      row(Index(2), Member{Index(1), kA, "", "w"})))
      << "one owner twice";
}

}  // namespace
}  // namespace coordkit::coordination
