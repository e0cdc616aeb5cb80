// The machine against a naive model of locks and sessions, and against copies of itself that were restored from its
// checkpoint before every single entry.
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "tests/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;

// What docs/semantics.md says of sessions and locks, by walking everything. It predicts the final answers of every entry.
class Model {
 public:
  struct Claim {
    SessionId session;
    std::string tag;
    Sequence request;
    Index queued;
    Token token;
    bool timed = false;
  };
  struct Lock {
    std::deque<Claim> hold, queue;
  };
  using Answers = std::map<Sequence, std::pair<Code, Token>>;

  std::map<std::string, Lock> locks;
  struct Session {
    Generation generation;
    bool ending = false;
    Sequence resumed_by;
  };
  std::map<SessionId, Session> sessions;
  std::set<Sequence> cancelled;
  uint64_t last = kBase;
  Answers answers;

  void run(const Request& request, Sequence sequence, Index index) {
    const bool marked = cancelled.erase(sequence) != 0;
    const SessionId session = session_of(request);
    if (session && !sessions.contains(session)) return answer(sequence, Code::SessionNotFound);
    if (session && sequence <= sessions.at(session).resumed_by) return answer(sequence, Code::Lost);
    if (session && sessions.at(session).ending && !lets_go(request)) return answer(sequence, Code::Lost);
    for (const PriorRelease& prior : request.prior_releases) release(session, prior.name, prior.token);
    settle();
    if (marked) return answer(sequence, Code::Cancelled);
    if (std::get_if<OpenSession>(&request.body)) {
      sessions[SessionId(++last)] = {};
      answer(sequence, Code::Ok);
    } else if (std::get_if<CloseSession>(&request.body)) {
      end(session);
      answer(sequence, Code::Ok);
    } else if (const auto* ending = std::get_if<Release>(&request.body)) {
      answer(sequence, release(session, ending->name, ending->token) ? Code::Ok : Code::NotOwner);
    } else if (const auto* starting = std::get_if<Acquire>(&request.body)) {
      acquire(*starting, sequence, index);
    } else if (const auto* undoing = std::get_if<CancelAcquire>(&request.body)) {
      cancel(*undoing, sequence);
    } else if (const auto* resuming = std::get_if<ResumeSession>(&request.body)) {
      answer(sequence, resume(*resuming, sequence));
    } else if (const auto* killing = std::get_if<KillSession>(&request.body)) {
      answer(sequence, sessions.contains(killing->victim) ? Code::Ok : Code::SessionNotFound);
      mark_ending(killing->victim);
    } else if (const auto* forcing = std::get_if<ForceRelease>(&request.body)) {
      const SessionId holder = holder_of(forcing->name, forcing->token);
      answer(sequence, holder ? Code::Ok : Code::NotOwner);
      mark_ending(holder);
    }
    settle();
  }

  void fire(const std::vector<FiredTimer>& timers) {
    for (const FiredTimer& timer : timers) {
      const auto session = sessions.find(SessionId(timer.id.value()));
      if (session != sessions.end() && session->second.generation == timer.generation) end(session->first);
    }
    for (const FiredTimer& timer : timers) {
      for (auto& [name, lock] : locks) {
        finish(lock.queue, Code::WaitTimeout, [&](const Claim& c) {
          return c.timed && wait_timer(c.queued) == timer.id && timer.generation == Generation(0);
        });
      }
    }
    settle();
  }

 private:
  void answer(Sequence sequence, Code code, Token token = {}) {
    ASSERT_TRUE(answers.emplace(sequence, std::pair(code, token)).second) << "INV_L08: a second answer";
  }
  template <typename Match>
  void finish(std::deque<Claim>& queue, Code code, Match match) {
    for (const Claim& claim : queue) {
      if (match(claim)) answer(claim.request, code);
    }
    std::erase_if(queue, match);
  }
  bool release(SessionId session, const std::string& name, Token token) {
    const auto found = locks.find(name);
    if (found == locks.end()) return false;
    return std::erase_if(found->second.hold, [&](const Claim& c) { return c.session == session && c.token == token; }) != 0;
  }
  static bool lets_go(const Request& request) {
    return std::get_if<CloseSession>(&request.body) || std::get_if<Release>(&request.body) ||
           std::get_if<CancelAcquire>(&request.body);
  }
  Code resume(const ResumeSession& body, Sequence sequence) {
    const auto found = sessions.find(body.id);
    if (found == sessions.end()) return Code::SessionNotFound;
    if (body.secret != "s") return Code::PermissionDenied;
    if (found->second.ending) return Code::SessionNotFound;
    found->second.generation = found->second.generation.next();
    found->second.resumed_by = sequence;
    end_waits(body.id);
    return Code::Ok;
  }
  void mark_ending(SessionId id) {
    const auto found = sessions.find(id);
    if (found == sessions.end() || std::exchange(found->second.ending, true)) return;
    end_waits(id);
  }
  SessionId holder_of(const std::string& name, Token token) const {
    const auto found = locks.find(name);
    if (found == locks.end()) return {};
    for (const Claim& claim : found->second.hold) {
      if (claim.token == token) return claim.session;
    }
    return {};
  }
  void end_waits(SessionId session) {
    for (auto& [name, lock] : locks) {
      finish(lock.queue, Code::Lost, [&](const Claim& claim) { return claim.session == session; });
    }
  }
  void end(SessionId session) {
    sessions.erase(session);
    const auto of_session = [&](const Claim& claim) { return claim.session == session; };
    for (auto& [name, lock] : locks) {
      finish(lock.queue, Code::Lost, of_session);
      std::erase_if(lock.hold, of_session);
    }
  }
  void acquire(const Acquire& body, Sequence sequence, Index index) {
    Lock& lock = locks[body.name];
    const auto same = [&](const Claim& c) { return c.session == body.session && c.tag == body.owner_tag; };
    if (const auto own = std::ranges::find_if(lock.hold, same); own != lock.hold.end()) {
      return answer(sequence, Code::AlreadyHeld, own->token);
    }
    if (std::ranges::any_of(lock.queue, same)) return answer(sequence, Code::AlreadyWaiting);
    if (!lock.hold.empty() && body.wait.kind == Wait::Kind::None) return answer(sequence, Code::Held);
    const bool timed = body.wait.kind == Wait::Kind::Timed;
    lock.queue.push_back({body.session, body.owner_tag, sequence, index, {}, timed});
  }
  void cancel(const CancelAcquire& body, Sequence sequence) {
    const auto meant = [&](const Claim& c) {
      return c.session == body.session && c.tag == body.owner_tag && c.request == body.acquire.sequence;
    };
    if (const auto found = locks.find(body.name); found != locks.end()) {
      if (const auto hold = std::ranges::find_if(found->second.hold, meant); hold != found->second.hold.end()) {
        return answer(sequence, Code::Granted, hold->token);
      }
      if (std::ranges::any_of(found->second.queue, meant)) {
        finish(found->second.queue, Code::Cancelled, meant);
        return answer(sequence, Code::Cancelled);
      }
    }
    if (body.acquire.sequence >= sequence) return answer(sequence, Code::NotFound);
    cancelled.insert(body.acquire.sequence);
    answer(sequence, Code::Cancelled);
  }
  void settle() {
    for (;;) {
      Lock* best = nullptr;
      for (auto& [name, lock] : locks) {
        if (!lock.hold.empty() || lock.queue.empty()) continue;
        if (!best || lock.queue.front().queued < best->queue.front().queued) best = &lock;
      }
      if (!best) break;
      best->hold.push_back(best->queue.front());
      best->queue.pop_front();
      best->hold.back().token = Token(++last);
      answer(best->hold.back().request, Code::Granted, best->hold.back().token);
    }
    std::erase_if(locks, [](const auto& each) { return each.second.hold.empty() && each.second.queue.empty(); });
  }
};

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {}

  void step() {
    index_ = index_.next();
    if (random_.below(10) == 0) return fire();
    const Sequence sequence = some_sequence();
    const Request request = some_request(sequence);
    const std::string payload = encode(request);
    if (!std::holds_alternative<Put>(request.body) && !std::holds_alternative<Delete>(request.body)) {
      model_.run(request, sequence, index_);
    } else {
      model_.cancelled.erase(sequence);
    }
    const Command command{index_, {kOrigin, sequence}, payload};
    everywhere([&](Machine& machine, ApplyOutput& output) { machine.apply({&command, 1}, output); });
  }

  void compare() {
    ASSERT_EQ(machine_.digest(), machine_.recomputed_digest());
    ASSERT_EQ(machine_.digest(), never_stored_.digest()) << "checkpoints must not show";
    ASSERT_EQ(machine_.lock_names(), model_.locks.size());
    ASSERT_EQ(machine_.sessions(), model_.sessions.size());
    ASSERT_EQ(machine_.last_token(), model_.last);
    // A copy restored from the incremental rows is the same machine.
    CheckpointBatch batch;
    machine_.checkpoint(batch);
    view_.add(batch);
    copy_ = Machine("m1");
    const absl::Status restored = copy_.restore(view_);
    ASSERT_TRUE(restored.ok()) << restored;
    ASSERT_EQ(copy_.digest(), machine_.digest());
    copy_.verify();
    std::vector<TimerOp> timers, copied;
    machine_.timers(timers);
    copy_.timers(copied);
    ASSERT_EQ(timers, copied);
    ASSERT_EQ(armed_, timers) << "the timers are what the operations said";
    CheckpointBatch nothing;
    copy_.checkpoint(nothing);
    ASSERT_TRUE(nothing.rows.empty()) << "a restored machine is clean";
  }

  void found() {
    machine_.found(ClusterId(5), kBase);
    never_stored_.found(ClusterId(5), kBase);
    copy_.found(ClusterId(5), kBase);
  }

 private:
  // Runs one entry on the machine, its restored copy and one that never takes checkpoints: all say the same.
  template <typename Run>
  void everywhere(Run run) {
    ApplyOutput output, copied, unstored;
    run(machine_, output);
    run(copy_, copied);
    run(never_stored_, unstored);
    const Produced produced = Produced::from(output);
    ASSERT_EQ(produced, Produced::from(copied));
    ASSERT_EQ(produced, Produced::from(unstored));
    ASSERT_EQ(copy_.digest(), machine_.digest());
    Model::Answers finals;
    for (const auto& answer : produced.answers) {
      if (answer.stage == ApplyOutput::Stage::Queued) continue;
      const Code code = answer.result.code;
      finals.emplace(answer.sequence, std::pair(code, answer.result.token));
      if (answer.result.session) sessions_.push_back(answer.result.session);
    }
    std::erase_if(finals, [&](const auto& each) { return keys_.contains(each.first); });
    ASSERT_EQ(finals, model_.answers);
    model_.answers.clear();
    for (const TimerOp& op : produced.timer_ops) apply_timer(op);
  }

  void apply_timer(const TimerOp& op) {
    std::erase_if(armed_, [&](const TimerOp& each) { return each.id == op.id; });
    if (op.kind == TimerOp::Kind::Arm) {
      armed_.insert(std::ranges::lower_bound(armed_, op.id, {}, &TimerOp::id), op);
    }
  }

  void fire() {
    std::vector<FiredTimer> timers;
    for (const TimerOp& op : armed_) {
      if (random_.below(6) == 0)
        timers.push_back({op.id, random_.below(4) == 0 ? Generation(random_.below(5)) : op.generation});
    }
    model_.fire(timers);
    everywhere([&](Machine& machine, ApplyOutput& output) { machine.fire(index_, timers, output); });
  }

  // Mostly the next one; sometimes one kept back arrives late.
  Sequence some_sequence() {
    if (!late_.empty() && random_.below(3) == 0) {
      const Sequence sequence = late_.back();
      late_.pop_back();
      return sequence;
    }
    if (random_.below(15) == 0) {
      next_ = next_.next();
      late_.push_back(next_);
    }
    return next_ = next_.next();
  }

  Request some_request(Sequence sequence) {
    const SessionId session = sessions_.empty() ? SessionId(1) : sessions_[random_.below(sessions_.size())];
    const std::string name(1, static_cast<char>('a' + random_.below(4)));
    const std::string tag = random_.below(4) == 0 ? "t" : "";
    std::vector<PriorRelease> prior;
    if (random_.below(6) == 0) prior.push_back({name, token_on(name)});
    switch (random_.below(16)) {
      case 0: return {open(5s, "m"), {}};
      case 1: return model_.sessions.size() < 3 ? Request{open(1s, ""), {}} : Request{CloseSession{session}, prior};
      case 2: keys_.insert(sequence); return {Put{name, tag}, {}};
      case 3: keys_.insert(sequence); return {Delete{name}, {}};
      case 4:
      case 5: {
        const Sequence target =
            !late_.empty() && random_.below(2) == 0 ? late_.back() : Sequence(1 + random_.below(next_.value()));
        return {CancelAcquire{session, tag, name, {kOrigin, target}}, prior};
      }
      case 6:
      case 7:
      case 8: return {Release{session, std::nullopt, name, token_on(name)}, prior};
      case 9:
        if (random_.below(3) != 0) break;
        return random_.below(2) == 0 ? Request{KillSession{session}, {}} : Request{ForceRelease{name, token_on(name)}, {}};
      case 10:
        if (random_.below(2) == 0) return {ResumeSession{session, random_.below(5) == 0 ? "t" : "s", false}, {}};
        break;
      default: break;
    }
    const Wait wait = random_.below(3) == 0 ? Wait::none() : random_.below(2) == 0 ? Wait::timed(1s) : Wait::forever();
    return {Acquire{session, tag, name, wait, "v", 0}, prior};
  }

  static OpenSession open(Duration ttl, std::string metadata) {
    return {ttl, std::move(metadata), kOrigin.replica, kOrigin.boot, kOrigin.store.value(), lease::hash_of_secret("s")};
  }

  Token token_on(const std::string& name) {
    const auto found = model_.locks.find(name);
    return found == model_.locks.end() ? Token(7) : found->second.hold.empty() ? Token(8) : found->second.hold.front().token;
  }

  Random random_;
  Machine machine_{"m1"}, copy_{"m1"}, never_stored_{"m1"};
  Model model_;
  RowsView view_;
  Index index_;
  Sequence next_;
  std::vector<Sequence> late_;
  std::set<Sequence> keys_;  // requests of the key-value part, which the model leaves out
  std::vector<SessionId> sessions_;
  std::vector<TimerOp> armed_;
};

TEST(MachineRandomTest, S48_INV_L08_REG_F73_RandomEntriesMatchTheModelAndACopyRestoredBeforeEachOfThem) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed);
    run.found();
    for (int step = 0; step < 400; ++step) {
      ASSERT_NO_FATAL_FAILURE(run.step()) << step;
      ASSERT_NO_FATAL_FAILURE(run.compare()) << step;
    }
  }
}

}  // namespace
}  // namespace coordkit::machine
