#include "sim/record/operation_recorder.h"

#include <fmt/format.h>

#include <utility>

namespace coordkit::sim {

std::string release_key(Token token) { return fmt::format("release of {}", token.value()); }
std::string close_key(SessionId session) { return fmt::format("close of {}", session.value()); }

void OperationRecorder::called(uint64_t call, uint32_t node, std::string_view kind, const std::string& subject,
                               const std::string& label) {
  if (const std::string* oldest = keys_.next_to_go()) by_key_.erase(*oldest);
  Timeline::Operation row;
  row.id = call;
  row.lane = node;
  row.worker = worker_;
  row.kind = kind;
  row.subject = subject;
  row.label = label;
  row.called = time_of(world_);
  operations_.add(std::move(row));
  keys_.add({});
  if (!label.empty()) name_request(call, label);
}

void OperationRecorder::name_request(uint64_t call, std::string key) {
  std::string* kept = keys_.find(call);
  if (kept == nullptr) return;
  by_key_[key] = call;
  *kept = std::move(key);
}

void OperationRecorder::releases(uint64_t call, Token token) {
  name_request(call, release_key(token));
  if (Timeline::Operation* row = operations_.find(call)) row->token = token;
}

void OperationRecorder::closes(uint64_t call, SessionId session) { name_request(call, close_key(session)); }

void OperationRecorder::answered(uint64_t call) {
  Timeline::Operation* row = operations_.find(call);
  if (row == nullptr) return;
  row->ended = time_of(world_);
  row->outcome = "ok";
}

bool OperationRecorder::answered_at(uint64_t call, Index index) {
  Timeline::Operation* row = operations_.find(call);
  if (row == nullptr) return false;
  row->decided = index;
  if (row->kind != "erase") return false;
  row->carried = index;
  return true;
}

void OperationRecorder::refused(uint64_t call, Reason reason) {
  if (Timeline::Operation* row = operations_.find(call)) row->outcome = name_of(reason);
}

void OperationRecorder::process_died(uint32_t node) {
  for (Timeline::Operation& operation : operations_.items()) {
    if (operation.lane != node || operation.ended) continue;
    operation.ended = time_of(world_);
    operation.outcome = "its process died";
  }
}

std::optional<uint64_t> OperationRecorder::caller(const std::string& key) const {
  const auto found = by_key_.find(key);
  if (key.empty() || found == by_key_.end()) return std::nullopt;
  return found->second;
}

void OperationRecorder::carried(uint64_t call, Index index, bool decided) {
  Timeline::Operation* row = operations_.find(call);
  if (row == nullptr || row->carried) return;
  row->carried = index;
  if (decided) row->decided = index;
}

void OperationRecorder::granted(uint64_t call, Index index, Token token) {
  Timeline::Operation* row = operations_.find(call);
  if (row == nullptr) return;
  row->decided = index;
  row->token = token;
}

std::optional<uint64_t> OperationRecorder::oldest_pending() const {
  for (const Timeline::Operation& operation : operations_.items()) {
    if (!operation.ended) return operation.id;
  }
  return std::nullopt;
}

}  // namespace coordkit::sim
