// Requests of a client to coordkit's machine through the log: plain values and their bytes (proto/coordkit/v1/machine.proto).
//
// A Request is one entry's command. A request of a session carries the releases that were posted earlier and are not yet
// answered. Apply performs these first (docs/semantics.md S-43), so that a release never loses to its session's next command.
// Decoders take hostile bytes: unknown fields are skipped, counts are capped, nothing is allocated by an unchecked length.
// validate() is the one predicate for input: the client checks it before the log, and apply checks it again (S-35).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/types.h"
#include "lease/secret.h"
#include "machine/field_list.h"
#include "machine/keys/key_space.h"
#include "machine/keys/kv_command.h"
#include "machine/keys/lease_command.h"
#include "machine/locks/lock_commands.h"
#include "machine/objects/coordination_command.h"
#include "machine/permissions/permissions.h"
#include "machine/result.h"
#include "machine/sessions/session_commands.h"
#include "machine/wait.h"

namespace coordkit::machine {

// Limits, as in docs/semantics.md. They are part of the replicated behaviour: changing one needs a feature level.
inline constexpr size_t kMetadataBytesMax = 4096;  // of a session
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
  lease::SecretHash secret = {};  // of the secret that a resume must present; none: the session cannot be resumed
  static constexpr uint32_t kField = 2;
  static constexpr auto fields() {
    using O = OpenSession;
    return std::tuple(&O::ttl, &O::metadata, &O::node, &O::boot, &O::incarnation, at(30, &O::secret));
  }
  friend bool operator==(const OpenSession&, const OpenSession&) = default;
};

struct CloseSession {
  SessionId session;
  static constexpr uint32_t kField = 3;
  static constexpr auto fields() { return std::tuple(&CloseSession::session); }
  friend bool operator==(const CloseSession&, const CloseSession&) = default;
};

using Put = PutOperation;
using Delete = DeleteOperation;

struct Request {
  // std::monostate: a kind this version does not know; validate() answers Unsupported.
  using Body =
      std::variant<std::monostate, OpenSession, CloseSession, Acquire, Release, CancelAcquire, Put, Delete, AcquireAll,
                   Downgrade, Upgrade, UpdateValue, ClearDelay, ResumeSession, KillSession, ForceRelease, CoordinationCommand,
                   RefillBlock, Transaction, Compact, GrantLease, RenewLease, RevokeLease, SetKeyQuota, SetPermissions>;
  Body body;
  std::vector<PriorRelease> prior_releases;  // only with a body that names a session
  friend bool operator==(const Request&, const Request&) = default;
};

// The session for which a request acts; zero for the kinds that need none.
SessionId session_of(const Request& request);

struct Validated {
  // Its codes: EmptyKey, InvalidArgument, LimitExceeded, TtlTooLarge, Unsupported, and the reasons of mvcc::check().
  Objection objection;
  SessionId session;  // session_of() the request
};
Validated validated(const Request& request);
inline ResultCode validate(const Request& request) { return validated(request).objection.code; }

// The most bytes that the answer to it can have.
uint32_t answer_bytes_max(const Request& request);

std::string encode(const Request& request);
void encode(const Request& request, std::string& bytes);         // replaces the contents of `bytes`, keeping its capacity
absl::StatusOr<Request> decode_request(std::string_view bytes);  // kInvalidArgument: malformed
absl::Status decode_request(std::string_view bytes, Request& request);  // reuses the memory of the previous request

}  // namespace coordkit::machine
