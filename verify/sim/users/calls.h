// The calls of the workload: the caller, the subject and the time of each, and the answers that callers had by then. Each call
// ends exactly once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/command.h"
#include "sim/record/history_recorder.h"
#include "sim/world/world.h"

namespace coordkit::sim {

using CallNumber = uint64_t;

enum class CallKind : uint8_t {
  Open,
  Close,
  Acquire,
  Release,
  Put,
  Erase,
  Get,
  LeaseGet,
  LocalGet,
  Holders,
  Queue,
  Sessions,
  Check,
  Convert,  // a hold to another mode
  Value,
  Resume,  // of a session
  Kill,    // of a session or a hold
  Leave,   // a place or a group
  Compact,
  Command,
  Look,      // at an object
  PutEntry,  // a put with options
  Range,
  LocalRange
};
std::string_view name_of(CallKind kind);  // in words

struct Call {
  CallNumber number = 0;
  uint32_t node = 0;
  CallKind kind = CallKind::Put;
  bool ended = false;
  bool current_at_start = false;  // Check, Release of a lock: the hold was current
  bool answered = false;          // with a success
  bool in_doubt = false;          // ended with another outcome than NONE
  bool without_effect = false;    // ended with outcome NONE, or Cancelled
  TrueTime began{};
  Index floor;          // highest index in any answer before this call began
  Index own_floor;      // the same of its own process
  std::string subject;  // the lock or key
  std::string label;    // unique; travels in the command if there is room for it
  std::string command;  // of one without a label: its contents
};
[[noreturn]] void fail(const char* invariant, const Call& call, const std::string& what);

class Calls {
 public:
  // The workload's use of locks. The black box has a model of exclusive ones: with others it gets the keys alone.
  enum class Locks : uint8_t { Plain, Any };
  // `history` receives every call too; null: none.
  Calls(World& world, HistoryRecorder* history, Locks locks) : world_(world), history_(history), locks_(locks) {}

  CallNumber begin(uint32_t node, CallKind kind, std::string subject, std::string label = {});
  // For a command without room for a label: its contents identify it.
  CallNumber begin_command(uint32_t node, CallKind kind, std::string subject, const machine::Request::Body& body);
  Call& end(CallNumber number);  // the first answer; another one is a violation
  void process_died(uint32_t node);
  // This caller got this index in an answer.
  void tell(const Call& call, Index index) {
    highest_answered_ = std::max(highest_answered_, index);
    tell_own(call, index);
  }
  void tell_own(const Call& call, Index index) { own_[call.node] = std::max(own_[call.node], index); }

  Call& at(CallNumber number) { return calls_[number]; }
  const std::vector<Call>& all() const { return calls_; }
  // The oldest unanswered call of a live process; for the report of a run that does not end.
  std::string pending() const;
  uint64_t pending_count() const { return pending_; }

 private:
  void record(const Call& call);

  World& world_;
  HistoryRecorder* const history_;
  const Locks locks_;
  std::vector<Call> calls_;
  uint64_t pending_ = 0;
  Index highest_answered_;         // highest index in any answer so far
  std::map<uint32_t, Index> own_;  // the same of each running process
};

}  // namespace coordkit::sim
