#include "engine/disks/matching_stores.h"

#include <string>

#include "coordkit/error.h"

namespace coordkit::engine {
namespace {

std::string entry_at(Position position) {
  return "entry " + std::to_string(position.index.value()) + " of term " + std::to_string(position.term.value());
}

Position last_of(const RecoveredLog& log) { return log.entries.empty() ? log.base : log.entries.back().position(); }

constexpr const char* kNotOfOneMoment =
    ": the two do not belong together; restore both from the same moment, or replace this member";

}  // namespace

bool holds_entry(const RecoveredLog& log, Position position) {
  if (position.index == log.base.index) return position.term == log.base.term;
  const uint64_t place = position.index - log.base.index - 1;
  return place < log.entries.size() && log.entries[place].term == position.term;
}

// A checkpoint taken here covers entries that were durable in the log beside it, and these are never cut. A
// state from a peer becomes durable before the log is restarted after it (docs/decisions/0006), but no member is sent one
// before it has stored the genesis and with it a term.
absl::Status check_stores_match(const RecoveredLog& log, const CheckpointView& checkpoint) {
  const Position applied = checkpoint.applied();
  const bool from_birth = !applied.index && !log.base.index && !log.entries.empty();
  if (from_birth && log.entries.front().kind != raft::EntryKind::Genesis) {
    return make_error(
        Reason::Corrupt,
        "the first entry of the log does not name the cluster: the log store returns another entry than it was given");
  }
  if (applied.index < log.base.index) {
    return make_error(Reason::Corrupt, "the log starts after entry " + std::to_string(log.base.index.value()) +
                                           " but the checkpoint was taken at entry " + std::to_string(applied.index.value()) +
                                           kNotOfOneMoment);
  }
  const bool gone = !log.hard_state.term && !log.base.index && log.entries.empty();
  if (applied.index && gone) {
    return make_error(Reason::Corrupt,
                      "the checkpoint was taken at " + entry_at(applied) + " but the log is empty" + kNotOfOneMoment);
  }
  if (!checkpoint.installed() && !holds_entry(log, applied)) {
    return make_error(Reason::Corrupt, "the checkpoint was taken at " + entry_at(applied) + " but the log, which ends with " +
                                           entry_at(last_of(log)) + ", does not hold that entry" + kNotOfOneMoment);
  }
  return absl::OkStatus();
}

}  // namespace coordkit::engine
