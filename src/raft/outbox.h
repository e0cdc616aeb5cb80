// Everything that the steps since the last drain have produced for the host, and the context of a part of the core during a
// step.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "coordkit/raft/core.h"

namespace coordkit::raft {

class Log;
class LogReader;

struct Outbox {
  std::vector<Send> sends;
  std::vector<ProposalOutcome> outcomes;
  std::vector<Confirmation> confirmations;
  std::vector<TransferOutcome> transfers;
  std::vector<ChangeOutcome> changes;
  std::optional<Contradiction> contradiction;  // the first one since the last drain
  Index commit_reported;

  bool empty() const {
    return sends.empty() && outcomes.empty() && confirmations.empty() && transfers.empty() && changes.empty() && !contradiction;
  }
  void send(ReplicaId to, WriteNumber after, Message message) { sends.push_back({to, after, std::move(message)}); }
  void move_to(Effects& effects, const Log& log);
};

struct Step {
  Log& log;
  LogReader& reader;
  Outbox& out;
  LaggingTime now;
};

}  // namespace coordkit::raft
