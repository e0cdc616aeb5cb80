#include "machine/rows.h"

#include <algorithm>
#include <utility>

#include "base/fixed.h"
#include "machine/row_fields.h"

namespace coordkit::machine::rows {
namespace {

using namespace fields;  // the vocabulary of this file

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
    case TableByte::Sessions:
    case TableByte::Waiters:
    case TableByte::CancelMarks: return true;
  }
  return false;
}

std::string encode_change(std::string_view key, std::string_view value, const mvcc::Stamp& stamp) {
  std::string bytes;
  pbf_writer out(bytes);
  put_bytes(out, 1, key);
  put_bytes(out, 2, value);
  put_number(out, 3, stamp.create);
  put_number(out, 4, stamp.version);
  put_number(out, 5, stamp.lease);
  return bytes;
}

}  // namespace

std::string key(std::string_view prefix, TableByte table, uint64_t id) {
  std::string key(prefix);
  key.push_back(static_cast<char>(table));
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

std::string encode(const Counters& counters) {
  std::string bytes;
  pbf_writer out(bytes);
  put_number(out, 1, counters.format);
  put_fixed(out, 2, counters.cluster.value());
  put_number(out, 3, counters.counter);
  put_number(out, 4, counters.keys.revision);
  put_number(out, 5, counters.keys.compacted);
  put_number(out, 6, counters.keys.swept);
  put_number(out, 100, counters.key_quota);
  return bytes;
}

absl::StatusOr<Counters> decode_counters(std::string_view encoded) {
  Counters counters;
  counters.format = 0;
  counters.keys = {Revision(), Revision(), Revision()};
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case number(1): get(in, counters.format); return true;
      case fixed(2): counters.cluster = ClusterId(in.get_fixed64()); return true;
      case number(3): get(in, counters.counter); return true;
      case number(4): get(in, counters.keys.revision); return true;
      case number(5): get(in, counters.keys.compacted); return true;
      case number(6): get(in, counters.keys.swept); return true;
      case number(100): get(in, counters.key_quota); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  if (counters.format == 0 || counters.format > kFormat) return absl::DataLossError("rows of an unknown format");
  if (counters.counter > lock::TokenCounter::kMax) return absl::DataLossError("a token counter beyond its range");
  return counters;
}

std::string encode(const lease::Session& session) {
  std::string bytes;
  pbf_writer out(bytes);
  put_number(out, 1, session.group.node);
  put_number(out, 2, session.group.boot);
  put_number(out, 3, session.group.incarnation);
  put_duration(out, 4, session.group.ttl);
  put_number(out, 5, session.generation);
  put_bytes(out, 6, session.metadata);
  if (session.secret) put_bytes(out, 30, session.secret.view());
  put_number(out, 31, uint64_t{session.ending});
  put_number(out, 32, uint64_t{session.contested});
  put_number(out, 33, session.resumed_by);
  put_number(out, 100, session.name);
  return bytes;
}

absl::StatusOr<lease::Session> decode_session(std::string_view encoded) {
  lease::Session session;
  bool sound = true;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case number(1): get(in, session.group.node); return true;
      case number(2): get(in, session.group.boot); return true;
      case number(3): get(in, session.group.incarnation); return true;
      case number(4): get(in, session.group.ttl); return true;
      case number(5): get(in, session.generation); return true;
      case bytes(6): get(in, session.metadata); return true;
      case bytes(30): {
        const std::string_view hash = view(in);
        sound = hash.size() == session.secret.bytes.size();
        if (sound) std::ranges::copy(hash, session.secret.bytes.begin());
        return true;
      }
      case number(31): get(in, session.ending); return true;
      case number(32): get(in, session.contested); return true;
      case number(33): get(in, session.resumed_by); return true;
      case number(100): get(in, session.name); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  if (!sound) return absl::DataLossError("a session with an impossible secret");
  return session;
}

std::string encode(const mvcc::Version& change) { return encode_change(change.key(), change.value(), change.stamp); }
std::string encode(const mvcc::Store::Row& change) { return encode_change(change.key, change.value, change.stamp); }

absl::StatusOr<mvcc::Store::Row> decode_change(std::string_view encoded) {
  mvcc::Store::Row row;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, row.key); return true;
      case bytes(2): get(in, row.value); return true;
      case number(3): get(in, row.stamp.create); return true;
      case number(4): get(in, row.stamp.version); return true;
      case number(5): get(in, row.stamp.lease); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  return row;
}

std::string encode(const CancelMarks::Marks& marks) {
  std::string bytes;
  pbf_writer out(bytes);
  put_fixed(out, 2, marks.origin.store.value());
  put_number(out, 3, marks.origin.boot);
  for (const Sequence sequence : marks.sequences) out.add_uint64(4, sequence.value());
  return bytes;
}

absl::StatusOr<CancelMarks::Marks> decode_cancel_marks(std::string_view encoded) {
  CancelMarks::Marks marks;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case fixed(2): marks.origin.store = StoreId(in.get_fixed64()); return true;
      case number(3): get(in, marks.origin.boot); return true;
      case number(4): marks.sequences.insert(Sequence(in.get_uint64())); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  return marks;
}

}  // namespace coordkit::machine::rows
