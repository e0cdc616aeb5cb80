// The messages of engines about members and leadership (coordkit/engine/engine_message.h): genesis offers, changes and
// transfers.
#include "engine/wire/wire_fields.h"
#include "raft/log/entry_codec.h"

namespace coordkit::wire {

using raft::ChangeOutcome;
using raft::MemberChange;
using raft::TransferOutcome;

template <>
constexpr bool known(MemberChange::Kind kind) {
  return kind >= MemberChange::Kind::AddLearner && kind <= MemberChange::Kind::Replace;
}
template <>
constexpr bool known(ChangeOutcome::Kind outcome) {
  return outcome >= ChangeOutcome::Kind::Committed && outcome <= ChangeOutcome::Kind::Unknown;
}
template <>
constexpr bool known(TransferOutcome::Kind outcome) {
  return outcome >= TransferOutcome::Kind::Done && outcome <= TransferOutcome::Kind::Unfit;
}

template <typename Io>
void describe(Io& io, Describes<MemberChange> auto& m) {
  io.number(1, m.kind);
  io.number(2, m.member.id);
  io.fixed(3, m.member.store);
  io.bytes(4, m.member.address);
  io.number(5, m.replaced);
}
template <typename Io>
void describe(Io& io, Describes<ChangeRequest> auto& m) {
  io.number(1, m.attempt);
  io.number(2, m.expected);
  io.repeated(3, m.changes, kChangesMax);
}
template <typename Io>
void describe(Io& io, Describes<ChangeReply> auto& m) {
  io.number(1, m.attempt);
  io.number(2, m.outcome);
  io.number(3, m.configuration);
  io.number(4, m.lagging);
  io.number(5, m.lag);
}
template <typename Io>
void describe(Io& io, Describes<TransferRequest> auto& m) {
  io.number(1, m.attempt);
  io.number(2, m.target);
  io.number(3, m.time_left);
}
template <typename Io>
void describe(Io& io, Describes<TransferReply> auto& m) {
  io.number(1, m.attempt);
  io.number(2, m.outcome);
}

template <>
MemberChange blank() {
  return {.kind = MemberChange::Kind{0}};
}
template <>
ChangeReply blank() {
  return {.outcome = ChangeOutcome::Kind{0}};
}
template <>
TransferReply blank() {
  return {.outcome = TransferOutcome::Kind{0}};
}

template <>
void finish_reading(ChangeRequest& m) {
  for (const MemberChange& change : m.changes) {
    const bool whole = known(change.kind) && change.member.id && change.member.address.size() <= kAddressBytesMax;
    require(whole, "a change of members without a kind or an id");
  }
}
template <>
void finish_reading(ChangeReply& m) {
  require(known(m.outcome), "a change's answer without an outcome");
}
template <>
void finish_reading(TransferRequest& m) {
  require(m.time_left <= kTransferTimeMax, "a transfer without end");
}
template <>
void finish_reading(TransferReply& m) {
  require(known(m.outcome), "a transfer's answer without an outcome");
}

// The genesis as it is stored, and validated as if read from there.
struct StoredOffer {
  std::string genesis;
  StoreId invited;
};
template <typename Io>
void describe(Io& io, Describes<StoredOffer> auto& m) {
  io.bytes(1, m.genesis);
  io.fixed(2, m.invited);
}

template <>
void append_body(std::string& body, const GenesisOffer& m) {
  codec::append<Rules>(body, StoredOffer{encode(m.genesis), m.invited});
}

template <>
absl::StatusOr<Message> parse_body<GenesisOffer>(std::string_view bytes, const SharedBytes*) {
  StoredOffer stored;
  codec::read<Rules>(bytes, stored);
  require(stored.genesis.size() <= kGenesisBytesMax, "a genesis beyond kGenesisBytesMax");
  absl::StatusOr<raft::Genesis> genesis = decode_genesis(stored.genesis);
  if (!genesis.ok()) return genesis.status();
  return GenesisOffer{*std::move(genesis), stored.invited};
}

template void append_body(std::string&, const ChangeRequest&);
template absl::StatusOr<Message> parse_body<ChangeRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const ChangeReply&);
template absl::StatusOr<Message> parse_body<ChangeReply>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const TransferRequest&);
template absl::StatusOr<Message> parse_body<TransferRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const TransferReply&);
template absl::StatusOr<Message> parse_body<TransferReply>(std::string_view, const SharedBytes*);

}  // namespace coordkit::wire
