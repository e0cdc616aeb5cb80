#include "machine/rows.h"

#include <utility>

#include "base/fixed.h"
#include "machine/fields.h"

namespace coordkit::machine::rows {
namespace {

using namespace fields;  // the vocabulary of this file

std::string_view view(pbf_reader& in) {
  const auto bytes = in.get_view();
  return {bytes.data(), bytes.size()};
}

// Runs over all fields of a row; `field` returns false for one it does not know.
template <typename Field>
absl::Status each_field(std::string_view encoded, Field field) {
  return guarded(encoded, absl::StatusCode::kDataLoss, "checkpoint row", [&](pbf_reader in) {
    while (in.next()) {
      if (!field(in)) in.skip();
    }
    return absl::OkStatus();
  });
}

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
    case TableByte::Holds:
    case TableByte::Keys:
    case TableByte::Sessions:
    case TableByte::Waiters:
    case TableByte::CancelMarks: return true;
  }
  return false;
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
  put_number(out, 4, counters.revision);
  return bytes;
}

absl::StatusOr<Counters> decode_counters(std::string_view encoded) {
  Counters counters;
  counters.format = 0;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case number(1): get(in, counters.format); return true;
      case fixed(2): counters.cluster = ClusterId(in.get_fixed64()); return true;
      case number(3): get(in, counters.counter); return true;
      case number(4): get(in, counters.revision); return true;
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
  return bytes;
}

absl::StatusOr<lease::Session> decode_session(std::string_view encoded) {
  lease::Session session;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case number(1): get(in, session.group.node); return true;
      case number(2): get(in, session.group.boot); return true;
      case number(3): get(in, session.group.incarnation); return true;
      case number(4): get(in, session.group.ttl); return true;
      case number(5): get(in, session.generation); return true;
      case bytes(6): get(in, session.metadata); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  return session;
}

std::string encode(const lock::ClaimView& claim) {
  std::string bytes;
  pbf_writer out(bytes);
  put_bytes(out, 1, claim.name);
  put_bytes(out, 2, claim.tag);
  put_bytes(out, 3, claim.value);
  put_number(out, 4, claim.session);
  put_request_id(out, 5, claim.request);
  put_number(out, 6, claim.since);
  put_duration(out, 7, claim.timeout);
  return bytes;
}

absl::StatusOr<lock::ClaimView> decode_claim(std::string_view encoded) {
  lock::ClaimView claim;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case bytes(1): claim.name = view(in); return true;
      case bytes(2): claim.tag = view(in); return true;
      case bytes(3): claim.value = view(in); return true;
      case number(4): get(in, claim.session); return true;
      case bytes(5): get(in, claim.request); return true;
      case number(6): get(in, claim.since); return true;
      case number(7): get(in, claim.timeout); return true;
      default: return false;
    }
  });
  if (!status.ok()) return status;
  const bool sound = !claim.name.empty() && claim.name.size() <= 0xffff && claim.tag.size() <= 0xffff &&
                     claim.value.size() <= 0xffff && claim.session && claim.since && claim.timeout >= Duration::zero();
  if (!sound) return absl::DataLossError("an impossible claim on a lock");
  return claim;
}

std::string encode(std::string_view key, const mvcc::Item& item) {
  std::string bytes;
  pbf_writer out(bytes);
  put_bytes(out, 1, key);
  put_bytes(out, 2, item.value);
  put_number(out, 3, item.create);
  put_number(out, 4, item.version);
  return bytes;
}

absl::StatusOr<KeyedItem> decode_item(std::string_view encoded) {
  KeyedItem row;
  const absl::Status status = each_field(encoded, [&](pbf_reader& in) {
    switch (in.tag_and_type()) {
      case bytes(1): get(in, row.key); return true;
      case bytes(2): get(in, row.item.value); return true;
      case number(3): get(in, row.item.create); return true;
      case number(4): get(in, row.item.version); return true;
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
