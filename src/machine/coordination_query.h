// What can be asked about semaphores, latches, barriers, queues, counters and groups: one question and one shape of answer for
// all kinds, of which each uses what applies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "coordination/step.h"
#include "coordkit/types.h"

namespace coordkit::machine {

// What StateMachine::observe() of this machine calls it.
inline std::string subject_of(coordination::Kind kind, std::string_view name) {
  std::string subject(1, static_cast<char>(kind));
  return subject.append(name);
}

struct ObjectQuery {
  coordination::Kind kind = coordination::Kind::Semaphore;
  std::string name;
  uint64_t limit = 0;  // of rows; 0: kQueryRowsMax
  friend bool operator==(const ObjectQuery&, const ObjectQuery&) = default;
};

// Somebody's permits, an item that nobody has claimed, or a member.
struct ObjectRow {
  Index id;              // item, member; permits: the entry that granted
  Token token;           // permits
  SessionId session;     // permits, member
  std::string owner;     // member
  uint64_t count = 0;    // permits; deliveries of an item
  int64_t priority = 0;  // item
  std::string value;     // item, member
  static constexpr auto fields() {
    return std::tuple(&ObjectRow::id, &ObjectRow::token, &ObjectRow::session, &ObjectRow::owner, &ObjectRow::count,
                      &ObjectRow::priority, &ObjectRow::value);
  }
  friend bool operator==(const ObjectRow&, const ObjectRow&) = default;
};

struct ObjectReply {
  bool exists = false;   // barrier: it is closed
  int64_t number = 0;    // counter: its value; latch: its count; queue: items that nobody has claimed
  uint64_t limit = 0;    // semaphore: its limit; double barrier: its parties
  uint64_t taken = 0;    // permits held; parties inside; items claimed
  uint64_t waiters = 0;  // in line
  bool more = false;     // there are more rows than these
  std::vector<ObjectRow> rows;
  static constexpr auto fields() {
    return std::tuple(&ObjectReply::exists, &ObjectReply::number, &ObjectReply::limit, &ObjectReply::taken,
                      &ObjectReply::waiters, &ObjectReply::more, &ObjectReply::rows);
  }
  friend bool operator==(const ObjectReply&, const ObjectReply&) = default;
};

std::string encode(const ObjectReply& reply);
absl::StatusOr<ObjectReply> decode_object(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine
