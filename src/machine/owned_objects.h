// What a session has besides locks: permits, places inside double barriers, claimed items and memberships (docs/semantics.md
// S-45): the question of whoever takes it over.
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

// In the order of kinds, and within a kind of tokens, memberships of numbers; those above (after_kind, after).
struct OwnedObjectsQuery {
  SessionId session;
  coordination::Kind after_kind{};
  uint64_t after = 0;
  friend bool operator==(const OwnedObjectsQuery&, const OwnedObjectsQuery&) = default;
};

struct OwnedObject {
  coordination::Kind kind{};  // Semaphore, DoubleBarrier, Queue or Group
  std::string name;
  Token token;         // not of a membership
  Index since;         // the entry that granted; not of a membership
  Index id;            // the item; the member's number
  uint64_t count = 0;  // permits; earlier deliveries of the item
  std::string owner;   // of the member
  std::string value;   // of the item, of the member
  static constexpr auto fields() {
    return std::tuple(&OwnedObject::kind, &OwnedObject::name, &OwnedObject::token, &OwnedObject::since, &OwnedObject::id,
                      &OwnedObject::count, &OwnedObject::owner, &OwnedObject::value);
  }
  friend bool operator==(const OwnedObject&, const OwnedObject&) = default;
};

struct OwnedObjectsReply {
  std::vector<OwnedObject> rows;
  bool more = false;
  static constexpr auto fields() { return std::tuple(&OwnedObjectsReply::rows, &OwnedObjectsReply::more); }
  friend bool operator==(const OwnedObjectsReply&, const OwnedObjectsReply&) = default;
};

// The question that goes on behind this row.
inline OwnedObjectsQuery after(SessionId session, const OwnedObject& last) {
  return {session, last.kind, last.token ? last.token.value() : last.id.value()};
}

std::string encode(const OwnedObjectsReply& reply);
absl::StatusOr<OwnedObjectsReply> decode_owned_objects(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine
