#include "sim/objects/latch_model.h"

#include <algorithm>

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

Result LatchModel::run(const machine::CreateLatch& create) {
  if (!counts_.emplace(create.name, create.count).second) return {.code = ResultCode::AlreadyExists};
  entry_.touch(Kind::Latch, create.name);
  return {.number = static_cast<int64_t>(create.count)};
}

Result LatchModel::run(const machine::CountDown& count) {
  const auto latch = counts_.find(count.name);
  if (latch == counts_.end()) return {.code = ResultCode::NotFound};
  entry_.touch(Kind::Latch, count.name);
  latch->second -= std::min(latch->second, count.by);
  if (latch->second == 0) lines_.end_line(Kind::Latch, count.name, {});
  return {.number = static_cast<int64_t>(latch->second)};
}

Result LatchModel::run(const machine::AwaitLatch& await) {
  const auto latch = counts_.find(await.name);
  if (latch == counts_.end()) return {.code = ResultCode::NotFound};
  if (latch->second == 0) return {};
  return lines_.join_line(lines_.wait_at(Kind::Latch, await.name, await.session), await.wait);
}

Result LatchModel::run(const machine::DeleteLatch& erase) {
  if (counts_.erase(erase.name) == 0) return {.code = ResultCode::NotFound};
  lines_.end_line(Kind::Latch, erase.name, {.code = ResultCode::NotFound});
  return {};
}

void LatchModel::show(const std::string& name, machine::ObjectView& view) const {
  const auto latch = counts_.find(name);
  if (latch == counts_.end()) return;
  view.exists = true;
  view.number = static_cast<int64_t>(latch->second);
}

}  // namespace coordkit::sim
