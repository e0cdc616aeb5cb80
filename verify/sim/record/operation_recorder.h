// The callers' operations in a timeline. A call has its number in the witness; the request it makes is recognised by what it
// carries: a label, the token of a hold, a session.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "coordkit/error.h"
#include "sim/record/timeline_rows.h"

namespace coordkit::sim {

// The keys by which a release or a close is recognised.
std::string release_key(Token token);
std::string close_key(SessionId session);

class OperationRecorder {
 public:
  OperationRecorder(Timeline& timeline, const World& world)
      : timeline_(timeline), world_(world), keys_(timeline.limits.operations), operations_(timeline.limits.operations) {}

  void acting(uint64_t worker) { worker_ = worker; }
  void called(uint64_t call, uint32_t node, std::string_view kind, const std::string& subject, const std::string& label);
  void releases(uint64_t call, Token token);
  void closes(uint64_t call, SessionId session);
  void answered(uint64_t call);
  // True: nothing but this index identifies the entry that carried it.
  bool answered_at(uint64_t call, Index index);
  void refused(uint64_t call, Reason reason);
  void process_died(uint32_t node);

  std::optional<uint64_t> caller(const std::string& key) const;
  void carried(uint64_t call, Index index, bool decided);
  void granted(uint64_t call, Index index, Token token);

  std::optional<uint64_t> oldest_pending() const;
  void finish() { hand_over(operations_, "operations", timeline_, timeline_.operations); }

 private:
  void name_request(uint64_t call, std::string key);

  Timeline& timeline_;
  const World& world_;
  uint64_t worker_ = 0;
  std::map<std::string, uint64_t> by_key_;  // what a request carries -> its call
  BoundedList<std::string> keys_;           // by call
  BoundedList<Timeline::Operation> operations_;
};

}  // namespace coordkit::sim
