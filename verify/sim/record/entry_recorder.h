// The entries of the log in a timeline, as each was first appended anywhere.
#pragma once

#include <map>
#include <utility>

#include "coordkit/ports/log_store.h"
#include "sim/oracle/command_reader.h"
#include "sim/oracle/model.h"
#include "sim/record/note_recorder.h"
#include "sim/record/operation_recorder.h"

namespace coordkit::sim {

class EntryRecorder {
 public:
  EntryRecorder(Timeline& timeline, const World& world, const CommandReader& commands, OperationRecorder& operations,
                NoteRecorder& notes)
      : timeline_(timeline),
        world_(world),
        commands_(commands),
        operations_(operations),
        notes_(notes),
        entries_(timeline.limits.entries) {}

  void writes(uint32_t node, const LogWrite& write);
  void applied(const Model& model, Term term);  // the newest entry, at its first apply anywhere
  void carries(Index index, uint64_t call);
  void finish() { hand_over(entries_, "log entries", timeline_, timeline_.entries); }

 private:
  Timeline& timeline_;
  const World& world_;
  const CommandReader& commands_;
  OperationRecorder& operations_;
  NoteRecorder& notes_;
  std::map<std::pair<Index, Term>, uint64_t> seen_;
  BoundedList<Timeline::Entry> entries_;
};

}  // namespace coordkit::sim
