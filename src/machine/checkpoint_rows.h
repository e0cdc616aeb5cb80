// The rows of the machine's checkpoint: keys (prefix, table byte, sortable id) and values in the protobuf wire format
// (proto/coordkit/v1/machine.proto). The tables are pure structures; only this file knows their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "coordkit/types.h"
#include "lease/lease_table.h"
#include "lock/lock_table.h"
#include "machine/locks/cancel_marks.h"
#include "machine/permissions/permissions.h"
#include "mvcc/store.h"

namespace coordkit::machine::rows {

// The byte after the prefix. A scan sees the tables in the order of these letters.
enum class TableByte : char {
  // Semaphores, barriers and the like (coordination_rows.h); id: the entry that made it, or the token of a hold.
  Barriers = 'B',
  NumberedCounters = 'C',
  DoubleBarriers = 'D',
  Places = 'E',  // inside a double barrier
  Groups = 'G',
  Items = 'I',
  ItemClaims = 'K',
  Latches = 'L',
  Members = 'M',
  Permits = 'P',
  Queues = 'Q',
  Semaphores = 'S',
  Waits = 'W',

  Counters = 'c',     // one row, id 0
  Delays = 'd',       // id: of the lock-delay
  Holds = 'h',        // id: token
  Keys = 'k',         // id: revision, then four bytes of sub-number
  Leases = 'l',       // id: number of the lease
  Permissions = 'p',  // id: the entry that made the list
  Sessions = 's',     // id: session
  Waiters = 'w',      // id: index of the entry that queued it
  CancelMarks = 'x',  // id: replica
};

inline constexpr size_t kPrefixBytesMax = 48;  // keeps the longest key below 64 bytes
inline constexpr uint64_t kFormat = 1;         // of these rows; a reader refuses a higher one

struct Counters {
  uint64_t format = kFormat;
  ClusterId cluster;
  uint64_t counter = 0;  // the last token or session id issued
  mvcc::Store::Counters keys;
  uint64_t key_quota = 0;  // SetKeyQuota
  friend bool operator==(const Counters&, const Counters&) = default;
};

std::string key(std::string_view prefix, TableByte table, uint64_t id);
std::string key(std::string_view prefix, mvcc::ChangeId change);

// A key without its prefix, parsed. kDataLoss: it is no key of these rows.
struct ParsedKey {
  TableByte table = TableByte::Counters;
  uint64_t id = 0;
  uint32_t sub = 0;
};
absl::StatusOr<ParsedKey> parse_key(std::string_view key);

std::string encode(const Counters& counters);
std::string encode(const lease::Session& session);
std::string encode(const lock::ClaimView& claim);
std::string encode(const lock::DelayView& delay);
std::string encode(const mvcc::Version& change);
std::string encode(const mvcc::Store::Row& change);
std::string encode(const CancelMarks::Marks& marks);
std::string encode(const RemotePermissions& list);

// Each fills the fields that the key does not contain; the views of a claim point into `bytes`. kDataLoss: malformed.
absl::StatusOr<Counters> decode_counters(std::string_view bytes);
absl::StatusOr<lease::Session> decode_session(std::string_view bytes);
absl::StatusOr<lock::ClaimView> decode_claim(std::string_view bytes);
absl::StatusOr<lock::DelayView> decode_delay(std::string_view bytes);
absl::StatusOr<mvcc::Store::Row> decode_change(std::string_view bytes);
absl::StatusOr<CancelMarks::Marks> decode_cancel_marks(std::string_view bytes);
absl::StatusOr<RemotePermissions> decode_permissions(std::string_view bytes);

}  // namespace coordkit::machine::rows
