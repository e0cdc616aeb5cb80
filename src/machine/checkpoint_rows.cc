#include "machine/checkpoint_rows.h"

#include <algorithm>

#include "base/fixed.h"
#include "machine/permissions/permission_fields.h"
#include "machine/row_fields.h"

namespace coordkit::machine::rows {

template <typename Io>
void describe(Io& io, Describes<Counters> auto& counters) {
  io.number(1, counters.format);
  io.fixed(2, counters.cluster);
  io.number(3, counters.counter);
  io.number(4, counters.keys.revision);
  io.number(5, counters.keys.compacted);
  io.number(6, counters.keys.swept);
  io.number(100, counters.key_quota);
}

// Only bytes of a hash's length are a hash.
template <typename Io>
void secret_hash(Io& io, uint32_t number, Describes<lease::SecretHash> auto& secret) {
  if constexpr (Io::kReads) {
    std::optional<std::string> hash;
    io.bytes(number, hash);
    if (!hash) return;
    codec::require(hash->size() == secret.bytes.size(), "a session with an impossible secret");
    std::ranges::copy(*hash, secret.bytes.begin());
  } else {
    if (secret) io.bytes(number, secret.view());
  }
}

template <typename Io>
void describe(Io& io, Describes<lease::Session> auto& session) {
  io.number(1, session.group.node);
  io.number(2, session.group.boot);
  io.number(3, session.group.incarnation);
  io.signed_number(4, session.group.ttl);
  io.number(5, session.generation);
  io.bytes(6, session.metadata);
  secret_hash(io, 30, session.secret);
  io.number(31, session.ending);
  io.number(32, session.contested);
  io.number(33, session.resumed_by);
  io.number(100, session.name);
}

// A change of a key, as the store keeps it or as it is restored.
struct ChangeRow {
  std::string_view key;
  std::string_view value;
  mvcc::Stamp stamp;
};
template <typename Io>
void describe(Io& io, Describes<ChangeRow> auto& change) {
  io.bytes(1, change.key);
  io.bytes(2, change.value);
  io.number(3, change.stamp.create);
  io.number(4, change.stamp.version);
  io.number(5, change.stamp.lease);
}

template <typename Io>
void describe(Io& io, Describes<CancelMarks::Marks> auto& marks) {
  io.fixed(2, marks.origin.store);
  io.number(3, marks.origin.boot);
  io.numbers(4, marks.sequences);
}

namespace {

bool known(TableByte table) {
  switch (table) {
    case TableByte::Barriers:
    case TableByte::NumberedCounters:
    case TableByte::DoubleBarriers:
    case TableByte::Places:
    case TableByte::Groups:
    case TableByte::Items:
    case TableByte::ItemClaims:
    case TableByte::Latches:
    case TableByte::Members:
    case TableByte::Permits:
    case TableByte::Queues:
    case TableByte::Semaphores:
    case TableByte::Waits:
    case TableByte::Counters:
    case TableByte::Delays:
    case TableByte::Holds:
    case TableByte::Keys:
    case TableByte::Leases:
    case TableByte::Permissions:
    case TableByte::Sessions:
    case TableByte::Waiters:
    case TableByte::CancelMarks: return true;
  }
  return false;
}

}  // namespace

std::string key(std::string_view prefix, TableByte table, uint64_t id) {
  std::string key;
  key.reserve(prefix.size() + 13);  // enough for a change, the longest and commonest key
  key.append(prefix).push_back(static_cast<char>(table));
  append_sortable(key, id);
  return key;
}

std::string key(std::string_view prefix, mvcc::ChangeId change) {
  std::string bytes = key(prefix, TableByte::Keys, change.revision.value());
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(change.sub >> shift));
  return bytes;
}

absl::StatusOr<ParsedKey> parse_key(std::string_view key) {
  if (key.size() < 9) return absl::DataLossError("a row key of the wrong length");
  ParsedKey parsed{TableByte(key[0]), load_sortable(key.data() + 1)};
  if (!known(parsed.table)) return absl::DataLossError("a row of an unknown table");
  const size_t tail = parsed.table == TableByte::Keys ? 4 : 0;
  if (key.size() != 9 + tail) return absl::DataLossError("a row key of the wrong length");
  for (size_t i = 0; i < tail; ++i) parsed.sub = parsed.sub << 8 | static_cast<uint8_t>(key[9 + i]);
  return parsed;
}

std::string encode(const Counters& counters) { return encoded(counters); }

absl::StatusOr<Counters> decode_counters(std::string_view bytes) {
  Counters counters;
  counters.format = 0;
  counters.keys = {Revision(), Revision(), Revision()};
  if (absl::Status status = read(bytes, counters); !status.ok()) return status;
  if (counters.format == 0 || counters.format > kFormat) return absl::DataLossError("rows of an unknown format");
  if (counters.counter > lock::TokenCounter::kMax) return absl::DataLossError("a token counter beyond its range");
  return counters;
}

std::string encode(const lease::Session& session) { return encoded(session); }

absl::StatusOr<lease::Session> decode_session(std::string_view bytes) {
  lease::Session session;
  if (absl::Status status = read(bytes, session); !status.ok()) return status;
  return session;
}

std::string encode(const mvcc::Version& change) { return encoded(ChangeRow{change.key(), change.value(), change.stamp}); }
std::string encode(const mvcc::Store::Row& change) { return encoded(ChangeRow{change.key, change.value, change.stamp}); }

absl::StatusOr<mvcc::Store::Row> decode_change(std::string_view bytes) {
  ChangeRow change;
  if (absl::Status status = read(bytes, change); !status.ok()) return status;
  return mvcc::Store::Row{.key = std::string(change.key), .value = std::string(change.value), .id = {}, .stamp = change.stamp};
}

std::string encode(const CancelMarks::Marks& marks) { return encoded(marks); }

absl::StatusOr<CancelMarks::Marks> decode_cancel_marks(std::string_view bytes) {
  CancelMarks::Marks marks;
  if (absl::Status status = read(bytes, marks); !status.ok()) return status;
  return marks;
}

std::string encode(const RemotePermissions& list) { return encoded(list); }

absl::StatusOr<RemotePermissions> decode_permissions(std::string_view bytes) {
  RemotePermissions list;
  if (absl::Status status = read(bytes, list); !status.ok()) return status;
  return list;
}

}  // namespace coordkit::machine::rows
