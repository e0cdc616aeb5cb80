// The bytes of what engines say about members and leadership: genesis offers, changes and transfers.
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "base/check.h"
#include "base/entry_codec.h"
#include "base/fields.h"
#include "engine/wire.h"
#include "engine/wire_family.h"

namespace coordkit::wire {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;
using raft::MemberChange;

template <typename Kind>
bool within(uint64_t number, Kind first, Kind last) {
  return number >= static_cast<uint64_t>(first) && number <= static_cast<uint64_t>(last);
}

void add(pbf_writer& out, uint32_t tag, uint64_t value) {
  if (value != 0) out.add_uint64(tag, value);
}

void write_change(pbf_writer& out, const MemberChange& change) {
  pbf_writer body(out, 3);
  add(body, 1, static_cast<uint64_t>(change.kind));
  add(body, 2, change.member.id.value());
  if (change.member.store) body.add_fixed64(3, change.member.store.value());
  if (!change.member.address.empty()) body.add_string(4, change.member.address);
  add(body, 5, change.replaced.value());
}

absl::StatusOr<MemberChange> read_change(pbf_reader in) {
  MemberChange change;
  uint64_t kind = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): kind = in.get_uint64(); break;
      case fields::number(2): change.member.id = ReplicaId(in.get_uint64()); break;
      case fields::fixed(3): change.member.store = StoreId(in.get_fixed64()); break;
      case fields::bytes(4): change.member.address = in.get_string(); break;
      case fields::number(5): change.replaced = ReplicaId(in.get_uint64()); break;
      default: in.skip();
    }
  }
  if (!within(kind, MemberChange::Kind::AddLearner, MemberChange::Kind::Replace) || !change.member.id ||
      change.member.address.size() > kAddressBytesMax) {
    return absl::DataLossError("a change of members that is none");
  }
  change.kind = static_cast<MemberChange::Kind>(kind);
  return change;
}

absl::StatusOr<Index> index_of(uint64_t number) {
  if (number > kPositionMax) return absl::DataLossError("an index out of range");
  return Index(number);
}

}  // namespace

template <>
void append_body(std::string& body, const GenesisOffer& m) {
  pbf_writer out(body);
  out.add_message(1, encode(m.genesis));
  if (m.invited) out.add_fixed64(2, m.invited.value());
}

template <>
absl::StatusOr<Message> parse_body<GenesisOffer>(std::string_view bytes) {
  pbf_reader in(bytes.data(), bytes.size());
  std::string_view stored;
  StoreId invited;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::bytes(1): {
        const protozero::data_view view = in.get_view();
        stored = {view.data(), view.size()};
        break;
      }
      case fields::fixed(2): invited = StoreId(in.get_fixed64()); break;
      default: in.skip();
    }
  }
  if (stored.size() > kGenesisBytesMax) return absl::DataLossError("a genesis beyond kGenesisBytesMax");
  absl::StatusOr<raft::Genesis> genesis = decode_genesis(stored);
  if (!genesis.ok()) return genesis.status();
  return GenesisOffer{*std::move(genesis), invited};
}

template <>
void append_body(std::string& body, const ChangeRequest& m) {
  COORDKIT_CHECK(m.changes.size() <= kChangesMax);
  pbf_writer out(body);
  add(out, 1, m.attempt);
  add(out, 2, m.expected.value());
  for (const MemberChange& change : m.changes) write_change(out, change);
}

template <>
absl::StatusOr<Message> parse_body<ChangeRequest>(std::string_view bytes) {
  pbf_reader in(bytes.data(), bytes.size());
  ChangeRequest m;
  uint64_t expected = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): m.attempt = in.get_uint64(); break;
      case fields::number(2): expected = in.get_uint64(); break;
      case fields::bytes(3): {
        if (m.changes.size() == kChangesMax) return absl::DataLossError("more changes than kChangesMax");
        absl::StatusOr<MemberChange> change = read_change(in.get_message());
        if (!change.ok()) return change.status();
        m.changes.push_back(*std::move(change));
        break;
      }
      default: in.skip();
    }
  }
  const absl::StatusOr<Index> index = index_of(expected);
  if (!index.ok()) return index.status();
  m.expected = *index;
  return m;
}

template <>
void append_body(std::string& body, const ChangeReply& m) {
  pbf_writer out(body);
  add(out, 1, m.attempt);
  add(out, 2, static_cast<uint64_t>(m.fate));
  add(out, 3, m.configuration.value());
  add(out, 4, m.lagging.value());
  add(out, 5, m.lag);
}

template <>
absl::StatusOr<Message> parse_body<ChangeReply>(std::string_view bytes) {
  pbf_reader in(bytes.data(), bytes.size());
  ChangeReply m;
  uint64_t fate = 0;
  uint64_t configuration = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): m.attempt = in.get_uint64(); break;
      case fields::number(2): fate = in.get_uint64(); break;
      case fields::number(3): configuration = in.get_uint64(); break;
      case fields::number(4): m.lagging = ReplicaId(in.get_uint64()); break;
      case fields::number(5): m.lag = in.get_uint64(); break;
      default: in.skip();
    }
  }
  if (!within(fate, raft::ChangeFate::Kind::Committed, raft::ChangeFate::Kind::Unknown)) {
    return absl::DataLossError("a change's answer without a fate");
  }
  m.fate = static_cast<raft::ChangeFate::Kind>(fate);
  const absl::StatusOr<Index> index = index_of(configuration);
  if (!index.ok()) return index.status();
  m.configuration = *index;
  return m;
}

template <>
void append_body(std::string& body, const TransferRequest& m) {
  pbf_writer out(body);
  add(out, 1, m.attempt);
  add(out, 2, m.target.value());
  add(out, 3, static_cast<uint64_t>(m.time_left.count()));
}

template <>
absl::StatusOr<Message> parse_body<TransferRequest>(std::string_view bytes) {
  pbf_reader in(bytes.data(), bytes.size());
  TransferRequest m;
  uint64_t time_left = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): m.attempt = in.get_uint64(); break;
      case fields::number(2): m.target = ReplicaId(in.get_uint64()); break;
      case fields::number(3): time_left = in.get_uint64(); break;
      default: in.skip();
    }
  }
  if (time_left > static_cast<uint64_t>(kTransferTimeMax.count())) return absl::DataLossError("a transfer without end");
  m.time_left = Duration(static_cast<Duration::rep>(time_left));
  return m;
}

template <>
void append_body(std::string& body, const TransferReply& m) {
  pbf_writer out(body);
  add(out, 1, m.attempt);
  add(out, 2, static_cast<uint64_t>(m.fate));
}

template <>
absl::StatusOr<Message> parse_body<TransferReply>(std::string_view bytes) {
  pbf_reader in(bytes.data(), bytes.size());
  TransferReply m;
  uint64_t fate = 0;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): m.attempt = in.get_uint64(); break;
      case fields::number(2): fate = in.get_uint64(); break;
      default: in.skip();
    }
  }
  if (!within(fate, raft::TransferFate::Kind::Done, raft::TransferFate::Kind::Unfit)) {
    return absl::DataLossError("a transfer's answer without a fate");
  }
  m.fate = static_cast<raft::TransferFate::Kind>(fate);
  return m;
}

}  // namespace coordkit::wire
