#include "engine/loop/write_gate.h"

#include <algorithm>
#include <utility>

#include "engine/members/founding.h"

namespace coordkit::engine {

void WriteGate::bootstrap(GroupId group, raft::Genesis genesis, EngineEffects& effects, std::optional<Index> truncate_after) {
  before_core_ = 1;
  effects.writes.push_back({.number = WriteNumber(1),
                            .hard_state = raft::HardState{Term(1), ReplicaId()},
                            .truncate_after = truncate_after,
                            .entries = {genesis_entry(group, genesis)}});
  genesis_ = std::move(genesis);
}

void WriteGate::submit(LogWrite write, LaggingTime now, EngineEffects& effects) {
  write.number = to_store(write.number);
  submitted_ = write.number;
  if (!since_) since_ = now;
  effects.writes.push_back(std::move(write));
}

void WriteGate::written(WriteNumber number, LaggingTime now) {
  durable_ = std::max(durable_, number);
  since_ = durable_ < submitted_ ? std::optional(now) : std::nullopt;
}

WriteNumber WriteGate::durable_of_core() const {
  return durable_.value() > before_core_ ? WriteNumber(durable_.value() - before_core_) : WriteNumber();
}

void WriteGate::send(raft::Send one, EngineEffects& effects) {
  Outbound outbound{one.to, std::visit([](auto& message) { return Message(std::move(message)); }, one.message)};
  const WriteNumber after = one.after ? to_store(one.after) : WriteNumber();
  if (after <= durable_) {
    effects.sends.push_back(std::move(outbound));
  } else {
    waiting_.push_back({after, std::move(outbound)});
    for (size_t i = waiting_.size() - 1; i > 0 && after < waiting_[i - 1].after; --i) std::swap(waiting_[i], waiting_[i - 1]);
  }
}

void WriteGate::release(WriteNumber durable, std::vector<Outbound>& sends) {
  while (!waiting_.empty() && waiting_.front().after <= durable) sends.push_back(waiting_.take_front().message);
}

void WriteGate::clear() {
  waiting_.clear();
  genesis_.reset();
  since_.reset();  // nobody listens to the answer any more
}

// A disk that never answers blocks no thread, so an operator must be told. A leader has transferred leadership by then.
std::string WriteGate::slow(LaggingTime now, Duration limit) const {
  if (!since_ || now - *since_ < limit) return {};
  return "the disk of the log has not answered for " + std::to_string((now - *since_) / std::chrono::seconds(1)) +
         " s: check this disk; until it answers, this replica neither votes nor acknowledges entries";
}

}  // namespace coordkit::engine
