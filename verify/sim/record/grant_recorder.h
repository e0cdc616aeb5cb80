// Holds of locks in a timeline: from grant to end by the log, and for how long their holders trusted in them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/client/handles.h"
#include "sim/oracle/model.h"
#include "sim/record/note_recorder.h"
#include "sim/record/operation_recorder.h"
#include "sim/world/node_clock.h"

namespace coordkit::sim {

class GrantRecorder {
 public:
  GrantRecorder(Timeline& timeline, const World& world, OperationRecorder& operations, NoteRecorder& notes)
      : timeline_(timeline), world_(world), operations_(operations), notes_(notes), grants_(timeline.limits.grants) {}

  void applied(const Model& model);  // the newest entry, at its first apply anywhere
  void notified(uint32_t node, const HoldRef& hold);
  void looked(uint32_t node, const NodeClock& clock);
  void resource(const std::string& lock, Token token, bool accepted);
  void process_died(uint32_t node);
  void finish() { hand_over(grants_, "grants", timeline_, timeline_.grants); }

 private:
  struct Trusted {
    uint32_t node = 0;
    HoldRef hold;
    uint64_t grant = 0;
  };
  struct Held {
    uint64_t grant = 0;
    SessionId session;
  };
  void follow_sessions(const Model& model);
  void end_holds(const Model& model);
  void begin_hold(const Model& model, const LockModel::Claim& hold, const std::string& lock);

  Timeline& timeline_;
  const World& world_;
  OperationRecorder& operations_;
  NoteRecorder& notes_;
  std::map<SessionId, uint32_t> session_lanes_;
  std::map<std::pair<std::string, Token>, Held> held_;  // by lock and token
  std::multimap<Token, uint64_t> by_token_;             // one for each of its locks
  std::vector<Trusted> trusted_;
  BoundedList<Timeline::Grant> grants_;
};

}  // namespace coordkit::sim
