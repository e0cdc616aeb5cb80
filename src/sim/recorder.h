// Fills a Timeline during a run. The parts of the simulator report to it what they do (World::recorder(), null unless
// a timeline is wanted); it never answers, draws no random number and schedules nothing, so a recorded run is the same
// run.
//
// Causes: a call has its number in the witness. The request it makes is recognised in forwarded commands and log entries by
// what it carries (label, token of the hold, session), so the chain call, forward, entry, commit, apply, answer needs no help
// from the engine.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordkit/client/handles.h"
#include "coordkit/engine.h"
#include "coordkit/error.h"
#include "coordkit/sim/options.h"
#include "coordkit/sim/timeline.h"
#include "sim/disk.h"
#include "sim/kept.h"
#include "sim/model.h"
#include "sim/node_clock.h"
#include "sim/violation.h"
#include "sim/world.h"

namespace coordkit::sim {

class Recorder {
 public:
  Recorder(Timeline& timeline, const World& world, uint32_t nodes);

  // ---- processes (recorder.cc)
  void started(uint32_t node);
  void stopped(uint32_t node);
  void frozen(uint32_t node, const char* how);
  void resumed(uint32_t node);
  void stands(uint32_t node, const Engine& engine, const SimLogStore& log);
  void traced(const TraceRecord& record);

  // ---- wires
  uint64_t sent(uint32_t from, uint32_t to, const Message& message);
  void arrived(uint64_t message);
  void lost(uint64_t message);

  // ---- faults. `node` is the one it hits, if it hits one.
  uint64_t fault_begins(FaultKind kind, uint64_t ordinal, uint32_t node, Duration length);
  void fault_cuts(uint64_t fault, const std::vector<std::pair<uint32_t, uint32_t>>& links);
  void fault_ends(uint64_t fault);
  void calm();

  // ---- calls, in the terms of the witness (recorder_calls.cc)
  void acting(uint64_t worker) { worker_ = worker; }
  void called(uint64_t call, uint32_t node, const char* kind, const std::string& subject, const std::string& label);
  void releases(uint64_t call, Token token);
  void closes(uint64_t call, SessionId session);
  void answered(uint64_t call);
  void answered_at(uint64_t call, Index index);
  void refused(uint64_t call, Reason reason);

  // ---- log and holds
  void writes(uint32_t node, const LogWrite& write);
  void applied(const Model& model, Term term);  // the newest entry, at its first apply anywhere
  void told(uint32_t node, const HoldRef& hold);
  void looked(uint32_t node, const NodeClock& clock);
  void resource(const std::string& lock, Token token, bool accepted);

  void violated(const std::string& id, const std::string& what, const Culprit& culprit);
  // Moves everything into the timeline.
  void finish();

 private:
  struct Said {  // of one message or entry payload
    std::string text;
    std::vector<uint64_t> operations;
  };
  struct Trusted {
    uint32_t node = 0;
    HoldRef hold;
    uint64_t grant = 0;
  };
  struct Held {
    uint64_t grant = 0;
    SessionId session;
  };
  Duration now() const { return world_.now().time_since_epoch(); }
  Timeline::Message* find_message(uint64_t id);
  void fill(Timeline::Message& row, const Message& message);
  void name_request(uint64_t call, std::string key);
  std::vector<uint64_t> callers(const std::string& key) const;
  Said read(const raft::Entry& entry) const;
  Said read_command(std::string_view bytes) const;
  void note(std::optional<uint32_t> lane, Timeline::Weight weight, std::string text);
  void follow_sessions(const Model& model);
  void end_holds(const Model& model);
  void begin_holds(const Model& model);
  void begin_hold(const Model& model, const LockModel::Claim& hold, const std::string& lock);
  void stop_trusting(uint32_t node);
  std::vector<Timeline::Message> merged_messages();

  Timeline& timeline_;
  const World& world_;
  uint64_t worker_ = 0;
  std::vector<Timeline::Stands> standing_;
  std::vector<Timeline::Progress> progressing_;
  std::vector<std::optional<uint64_t>> freezing_;  // its row
  std::set<uint64_t> open_faults_;
  std::map<std::string, uint64_t> by_key_;  // what a request carries -> its call
  Kept<std::string> keys_;                  // by call
  std::map<SessionId, uint32_t> session_lanes_;
  std::map<std::pair<Index, Term>, uint64_t> entries_seen_;
  std::map<std::pair<std::string, Token>, Held> held_;  // by lock and token
  std::multimap<Token, uint64_t> grants_by_token_;      // one for each of its locks
  std::vector<Trusted> trusted_;

  Kept<Timeline::Message> messages_, routine_;
  Kept<Timeline::Stands> states_;
  Kept<Timeline::Frozen> frozen_;
  Kept<Timeline::Progress> progress_;
  Kept<Timeline::Operation> operations_;
  Kept<Timeline::Entry> entries_;
  Kept<Timeline::Grant> grants_;
  Kept<Timeline::Fault> faults_;
  Kept<Timeline::Note> notes_;
};

}  // namespace coordkit::sim
