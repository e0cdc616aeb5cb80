#include "sim/record/history_recorder.h"

#include <fmt/format.h>

#include "check/json.h"
#include "check/line.h"
#include "coordkit/error.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

// The history of a seed takes some 15'000 steps, and one in a hundred more than 300'000. A search beyond a million is given up
// and counted: the few long ones would cost more than all the others.
constexpr check::Limits kLimits{.steps = 1'000'000, .configurations = 20'000, .shrink_steps = 1'000'000};

check::Outcome recorded_outcome(const absl::Status& answer) {
  if (answer.ok()) return check::Outcome::Ok;
  const bool refused = outcome_of(answer) == Outcome::NoEffect;
  return refused ? check::Outcome::Refused : check::Outcome::Unknown;
}

}  // namespace

template <typename Model>
typename Model::Call& HistoryRecorder::begin(Book<Model>& book, CallNumber call, uint32_t node, const std::string& key) {
  check::Operation<typename Model::Call> op;
  op.client = fmt::format("n{}", node + 1);
  op.key = key;
  op.call = now();
  op.outcome = check::Outcome::Unknown;  // until it ends
  book.open[call] = book.history.operations().size();
  book.history.add(std::move(op));
  return book.history.operations().back().what;
}

template <typename Model>
check::Operation<typename Model::Call>* HistoryRecorder::end(Book<Model>& book, CallNumber call, const absl::Status& answer) {
  const auto it = book.open.find(call);
  if (it == book.open.end()) return nullptr;
  auto& op = book.history.operations()[it->second];
  book.open.erase(it);
  op.outcome = recorded_outcome(answer);
  op.end = op.certain() ? now() : check::kNever;
  return op.certain() ? &op : nullptr;
}

// ---- keys

void HistoryRecorder::begin_put(CallNumber call, uint32_t node, const std::string& key, const std::string& value) {
  Keys::Call& what = begin(keys_, call, node, key);
  what.kind = Keys::Kind::Put;
  what.value = check::json::quoted(value);
}

void HistoryRecorder::begin_erase(CallNumber call, uint32_t node, const std::string& key) {
  begin(keys_, call, node, key).kind = Keys::Kind::Delete;
}

void HistoryRecorder::begin_get(CallNumber call, uint32_t node, const std::string& key) {
  begin(keys_, call, node, key).kind = Keys::Kind::Get;
}

void HistoryRecorder::put(CallNumber call, const absl::StatusOr<PutResult>& answer) {
  if (auto* op = end(keys_, call, answer.status())) op->what.revision = answer->revision.value();
}

void HistoryRecorder::erased(CallNumber call, const absl::StatusOr<EraseResult>& answer) {
  auto* op = end(keys_, call, answer.status());
  if (op == nullptr) return;
  op->what.revision = answer->revision.value();
  op->what.deleted = answer->deleted;
}

void HistoryRecorder::got(CallNumber call, const absl::StatusOr<GetResult>& answer) {
  auto* op = end(keys_, call, answer.status());
  if (op == nullptr) return;
  Keys::Call& what = op->what;
  what.revision = answer->revision.value();
  what.found = answer->entry.has_value();
  if (!answer->entry) return;
  what.value = check::json::quoted(answer->entry->value);
  what.create = answer->entry->create.value();
  what.mod = answer->entry->mod.value();
  what.version = answer->entry->version;
}

// ---- locks

void HistoryRecorder::begin_acquire(CallNumber call, uint32_t node, const std::string& lock) {
  begin(locks_, call, node, lock).kind = Locks::Kind::Acquire;
}

void HistoryRecorder::begin_release(CallNumber call, uint32_t node, const HoldRef& hold) {
  Locks::Call& what = begin(locks_, call, node, hold->name());
  what.kind = Locks::Kind::Release;
  what.token = hold->token().value();
}

void HistoryRecorder::begin_holder(CallNumber call, uint32_t node, const std::string& lock) {
  begin(locks_, call, node, lock).kind = Locks::Kind::Holder;
}

// Every grant has an ending besides its release; as far as is known now, it can come as early as the grant was requested.
void HistoryRecorder::acquired(CallNumber call, const absl::StatusOr<HoldRef>& answer) {
  auto* op = end(locks_, call, answer.status());
  if (op == nullptr) return;
  const HoldRef& hold = *answer;
  op->what.token = hold->token().value();
  check::Operation<Locks::Call> ending;
  ending.client = op->client;
  ending.key = op->key;
  ending.call = op->call;
  ending.outcome = check::Outcome::Unknown;
  ending.what = {Locks::Kind::Expire, hold->token().value(), true};
  endings_[hold->token().value()] = locks_.history.operations().size();
  locks_.history.add(std::move(ending));
}

void HistoryRecorder::trusted(const HoldRef& hold) {
  const auto ending = endings_.find(hold->token().value());
  if (ending != endings_.end()) locks_.history.operations()[ending->second].call = now();
}

void HistoryRecorder::released(CallNumber call, const absl::Status& answer) {
  const auto* op = end(locks_, call, answer);
  if (op == nullptr) return;
  const auto ending = endings_.find(*op->what.token);
  if (ending == endings_.end()) return;
  locks_.history.operations()[ending->second].outcome = check::Outcome::Refused;  // it ended by this
  endings_.erase(ending);
}

void HistoryRecorder::looked(CallNumber call, const absl::StatusOr<LockInfo>& answer) {
  auto* op = end(locks_, call, answer.status());
  if (op != nullptr && !answer->holders.empty()) op->what.token = answer->holders.front().token.value();
}

// A "no" may mean that another holds it or no one does: it is left out.
void HistoryRecorder::checked(CallNumber call, const HoldRef& hold, const absl::StatusOr<bool>& answer) {
  auto* op = end(locks_, call, answer.status());
  if (op == nullptr) return;
  op->what.token = hold->token().value();
  if (!*answer) op->outcome = check::Outcome::Refused;
}

// ---- the verdict

// An acquire of unknown outcome may have been granted, and released by cleanup.
void HistoryRecorder::close_books() {
  if (std::exchange(closed_, true)) return;
  auto& operations = locks_.history.operations();
  for (size_t i = 0, count = operations.size(); i < count; ++i) {
    if (operations[i].outcome != check::Outcome::Unknown || operations[i].what.kind != Locks::Kind::Acquire) continue;
    check::Operation<Locks::Call> ending = operations[i];
    ending.what = {Locks::Kind::Expire, std::nullopt, true};
    operations.push_back(std::move(ending));
  }
  uint64_t number = 0;
  keys_.history.sort();
  locks_.history.sort();
  for (auto& op : keys_.history.operations()) op.number = ++number;
  for (auto& op : operations) op.number = ++number;
}

template <typename Model>
check::Report HistoryRecorder::check(Book<Model>& book, const char* id) {
  const check::Report report = book.history.check({}, kLimits);
  if (report.verdict != check::Verdict::Violation) return report;
  const check::Counterexample& counterexample = *report.counterexample;
  std::string what =
      fmt::format("no {} could have answered like this ({}): {}", Model::kName, counterexample.key, counterexample.why);
  for (const std::string& state : counterexample.from) what += "\n  from: " + state;
  for (size_t i = 0; i < counterexample.operations.size(); ++i)
    what += fmt::format("\n  {} {}", counterexample.numbers[i], counterexample.operations[i]);
  for (const std::string& state : counterexample.reachable) what += "\n  before it: " + state;
  throw Violation(id, what);
}

HistoryRecorder::Result HistoryRecorder::check() {
  close_books();
  const check::Report keys = check(keys_, "INV_K01");
  const check::Report locks = check(locks_, "INV_L01");
  const bool decided = keys.verdict != check::Verdict::Undecided && locks.verdict != check::Verdict::Undecided;
  return {decided, keys.operations + locks.operations};
}

void HistoryRecorder::write(const std::function<void(std::string_view)>& line) {
  close_books();
  for (const auto& op : keys_.history.operations()) line(check::line_of<Keys>(op));
  for (const auto& op : locks_.history.operations()) line(check::line_of<Locks>(op));
}

}  // namespace coordkit::sim
