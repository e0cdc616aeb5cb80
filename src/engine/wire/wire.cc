#include "coordkit/engine/wire.h"

#include <protozero/exception.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "engine/wire/wire_family.h"

namespace coordkit {
namespace {

// The kind byte. On the wire: never reused, never renumbered.
template <typename T>
constexpr char kKind = 0;
template <>
constexpr char kKind<raft::VoteRequest> = 1;
template <>
constexpr char kKind<raft::VoteReply> = 2;
template <>
constexpr char kKind<raft::AppendRequest> = 3;
template <>
constexpr char kKind<raft::AppendReply> = 4;
template <>
constexpr char kKind<raft::Heartbeat> = 5;
template <>
constexpr char kKind<raft::HeartbeatReply> = 6;
template <>
constexpr char kKind<GenesisOffer> = 7;
template <>
constexpr char kKind<Forward> = 8;
template <>
constexpr char kKind<Refusal> = 9;
template <>
constexpr char kKind<ReadIndexRequest> = 10;
template <>
constexpr char kKind<ReadIndexReply> = 11;
template <>
constexpr char kKind<RenewRequest> = 12;
template <>
constexpr char kKind<RenewReply> = 13;
template <>
constexpr char kKind<raft::TimeoutNow> = 14;
template <>
constexpr char kKind<raft::Removed> = 15;
template <>
constexpr char kKind<StateOffer> = 16;
template <>
constexpr char kKind<StateRequest> = 17;
template <>
constexpr char kKind<StateChunk> = 18;
template <>
constexpr char kKind<StateLoading> = 19;
template <>
constexpr char kKind<ChangeRequest> = 20;
template <>
constexpr char kKind<ChangeReply> = 21;
template <>
constexpr char kKind<TransferRequest> = 22;
template <>
constexpr char kKind<TransferReply> = 23;
template <>
constexpr char kKind<RecallRequest> = 24;
template <>
constexpr char kKind<RecallReply> = 25;
template <>
constexpr char kKind<SteppedAside> = 26;

absl::StatusOr<Message> parse(char kind, std::string_view body, const SharedBytes* of) {
  switch (kind) {
    case kKind<raft::VoteRequest>: return wire::parse_body<raft::VoteRequest>(body, of);
    case kKind<raft::VoteReply>: return wire::parse_body<raft::VoteReply>(body, of);
    case kKind<raft::AppendRequest>: return wire::parse_body<raft::AppendRequest>(body, of);
    case kKind<raft::AppendReply>: return wire::parse_body<raft::AppendReply>(body, of);
    case kKind<raft::Heartbeat>: return wire::parse_body<raft::Heartbeat>(body, of);
    case kKind<raft::HeartbeatReply>: return wire::parse_body<raft::HeartbeatReply>(body, of);
    case kKind<GenesisOffer>: return wire::parse_body<GenesisOffer>(body, of);
    case kKind<Forward>: return wire::parse_body<Forward>(body, of);
    case kKind<Refusal>: return wire::parse_body<Refusal>(body, of);
    case kKind<ReadIndexRequest>: return wire::parse_body<ReadIndexRequest>(body, of);
    case kKind<ReadIndexReply>: return wire::parse_body<ReadIndexReply>(body, of);
    case kKind<RenewRequest>: return wire::parse_body<RenewRequest>(body, of);
    case kKind<RenewReply>: return wire::parse_body<RenewReply>(body, of);
    case kKind<raft::TimeoutNow>: return wire::parse_body<raft::TimeoutNow>(body, of);
    case kKind<raft::Removed>: return wire::parse_body<raft::Removed>(body, of);
    case kKind<StateOffer>: return wire::parse_body<StateOffer>(body, of);
    case kKind<StateRequest>: return wire::parse_body<StateRequest>(body, of);
    case kKind<StateChunk>: return wire::parse_body<StateChunk>(body, of);
    case kKind<StateLoading>: return wire::parse_body<StateLoading>(body, of);
    case kKind<ChangeRequest>: return wire::parse_body<ChangeRequest>(body, of);
    case kKind<ChangeReply>: return wire::parse_body<ChangeReply>(body, of);
    case kKind<TransferRequest>: return wire::parse_body<TransferRequest>(body, of);
    case kKind<TransferReply>: return wire::parse_body<TransferReply>(body, of);
    case kKind<RecallRequest>: return wire::parse_body<RecallRequest>(body, of);
    case kKind<RecallReply>: return wire::parse_body<RecallReply>(body, of);
    case kKind<SteppedAside>: return wire::parse_body<SteppedAside>(body, of);
    default: return absl::UnimplementedError("a message of a kind this version does not know");
  }
}

}  // namespace

std::string encode(const Message& message) {
  std::string body;
  std::visit(
      [&body](const auto& m) {
        body.push_back(kKind<std::decay_t<decltype(m)>>);
        wire::append_body(body, m);
      },
      message);
  COORDKIT_CHECK(body.size() <= kMessageBytesMax);
  return body;
}

// The leader of a term never changes its log, so that the entries of two of its appends are the same if they follow the same
// one and are as many.
std::string MessageEncoder::encode(const Message& message) {
  const auto* append = std::get_if<raft::AppendRequest>(&message);
  if (append == nullptr || append->entries.empty()) return coordkit::encode(message);
  const Encoded wanted{append->term, append->previous, append->entries.size()};
  if (encoded_ != wanted) {
    entries_.clear();
    wire::append_entries(entries_, *append);
    encoded_ = wanted;
  }
  std::string body;
  body.reserve(kHeadBytes + entries_.size());
  body.push_back(kKind<raft::AppendRequest>);
  wire::append_head(body, *append);
  body += entries_;
  COORDKIT_CHECK(body.size() <= kMessageBytesMax);
  return body;
}

namespace {

absl::StatusOr<Message> decode(std::string_view body, const SharedBytes* of) try {
  if (body.empty()) return absl::DataLossError("a message without a kind");
  if (body.size() > kMessageBytesMax) return absl::DataLossError("a message beyond kMessageBytesMax");
  return parse(body.front(), body.substr(1), of);
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed message: ") + error.what());
}

// In these kinds, payloads are most of the message.
bool carries_payloads(char kind) { return kind == kKind<raft::AppendRequest> || kind == kKind<Forward>; }

}  // namespace

absl::StatusOr<Message> decode(std::string_view body) { return decode(body, nullptr); }

absl::StatusOr<Message> decode_taking(std::string body) {
  if (body.empty() || !carries_payloads(body.front())) return decode(body, nullptr);
  const SharedBytes taken = SharedBytes::of(std::move(body));
  return decode(taken.view(), &taken);
}

Lane lane_of(const Message& message) {
  const bool bulk = std::holds_alternative<raft::AppendRequest>(message) || std::holds_alternative<Forward>(message) ||
                    std::holds_alternative<GenesisOffer>(message) || std::holds_alternative<StateChunk>(message);
  return bulk ? Lane::Bulk : Lane::Control;
}

}  // namespace coordkit
