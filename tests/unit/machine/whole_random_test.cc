// Random entries of every kind on the whole machine. One is never stored. The other is stored, restored and told to store
// everything again at random moments. They must stay the same in all that they answer, announce, time and show.
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;

class WholeRun {
 public:
  std::map<ResultCode, int> answers;

  explicit WholeRun(uint64_t seed) : random_(seed) {
    for (Machine* machine : {&plain_, &stored_}) {
      machine->bootstrap(ClusterId(5), kBase);
      for (const char name : {'a', 'b', 'c'}) {
        for (int kind = 1; kind <= 8; ++kind) {
          machine->observe(subject_of(static_cast<coordination::Kind>(kind), std::string(1, name)), true);
        }
      }
    }
  }

  void step() {
    index_ = index_.next();
    if (below(8) == 0) {
      std::vector<FiredTimer> fired;
      for (const TimerOp& op : timers(plain_)) {
        const bool of_session = plain_.reads()->session(SessionId(op.id.value())).has_value();
        if (below(of_session ? 60 : 6) == 0) fired.push_back({op.id, below(5) == 0 ? Generation(below(4)) : op.generation});
      }
      both([&](Machine& machine, ApplyOutput& output) { machine.fire(index_, fired, output); });
    } else {
      session_ = sessions_.empty() ? SessionId(9) : sessions_[below(sessions_.size())];
      const RequestId id = some_id();
      Request request{some_body(id), {}};
      if (session_of(request) && below(5) == 0) request.prior_releases.push_back({name(), token(), below(3)});
      const std::string payload = encode(request);
      const Command command{index_, id, payload};
      both([&](Machine& machine, ApplyOutput& output) { machine.apply({&command, 1}, output); });
    }
    if (below(4) == 0) store();
    if (below(40) == 0) {
      ASSERT_TRUE(stored_.forget_stored());
      view_.rows.clear();
      store();
    }
    if (below(5) == 0) {
      store();
      const absl::Status restored = stored_.restore(view_);
      ASSERT_TRUE(restored.ok()) << restored;
      CheckpointBatch nothing;
      stored_.checkpoint(nothing);
      ASSERT_TRUE(nothing.rows.empty());
    }
    compare();
  }

 private:
  uint64_t below(uint64_t n) { return random_.below(n); }
  std::string name() { return std::string(1, static_cast<char>('a' + below(3))); }
  std::string tag() { return below(3) == 0 ? "t" : ""; }
  SessionId session() const { return session_; }
  Token token() {
    const auto held = plain_.reads()->locks_of(session_, {});
    const auto owned = plain_.reads()->objects_of(session_, {});
    if (!held.locks.empty() && below(2) == 0) return held.locks[below(held.locks.size())].token;
    if (!owned.rows.empty() && below(3) != 0) return owned.rows[below(owned.rows.size())].token;
    const uint64_t last = plain_.last_token();
    return Token(last - std::min(last - 1, below(12)));
  }
  Wait wait() { return below(3) == 0 ? Wait::none() : below(2) == 0 ? Wait::timed(1s) : Wait::forever(); }
  LeaseId lease() { return below(2) == 0 ? LeaseId() : below(2) == 0 ? LeaseId(1 + below(3)) : LeaseId(session().value()); }
  Revision revision() {
    const uint64_t newest = plain_.reads()->key_space().revision.value();
    return Revision(newest + 2 - std::min(newest + 2, below(8)));
  }
  // Nearly always of the process that has the session.
  RequestId some_id() {
    const std::optional<SessionInfo> info = plain_.reads()->session(session_);
    const ReplicaId replica = info && below(12) != 0 ? info->node : ReplicaId(1 + below(2));
    const Origin origin{replica, StoreId(77), BootCounter(1)};
    auto& [next, late] = sequences_[origin.replica];
    if (!late.empty() && below(3) == 0) {
      const Sequence sequence = late.back();
      late.pop_back();
      return {origin, sequence};
    }
    if (below(12) == 0) late.push_back(next = next.next());
    return {origin, next = next.next()};
  }

  PutOperation put() {
    PutOperation put{.key = name(), .value = std::string(below(40), 'v'), .lease = lease()};
    put.previous = below(3) == 0;
    put.sequential = below(8) == 0;
    put.ignore_value = below(6) == 0;
    put.ignore_lease = below(6) == 0;
    if (put.ignore_value) put.value.clear();
    if (put.ignore_lease) put.lease = {};
    return put;
  }
  DeleteOperation erase() { return {.key = name(), .end = below(2) == 0 ? "" : "c", .previous = below(2) == 0}; }
  Transaction transaction(int depth) {
    Transaction one;
    one.compares.push_back({.key = name(),
                            .end = below(3) == 0 ? "c" : "",
                            .target = static_cast<Compare::Target>(1 + below(5)),
                            .relation = static_cast<Compare::Relation>(1 + below(4)),
                            .number = below(2) == 0 ? 0 : revision().value()});
    if (below(5) == 0) one.compares.push_back(below(2) == 0 ? Compare::lock_free(name()) : Compare::lock_held(name(), token()));
    for (auto* branch : {&one.then, &one.otherwise}) {
      for (uint64_t more = below(4); more > 0; --more) {
        switch (below(4)) {
          case 0:
            branch->emplace_back(RangeOperation{.key = "a", .end = "c", .revision = below(3) == 0 ? revision() : Revision()});
            break;
          case 1: branch->emplace_back(erase()); break;
          case 2:
            if (depth < 2) branch->emplace_back(transaction(depth + 1));
            break;
          default: branch->emplace_back(put());
        }
      }
    }
    return one;
  }

  Request::Body coordination() {
    const SessionId by = session();
    switch (below(20)) {
      case 0: return CoordinationCommand(SetSemaphoreLimit{by, name(), below(5)});
      case 1:
      case 2: {
        AcquirePermits acquire{by, name(), wait(), 1 + below(3), {}};
        if (below(2) == 0) acquire.initial_limit = below(4);
        return CoordinationCommand(acquire);
      }
      case 3: return CoordinationCommand(DeleteSemaphore{by, name()});
      case 4: return CoordinationCommand(CreateLatch{by, name(), 1 + below(3)});
      case 5: return CoordinationCommand(CountDown{by, name(), 1 + below(2)});
      case 6: return CoordinationCommand(AwaitLatch{by, name(), wait()});
      case 7: return CoordinationCommand(DeleteLatch{by, name()});
      case 8: return CoordinationCommand(CloseBarrier{by, name(), static_cast<AtSessionEnd>(below(3))});
      case 9: return CoordinationCommand(OpenBarrier{by, name()});
      case 10: return CoordinationCommand(AwaitBarrier{by, name(), wait()});
      case 11:
      case 12:
        return CoordinationCommand(EnterBarrier{by, name(), wait(), 2 + below(2), static_cast<AtPartyEnd>(1 + below(2))});
      case 13: return CoordinationCommand(LeaveBarrier{by, name(), wait(), token()});
      case 14: return CoordinationCommand(Enqueue{name(), static_cast<int64_t>(below(3)) - 1, tag()});
      case 15: return CoordinationCommand(ClaimItem{by, name(), wait(), below(2) == 0 ? Duration(2s) : Duration(0)});
      case 16: return CoordinationCommand(AcknowledgeItem{by, name(), token()});
      case 17: {
        const auto operation = static_cast<ChangeCounter::Operation>(1 + below(5));
        const int64_t operand = operation == ChangeCounter::Operation::Delete ? 0 : below(3) == 0 ? INT64_MAX - 1 : 1;
        return CoordinationCommand(ChangeCounter{name(), operation, operand, 0});
      }
      case 18: return CoordinationCommand(JoinGroup{by, tag(), name(), "v"});
      default:
        if (below(2) == 0) return CoordinationCommand(UpdateMember{by, tag(), name(), "w"});
        return CoordinationCommand(LeaveGroup{by, tag(), name()});
    }
  }

  Request::Body some_body(const RequestId& id) {
    const SessionId by = session();
    switch (below(34)) {
      case 0:
      case 1:
        return OpenSession{.ttl = 1s,
                           .metadata = "m",
                           .node = id.origin.replica,
                           .boot = id.origin.boot,
                           .incarnation = id.origin.store.value(),
                           .secret = lease::hash_of_secret("s")};
      case 2:
        if (below(5) == 0) return CloseSession{by};
        return coordination();
      case 3:
        if (below(3) == 0) return ResumeSession{by, "s", below(2) == 0};
        return coordination();
      case 4:
        if (below(5) != 0) return coordination();
        return below(3) == 0 ? Request::Body(KillSession{by}) : Request::Body(ForceRelease{name(), token()});
      case 5: {
        const auto& [next, late] = sequences_[id.origin.replica];
        const Sequence target = !late.empty() && below(2) == 0 ? late.back() : Sequence(1 + below(next.value()));
        return CancelAcquire{by, tag(), name(), {id.origin, target}};
      }
      case 6:
      case 7:
      case 8: return Release{by, std::nullopt, name(), token(), below(3)};
      case 9: return Acquire{.session = by, .owner_tag = tag(), .name = name(), .wait = wait(), .delay = below(3) * 1s};
      case 10:
        return below(2) == 0 ? Request::Body(Downgrade{by, {}, name(), token()})
                             : Request::Body(Upgrade{by, {}, name(), token()});
      case 11: return Compact{revision()};
      case 12: return GrantLease{.id = LeaseId(below(4)), .ttl = 1s, .node = ReplicaId(below(2)), .boot = BootCounter(1)};
      case 13: return RenewLease{LeaseId(1 + below(3))};
      case 14: return RevokeLease{.id = LeaseId(1 + below(3))};
      case 15: return SetKeyQuota{below(3) == 0 ? 0 : 200 + below(1500)};
      case 16:
      case 17:
      case 18: return put();
      case 19: return erase();
      case 20:
      case 21: return transaction(0);
      default: return coordination();
    }
  }

  static std::vector<TimerOp> timers(const Machine& machine) {
    std::vector<TimerOp> ops;
    machine.timers(ops);
    return ops;
  }
  template <typename Run>
  void both(Run run) {
    ApplyOutput one, other;
    run(plain_, one);
    run(stored_, other);
    const Produced produced = Produced::from(one);
    ASSERT_EQ(produced, Produced::from(other));
    for (const auto& answer : produced.answers) {
      if (answer.result.session && !answer.result.lease) sessions_.push_back(answer.result.session);
      ++answers[answer.result.code];
    }
    std::erase_if(sessions_, [&](SessionId id) { return !plain_.reads()->session(id) && below(10) != 0; });
    while (sessions_.size() > 6) sessions_.erase(sessions_.begin());
    for (const TimerOp& op : produced.timer_ops) {
      armed_.erase(op.id);
      if (op.kind == TimerOp::Kind::Arm) armed_[op.id] = op;
    }
  }
  void store() {
    CheckpointBatch batch;
    stored_.checkpoint(batch);
    view_.add(batch);
  }
  void compare() {
    ASSERT_EQ(plain_.digest(), stored_.digest());
    plain_.verify();
    stored_.verify();
    const auto all = timers(plain_);
    ASSERT_EQ(all, timers(stored_));
    std::vector<TimerOp> armed;
    for (const auto& [id, op] : armed_) armed.push_back(op);
    ASSERT_EQ(all, armed);
    const Reads& one = *plain_.reads();
    const Reads& other = *stored_.reads();
    ASSERT_EQ(one.key_space(), other.key_space());
    ASSERT_EQ(one.contents(), other.contents());
    ASSERT_EQ(one.range(RangeOperation::all()), other.range(RangeOperation::all()));
    ASSERT_EQ(one.changes({.from = one.key_space().compacted, .previous = true}),
              other.changes({.from = one.key_space().compacted, .previous = true}));
    for (const SessionId each : sessions_) ASSERT_EQ(one.objects_of(each, {}), other.objects_of(each, {}));
    for (const std::string each : {"a", "b", "c"}) {
      for (int kind = 1; kind <= 7; ++kind) {
        const auto of = static_cast<coordination::Kind>(kind);
        ASSERT_EQ(one.object(of, each, 0), other.object(of, each, 0));
      }
    }
    for (uint64_t id = 1; id < 4; ++id) ASSERT_EQ(one.lease(LeaseId(id), true, ""), other.lease(LeaseId(id), true, ""));
  }

  Random random_;
  Machine plain_{"m1"}, stored_{"m1"};
  RowsView view_;
  Index index_;
  std::map<ReplicaId, std::pair<Sequence, std::vector<Sequence>>> sequences_;
  std::vector<SessionId> sessions_;
  SessionId session_;
  std::map<TimerId, TimerOp> armed_;
};

TEST(WholeRandomTest, WhatIsStoredAndRestoredStaysTheSameInEveryKindOfObject) {
  std::map<ResultCode, int> answers;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    WholeRun run(seed);
    for (int i = 0; i < 400; ++i) {
      run.step();
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
    for (const auto& [code, count] : run.answers) answers[code] += count;
  }
  for (const ResultCode code : {ResultCode::Granted, ResultCode::Queued, ResultCode::WaitTimeout, ResultCode::Cancelled,
                                ResultCode::Lost, ResultCode::Broken, ResultCode::TooManyParties, ResultCode::CounterOverflow,
                                ResultCode::Compacted, ResultCode::LeaseExists, ResultCode::NoSpace}) {
    EXPECT_GT(answers[code], 0) << reason_of(code) << ": the runs have lost what they are about";
  }
}

}  // namespace
}  // namespace coordkit::machine
