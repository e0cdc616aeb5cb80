#include "sim/objects/barrier_model.h"

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

Result BarrierModel::run(const machine::CloseBarrier& close) {
  if (!barriers_.emplace(close.name, Barrier{close.session, close.at_end}).second) return {.code = ResultCode::AlreadyExists};
  entry_.touch(Kind::Barrier, close.name);
  return {};
}

Result BarrierModel::run(const machine::OpenBarrier& open) {
  if (barriers_.erase(open.name) == 0) return {.code = ResultCode::NotFound};
  lines_.end_line(Kind::Barrier, open.name, {});
  return {};
}

Result BarrierModel::run(const machine::AwaitBarrier& await) {
  if (!barriers_.contains(await.name)) return {};
  return lines_.join_line(lines_.wait_at(Kind::Barrier, await.name, await.session), await.wait);
}

void BarrierModel::end(SessionId session) {
  for (auto it = barriers_.begin(); it != barriers_.end();) {
    const auto& [name, barrier] = *it;
    if (barrier.session != session || barrier.at_end == machine::AtSessionEnd::Stays) {
      ++it;
      continue;
    }
    const bool opens = barrier.at_end == machine::AtSessionEnd::Opens;
    lines_.end_line(Kind::Barrier, name, {.code = opens ? ResultCode::Ok : ResultCode::Broken});
    it = barriers_.erase(it);
  }
}

void BarrierModel::show(const std::string& name, machine::ObjectView& view) const { view.exists = barriers_.contains(name); }

}  // namespace coordkit::sim
