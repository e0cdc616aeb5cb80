// Workers and keys: single puts, reads and deletes; and everything else that keys offer: present and past ranges, keys
// that go with a session or a lease, numbered keys, deletes of intervals, and transactions within transactions. The latter have
// keys of their own, so that the black-box check knows everything that happens to the others.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "sim/workload.h"

namespace coordkit::sim {
namespace {

constexpr const char* kShared = "kt-";    // of transactions
constexpr const char* kNumbered = "ks-";  // sequential
constexpr uint32_t kDepthMax = 2;

}  // namespace

std::string Workload::key(Worker& worker) { return fmt::format("key-{}", worker.random.below(plan_.work.keys)); }

void Workload::put(Worker& worker) {
  const std::string name = key(worker);
  const std::string value = label(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Put, name, value);
  client(worker).put(name, value,
                     then(worker,
                          [this, call](absl::StatusOr<PutResult>& answer) {
                            witness_.put(call, answer);
                            if (answer.ok()) newest_ = std::max(newest_, answer->revision);
                          }),
                     {.deadline = call_deadline(worker)});
}

void Workload::get(Worker& worker) {
  const uint64_t way = worker.random.below(10);
  get(worker, way < 2 ? Consistency::Local : way < 5 ? Consistency::Lease : Consistency::Linearizable);
}

void Workload::get(Worker& worker, Consistency consistency) {
  const std::string name = key(worker);
  const Witness::Kind kind = consistency == Consistency::Local   ? Witness::Kind::LocalGet
                             : consistency == Consistency::Lease ? Witness::Kind::LeaseGet
                                                                 : Witness::Kind::Get;
  const auto call = witness_.begin(worker.node, kind, name);
  client(worker).get(name, then(worker, [this, call](absl::StatusOr<GetResult>& answer) { witness_.got(call, answer); }),
                     call_deadline(worker), consistency);
}

void Workload::erase(Worker& worker) {
  const std::string name = key(worker);
  const auto call = witness_.begin(worker.node, Witness::Kind::Erase, name);
  client(worker).erase(name, then(worker, [this, call](absl::StatusOr<EraseResult>& answer) { witness_.erased(call, answer); }),
                       {.deadline = call_deadline(worker)});
}

// Usually most of the history is kept, sometimes none.
void Workload::compact(Worker& worker) {
  const uint64_t back = worker.random.below(worker.random.chance(0.5) ? 3 : 40);
  const Revision at(newest_.value() > back ? newest_.value() - back : 1);
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Compact, "keys", machine::Compact{at});
  client(worker).keys().compact(at,
                                then(worker,
                                     [this, call](absl::StatusOr<CompactResult>& answer) {
                                       const auto ok = [](const machine::Result& result) {
                                         return result.code == machine::ResultCode::Ok;
                                       };
                                       witness_.executed(call, answer.status(), ok);
                                     }),
                                {.deadline = call_deadline(worker)});
}

// ---- everything else

void Workload::use_keys(Worker& worker) {
  const uint64_t dice = worker.random.below(100);
  if (dice < 20) return put_entry(worker);
  if (dice < 28) return erase_entries(worker);
  if (dice < 50) return range(worker);
  if (dice < 68) return use_leases(worker);
  transact(worker);
}

std::string Workload::shared_key(Worker& worker) { return fmt::format("{}{}", kShared, worker.random.below(plan_.work.keys)); }

// Or a session; it may end at any moment, or has ended.
LeaseId Workload::draw_lease(Worker& worker) {
  if (worker.random.chance(0.4)) return {};
  if (worker.lease && worker.random.chance(0.3)) return worker.lease->id();
  if (!lease_ids_.empty() && worker.random.chance(0.5)) return known_lease(worker);
  return worker.session ? LeaseId(worker.session->id().value()) : LeaseId();
}

void Workload::put_entry(Worker& worker) {
  PutOperation put{.key = shared_key(worker), .value = label(worker), .lease = draw_lease(worker)};
  put.sequential = worker.random.chance(0.2);
  if (put.sequential) put.key = kNumbered;
  put.previous = worker.random.chance(0.5);
  put.ignore_lease = !put.sequential && !put.lease && worker.random.chance(0.2);
  const auto call = witness_.begin(worker.node, Witness::Kind::Entry, put.key, put.value);
  auto done = then(worker, [this, call](absl::StatusOr<PutResult>& answer) {
    witness_.entry_put(call, answer);
    if (answer.ok()) newest_ = std::max(newest_, answer->revision);
    if (reason_of(answer.status()) == Reason::LeaseNotFound) reach(Situation::LeaseGone);
    if (reason_of(answer.status()) == Reason::Fenced) reach(Situation::WriteFenced);
  });
  client(worker).keys().put(std::move(put), std::move(done), draw_options(worker));
}

void Workload::erase_entries(Worker& worker) {
  const std::string prefix = worker.random.chance(0.5) ? kNumbered : shared_key(worker);
  const DeleteOperation erase{.key = prefix, .end = prefix_end(prefix), .previous = true};
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Command, prefix, erase);
  auto done = then(worker, [this, call](absl::StatusOr<EraseResult>& answer) { witness_.entries_erased(call, answer); });
  client(worker).keys().erase(erase, std::move(done), draw_options(worker));
}

void Workload::range(Worker& worker) {
  const bool past = worker.random.chance(0.5), local = worker.random.chance(0.3);
  const RangeOperation range = draw_range(worker, past);
  const auto kind = local ? Witness::Kind::LocalRange : Witness::Kind::Range;
  const auto call = witness_.begin(worker.node, kind, fmt::format("{}@{}", range.key, range.revision.value()));
  auto done = then(worker, [this, call, range](absl::StatusOr<RangeResult>& answer) {
    witness_.ranged(call, range, answer);
    if (answer.ok() && range.revision && range.revision < answer->revision) reach(Situation::PastRead);
    if (reason_of(answer.status()) == Reason::Compacted) reach(Situation::PastCompacted);
  });
  client(worker).keys().range(range, std::move(done), call_deadline(worker),
                              local ? Consistency::Local : Consistency::Linearizable);
}

RangeOperation Workload::draw_range(Worker& worker, bool past) {
  Random& random = worker.random;
  RangeOperation range = RangeOperation::prefix(random.chance(0.5) ? kShared : "k");
  if (random.chance(0.3)) range = RangeOperation::of(random.chance(0.5) ? shared_key(worker) : key(worker));
  if (random.chance(0.2)) range = RangeOperation::from(shared_key(worker));
  const uint64_t newest = newest_.value();
  if (past) range.revision = Revision(random.between(newest > 40 ? newest - 40 : 1, newest + 1));
  if (random.chance(0.3)) range.limit = static_cast<int64_t>(random.between(1, 3));
  range.sort_by = static_cast<SortTarget>(random.below(5));
  range.order = static_cast<SortOrder>(random.below(3));
  range.keys_only = random.chance(0.2);
  range.count_only = random.chance(0.1);
  if (random.chance(0.2)) range.mod_min = Revision(newest > 10 ? newest - 10 : 1);
  if (random.chance(0.1)) range.create_max = Revision(newest);
  return range;
}

// For a lock that was recently written with, and may still be held; or for an unheld one.
Compare Workload::draw_lock_compare(Worker& worker) {
  Random& random = worker.random;
  if (writes_.empty() || random.chance(0.3)) return Compare::lock_free(lock_name(worker));
  const ResourceWrite& write = writes_[writes_.size() - 1 - random.below(std::min<size_t>(writes_.size(), 4))];
  Compare compare = Compare::lock_held(write.lock, write.token);
  if (random.chance(0.3)) compare.target = Compare::Target::LockHeldExclusively;
  return compare;
}

// Some writes depend on a lock (S-54, S-60).
WriteOptions Workload::draw_options(Worker& worker) {
  WriteOptions options{.deadline = call_deadline(worker)};
  if (!worker.random.chance(0.15)) return options;
  const Compare condition = draw_lock_compare(worker);
  const Fence::Wants wants = condition.target == Compare::Target::LockFree   ? Fence::Wants::Free
                             : condition.target == Compare::Target::LockHeld ? Fence::Wants::Held
                                                                             : Fence::Wants::HeldExclusively;
  options.fence = Fence{.lock = condition.key, .token = Token(condition.number), .wants = wants};
  return options;
}

Compare Workload::draw_compare(Worker& worker) {
  Random& random = worker.random;
  if (random.chance(0.15)) return draw_lock_compare(worker);
  const uint64_t newest = newest_.value();
  Compare compare{.key = shared_key(worker)};
  compare.target = static_cast<Compare::Target>(random.between(1, 5));
  compare.relation = static_cast<Compare::Relation>(random.between(1, 4));
  compare.number = random.chance(0.5) ? random.below(4) : random.between(newest > 20 ? newest - 20 : 0, newest + 1);
  if (compare.target == Compare::Target::Lease) compare.number = draw_lease(worker).value();
  if (compare.target == Compare::Target::Value) compare.value = fmt::format("w{}", random.below(workers_.size()));
  if (random.chance(0.2)) compare.end = prefix_end(kShared);
  return compare;
}

// A key is changed at most once in a transaction and all nested ones: changing one removes it from `free_keys`.
Operation Workload::draw_operation(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys) {
  Random& random = worker.random;
  const uint64_t dice = random.below(100);
  if (dice < 30) return draw_range(worker, random.chance(0.1));
  if (dice < 45 && depth < kDepthMax) return draw_transaction(worker, depth + 1, free_keys);
  if (dice < 50) return DeleteOperation{.key = kNumbered, .end = prefix_end(kNumbered), .previous = random.chance(0.5)};
  if (free_keys.empty()) return RangeOperation::prefix(kShared);
  std::swap(free_keys[random.below(free_keys.size())], free_keys.back());
  const std::string key = std::move(free_keys.back());
  free_keys.pop_back();
  if (dice < 65) return DeleteOperation{.key = key, .previous = random.chance(0.5)};
  PutOperation put{.key = key, .value = label(worker), .lease = draw_lease(worker), .previous = random.chance(0.5)};
  if (random.chance(0.05)) put.value.clear(), put.ignore_value = true;
  return put;
}

Transaction Workload::draw_transaction(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys) {
  Transaction transaction;
  for (uint64_t left = worker.random.below(3); left != 0; --left) transaction.compares.push_back(draw_compare(worker));
  for (std::vector<Operation>* branch : {&transaction.then, &transaction.otherwise}) {
    for (uint64_t left = worker.random.below(4); left != 0; --left) {
      branch->push_back(draw_operation(worker, depth, free_keys));
    }
  }
  return transaction;
}

void Workload::transact(Worker& worker) {
  std::vector<std::string> free_keys;
  for (uint32_t i = 0; i < plan_.work.keys; ++i) free_keys.push_back(fmt::format("{}{}", kShared, i));
  Transaction transaction = draw_transaction(worker, 0, free_keys);
  // Makes it a write, different from any other.
  transaction.then.emplace_back(PutOperation{.key = fmt::format("ku-{}", worker.number), .value = label(worker)});
  const auto call = witness_.begin_command(worker.node, Witness::Kind::Command, "keys", transaction);
  auto done = then(worker, [this, call](absl::StatusOr<TransactionResult>& answer) {
    witness_.transacted(call, answer);
    if (!answer.ok()) return;
    newest_ = std::max(newest_, answer->revision);
    reach(answer->succeeded ? Situation::TransactionThen : Situation::TransactionElse);
  });
  client(worker).keys().commit(std::move(transaction), std::move(done), draw_options(worker));
}

}  // namespace coordkit::sim
