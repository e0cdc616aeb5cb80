// The outcome of each command that the log carries: found by the label that the command carries, by its contents, or by the
// entry it came with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/command.h"
#include "machine/result.h"

namespace coordkit::sim {

class CommandOutcomes {
 public:
  // The outcome of a command that carries a label of the workload.
  struct Outcome {
    uint64_t executions = 0;
    RequestId request;
    std::optional<machine::Result> result;  // the final one
    Index index;                            // of the entry that decided it
    Index arrived;                          // of the entry that carried it
  };
  // A command without a label is identified by its contents and its sender; several may be identical.
  struct Execution {
    RequestId request;
    Index index;                            // of the entry that decided it
    std::optional<machine::Result> result;  // the final one
  };
  static std::string key_of(ReplicaId sender, const machine::Request::Body& body);

  void arrived(const machine::Request& request, const RequestId& id, Index index);
  void answered(Index index, const machine::Result& result) { answers_[index] = result; }
  void finish(const RequestId& id, machine::Result result, Index index, Revision revision);

  const Outcome* find(const std::string& label) const;
  const std::vector<Execution>& executions(const std::string& key) const;
  // The answer there to the request at this index (queued or final); null: the entry was no request or had no effect.
  const machine::Result* answered_at(Index index) const;

 private:
  std::map<std::string, Outcome> outcomes_;
  std::map<RequestId, std::string> labels_;
  std::map<std::string, std::vector<Execution>> executions_;
  std::map<RequestId, std::pair<std::string, size_t>> executing_;  // its place there
  std::map<Index, machine::Result> answers_;
};

}  // namespace coordkit::sim
