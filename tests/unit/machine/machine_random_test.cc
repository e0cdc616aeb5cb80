// The machine against a naive model of locks and sessions, and against copies of itself restored from its
// checkpoint before every single entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/random.h"
#include "tests/unit/lock/naive_table.h"
#include "tests/unit/machine/driver.h"

namespace coordkit::machine {
namespace {

using namespace std::chrono_literals;
using Code = ResultCode;

// Sessions, requests and answers over the naive lock table. It predicts the final answers of every entry.
class Model {
 public:
  using Answers = std::map<Sequence, std::pair<Code, Token>>;
  using Claim = lock::NaiveTable::Claim;

  struct Session {
    Generation generation;
    bool ending = false;
    Sequence resumed_by;
  };
  lock::NaiveTable locks;
  std::map<SessionId, Session> sessions;
  std::set<Sequence> cancelled;
  Answers answers;

  void run(const Request& request, Sequence sequence, Index index) {
    const bool marked = cancelled.erase(sequence) != 0;
    const SessionId session = session_of(request);
    if (session && !sessions.contains(session)) return answer(sequence, Code::SessionNotFound);
    if (session && sequence <= sessions.at(session).resumed_by) return answer(sequence, Code::Lost);
    if (session && sessions.at(session).ending && !is_release(request)) return answer(sequence, Code::Lost);
    for (const PriorRelease& prior : request.prior_releases) release(session, prior);
    decide_waits();
    if (marked) return answer(sequence, Code::Cancelled);
    std::visit([&](const auto& body) { execute(body, sequence, index); }, request.body);
    decide_waits();
  }

  void fire(const std::vector<FiredTimer>& timers) {
    std::set<SessionId> dead;
    for (const FiredTimer& timer : timers) {
      const auto session = sessions.find(SessionId(timer.id.value()));
      if (session != sessions.end() && session->second.generation == timer.generation) dead.insert(session->first);
    }
    std::erase_if(locks.delays, [&](const auto& delay) {
      return std::ranges::any_of(timers, [&](const auto& timer) {
        return timer.id == delay_timer(delay.second.first) && timer.generation == Generation(0);
      });
    });
    for (const SessionId session : dead) end(session, true);
    for (const FiredTimer& timer : timers) {
      finish(Code::WaitTimeout,
             [&](const Claim& c) { return c.timed && wait_timer(c.queued) == timer.id && timer.generation == Generation(0); });
    }
    decide_waits();
  }

 private:
  void answer(Sequence sequence, Code code, Token token = {}) {
    ASSERT_TRUE(answers.emplace(sequence, std::pair(code, token)).second) << "INV_L08: a second answer";
  }
  template <typename Match>
  bool finish(Code code, Match match) {
    const auto meant = [&](const Claim& claim) { return !claim.held() && match(claim); };
    for (const Claim& claim : locks.claims) {
      if (meant(claim)) answer(claim.request, code);
    }
    return std::erase_if(locks.claims, meant) != 0;
  }
  static bool is_release(const Request& request) {
    return std::get_if<CloseSession>(&request.body) || std::get_if<Release>(&request.body) ||
           std::get_if<CancelAcquire>(&request.body);
  }
  void execute(const ResumeSession& body, Sequence sequence, Index) {
    const auto found = sessions.find(body.id);
    if (found == sessions.end()) return answer(sequence, Code::SessionNotFound);
    if (body.secret != "s") return answer(sequence, Code::PermissionDenied);
    if (found->second.ending) return answer(sequence, Code::SessionNotFound);
    found->second.generation = found->second.generation.next();
    found->second.resumed_by = sequence;
    end_waits(body.id);
    locks.renew(body.id);
    answer(sequence, Code::Ok);
  }
  void execute(const KillSession& kill, Sequence sequence, Index) {
    answer(sequence, sessions.contains(kill.victim) ? Code::Ok : Code::SessionNotFound);
    mark_ending(kill.victim);
  }
  void execute(const ForceRelease& force, Sequence sequence, Index) {
    const Claim* hold = force.token ? locks.find(force.token) : nullptr;
    const bool there = hold && locks.mode_of(*hold, force.name);
    const SessionId holder = there ? hold->owner.first : SessionId();
    answer(sequence, there ? Code::Ok : Code::NotOwner);
    mark_ending(holder);
  }
  void mark_ending(SessionId id) {
    const auto found = sessions.find(id);
    if (found == sessions.end() || std::exchange(found->second.ending, true)) return;
    end_waits(id);
  }
  void end_waits(SessionId session) {
    finish(Code::Lost, [session](const Claim& claim) { return claim.owner.first == session; });
  }
  void end(SessionId session, bool expired) {
    sessions.erase(session);
    finish(Code::Lost, [session](const Claim& claim) { return claim.owner.first == session; });
    locks.end(session, expired);
  }
  void decide_waits() {
    const std::vector<Claim> before = locks.claims;
    for (const auto& [queued, token] : locks.decide_waits()) {
      for (const Claim& claim : before) {
        if (!claim.held() && claim.queued == queued) answer(claim.request, Code::Granted, token);
      }
    }
  }
  Claim* hold_of(SessionId session, const std::string& name, Token token) {
    Claim* claim = token ? locks.find(token) : nullptr;
    return claim && claim->owner.first == session && locks.mode_of(*claim, name) ? claim : nullptr;
  }
  bool release(SessionId session, const auto& named) {
    Claim* hold = hold_of(session, named.name, named.token);
    if (!hold) return false;
    const uint64_t done = named.number == 0 ? hold->releases + 1 : std::max(named.number, hold->releases);
    const uint64_t counts = done - hold->releases;
    if (counts >= hold->count) {
      std::erase_if(locks.claims, [&](const Claim& each) { return each.token == named.token; });
    } else {
      hold->count -= static_cast<uint32_t>(counts);
      hold->releases = done;
    }
    return true;
  }

  void execute(const OpenSession&, Sequence sequence, Index) {
    sessions[SessionId(++locks.last)] = {};
    answer(sequence, Code::Ok);
  }
  void execute(const CloseSession& close, Sequence sequence, Index) {
    end(close.session, false);
    answer(sequence, Code::Ok);
  }
  void execute(const Release& body, Sequence sequence, Index) {
    answer(sequence, release(body.session, body) ? Code::Ok : Code::NotOwner);
  }
  void execute(const UpdateValue& update, Sequence sequence, Index) {
    Claim* hold = hold_of(update.session, update.name, update.token);
    if (Claim* sticky = locks.delegation(update.name)) {
      const bool current = locks.may_be_current(*sticky, update.token.value());
      hold = sticky->owner.first == update.session && current ? sticky : nullptr;
      if (hold) hold->newest = update.token.value();
    }
    answer(sequence, hold ? Code::Ok : Code::NotOwner);
  }
  void execute(const RefillBlock& refill, Sequence sequence, Index) {
    Claim* hold = hold_of(refill.session, refill.name, refill.token);
    if (!hold || hold->block == 0) return answer(sequence, Code::NotOwner);
    ++locks.last;
    locks.fill(*hold);
    answer(sequence, Code::Granted, Token(hold->first));
  }
  static uint64_t block_of(const Acquire& acquire) { return acquire.block; }
  static uint64_t block_of(const AcquireAll&) { return 0; }
  void execute(const ClearDelay& clear, Sequence sequence, Index) {
    answer(sequence, locks.delays.erase(clear.name) != 0 ? Code::Ok : Code::NotFound);
  }
  void execute(const Acquire& acquire, Sequence sequence, Index index) {
    attempt({{acquire.name, acquire.mode}}, acquire, sequence, index);
  }
  void execute(const AcquireAll& acquire, Sequence sequence, Index index) {
    std::vector<std::pair<std::string, LockMode>> names;
    for (const NamedLock& wanted : acquire.locks) names.emplace_back(wanted.name, wanted.mode);
    attempt(names, acquire, sequence, index);
  }
  void attempt(const std::vector<std::pair<std::string, LockMode>>& names, const auto& body, Sequence sequence, Index index) {
    const lock::NaiveTable::Owner owner{body.session, body.owner_tag};
    const bool reentrant = (body.flags & kReentrant) != 0;
    for (const auto& [name, mode] : names) {
      Claim* own = locks.find(owner, name);
      if (!own && block_of(body) != 0) own = locks.find(owner, name, /*sticky=*/true);
      if (!own) continue;
      if (!own->held()) return answer(sequence, Code::AlreadyWaiting);
      const bool again = reentrant && own->reentrant && own->names.front().second == mode;
      if (again) ++own->count;
      return answer(sequence, again ? Code::Granted : Code::AlreadyHeld, own->token);
    }
    Claim claim{.owner = owner,
                .names = names,
                .queued = index,
                .timed = body.wait.kind == Wait::Kind::Timed,
                .delay = body.delay,
                .reentrant = reentrant,
                .block = block_of(body),
                .request = sequence};
    if (!locks.grantable(claim)) {
      if (body.wait.kind == Wait::Kind::None) {
        const Code code = refusal(claim);
        if (code == Code::Held) ask_for(claim);
        return answer(sequence, code);
      }
      const bool checked = (body.flags & kNoDeadlockCheck) == 0;
      if (checked && locks.cycle(owner, locks.in_the_way(claim))) return answer(sequence, Code::Deadlock);
      ask_for(claim);
    }
    locks.claims.push_back(claim);
  }
  void ask_for(const Claim& claim) {
    for (const auto& [name, mode] : claim.names) locks.ask(name);
  }
  // The first blocking name decides.
  Code refusal(const Claim& claim) const {
    for (const auto& name : claim.names) {
      if (locks.delays.contains(name.first)) return Code::Delayed;
      if (!locks.grantable({.names = {name}, .queued = claim.queued})) return Code::Held;
    }
    return Code::Granted;
  }
  void execute(const Downgrade& down, Sequence sequence, Index) {
    convert(hold_of(down.session, down.name, down.token), LockMode::Exclusive, Code::Granted, sequence);
  }
  void execute(const Upgrade& up, Sequence sequence, Index) {
    Claim* hold = hold_of(up.session, up.name, up.token);
    Code code = locks.delays.contains(up.name) ? Code::Delayed : Code::Granted;
    for (const Claim& other : locks.claims) {
      if (other.held() && other.token != up.token && locks.mode_of(other, up.name)) code = Code::UpgradeConflict;
    }
    if (hold && code == Code::Granted && hold->names.front().second == LockMode::Shared) {
      hold->names.front().second = LockMode::Exclusive;
      if (locks.cycle(hold->owner, locks.all_in_the_way(hold->owner))) code = Code::Deadlock;
      hold->names.front().second = LockMode::Shared;
    }
    convert(hold, LockMode::Shared, code, sequence);
  }
  void convert(Claim* hold, LockMode from, Code code, Sequence sequence) {
    if (!hold) return answer(sequence, Code::NotOwner);
    const bool simple = hold->count == 1 && hold->names.size() == 1 && hold->names.front().second == from && hold->block == 0;
    if (!simple) return answer(sequence, Code::InvalidArgument);
    if (code != Code::Granted) return answer(sequence, code);
    hold->names.front().second = from == LockMode::Shared ? LockMode::Exclusive : LockMode::Shared;
    hold->token = Token(++locks.last);
    answer(sequence, code, hold->token);
  }
  void execute(const CancelAcquire& body, Sequence sequence, Index) {
    const Claim* claim = locks.find({body.session, body.owner_tag}, body.name);
    if (!claim || claim->request != body.acquire.sequence) {
      claim = locks.find({body.session, body.owner_tag}, body.name, /*sticky=*/true);
    }
    if (claim && claim->request == body.acquire.sequence) {
      if (claim->held()) return answer(sequence, Code::Granted, claim->token);
      finish(Code::Cancelled, [&](const Claim& each) { return each.request == body.acquire.sequence; });
      return answer(sequence, Code::Cancelled);
    }
    if (body.acquire.sequence >= sequence) return answer(sequence, Code::NotFound);
    cancelled.insert(body.acquire.sequence);
    answer(sequence, Code::Cancelled);
  }
  void execute(const auto&, Sequence, Index) {}  // the key-value part, which is left out
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
    ASSERT_EQ(machine_.lock_names(), model_.locks.names().size());
    ASSERT_EQ(machine_.sessions(), model_.sessions.size());
    ASSERT_EQ(machine_.last_token(), model_.locks.last);
    // A copy restored from the incremental rows is the same machine.
    CheckpointBatch batch;
    machine_.checkpoint(batch);
    view_.add(batch);
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

  void bootstrap() {
    model_.locks.last = kBase;
    machine_.bootstrap(ClusterId(5), kBase);
    never_stored_.bootstrap(ClusterId(5), kBase);
    copy_.bootstrap(ClusterId(5), kBase);
  }

 private:
  // Runs one entry on the machine, its restored copy and one that never takes checkpoints: all must agree.
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

  // Usually the next one; sometimes one held back arrives late.
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
    if (random_.below(6) == 0) prior.push_back({name, token_on(name), random_.below(3)});
    switch (random_.below(24)) {
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
      case 8: return {Release{owner_on(name), std::nullopt, name, token_on(name), random_.below(4)}, prior};
      case 9: return {Downgrade{owner_on(name), std::nullopt, name, token_on(name)}, prior};
      case 10: return {Upgrade{owner_on(name), std::nullopt, name, token_on(name)}, prior};
      case 11: return {UpdateValue{owner_on(name), std::nullopt, name, token_on(name), tag + "!"}, prior};
      case 12: return {ClearDelay{name}, {}};
      case 13:
        if (random_.below(3) != 0) break;
        return random_.below(2) == 0 ? Request{KillSession{session}, {}} : Request{ForceRelease{name, token_on(name)}, {}};
      case 14:
        if (random_.below(2) == 0) return {ResumeSession{session, random_.below(5) == 0 ? "t" : "s", false}, {}};
        break;
      default: break;
    }
    const Wait wait = random_.below(3) == 0 ? Wait::none() : random_.below(2) == 0 ? Wait::timed(1s) : Wait::forever();
    const LockMode mode = some_mode();
    const Duration delay = random_.below(3) == 0 ? Duration(1s) : Duration(0);
    if (random_.below(5) == 0) return {RefillBlock{owner_on(name), name, token_on(name)}, prior};
    const uint64_t unchecked = random_.below(4) == 0 ? kNoDeadlockCheck : 0;
    if (random_.below(3) == 0) {
      std::vector<NamedLock> locks{{name, mode}};
      for (uint64_t more = random_.below(3); more > 0; --more) {
        locks.push_back({std::string(1, static_cast<char>(locks.back().name[0] + 1)), some_mode()});
      }
      return {AcquireAll{session, tag, locks, wait, {"v"}, unchecked, delay}, prior};
    }
    if (random_.below(3) == 0) {
      return {Acquire{session, tag, name, wait, {"v"}, unchecked, LockMode::Exclusive, delay, random_.between(1, 50)}, prior};
    }
    return {Acquire{session, tag, name, wait, {"v"}, unchecked | random_.below(2), mode, delay}, prior};
  }

  static OpenSession open(Duration ttl, std::string metadata) {
    return {ttl, std::move(metadata), kOrigin.replica, kOrigin.boot, kOrigin.store.value(), lease::hash_of_secret("s")};
  }

  LockMode some_mode() { return random_.below(2) == 0 ? LockMode::Shared : LockMode::Exclusive; }
  const Model::Claim* hold_on(const std::string& name) const {
    for (const Model::Claim& claim : model_.locks.claims) {
      if (claim.held() && lock::NaiveTable::mode_of(claim, name)) return &claim;
    }
    return nullptr;
  }
  Token token_on(const std::string& name) const {
    const Model::Claim* hold = hold_on(name);
    return hold ? hold->token : Token(7);
  }
  // Usually its holder.
  SessionId owner_on(const std::string& name) {
    const Model::Claim* hold = hold_on(name);
    if (hold && random_.below(4) != 0) return hold->owner.first;
    return sessions_.empty() ? SessionId(1) : sessions_[random_.below(sessions_.size())];
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

// Covers: S-48 INV_L08 REG_F73
TEST(MachineRandomTest, RandomEntriesMatchTheModelAndACopyRestoredBeforeEachOfThem) {
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun run(seed);
    run.bootstrap();
    for (int step = 0; step < 400; ++step) {
      ASSERT_NO_FATAL_FAILURE(run.step()) << step;
      ASSERT_NO_FATAL_FAILURE(run.compare()) << step;
    }
  }
}

}  // namespace
}  // namespace coordkit::machine
