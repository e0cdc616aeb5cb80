#include "check/kv_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/enum_words.h"
#include "check/history.h"

namespace coordkit::check {
namespace {

using Known = KvModel::Known;
using State = KvModel::State;
using Op = KvModel::Op;

Known exactly(uint64_t revision) { return {.at = revision}; }
Known somewhere_above(uint64_t revision) { return {.above = revision, .known = false}; }

bool can_be(const Known& revision, uint64_t observed) {
  if (revision.known) return revision.at == observed;
  return observed > revision.above && (revision.below == 0 || observed < revision.below);
}
uint64_t lowest(const Known& revision) { return revision.known ? revision.at : revision.above + 1; }

// The revision of the store that was read is at least that of the key's last change.
bool store_can_be(const State& state, const Op& op) { return !op.what.revision || *op.what.revision >= lowest(state.mod); }

Step step_put(const State& state, const Op& op) {
  if (!op.certain() || !op.what.revision) return kPossible;
  return *op.what.revision > state.seen ? kPossible : kNotEver;
}

Step step_delete(const State& state, const Op& op) {
  const KvCall& call = op.what;
  if (!op.certain()) return state.present ? kPossible : kNotNow;
  if (call.deleted == 0u) {  // only reads
    if (!store_can_be(state, op)) return kNotEver;
    if (state.present) return kNotNow;
    return call.revision || !state.mod.known ? kPossible : kIdle;
  }
  if (call.deleted == 1u) {
    if (call.revision && *call.revision <= state.seen) return kNotEver;
    return state.present ? kPossible : kNotNow;
  }
  if (!call.revision) return kPossible;
  return state.present ? (*call.revision > state.seen ? kPossible : kNotNow) : (store_can_be(state, op) ? kPossible : kNotNow);
}

// A get of a key whose revisions are known blocks no operation. A later change would need a revision above the one that the
// get was shown; otherwise the get could not come after the change either.
Step step_get(const State& state, const Op& op) {
  const KvCall& call = op.what;
  if (!store_can_be(state, op) || (call.mod && *call.mod < lowest(state.mod))) return kNotEver;
  if (call.found != state.present) return kNotNow;
  if (!state.present) return call.revision || !state.mod.known ? kPossible : kIdle;
  if (call.value != state.value || (call.version && *call.version != state.version)) return kNotNow;
  if (call.mod && !can_be(state.mod, *call.mod)) return kNotNow;
  if (call.create && !can_be(state.create, *call.create)) return kNotNow;
  if (call.create && call.mod && ((state.version == 1) != (*call.create == *call.mod) || *call.create > *call.mod))
    return kNotNow;
  if (call.mod && call.revision && *call.mod > *call.revision) return kNotNow;
  const bool certain = state.mod.known && state.create.known;
  return certain && (call.mod || !call.revision) ? kIdle : kPossible;
}

void put(State& state, const Op& op) {
  const std::optional<uint64_t> revision = op.certain() ? op.what.revision : std::nullopt;
  const Known made = revision ? exactly(*revision) : somewhere_above(state.seen);
  if (!state.present) {
    state.create = made;
  } else if (!state.create.known && state.create.below == 0) {
    state.create.below = revision.value_or(0);
  }
  state.mod = made;
  state.present = true;
  state.value = op.what.value;
  ++state.version;
  state.seen = revision.value_or(state.seen + 1);
}

void remove(State& state, const Op& op) {
  const std::optional<uint64_t> revision = op.certain() ? op.what.revision : std::nullopt;
  state = {.mod = revision ? exactly(*revision) : somewhere_above(state.seen), .seen = revision.value_or(state.seen + 1)};
}

void bound_below(Known& revision, uint64_t limit) {
  if (limit != 0) revision.below = revision.below == 0 ? limit : std::min(revision.below, limit);
}

// The first put creates the key; a later put has a later revision.
void relate(State& state) {
  if (state.version == 1) {
    state.create = state.mod;
  } else if (!state.create.known) {
    bound_below(state.create, state.mod.known ? state.mod.at : state.mod.below == 0 ? 0 : state.mod.below - 1);
  } else if (!state.mod.known) {
    state.mod.above = std::max(state.mod.above, state.create.at);
  }
}

void look(State& state, const KvCall& call) {
  if (call.found && call.mod) state.mod = exactly(*call.mod);
  if (call.found && call.create) state.create = exactly(*call.create);
  if (!state.mod.known && call.revision) bound_below(state.mod, *call.revision + 1);
  if (state.present) relate(state);
  state.seen = std::max({state.seen, call.revision.value_or(0), call.mod.value_or(0)});
}

std::string text_of(const Known& revision) {
  if (revision.known) return std::to_string(revision.at);
  if (revision.below != 0) return fmt::format("between {} and {}", revision.above, revision.below);
  return fmt::format("above {}", revision.above);
}

}  // namespace

KvModel::Call KvModel::read(const LineHead& head, Fields& in, Fields& out, Complaint& complaint) {
  const bool answered = head.outcome == Outcome::Ok;
  Call call;
  if (answered) call.revision = out.optional_count("revision");
  if (head.op == "put") {
    call.kind = Kind::Put;
    call.value = in.scalar("value");
  } else if (head.op == "delete") {
    call.kind = Kind::Delete;
    if (answered) call.deleted = out.optional_count("deleted");
    if (call.deleted.value_or(0) > 1) out.complain("deleted", "0 or 1 is expected");
  } else if (head.op == "get") {
    if (!answered) return call;
    const std::optional<std::string> value = out.scalar_or_null("value");
    call.found = value.has_value();
    call.value = value.value_or("");
    call.create = out.optional_count("create");
    call.mod = out.optional_count("mod");
    call.version = out.optional_count("version");
    if (!call.found && (call.create || call.mod || call.version))
      out.complain("value", "is null, so it has no create, mod or version");
  } else {
    complain_of_op(head, "put, delete, get", complaint);
  }
  return call;
}

void KvModel::write(const Call& call, json::ObjectWriter& in, json::ObjectWriter& out) {
  const auto number = [&](std::string_view name, std::optional<uint64_t> value) {
    if (value) out.number(name, static_cast<int64_t>(*value));
  };
  if (call.kind == Kind::Put) in.raw("value", call.value);
  if (call.kind == Kind::Get) out.raw("value", call.found ? std::string_view(call.value) : "null");
  number("deleted", call.deleted);
  number("create", call.create);
  number("mod", call.mod);
  number("version", call.version);
  number("revision", call.revision);
}

std::string_view KvModel::name_of(const Call& call) { return words_of(call.kind); }

Step KvModel::step(const State& state, const Op& op) {
  switch (op.what.kind) {
    case Kind::Put: return step_put(state, op);
    case Kind::Delete: return step_delete(state, op);
    case Kind::Get: return step_get(state, op);
  }
  return kNotNow;
}

void KvModel::apply(State& state, const Op& op, uint32_t) {
  if (op.what.kind == Kind::Put) return put(state, op);
  if (op.what.kind == Kind::Delete && state.present) return remove(state, op);
  look(state, op.what);
}

std::string KvModel::text(const State& state) {
  if (!state.present) return state.mod == Known{} ? "absent" : fmt::format("absent since revision {}", text_of(state.mod));
  return fmt::format("{} (create {}, mod {}, version {})", state.value, text_of(state.create), text_of(state.mod),
                     state.version);
}

void KvModel::forget_unseen(std::vector<Op>& history) {
  absl::flat_hash_set<std::string> seen;
  for (const Op& op : history) {
    if (op.certain() && op.what.kind == Kind::Get) seen.insert(op.what.value);
  }
  if (seen.contains(kUnseen)) return;
  for (Op& op : history) {
    if (op.outcome == Outcome::Unknown && op.what.kind == Kind::Put && !seen.contains(op.what.value)) op.what.value = kUnseen;
  }
}

}  // namespace coordkit::check
