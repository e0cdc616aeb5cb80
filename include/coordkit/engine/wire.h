// Messages between replicas as bytes, and back: a host around an engine (door 2) puts these bytes
// into the frames of a transport. Replicas that share a process may pass Message values unchanged.
//
// A body is one kind byte and then the protobuf wire format (proto/coordkit/v1/wire.proto): fields
// in ascending order, zeros left out, unknown fields skipped, numbers never reused.
//
// The decoder is the entrance for hostile bytes. Counts and lengths are capped before anything is
// allocated by them. Terms and indexes that could overflow are refused. A decoded message is
// consistent: entries follow `previous` without a gap and with terms in order, timer lists ascend.
// Content sums travel verbatim; the core verifies them. Entry kinds of newer versions pass (apply
// halts before them, FLT_V02); unknown message kinds do not.
//
// Threads: all functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordkit/bytes.h"
#include "coordkit/engine/engine_message.h"
#include "coordkit/export.h"
#include "coordkit/ports/transport.h"

namespace COORDKIT_EXPORT coordkit {

inline constexpr size_t kMessageBytesMax = 32 << 20;     // of one body; larger ones are not decoded
inline constexpr size_t kEntriesMax = 64 << 10;          // of one append
inline constexpr size_t kPayloadBytesMax = 16 << 20;     // of one entry or forwarded command
inline constexpr size_t kForwardCommandsMax = 64 << 10;  // of one forward
inline constexpr size_t kGenesisBytesMax = 256 << 10;    // of one genesis offer: 3 lists of 64
                                                         // members with long addresses
inline constexpr size_t kRenewGroupsMax = 4096;          // of one renewal or its reply
inline constexpr size_t kChangesMax = 64;                // of one change of members
// The longest TransferRequest::time_left; a longer one is refused.
inline constexpr Duration kTransferTimeMax = std::chrono::hours(24);
inline constexpr size_t kTimersListedMax = 1 << 20;  // all groups of one message together
inline constexpr size_t kStateRowsMax = 64 << 10;    // of one chunk of a state
// The largest term or index: adding a distance cannot wrap.
inline constexpr uint64_t kPositionMax = uint64_t{1} << 62;

// The exact bytes of a message. It must be within the limits above and consistent in itself
// (checked).
std::string encode(const Message& message);

// The same bytes, for messages that leave an engine together: entries that go to several peers are
// encoded once. Make one encoder for each batch, so that nothing of an earlier batch is ever sent
// again.
// Threads: one thread.
class MessageEncoder {
 public:
  std::string encode(const Message& message);

 private:
  static constexpr size_t kHeadBytes = 96;
  struct Encoded {
    Term term;
    Position previous;
    size_t count = 0;
    friend bool operator==(const Encoded&, const Encoded&) = default;
  };
  Encoded encoded_;      // which entries these are
  std::string entries_;  // of the latest append
};

// kDataLoss: malformed, beyond a limit, or contradicting itself. kUnimplemented: a kind this
// version does not know.
absl::StatusOr<Message> decode(std::string_view body);
// The same without copies: the payloads of entries and commands are parts of `body`, and keep it
// alive.
absl::StatusOr<Message> decode_taking(std::string body);

// A hello as bytes, for transports of the host's own. It contains everything, also the cluster's
// id, which is a secret of its members. Send it only where no one else can listen; or leave the id
// out and prove it (docs/decisions/0018).
std::string encode(const Hello& hello);
// kDataLoss: malformed, or beyond a limit.
absl::StatusOr<Hello> decode_hello(std::string_view bytes);

// Appends, forwards, genesis offers and chunks of a state are bulk. Everything else keeps the group
// alive and overtakes them.
Lane lane_of(const Message& message);

}  // namespace coordkit
