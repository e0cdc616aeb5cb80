#include "check/transaction_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/sums.h"
#include "check/history.h"

namespace coordkit::check {
namespace {

using Model = TransactionModel;
using Part = Model::Part;

uint64_t sum_of(std::string_view key, const Model::Entry& entry) {
  uint64_t sum = hash_mix(hash_bytes(key), hash_bytes(entry.value));
  for (const uint64_t number : {entry.create, entry.mod, entry.version}) sum = hash_mix(sum, number);
  return sum;
}

// The changes of a transaction, over the state before it.
class Overlay {
 public:
  explicit Overlay(const Model::Entries& below) : below_(below) {}

  const Model::Entry* find(const std::string& key) const {
    for (const auto& [name, entry] : changes_) {
      if (name == key) return entry ? &*entry : nullptr;
    }
    const auto it = below_.find(key);
    return it == below_.end() ? nullptr : &it->second;
  }
  void put(const std::string& key, std::string value, uint64_t revision) {
    const Model::Entry* old = find(key);
    set(key, Model::Entry{std::move(value), old ? old->create : revision, revision, old ? old->version + 1 : 1});
  }
  bool remove(const std::string& key) {
    if (find(key) == nullptr) return false;
    set(key, std::nullopt);
    return true;
  }
  bool changed() const { return !changes_.empty(); }
  const auto& changes() const { return changes_; }

 private:
  void set(const std::string& key, std::optional<Model::Entry> entry) {
    for (auto& [name, known] : changes_) {
      if (name == key) return void(known = std::move(entry));
    }
    changes_.emplace_back(key, std::move(entry));
  }
  const Model::Entries& below_;
  std::vector<std::pair<std::string, std::optional<Model::Entry>>> changes_;
};

template <typename T>
bool relates(const T& a, Model::Relation relation, const T& b) {
  switch (relation) {
    case Model::Relation::Equal: return a == b;
    case Model::Relation::NotEqual: return a != b;
    case Model::Relation::Less: return a < b;
    case Model::Relation::Greater: return a > b;
  }
  return false;
}

// docs/semantics.md S-15: a missing key counts as zeros, and has no value for which any comparison holds.
bool holds(const Model::Entries& entries, const Model::Compare& compare) {
  const auto it = entries.find(compare.key);
  if (compare.target == Model::Target::Value) {
    return it != entries.end() && relates(it->second.value, compare.relation, compare.value);
  }
  const Model::Entry entry = it == entries.end() ? Model::Entry{} : it->second;
  const uint64_t number = compare.target == Model::Target::Version  ? entry.version
                          : compare.target == Model::Target::Create ? entry.create
                                                                    : entry.mod;
  return relates(number, compare.relation, compare.number);
}

bool holds(const Model::Entries& entries, const std::vector<Model::Compare>& compares) {
  return std::all_of(compares.begin(), compares.end(), [&](const Model::Compare& one) { return holds(entries, one); });
}

bool matches(const Model::Entry* entry, const Model::Result& result) {
  if (result.found && *result.found != (entry != nullptr)) return false;
  if (!result.found || entry == nullptr) return true;
  return result.value == entry->value && result.create.value_or(entry->create) == entry->create &&
         result.mod.value_or(entry->mod) == entry->mod && result.version.value_or(entry->version) == entry->version;
}

// Runs one part. False: the result differs from its answer.
bool run(Overlay& overlay, const Part& part, const Model::Result* result, uint64_t revision) {
  if (part.kind == Part::Kind::Put) return overlay.put(part.key, part.value, revision), true;
  if (part.kind == Part::Kind::Get) return result == nullptr || matches(overlay.find(part.key), *result);
  const uint64_t deleted = overlay.remove(part.key) ? 1 : 0;
  return result == nullptr || result->deleted.value_or(deleted) == deleted;
}

// Runs all parts. False: a result differs from its answer.
bool run(const Model::State& state, const Model::Op& op, Overlay& overlay) {
  const Model::Call& call = op.what;
  const bool succeeded = holds(*state.entries, call.compares);
  if (op.certain() && call.succeeded.value_or(succeeded) != succeeded) return false;
  const std::vector<Part>& parts = succeeded ? call.then_parts : call.else_parts;
  const bool compared = op.certain() && call.results.size() == parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!run(overlay, parts[i], compared ? &call.results[i] : nullptr, state.revision + 1)) return false;
  }
  const uint64_t revision = state.revision + (overlay.changed() ? 1 : 0);
  return !op.certain() || call.revision.value_or(revision) == revision;
}

}  // namespace

// Whether it changes nothing in any state. Then its answers allow no other branch and no deletion.
bool TransactionModel::observes(const Call& call) {
  const auto looks = [&](const std::vector<Part>& parts) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool deleted_nothing = i < call.results.size() && call.results[i].deleted == 0u;
      if (parts[i].kind == Part::Kind::Put || (parts[i].kind == Part::Kind::Delete && !deleted_nothing)) return false;
    }
    return true;
  };
  if (call.succeeded) return looks(*call.succeeded ? call.then_parts : call.else_parts);
  const auto gets = [](const std::vector<Part>& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.kind == Part::Kind::Get; });
  };
  return call.compares.empty() ? looks(call.then_parts) : gets(call.then_parts) && gets(call.else_parts);
}

Step TransactionModel::step(const State& state, const Op& op) {
  // The revision tells where an operation belongs, and checking it first saves most of the work.
  if (op.certain() && op.what.revision) {
    const uint64_t revision = *op.what.revision;
    if (revision < state.revision) return kNotEver;
    if (revision > state.revision + 1) return kNotNow;
  }
  Overlay overlay(*state.entries);
  if (!run(state, op, overlay)) return kNotNow;
  if (!op.certain() && !overlay.changed()) return kNotNow;  // it leaves no trace
  return observes(op.what) ? kIdle : kPossible;
}

void TransactionModel::apply(State& state, const Op& op, uint32_t) {
  Overlay overlay(*state.entries);
  run(state, op, overlay);
  if (!overlay.changed()) return;
  const bool shared = state.entries.use_count() > 1;
  // Our own copy is changed in place: made as non-const above and in State.
  std::shared_ptr<Entries> entries =
      shared ? std::make_shared<Entries>(*state.entries) : std::const_pointer_cast<Entries>(state.entries);
  for (const auto& [key, entry] : overlay.changes()) {
    if (const auto old = entries->find(key); old != entries->end()) state.sum -= sum_of(key, old->second);
    if (entry) {
      state.sum += sum_of(key, *entry);
      (*entries)[key] = *entry;
    } else {
      entries->erase(key);
    }
  }
  state.entries = std::move(entries);
  ++state.revision;
}

std::string TransactionModel::text(const State& state) {
  constexpr size_t kEntriesMost = 8;
  std::string text = fmt::format("revision {}:", state.revision);
  size_t shown = 0;
  for (const auto& [key, entry] : *state.entries) {
    if (++shown > kEntriesMost) return text + fmt::format(" and {} more", state.entries->size() - kEntriesMost);
    text += fmt::format(" {}={} (create {}, mod {}, version {})", key, entry.value, entry.create, entry.mod, entry.version);
  }
  return shown == 0 ? text + " empty" : text;
}

void TransactionModel::forget_unseen(std::vector<Op>& history) {
  absl::flat_hash_set<std::string> seen;
  bool ordered = false;
  for (const Op& op : history) {
    for (const Compare& compare : op.what.compares) {
      if (compare.target == Target::Value) seen.insert(compare.value);
      ordered = ordered || (compare.target == Target::Value && compare.relation != Relation::Equal &&
                            compare.relation != Relation::NotEqual);
    }
    for (const Result& result : op.what.results) seen.insert(result.value);
  }
  if (ordered || seen.contains(kUnseen)) return;  // an order sees every value
  for (Op& op : history) {
    if (op.outcome != Outcome::Unknown) continue;
    for (std::vector<Part>* parts : {&op.what.then_parts, &op.what.else_parts}) {
      for (Part& part : *parts) {
        if (part.kind == Part::Kind::Put && !seen.contains(part.value)) part.value = kUnseen;
      }
    }
  }
}

}  // namespace coordkit::check
