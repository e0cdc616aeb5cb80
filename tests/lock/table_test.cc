// The lock table against a naive twin, under random steps; the cases by name are in tests/machine/lock_commands_test.cc.
#include "lock/table.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "base/check.h"
#include "base/random.h"

namespace coordkit::lock {
namespace {

using namespace std::chrono_literals;

// Ten lines of truth: per name one holder and a queue. Everything is looked for by walking.
struct Naive {
  struct Claim {
    SessionId session;
    std::string tag;
    Index queued;
    Token token;
    bool timed = false;
  };
  struct Lock {
    std::deque<Claim> hold, queue;
  };
  std::map<std::string, Lock> locks;
  uint64_t last = 0;

  // Grants to the oldest grantable waiter until there is none; forgets empty names.
  std::vector<std::pair<Index, Token>> settle() {
    std::vector<std::pair<Index, Token>> grants;
    for (;;) {
      Lock* best = nullptr;
      for (auto& [name, lock] : locks) {
        if (!lock.hold.empty() || lock.queue.empty()) continue;
        if (!best || lock.queue.front().queued < best->queue.front().queued) best = &lock;
      }
      if (!best) break;
      best->queue.front().token = Token(++last);
      best->hold.push_back(best->queue.front());
      best->queue.pop_front();
      grants.emplace_back(best->hold.front().queued, best->hold.front().token);
    }
    std::erase_if(locks, [](const auto& each) { return each.second.hold.empty() && each.second.queue.empty(); });
    return grants;
  }
  template <typename Match>
  size_t remove(Match match) {
    size_t count = 0;
    for (auto& [name, lock] : locks) count += std::erase_if(lock.hold, match) + std::erase_if(lock.queue, match);
    return count;
  }
};

class Twins {
 public:
  explicit Twins(uint64_t seed) : random_(seed) {}

  void step() {
    index_ = index_.next();
    decisions_.clear();
    switch (random_.below(10)) {
      case 0: return end();
      case 1: return cancel();
      case 2: return time_out();
      case 3:
      case 4:
      case 5: return release();
      default: return acquire();
    }
  }

  void compare() {
    ASSERT_EQ(table_.names(), naive_.locks.size());
    ASSERT_EQ(counter_.last(), naive_.last) << "S-47";
    ASSERT_EQ(table_.digest(), table_.recomputed_digest());
    for (const auto& [name, lock] : naive_.locks) {
      std::vector<std::pair<SessionId, Token>> holds;
      table_.holders(name, [&](const ClaimView& hold) { holds.emplace_back(hold.session, hold.token); });
      ASSERT_EQ(holds, (std::vector<std::pair<SessionId, Token>>{{lock.hold.at(0).session, lock.hold.at(0).token}}));
      std::vector<Index> queue, expected;
      table_.queue(name, [&](const ClaimView& wait) {
        queue.push_back(wait.since);
        return true;
      });
      for (const auto& claim : lock.queue) expected.push_back(claim.queued);
      ASSERT_EQ(queue, expected) << "S-48";
    }
  }

  // Goes on from the rows of a checkpoint.
  void checkpoint_and_restore() {
    table_.collect(
        [&](const ClaimView& row) {
          const ClaimRowId id{row.held(), row.held() ? row.token.value() : row.since.value()};
          rows_[id] = {std::string(row.name), std::string(row.tag), std::string(row.value), row};
        },
        [&](ClaimRowId id) { ASSERT_EQ(rows_.erase(id), 1u); });
    Table copy;
    for (const bool held : {true, false}) {
      for (auto& [id, row] : rows_) {
        if (id.held != held) continue;
        row.view.name = row.name;
        row.view.tag = row.tag;
        row.view.value = row.value;
        ASSERT_TRUE(copy.restore(row.view).ok());
      }
    }
    ASSERT_TRUE(copy.restored().ok());
    ASSERT_EQ(copy.digest(), table_.digest());
    ASSERT_EQ(copy.claims(), rows_.size());
    if (random_.below(2) == 0) table_ = std::move(copy);
  }

 private:
  SessionId some_session() { return SessionId(random_.between(1, 6)); }
  std::string some_name() { return std::string(1, static_cast<char>('a' + random_.below(4))); }
  std::string some_tag() { return random_.below(3) == 0 ? "t" : ""; }

  void settle() {
    table_.settle(index_, counter_, decisions_);
    std::vector<std::pair<Index, Token>> grants;
    for (const Decision& decision : decisions_) {
      if (decision.kind == Decision::Kind::Granted) grants.emplace_back(decision.queued, decision.token);
    }
    ASSERT_EQ(grants, naive_.settle());
  }

  void acquire() {
    const SessionId session = some_session();
    const std::string name = some_name(), tag = some_tag();
    const bool waits = random_.below(4) != 0;
    const Duration timeout = waits && random_.below(2) == 0 ? Duration(1s) : Duration(0);
    const AcquireVerdict verdict = table_.acquire({index_, request(index_), session, tag, name, "v", waits, timeout}, counter_);
    auto& lock = naive_.locks[name];
    const auto same = [&](const Naive::Claim& claim) { return claim.session == session && claim.tag == tag; };
    if (std::ranges::any_of(lock.hold, same)) {
      ASSERT_EQ(verdict.kind, AcquireVerdict::Kind::AlreadyHeld);
      ASSERT_EQ(verdict.token, lock.hold.front().token);
    } else if (std::ranges::any_of(lock.queue, same)) {
      ASSERT_EQ(verdict.kind, AcquireVerdict::Kind::AlreadyWaiting);
    } else if (!lock.hold.empty() && !waits) {
      ASSERT_EQ(verdict.kind, AcquireVerdict::Kind::Held);
    } else if (!lock.hold.empty()) {
      ASSERT_EQ(verdict.kind, AcquireVerdict::Kind::Queued);
      ASSERT_EQ(verdict.position, lock.queue.size());
      lock.queue.push_back({session, tag, index_, {}, timeout > Duration(0)});
    } else {
      lock.hold.push_back({session, tag, index_, Token(++naive_.last)});
      ASSERT_EQ(verdict.kind, AcquireVerdict::Kind::Granted);
      ASSERT_EQ(verdict.token, lock.hold.front().token);
    }
    settle();
  }

  void release() {
    const std::string name = some_name();
    const SessionId session = some_session();
    const auto found = naive_.locks.find(name);
    const Token token = found == naive_.locks.end() ? Token(~uint64_t{0}) : found->second.hold.front().token;
    const size_t expected = naive_.remove([&](const auto& claim) { return claim.token == token && claim.session == session; });
    ASSERT_EQ(table_.release(session, std::nullopt, name, token), expected == 1);
    settle();
  }

  void end() {
    const SessionId session = some_session();
    std::set<Index> lost;
    for (const auto& [name, lock] : naive_.locks) {
      for (const auto& claim : lock.queue) {
        if (claim.session == session) lost.insert(claim.queued);
      }
    }
    naive_.remove([&](const auto& claim) { return claim.session == session; });
    table_.end(session, decisions_);
    std::vector<Index> told;
    for (const Decision& decision : decisions_) told.push_back(decision.queued);
    ASSERT_EQ(told, std::vector<Index>(lost.begin(), lost.end()));
    settle();
    ASSERT_EQ(table_.counts(session).holds + table_.counts(session).waiters, 0u) << "INV_L07";
  }

  void cancel() {
    const Index queued(random_.between(index_.value() > 40 ? index_.value() - 40 : 1, index_.value()));
    const std::string name = some_name(), tag = some_tag();
    const SessionId session = some_session();
    size_t expected = 0;
    if (const auto found = naive_.locks.find(name); found != naive_.locks.end()) {
      const auto meant = [&](const auto& claim) {
        return claim.queued == queued && claim.session == session && claim.tag == tag;
      };
      expected = std::erase_if(found->second.queue, meant);
    }
    const CancelVerdict verdict = table_.cancel(session, tag, name, request(queued), decisions_);
    ASSERT_EQ(verdict.kind == CancelVerdict::Kind::Cancelled, expected == 1);
    settle();
  }

  void time_out() {
    const Index queued(random_.between(index_.value() > 20 ? index_.value() - 20 : 1, index_.value()));
    const size_t expected =
        naive_.remove([&](const auto& claim) { return !claim.token && claim.timed && claim.queued == queued; });
    ASSERT_EQ(table_.time_out(queued, decisions_), expected == 1);
    settle();
  }

  static RequestId request(Index index) { return {{ReplicaId(1), {}, {}}, Sequence(index.value())}; }

  struct Row {
    std::string name, tag, value;
    ClaimView view;
  };
  Random random_;
  Table table_;
  Naive naive_;
  TokenCounter counter_;
  Index index_;
  std::vector<Decision> decisions_;
  std::map<ClaimRowId, Row> rows_;
};

TEST(LockTableTest, S48_RandomStepsMatchTheNaiveTwinOverCheckpointsAndRestores) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Twins twins(seed);
    for (int step = 0; step < 500; ++step) {
      ASSERT_NO_FATAL_FAILURE(twins.step()) << step;
      ASSERT_NO_FATAL_FAILURE(twins.compare()) << step;
      if (step % 7 != 0) continue;
      ASSERT_NO_FATAL_FAILURE(twins.checkpoint_and_restore()) << step;
    }
  }
}

TEST(LockTableTest, ImpossibleRowsAreRefused) {
  const ClaimView hold{"n", "", "", SessionId(1), {}, Index(5), Token(9), {}};
  const ClaimView wait{"n", "", "", SessionId(2), {}, Index(6), {}, 1s};
  const auto bad = absl::StatusCode::kDataLoss;
  Table table;
  ASSERT_TRUE(table.restore(hold).ok());
  ClaimView second = hold;
  EXPECT_EQ(table.restore(second).code(), bad) << "one owner twice";
  second.session = SessionId(3);
  second.token = Token(10);
  EXPECT_EQ(table.restore(second).code(), bad) << "INV_L01";
  ASSERT_TRUE(table.restore(wait).ok());
  ClaimView early = wait;
  early.session = SessionId(4);
  EXPECT_EQ(table.restore(early).code(), bad) << "two waiters of one entry";
  early.since = Index(4);
  EXPECT_EQ(table.restore(early).code(), bad) << "INV_L05";
  Table free;
  ASSERT_TRUE(free.restore(wait).ok());
  EXPECT_EQ(free.restored().code(), bad) << "INV_L06";
}

TEST(LockTableTest, AStepThatDoesNotSettleIsFound) {
  Table table;
  TokenCounter counter;
  const auto attempt = [](uint64_t index) { return Attempt{Index(index), {}, SessionId(1), "", "n", "", true, {}}; };
  const Token token = table.acquire(attempt(1), counter).token;
  EXPECT_TRUE(table.release(SessionId(1), std::nullopt, "n", token));
  EXPECT_THROW(table.acquire(attempt(2), counter), CheckFailure);
}

TEST(PackedTextTest, HoldsTwoStringsAndCostsNothingWhenBothAreEmpty) {
  const PackedText both("tag", std::string(4096, 'v')), none;
  EXPECT_EQ(both.first(), "tag");
  EXPECT_EQ(both.second(), std::string(4096, 'v'));
  EXPECT_EQ(none.first(), "");
  EXPECT_EQ(none.second(), "");
  EXPECT_EQ(PackedText("", "x").first(), "");
}

}  // namespace
}  // namespace coordkit::lock
