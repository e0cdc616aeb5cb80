#include "machine/query.h"

#include <algorithm>
#include <utility>

#include "machine/command.h"
#include "machine/fields.h"
#include "machine/kv_codec.h"

namespace coordkit::machine {
namespace {

using namespace fields;  // the vocabulary of this file

enum QueryKind : uint32_t {
  kHolders = 1,
  kQueue = 2,
  kSession = 3,
  kSessions = 4,
  kLocksOf = 5,
  kTokenStillHeld = 6,
  kGet = 16,
  kTry = 20,
  kOwnedObjects = 30,
  kObjects = 40,  // and the kind of object added to it
  kRange = 80,
  kTransaction = 81,
  kRangePage = 82,
  kChanges = 100,
  kLease = 110,
  kLeases = 111,
  kKeySpace = 112
};

// All queries share one field layout: 1 bytes, 2 bytes, 3 number, 4 number, 30 number.
struct Fields {
  std::string_view first;
  std::string_view second;
  uint64_t id = 0;
  uint64_t limit = 0;
  uint64_t after = 0;
};

void write_fields(pbf_writer& query, QueryKind kind, const Fields& fields) {
  if (fields.first.empty() && fields.second.empty() && fields.id == 0 && fields.limit == 0 && fields.after == 0) {
    query.add_message(kind, "", 0);  // a sub-writer leaves out what stays empty, and with it the kind
    return;
  }
  pbf_writer out(query, kind);
  put_bytes(out, 1, fields.first);
  put_bytes(out, 2, fields.second);
  put_number(out, 3, fields.id);
  put_number(out, 4, fields.limit);
  put_number(out, 30, fields.after);
}

Fields read_fields(pbf_reader in) {
  Fields fields;
  const auto view = [&in] {
    const auto bytes = in.get_view();
    return std::string_view(bytes.data(), bytes.size());
  };
  while (in.next()) {
    switch (in.tag_and_type()) {
      case bytes(1): fields.first = view(); break;
      case bytes(2): fields.second = view(); break;
      case number(3): get(in, fields.id); break;
      case number(4): get(in, fields.limit); break;
      case number(30): get(in, fields.after); break;
      default: in.skip();
    }
  }
  return fields;
}

void write(pbf_writer&, std::monostate) {}
void write(pbf_writer& out, const HoldersQuery& q) { write_fields(out, kHolders, {.first = q.name}); }
void write(pbf_writer& out, const QueueQuery& q) { write_fields(out, kQueue, {.first = q.name, .limit = q.limit}); }
void write(pbf_writer& out, const SessionQuery& q) { write_fields(out, kSession, {.id = q.session.value()}); }
void write(pbf_writer& out, const SessionsQuery& q) { write_fields(out, kSessions, {.id = q.after.value(), .limit = q.limit}); }
void write(pbf_writer& out, const LocksOfQuery& q) {
  write_fields(out, kLocksOf, {.id = q.session.value(), .after = q.after.value()});
}
void write(pbf_writer& out, const TokenStillHeldQuery& q) {
  write_fields(out, kTokenStillHeld, {.first = q.name, .id = q.token.value()});
}
void write(pbf_writer& out, const TryQuery& q) { write_fields(out, kTry, {.first = q.request}); }
void write(pbf_writer& out, const GetQuery& q) { write_fields(out, kGet, {.first = q.key}); }
void write(pbf_writer& out, const RangeQuery& q) { put_element(out, kRange, q); }
void write(pbf_writer& out, const RangePageQuery& q) { put_element(out, kRangePage, q.range); }
void write(pbf_writer& out, const ChangesQuery& q) { put_element(out, kChanges, q); }
void write(pbf_writer& out, const LeaseQuery& q) { put_element(out, kLease, q); }
void write(pbf_writer& out, const LeasesQuery& q) { put_element(out, kLeases, q); }
void write(pbf_writer& out, const KeySpaceQuery&) { write_fields(out, kKeySpace, {}); }
void write(pbf_writer& out, const Transaction& q) { put_transaction(out, kTransaction, q); }

void write(pbf_writer& out, const ObjectQuery& q) {
  write_fields(out, QueryKind(kObjects + static_cast<uint32_t>(q.kind)), {.first = q.name, .limit = q.limit});
}

void write(pbf_writer& out, const OwnedObjectsQuery& q) {
  write_fields(out, kOwnedObjects, {.id = q.session.value(), .limit = static_cast<uint64_t>(q.after_kind), .after = q.after});
}

Query query_of(uint32_t kind, const Fields& fields) {
  if (kind > kObjects && kind <= kObjects + static_cast<uint32_t>(coordination::Kind::Group)) {
    return ObjectQuery{coordination::Kind(kind - kObjects), std::string(fields.first), fields.limit};
  }
  switch (kind) {
    case kHolders: return HoldersQuery{std::string(fields.first)};
    case kQueue: return QueueQuery{std::string(fields.first), fields.limit};
    case kSession: return SessionQuery{SessionId(fields.id)};
    case kSessions: return SessionsQuery{SessionId(fields.id), fields.limit};
    case kLocksOf: return LocksOfQuery{SessionId(fields.id), Token(fields.after)};
    case kTokenStillHeld: return TokenStillHeldQuery{std::string(fields.first), Token(fields.id)};
    case kOwnedObjects: {
      const auto after_kind = coordination::Kind(static_cast<uint8_t>(std::min<uint64_t>(fields.limit, 0xff)));
      return OwnedObjectsQuery{SessionId(fields.id), after_kind, fields.after};
    }
    case kTry: return TryQuery{std::string(fields.first)};
    case kGet: return GetQuery{std::string(fields.first)};
    case kKeySpace: return KeySpaceQuery{};
    default: return std::monostate{};
  }
}

}  // namespace

std::string encode(const Query& query) {
  std::string bytes;
  pbf_writer out(bytes);
  std::visit([&out](const auto& kind) { write(out, kind); }, query);
  return bytes;
}

absl::StatusOr<Query> decode_query(std::string_view encoded) {
  if (encoded.size() > kRequestBytesMax) return absl::InvalidArgumentError("malformed query: too large");
  Query query;
  const auto read = [&query](pbf_reader in) -> absl::Status {
    while (in.next()) {
      if (in.wire_type() != protozero::pbf_wire_type::length_delimited) {
        in.skip();
        continue;
      }
      const uint32_t kind = in.tag();
      if (kind == kRange) {
        get(in, query.emplace<RangeQuery>());
        continue;
      }
      if (kind == kRangePage) {
        get(in, query.emplace<RangePageQuery>().range);
        continue;
      }
      if (kind == kChanges) {
        get(in, query.emplace<ChangesQuery>());
        continue;
      }
      if (kind == kLease) {
        get(in, query.emplace<LeaseQuery>());
        continue;
      }
      if (kind == kLeases) {
        get(in, query.emplace<LeasesQuery>());
        continue;
      }
      if (kind == kTransaction) {
        query = get_transaction(in.get_message());
        continue;
      }
      Query found = query_of(kind, read_fields(in.get_message()));
      if (found.index() != 0) query = std::move(found);
    }
    return absl::OkStatus();
  };
  if (absl::Status status = guarded(encoded, absl::StatusCode::kInvalidArgument, "query", read); !status.ok()) return status;
  return query;
}

}  // namespace coordkit::machine
