#include "sim/keys/key_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordkit/error.h"

namespace coordkit::sim {
namespace {

constexpr const char* kShared = "kt-";    // of transactions
constexpr const char* kNumbered = "ks-";  // sequential
constexpr uint32_t kDepthMax = 2;

}  // namespace

void KeyWork::act(Worker& worker) {
  if (work_.compact_percent != 0 && worker.random.below(100) < work_.compact_percent) return compact(worker);
  if (work_.transaction_percent != 0 && worker.random.below(100) < work_.transaction_percent) return act_further(worker);
  const uint64_t which = worker.random.below(5);
  which < 2 ? put(worker) : which < 4 ? get(worker) : erase(worker);
}

// Everything else that keys offer.
void KeyWork::act_further(Worker& worker) {
  const uint64_t dice = worker.random.below(100);
  if (dice < 20) return put_entry(worker);
  if (dice < 28) return erase_entries(worker);
  if (dice < 50) return range(worker);
  if (dice < 68) return leases_.act(worker);
  transact(worker);
}

std::string KeyWork::key(Worker& worker) { return fmt::format("key-{}", worker.random.below(work_.keys)); }

void KeyWork::put(Worker& worker) {
  const std::string name = key(worker);
  const std::string value = calls_.label(worker);
  const auto call = witness_.calls().begin(worker.node, CallKind::Put, name, value);
  calls_.client(worker).put(name, value,
                            calls_.then(worker,
                                        [this, call](absl::StatusOr<PutResult>& answer) {
                                          witness_.keys().put(call, answer);
                                          if (answer.ok()) newest_ = std::max(newest_, answer->revision);
                                        }),
                            {.deadline = calls_.deadline(worker)});
}

void KeyWork::get(Worker& worker) {
  const uint64_t way = worker.random.below(10);
  get(worker, way < 2 ? Consistency::Local : way < 5 ? Consistency::Lease : Consistency::Linearizable);
}

void KeyWork::get(Worker& worker, Consistency consistency) {
  const std::string name = key(worker);
  const CallKind kind = consistency == Consistency::Local   ? CallKind::LocalGet
                        : consistency == Consistency::Lease ? CallKind::LeaseGet
                                                            : CallKind::Get;
  const auto call = witness_.calls().begin(worker.node, kind, name);
  calls_.client(worker).get(
      name, calls_.then(worker, [this, call](absl::StatusOr<GetResult>& answer) { witness_.keys().got(call, answer); }),
      calls_.deadline(worker), consistency);
}

void KeyWork::erase(Worker& worker) {
  const std::string name = key(worker);
  const auto call = witness_.calls().begin(worker.node, CallKind::Erase, name);
  calls_.client(worker).erase(
      name, calls_.then(worker, [this, call](absl::StatusOr<EraseResult>& answer) { witness_.keys().erased(call, answer); }),
      {.deadline = calls_.deadline(worker)});
}

// Usually most of the history is kept, sometimes none.
void KeyWork::compact(Worker& worker) {
  const uint64_t back = worker.random.below(worker.random.chance(0.5) ? 3 : 40);
  const Revision at(newest_.value() > back ? newest_.value() - back : 1);
  const auto call = witness_.calls().begin_command(worker.node, CallKind::Compact, "keys", machine::Compact{at});
  calls_.client(worker).keys().compact(
      at, calls_.then(worker, [this, call](absl::StatusOr<CompactResult>& answer) { witness_.keys().compacted(call, answer); }),
      {.deadline = calls_.deadline(worker)});
}

std::string KeyWork::shared_key(Worker& worker) { return fmt::format("{}{}", kShared, worker.random.below(work_.keys)); }

// Or a session; it may end at any moment, or has ended.
LeaseId KeyWork::draw_lease(Worker& worker) {
  if (worker.random.chance(0.4)) return {};
  if (worker.lease && worker.random.chance(0.3)) return worker.lease->id();
  if (leases_.knows_any() && worker.random.chance(0.5)) return leases_.known(worker);
  return worker.session ? LeaseId(worker.session->id().value()) : LeaseId();
}

void KeyWork::put_entry(Worker& worker) {
  PutOperation put{.key = shared_key(worker), .value = calls_.label(worker), .lease = draw_lease(worker)};
  put.sequential = worker.random.chance(0.2);
  if (put.sequential) put.key = kNumbered;
  put.previous = worker.random.chance(0.5);
  put.ignore_lease = !put.sequential && !put.lease && worker.random.chance(0.2);
  const auto call = witness_.calls().begin(worker.node, CallKind::PutEntry, put.key, put.value);
  auto done = calls_.then(worker, [this, call](absl::StatusOr<PutResult>& answer) {
    witness_.keys().entry_put(call, answer);
    if (answer.ok()) newest_ = std::max(newest_, answer->revision);
    if (reason_of(answer.status()) == Reason::LeaseNotFound) calls_.reach(Situation::LeaseGone);
    if (reason_of(answer.status()) == Reason::Fenced) calls_.reach(Situation::WriteFenced);
  });
  calls_.client(worker).keys().put(std::move(put), std::move(done), draw_options(worker));
}

void KeyWork::erase_entries(Worker& worker) {
  const std::string prefix = worker.random.chance(0.5) ? kNumbered : shared_key(worker);
  const DeleteOperation erase{.key = prefix, .end = prefix_end(prefix), .previous = true};
  const auto call = witness_.calls().begin_command(worker.node, CallKind::Command, prefix, erase);
  auto done =
      calls_.then(worker, [this, call](absl::StatusOr<EraseResult>& answer) { witness_.keys().entries_erased(call, answer); });
  calls_.client(worker).keys().erase(erase, std::move(done), draw_options(worker));
}

void KeyWork::range(Worker& worker) {
  const bool past = worker.random.chance(0.5), local = worker.random.chance(0.3);
  const RangeOperation range = draw_range(worker, past);
  const auto kind = local ? CallKind::LocalRange : CallKind::Range;
  const auto call = witness_.calls().begin(worker.node, kind, fmt::format("{}@{}", range.key, range.revision.value()));
  auto done = calls_.then(worker, [this, call, range](absl::StatusOr<RangeResult>& answer) {
    witness_.keys().ranged(call, range, answer);
    if (answer.ok() && range.revision && range.revision < answer->revision) calls_.reach(Situation::PastRead);
    if (reason_of(answer.status()) == Reason::Compacted) calls_.reach(Situation::PastCompacted);
  });
  calls_.client(worker).keys().range(range, std::move(done), calls_.deadline(worker),
                                     local ? Consistency::Local : Consistency::Linearizable);
}

RangeOperation KeyWork::draw_range(Worker& worker, bool past) {
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
Compare KeyWork::draw_lock_compare(Worker& worker) {
  Random& random = worker.random;
  if (resources_.never_written() || random.chance(0.3)) return Compare::lock_free(calls_.lock_name(worker));
  const ProtectedResources::Write& write = resources_.recent(random, 4);
  Compare compare = Compare::lock_held(write.lock, write.token);
  if (random.chance(0.3)) compare.target = Compare::Target::LockHeldExclusively;
  return compare;
}

// Some writes depend on a lock (S-54, S-60).
WriteOptions KeyWork::draw_options(Worker& worker) {
  WriteOptions options{.deadline = calls_.deadline(worker)};
  if (!worker.random.chance(0.15)) return options;
  const Compare condition = draw_lock_compare(worker);
  const Fence::Wants wants = condition.target == Compare::Target::LockFree   ? Fence::Wants::Free
                             : condition.target == Compare::Target::LockHeld ? Fence::Wants::Held
                                                                             : Fence::Wants::HeldExclusively;
  options.fence = Fence{.lock = condition.key, .token = Token(condition.number), .wants = wants};
  return options;
}

Compare KeyWork::draw_compare(Worker& worker) {
  Random& random = worker.random;
  if (random.chance(0.15)) return draw_lock_compare(worker);
  const uint64_t newest = newest_.value();
  Compare compare{.key = shared_key(worker)};
  compare.target = static_cast<Compare::Target>(random.between(1, 5));
  compare.relation = static_cast<Compare::Relation>(random.between(1, 4));
  compare.number = random.chance(0.5) ? random.below(4) : random.between(newest > 20 ? newest - 20 : 0, newest + 1);
  if (compare.target == Compare::Target::Lease) compare.number = draw_lease(worker).value();
  if (compare.target == Compare::Target::Value) compare.value = fmt::format("w{}", random.below(workers_));
  if (random.chance(0.2)) compare.end = prefix_end(kShared);
  return compare;
}

// A key is changed at most once in a transaction and all nested ones: changing one removes it from `free_keys`.
Operation KeyWork::draw_operation(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys) {
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
  PutOperation put{.key = key, .value = calls_.label(worker), .lease = draw_lease(worker), .previous = random.chance(0.5)};
  if (random.chance(0.05)) put.value.clear(), put.ignore_value = true;
  return put;
}

Transaction KeyWork::draw_transaction(Worker& worker, uint32_t depth, std::vector<std::string>& free_keys) {
  Transaction transaction;
  for (uint64_t left = worker.random.below(3); left != 0; --left) transaction.compares.push_back(draw_compare(worker));
  for (std::vector<Operation>* branch : {&transaction.then, &transaction.otherwise}) {
    for (uint64_t left = worker.random.below(4); left != 0; --left) {
      branch->push_back(draw_operation(worker, depth, free_keys));
    }
  }
  return transaction;
}

void KeyWork::transact(Worker& worker) {
  std::vector<std::string> free_keys;
  for (uint32_t i = 0; i < work_.keys; ++i) free_keys.push_back(fmt::format("{}{}", kShared, i));
  Transaction transaction = draw_transaction(worker, 0, free_keys);
  // Makes it a write, different from any other.
  transaction.then.emplace_back(PutOperation{.key = fmt::format("ku-{}", worker.number), .value = calls_.label(worker)});
  const auto call = witness_.calls().begin_command(worker.node, CallKind::Command, "keys", transaction);
  auto done = calls_.then(worker, [this, call](absl::StatusOr<TransactionResult>& answer) {
    witness_.keys().transacted(call, answer);
    if (!answer.ok()) return;
    newest_ = std::max(newest_, answer->revision);
    calls_.reach(answer->succeeded ? Situation::TransactionThen : Situation::TransactionElse);
  });
  calls_.client(worker).keys().commit(std::move(transaction), std::move(done), draw_options(worker));
}

}  // namespace coordkit::sim
