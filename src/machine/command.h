// What a client asks of coordkit's machine through the log: plain values and their bytes (proto/coordkit/v1/machine.proto).
//
// A Request is one entry's command. A request of a session carries the releases that were posted earlier and are not yet
// answered; apply performs these first (docs/semantics.md S-43), so that a release never loses to what its session does next.
// Decoders take hostile bytes: unknown fields are skipped, counts are capped, nothing is allocated by an unchecked length.
// validate() is the one predicate of the door: the client asks it before the log, apply asks it again (S-35).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/types.h"
#include "machine/coordination_command.h"
#include "machine/result.h"
#include "machine/wait.h"

namespace coordkit::machine {

// Limits, as in docs/semantics.md. They are part of the replicated behaviour: changing one needs a feature level.
inline constexpr size_t kNameBytesMax = 1024;       // of a lock, at least 1
inline constexpr size_t kLockValueBytesMax = 4096;  // of a hold
inline constexpr size_t kOwnerTagBytesMax = 256;
inline constexpr size_t kMetadataBytesMax = 4096;  // of a session
inline constexpr size_t kKeyBytesMax = 8192;
inline constexpr size_t kValueBytesMax = 1 << 20;
inline constexpr size_t kPriorReleasesMax = 1024;  // of one request
inline constexpr size_t kRequestBytesMax = 1536 << 10;
inline constexpr Duration kTtlMin = std::chrono::milliseconds(50);        // shorter ones are raised to it (S-29)
inline constexpr Duration kTtlMax = std::chrono::seconds(9'000'000'000);  // longer ones are refused: TtlTooLarge

// Opens a session bound to one process. Its TTL class is the granted TTL.
struct OpenSession {
  Duration ttl{};
  std::string metadata;
  ReplicaId node;
  BootCounter boot;
  uint64_t incarnation = 0;
  friend bool operator==(const OpenSession&, const OpenSession&) = default;
};

struct CloseSession {
  SessionId session;
  friend bool operator==(const CloseSession&, const CloseSession&) = default;
};

struct Acquire {
  SessionId session;
  std::string owner_tag;
  std::string name;
  Wait wait;
  std::string value;   // shown to everybody who looks at the holder
  uint64_t flags = 0;  // none defined yet: must be zero
  friend bool operator==(const Acquire&, const Acquire&) = default;
};

struct Release {
  SessionId session;
  std::optional<std::string> owner_tag;  // absent: whichever owner of the session holds it
  std::string name;
  Token token;
  friend bool operator==(const Release&, const Release&) = default;
};

// Ends the wait of an acquire of this session, or of a wait for permits, a latch, a barrier or an item. Answers Granted with
// the token if the grant came first, else Cancelled: the acquire holds nothing and never will, even if it has not arrived yet
// (see cancel_marks.h for how long that is kept). Tag and name repeat the acquire's, so that it is found without an index by
// request.
struct CancelAcquire {
  SessionId session;
  std::string owner_tag;
  std::string name;
  RequestId acquire;  // an earlier one than this request; NotFound if of another origin and not there
  friend bool operator==(const CancelAcquire&, const CancelAcquire&) = default;
};

struct Put {
  std::string key;
  std::string value;
  friend bool operator==(const Put&, const Put&) = default;
};

struct Delete {
  std::string key;
  friend bool operator==(const Delete&, const Delete&) = default;
};

// A release of the request's session that is under way by itself. One that finds nothing to release is silently skipped.
struct PriorRelease {
  std::string name;
  Token token;
  friend bool operator==(const PriorRelease&, const PriorRelease&) = default;
};

struct Request {
  // std::monostate: a kind this version does not know; validate() says Unsupported.
  using Body = std::variant<std::monostate, OpenSession, CloseSession, Acquire, Release, CancelAcquire, Put, Delete,
                            CoordinationCommand>;
  Body body;
  std::vector<PriorRelease> prior_releases;  // only with a body that names a session
  friend bool operator==(const Request&, const Request&) = default;
};

// The session a request acts for; zero for the kinds that need none.
SessionId session_of(const Request& request);

// Ok, or why the request is refused without effect whatever the state: EmptyKey, InvalidArgument, LimitExceeded,
// TtlTooLarge, Unsupported.
ResultCode validate(const Request& request);

std::string encode(const Request& request);
absl::StatusOr<Request> decode_request(std::string_view bytes);  // kInvalidArgument: malformed

}  // namespace coordkit::machine
