// The naive twin of the checker: all orders, one after the other. Its objects are written again, to be obviously right;
// none of the models is asked. Where a caller does not know a number, all small ones are tried.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "check/fenced_mutex_model.h"
#include "check/kv_model.h"
#include "check/mutex_model.h"
#include "check/queue_model.h"
#include "check/register_model.h"
#include "check/rw_lock_model.h"
#include "check/semaphore_check.h"
#include "check/transaction_model.h"

namespace coordkit::check {

inline constexpr uint64_t kNumberMost = 24;  // revisions and tokens tried

// Some order of the operations from `state` on that respects real time. `next(state, op)` gives all states after it.
template <typename Twin, typename State, typename Op>
bool naive_order_exists(const State& state, const std::vector<Op>& operations, std::vector<bool>& done) {
  bool all = true;
  for (size_t i = 0; i < operations.size(); ++i) all = all && (done[i] || !operations[i].certain());
  if (all) return true;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (done[i] || operations[i].outcome == Outcome::Refused) continue;
    bool too_early = false;
    for (size_t j = 0; j < operations.size(); ++j) {
      too_early = too_early || (!done[j] && operations[j].certain() && operations[j].end < operations[i].call);
    }
    if (too_early) continue;
    done[i] = true;
    for (const State& after : Twin::next(state, operations[i])) {
      if (naive_order_exists<Twin>(after, operations, done)) return done[i] = false, true;
    }
    done[i] = false;
  }
  return false;
}

template <typename Twin>
bool naive_linearizable(const std::vector<Operation<typename Twin::Model::Call>>& operations) {
  std::map<std::string, std::vector<Operation<typename Twin::Model::Call>>> parts;
  for (const auto& op : operations) parts[Twin::Model::kByKey ? op.key : ""].push_back(op);
  for (const auto& [key, part] : parts) {
    std::vector<bool> done(part.size());
    if (!naive_order_exists<Twin>(typename Twin::State(), part, done)) return false;
  }
  return true;
}

inline std::string small_value(Random& random) { return std::to_string(random.below(3)); }

// Each twin: draw(random) a call, answer(state, call) as the object would, spoil(call) an answer, next(state, op).

struct RegisterTwin {
  using Model = RegisterModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  using State = std::string;  // "null" at first: never written
  struct First {};
  static std::string now(const State& s) { return s.empty() ? "null" : s; }
  static std::string of(const Model::Value& value) { return value.value_or("null"); }
  static Call draw(Random& random, const std::string&) {
    Call call;
    call.kind = static_cast<Model::Kind>(random.below(3));
    call.value = small_value(random);
    if (call.kind == Model::Kind::Cas) call.expected = small_value(random);
    return call;
  }
  static void answer(State& state, Call& call) {
    if (call.kind == Model::Kind::Read) call.value = state.empty() ? Model::Value() : state;
    if (call.kind == Model::Kind::Cas) call.swapped = now(state) == of(call.expected);
    if (call.kind == Model::Kind::Write || call.swapped) state = *call.value;
  }
  static void spoil(Call& call, Random& random) {
    if (call.kind == Model::Kind::Read) call.value = small_value(random);
    if (call.kind == Model::Kind::Cas) call.swapped = !call.swapped;
  }
  static std::vector<State> next(const State& state, const Op& op) {
    const Call& call = op.what;
    if (call.kind == Model::Kind::Write) return {of(call.value)};
    const bool equal = now(state) == of(call.kind == Model::Kind::Read ? call.value : call.expected);
    if (call.kind == Model::Kind::Read) return equal || !op.certain() ? std::vector{state} : std::vector<State>{};
    if (op.certain() && call.swapped != equal) return {};
    return {equal ? of(call.value) : state};
  }
};

struct KvTwin {
  using Model = KvModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  struct State {
    bool present = false;
    std::string value;
    uint64_t create = 0, mod = 0, version = 0, revision = 0;
  };
  static Call draw(Random& random, const std::string&) {
    Call call;
    call.kind = static_cast<Model::Kind>(random.below(3));
    if (call.kind == Model::Kind::Put) call.value = small_value(random);
    return call;
  }
  static void change(State& state, const Call& call, uint64_t revision) {
    const bool puts = call.kind == Model::Kind::Put;
    if (puts && !state.present) state.create = revision;
    state.version = puts ? (state.present ? state.version + 1 : 1) : 0;
    state.present = puts;
    state.value = puts ? call.value : "";
    state.mod = state.revision = revision;
    if (!puts) state.create = 0;
  }
  static void answer(State& state, Call& call) {
    const bool was = state.present;
    if (call.kind == Model::Kind::Put || (call.kind == Model::Kind::Delete && was)) change(state, call, state.revision + 1);
    if (call.kind == Model::Kind::Delete) call.deleted = was ? 1 : 0;
    call.revision = state.revision;
    if (call.kind != Model::Kind::Get) return;
    call.found = state.present;
    call.value = state.value;
    if (state.present) call.create = state.create, call.mod = state.mod, call.version = state.version;
  }
  static void spoil(Call& call, Random& random) {
    const uint64_t which = random.below(5);
    if (which == 0 && call.revision) call.revision = *call.revision == 0 ? 1 : *call.revision + 1 - 2 * random.below(2);
    if (call.kind == Model::Kind::Delete && which == 1) call.deleted = 1 - *call.deleted;
    if (call.kind != Model::Kind::Get || !call.found) return;
    if (which == 1) call.value = small_value(random);
    if (which == 2) call.version = *call.version + 1;
    if (which == 3) call.mod = *call.mod - 1;
    if (which == 4) call.create = *call.create + 1;
    if (random.chance(0.2)) call.mod.reset(), call.create.reset();
    if (random.chance(0.2)) call.revision.reset();
  }
  // The store may have moved on by other keys before each operation.
  static std::vector<State> next(const State& state, const Op& op) {
    const Call& call = op.what;
    std::vector<State> after;
    const uint64_t low = op.certain() && call.revision ? *call.revision : 0;
    const uint64_t high = op.certain() && call.revision ? *call.revision : kNumberMost;
    const bool changes = call.kind == Model::Kind::Put || (call.kind == Model::Kind::Delete && state.present);
    for (uint64_t revision = low; revision <= high; ++revision) {
      State s = state;
      if (changes ? revision <= s.revision : revision < s.revision) continue;
      if (changes) change(s, call, revision);
      s.revision = revision;
      if (!op.certain()) {
        if (changes) after.push_back(s);
        continue;
      }
      bool right = true;
      if (call.kind == Model::Kind::Delete && call.deleted) right = *call.deleted == (state.present ? 1 : 0);
      if (call.kind == Model::Kind::Get) {
        right = call.found == s.present;
        if (s.present) {
          right = right && call.value == s.value && call.mod.value_or(s.mod) == s.mod &&
                  call.create.value_or(s.create) == s.create && call.version.value_or(s.version) == s.version;
        }
      }
      if (right) after.push_back(s);
      if (right && !changes && !call.revision) break;  // later is no better
    }
    return after;
  }
};

struct TransactionTwin {
  using Model = TransactionModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  using State = std::pair<uint64_t, std::map<std::string, Model::Entry>>;  // revision above 1, entries
  static std::string some_key(Random& random) { return random.chance(0.5) ? "x" : "y"; }
  static std::vector<Model::Part> some_parts(Random& random) {
    std::vector<Model::Part> parts;
    for (const char* key : {"x", "y"}) {
      if (random.chance(0.6)) parts.push_back({static_cast<Model::Part::Kind>(random.below(3)), key, ""});
      if (!parts.empty() && parts.back().kind == Model::Part::Kind::Put) parts.back().value = small_value(random);
    }
    if (random.chance(0.3)) parts.push_back({Model::Part::Kind::Get, some_key(random), ""});
    return parts;
  }
  static Call draw(Random& random, const std::string& key) {
    Call call;
    call.alone = random.chance(0.4);
    if (call.alone) {
      call.then_parts = {{static_cast<Model::Part::Kind>(random.below(3)), key, ""}};
      if (call.then_parts[0].kind == Model::Part::Kind::Put) call.then_parts[0].value = small_value(random);
      return call;
    }
    for (uint64_t i = random.below(3); i > 0; --i) {
      Model::Compare compare{some_key(random), static_cast<Model::Target>(random.below(4)), Model::Relation::Equal, "", 0};
      if (compare.target == Model::Target::Value) {
        compare.value = small_value(random);
        compare.relation = static_cast<Model::Relation>(random.below(2));
      } else {
        compare.number = random.below(4);
        compare.relation = static_cast<Model::Relation>(random.below(4));
      }
      call.compares.push_back(compare);
    }
    call.then_parts = some_parts(random);
    call.else_parts = call.compares.empty() ? std::vector<Model::Part>{} : some_parts(random);
    return call;
  }
  static bool holds(const State& state, const Model::Compare& compare) {
    const auto it = state.second.find(compare.key);
    const Model::Entry entry = it == state.second.end() ? Model::Entry{} : it->second;
    if (compare.target == Model::Target::Value) {
      if (it == state.second.end()) return false;
      return (entry.value == compare.value) == (compare.relation == Model::Relation::Equal);
    }
    const uint64_t n = compare.target == Model::Target::Version  ? entry.version
                       : compare.target == Model::Target::Create ? entry.create
                                                                 : entry.mod;
    switch (compare.relation) {
      case Model::Relation::Equal: return n == compare.number;
      case Model::Relation::NotEqual: return n != compare.number;
      case Model::Relation::Less: return n < compare.number;
      default: return n > compare.number;
    }
  }
  static void answer(State& state, Call& call) {
    bool succeeded = true, changed = false;
    for (const Model::Compare& compare : call.compares) succeeded = succeeded && holds(state, compare);
    const uint64_t revision = state.first + 2;
    call.succeeded = succeeded;
    call.results.clear();
    for (const Model::Part& part : succeeded ? call.then_parts : call.else_parts) {
      Model::Result& result = call.results.emplace_back();
      const auto it = state.second.find(part.key);
      const bool there = it != state.second.end();
      if (part.kind == Model::Part::Kind::Put) {
        Model::Entry& entry = state.second[part.key];
        entry = {part.value, there ? entry.create : revision, revision, entry.version + 1};
        changed = true;
      } else if (part.kind == Model::Part::Kind::Delete) {
        result.deleted = there ? 1 : 0;
        if (there) state.second.erase(it), changed = true;
      } else {
        result.found = there;
        if (there) {
          result.value = it->second.value;
          result.create = it->second.create;
          result.mod = it->second.mod;
          result.version = it->second.version;
        }
      }
    }
    if (changed) ++state.first;
    call.revision = state.first + 1;
  }
  static void spoil(Call& call, Random& random) {
    const uint64_t which = random.below(5);
    if (which == 0) call.revision = *call.revision + 1 - 2 * random.below(2);
    if (which == 1 && !call.alone) call.revision.reset();
    if (which == 2 && !call.compares.empty() && !call.alone) call.results.clear(), call.succeeded.reset();
    if (which == 3 && !call.alone) call.results.clear();
    if (call.results.empty() || which < 4) return;
    Model::Result& result = call.results[random.below(call.results.size())];
    if (result.deleted) result.deleted = 1 - *result.deleted;
    if (result.found && *result.found) result.value = small_value(random);
  }
  static std::vector<State> next(const State& state, const Op& op) {
    State after = state;
    Call call = op.what;
    answer(after, call);
    if (!op.certain()) return {after};
    bool right = op.what.revision.value_or(*call.revision) == *call.revision &&
                 op.what.succeeded.value_or(*call.succeeded) == *call.succeeded;
    if (!op.what.results.empty()) right = right && op.what.results == call.results;
    return right ? std::vector{after} : std::vector<State>{};
  }
};

struct MutexTwin {
  using Model = MutexModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  using State = std::string;  // holder
  static Call draw(Random& random, const std::string&) {
    return {random.chance(0.55), true, std::string(1, static_cast<char>('a' + random.below(3)))};
  }
  static void answer(State& state, Call& call) {
    if (call.acquires) call.granted = state.empty();
    if (call.acquires && call.granted) state = call.owner;
    if (!call.acquires && state == call.owner) state.clear();
  }
  static void spoil(Call& call, Random&) { call.granted = !call.acquires || !call.granted; }
  static std::vector<State> next(const State& state, const Op& op) {
    const Call& call = op.what;
    if (!call.acquires) return state == call.owner ? std::vector<State>{""} : std::vector<State>{};
    if (!call.granted) return state.empty() ? std::vector<State>{} : std::vector{state};
    return state.empty() ? std::vector{call.owner} : std::vector<State>{};
  }
};

struct FencedMutexTwin {
  using Model = FencedMutexModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  struct State {
    uint64_t token = 0;        // of the holder; 0: free
    uint64_t last = 0;         // known
    bool holder_knows = true;  // to the holder itself
  };
  static Call draw(Random& random, const std::string&) {
    Call call;
    call.kind = static_cast<Model::Kind>(random.below(4));
    if (call.kind == Model::Kind::Release || call.kind == Model::Kind::Expire) call.token = 1 + random.below(5);
    if (call.kind == Model::Kind::Expire && random.chance(0.5)) call.token.reset();
    return call;
  }
  static void answer(State& state, Call& call) {
    const bool free = state.token == 0;
    if (call.kind == Model::Kind::Acquire) {
      call.granted = free;
      if (free) call.token = state.token = ++state.last;
    } else if (call.kind == Model::Kind::Holder) {
      call.token = free ? std::nullopt : std::optional(state.token);
    } else {
      if (!free && call.token) call.token = state.token;
      state.token = 0;
    }
  }
  static void spoil(Call& call, Random& random) {
    if (call.kind == Model::Kind::Acquire && random.chance(0.5)) call.granted = !call.granted, call.token.reset();
    if (call.token) call.token = 1 + random.below(5);
    if (call.kind == Model::Kind::Acquire && call.granted && !call.token) call.token = 1 + random.below(5);
  }
  static std::vector<State> next(const State& state, const Op& op) {
    const Call& call = op.what;
    const bool free = state.token == 0;
    const State let_go{0, state.last, true};
    switch (call.kind) {
      case Model::Kind::Acquire: {
        if (!call.granted) return free ? std::vector<State>{} : std::vector{state};
        if (!free) return {};
        if (op.certain())
          return *call.token > state.last ? std::vector<State>{{*call.token, *call.token, true}} : std::vector<State>{};
        std::vector<State> after;  // some token that no caller knows
        for (uint64_t token = state.last + 1; token <= kNumberMost; ++token) after.push_back({token, state.last, false});
        return after;
      }
      case Model::Kind::Holder:
        if (!op.certain()) return {state};
        if (!call.token) return free ? std::vector{state} : std::vector<State>{};
        if (state.token != *call.token) return {};
        return {{state.token, state.token, state.holder_knows}};
      default:
        if (!call.token) return !free && !state.holder_knows ? std::vector{let_go} : std::vector<State>{};
        if (state.token != *call.token) return {};
        return {{0, std::max(state.last, state.token), true}};
    }
  }
};

struct RwLockTwin {
  using Model = RwLockModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  using State = std::pair<std::string, std::multimap<std::string, int>>;
  static Call draw(Random& random, const std::string&) {
    return {random.chance(0.6), random.chance(0.4), true, std::string(1, static_cast<char>('a' + random.below(3)))};
  }
  static bool grantable(const State& state, const Call& call) {
    return state.first.empty() && (!call.exclusive || state.second.empty());
  }
  static bool holds(const State& state, const Call& call) {
    return call.exclusive ? state.first == call.owner : state.second.contains(call.owner);
  }
  static void change(State& state, const Call& call) {
    if (call.exclusive) {
      state.first = call.acquires ? call.owner : "";
    } else if (call.acquires) {
      state.second.emplace(call.owner, 0);
    } else {
      state.second.erase(state.second.find(call.owner));
    }
  }
  static void answer(State& state, Call& call) {
    if (call.acquires) call.granted = grantable(state, call);
    if (call.acquires ? call.granted : holds(state, call)) change(state, call);
  }
  static void spoil(Call& call, Random&) { call.granted = !call.acquires || !call.granted; }
  static std::vector<State> next(const State& state, const Op& op) {
    const Call& call = op.what;
    if (call.acquires && !call.granted) return grantable(state, call) ? std::vector<State>{} : std::vector{state};
    if (call.acquires ? !grantable(state, call) : !holds(state, call)) return {};
    State after = state;
    change(after, call);
    return {after};
  }
};

struct SemaphoreTwin {
  using Model = SemaphoreModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  struct State {
    uint64_t limit = 1;
    std::map<std::string, uint64_t> held;
  };
  static Call draw(Random& random, const std::string&) {
    const uint64_t kind = random.below(5);
    if (kind == 0) return {Model::Kind::SetLimit, random.below(4), true, ""};
    return {kind < 3 ? Model::Kind::Acquire : Model::Kind::Release, 1 + random.below(2), true,
            std::string(1, static_cast<char>('a' + random.below(2)))};
  }
  static bool grantable(const State& state, const Call& call) {
    uint64_t sum = call.count;
    for (const auto& [owner, count] : state.held) sum += count;
    return sum <= state.limit;
  }
  static void answer(State& state, Call& call) {
    if (call.kind == Model::Kind::Acquire) call.granted = grantable(state, call);
    const bool mine = call.kind == Model::Kind::Release && state.held[call.owner] >= call.count;
    if (call.kind == Model::Kind::SetLimit) state.limit = call.count;
    if (call.kind == Model::Kind::Acquire && call.granted) state.held[call.owner] += call.count;
    if (mine) state.held[call.owner] -= call.count;
  }
  static void spoil(Call& call, Random&) { call.granted = call.kind != Model::Kind::Acquire || !call.granted; }
  static std::vector<State> next(const State& state, const Op& op) {
    State after = state;
    Call call = op.what;
    if (call.kind == Model::Kind::Release && after.held[call.owner] < call.count) return {};
    answer(after, call);
    if (call.granted != op.what.granted) return {};
    return {after};
  }
};

struct QueueTwin {
  using Model = QueueModel;
  using Call = Model::Call;
  using Op = Operation<Call>;
  using State = std::deque<std::string>;
  static Call draw(Random& random, const std::string&) {
    if (random.chance(0.45)) return {};
    return {true, small_value(random)};
  }
  static void answer(State& state, Call& call) {
    if (call.enqueues) return state.push_back(*call.value);
    if (state.empty()) return call.value.reset();
    call.value = state.front();
    state.pop_front();
  }
  static void spoil(Call& call, Random& random) {
    if (!call.enqueues) call.value = random.chance(0.3) ? std::nullopt : std::optional(small_value(random));
  }
  static std::vector<State> next(const State& state, const Op& op) {
    State after = state;
    Call call = op.what;
    answer(after, call);
    if (op.certain() && call.value != op.what.value) return {};
    return {after};
  }
};

}  // namespace coordkit::check
