// The rights that each command and each question needs, and for which names (docs/remote.md, S-71 to S-74).
//
// needs.cc and question_needs.cc have one overload for each kind, and none for all kinds: one that does not say its needs
// does not compile. A command that only gives up something that its session has needs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/ports/state_machine.h"
#include "coordkit/records.h"
#include "machine/command.h"

namespace coordkit::machine {

// Any one of these rights is enough.
class AnyOf {
 public:
  constexpr AnyOf(Right right) : rights_(bit(right)) {}  // NOLINT: meant to convert
  constexpr AnyOf(Right one, Right other) : rights_(bit(one) | bit(other)) {}
  constexpr bool has(Right right) const { return (rights_ & bit(right)) != 0; }
  // Without a list a remote has all rights but that to administer.
  constexpr bool usual() const { return (rights_ & ~bit(Right::Admin)) != 0; }
  std::string words() const;  // "read or lock"

 private:
  static constexpr uint32_t bit(Right right) { return uint32_t{1} << static_cast<uint32_t>(right); }
  uint32_t rights_;
};

// A remote that sent a command or a question.
struct RemoteCaller {
  std::string_view name;  // empty: it has none
  Origin origin;
};

// The strings are those of the command or question.
struct Need {
  enum class Of : uint8_t {
    Names,     // all in [key, end), as in RangeOperation
    Attached,  // the keys that are attached to the lease, or to the session of that id
    Process,   // none, if `process` is the caller's own; any other one is refused
    Session,   // none, if the session is the caller's own, or has ended; else every name
  };
  Of of = Of::Names;
  AnyOf right = Right::Admin;
  std::string_view key = {};
  std::string_view end = {};
  LeaseId lease = {};
  SessionId session = {};
  TimerGroup process = {};  // without its TTL
};

// For all of them together.
struct Needs {
  std::string_view verb;          // for the audit: its deed, "put"
  std::string_view subject = {};  // the name that it is done to; empty: those of the needs
  uint64_t number = 0;            // of the session or lease that it is done to
  std::vector<Need> all = {};

  void name(AnyOf right, std::string_view one) { all.push_back({.right = right, .key = one}); }
  void interval(AnyOf right, std::string_view key, std::string_view end) {
    all.push_back({.right = right, .key = key, .end = end});
  }
  void everything(AnyOf right) { interval(right, {}, kNoEnd); }
  void attached(AnyOf right, LeaseId lease) { all.push_back({.of = Need::Of::Attached, .right = right, .lease = lease}); }
};

Needs needs_of(const Request& request);
Needs needs_of(const Transaction& transaction);

// A sentence without values: "put "orders/1"".
std::string words_of(const Needs& needs);

}  // namespace coordkit::machine
