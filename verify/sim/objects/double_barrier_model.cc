#include "sim/objects/double_barrier_model.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace coordkit::sim {

using coordination::Kind;
using machine::Result;
using machine::ResultCode;

// The last one to arrive takes everyone in, in order of arrival, itself last.
Result DoubleBarrierModel::run(const machine::EnterBarrier& enter) {
  const auto known = meetings_.find(enter.name);
  if (known != meetings_.end() && known->second.parties != enter.parties) return {.code = ResultCode::InvalidArgument};
  if (known != meetings_.end() && known->second.complete) return {.code = ResultCode::TooManyParties};
  const uint64_t expected = known == meetings_.end() ? enter.parties : known->second.expected;
  WaitsAndHolds::Wait wait = lines_.wait_at(Kind::DoubleBarrier, enter.name, enter.session);
  const bool last = lines_.waiting(Kind::DoubleBarrier, enter.name) + 1 >= expected;
  if (!last && enter.wait.kind == machine::Wait::Kind::None) return {.code = ResultCode::Held};
  if (known == meetings_.end()) {
    meetings_[enter.name] = {.made = entry_.index, .parties = enter.parties, .expected = enter.parties, .at_end = enter.at_end};
  }
  if (!last) return lines_.join_line(std::move(wait), enter.wait);
  meetings_.at(enter.name).complete = true;
  lines_.grant_line(Kind::DoubleBarrier, enter.name);
  return lines_.grant(wait).granted();
}

Result DoubleBarrierModel::run(const machine::LeaveBarrier& leave) {
  const WaitsAndHolds::Hold* place = lines_.find(leave.session, leave.name, leave.token);
  if (!place || place->of != Kind::DoubleBarrier) return {.code = ResultCode::NotOwner};
  lines_.give_back(leave.token);
  const bool last = lines_.holding(Kind::DoubleBarrier, leave.name) == 0;
  if (last || leave.wait.kind == machine::Wait::Kind::None) return {};
  WaitsAndHolds::Wait wait = lines_.wait_at(Kind::DoubleBarrier, leave.name, leave.session);
  wait.leaves = true;
  return lines_.join_line(std::move(wait), leave.wait);
}

void DoubleBarrierModel::end_waits(SessionId session, Waiter waiter) {
  if (waiter == Waiter::MayReturn) return;
  for (const WaitsAndHolds::Wait& wait : lines_.waits()) {
    if (wait.of != Kind::DoubleBarrier || wait.session != session || wait.leaves) continue;
    Meeting& meeting = meetings_.at(wait.name);
    meeting.at_end == machine::AtPartyEnd::Breaks ? meeting.broken = true : --meeting.expected;
  }
}

void DoubleBarrierModel::end_holds(SessionId session) {
  for (const WaitsAndHolds::Hold& hold : lines_.holds()) {
    if (hold.of != Kind::DoubleBarrier || hold.session != session) continue;
    Meeting& meeting = meetings_.at(hold.name);
    if (meeting.at_end == machine::AtPartyEnd::Breaks) meeting.broken = true;
  }
}

void DoubleBarrierModel::serve() {
  while (serve_one()) {
  }
}

// The oldest one with something due. False: none.
bool DoubleBarrierModel::serve_one() {
  std::vector<std::pair<Index, std::string>> by_age;
  for (const auto& [name, meeting] : meetings_) by_age.emplace_back(meeting.made, name);
  std::ranges::sort(by_age);
  for (const auto& oldest : by_age) {
    const std::string& name = oldest.second;
    Meeting& meeting = meetings_.at(name);
    const uint64_t waiting = lines_.waiting(Kind::DoubleBarrier, name);
    const bool left = meeting.complete && lines_.holding(Kind::DoubleBarrier, name) == 0;
    if (meeting.broken || left) {
      lines_.end_line(Kind::DoubleBarrier, name, {.code = meeting.broken ? ResultCode::Broken : ResultCode::Ok});
      lines_.give_back_all(Kind::DoubleBarrier, name);
      meetings_.erase(name);
      return true;
    }
    if (meeting.complete) continue;
    if (waiting == 0) {
      entry_.touch(Kind::DoubleBarrier, name);
      meetings_.erase(name);
      return true;
    }
    if (waiting < meeting.expected) continue;
    meeting.complete = true;
    lines_.grant_line(Kind::DoubleBarrier, name);
    return true;
  }
  return false;
}

void DoubleBarrierModel::show(const std::string& name, machine::ObjectView& view) const {
  const auto meeting = meetings_.find(name);
  if (meeting == meetings_.end()) return;
  view.exists = true;
  view.limit = meeting->second.parties;
  view.taken = lines_.holding(Kind::DoubleBarrier, name);
}

}  // namespace coordkit::sim
