// Fills a Timeline during a run. The parts of the simulator report to it what they do (World::recorder(), null unless a
// timeline is wanted). It never answers, draws no random number and schedules nothing, so a recorded run is the same run. Each
// list of the timeline has a recorder of its own; here is what concerns several of them.
#pragma once

#include <string>

#include "coordkit/sim/timeline.h"
#include "sim/oracle/command_reader.h"
#include "sim/oracle/model.h"
#include "sim/oracle/violation.h"
#include "sim/record/entry_recorder.h"
#include "sim/record/fault_recorder.h"
#include "sim/record/grant_recorder.h"
#include "sim/record/message_recorder.h"
#include "sim/record/note_recorder.h"
#include "sim/record/operation_recorder.h"
#include "sim/record/process_recorder.h"
#include "sim/world/world.h"

namespace coordkit::sim {

class Recorder {
 public:
  Recorder(Timeline& timeline, const World& world, uint32_t nodes);
  Recorder(const Recorder&) = delete;  // its parts refer to each other
  Recorder& operator=(const Recorder&) = delete;

  ProcessRecorder& processes() { return processes_; }
  MessageRecorder& messages() { return messages_; }
  FaultRecorder& faults() { return faults_; }
  OperationRecorder& operations() { return operations_; }  // in the terms of the witness
  EntryRecorder& entries() { return entries_; }
  GrantRecorder& grants() { return grants_; }
  NoteRecorder& notes() { return notes_; }

  // Reports of a node about its process, and about the messages that reach it.
  void started(uint32_t node) { processes_.started(node); }
  void stopped(uint32_t node);
  void frozen(uint32_t node, const char* how) { processes_.frozen(node, how); }
  void resumed(uint32_t node) { processes_.resumed(node); }
  void arrived(uint64_t message) { messages_.arrived(message); }
  void lost(uint64_t message) { messages_.lost(message); }

  // Nothing in an erase identifies its caller: the index in its answer does.
  void answered_at(uint64_t call, Index index);
  void applied(const Model& model, Term term);  // the newest entry, at its first apply anywhere
  void violated(const std::string& id, const std::string& what, const Culprit& culprit);
  // Moves everything into the timeline.
  void finish();

 private:
  Timeline& timeline_;
  const World& world_;
  NoteRecorder notes_;
  OperationRecorder operations_;
  CommandReader commands_;
  ProcessRecorder processes_;
  MessageRecorder messages_;
  FaultRecorder faults_;
  EntryRecorder entries_;
  GrantRecorder grants_;
};

}  // namespace coordkit::sim
