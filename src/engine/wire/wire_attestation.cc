// The messages about what replicas remember of each other's disks (coordkit/engine/engine_message.h).
#include "engine/wire/wire_fields.h"
#include "raft/log/entry_codec.h"

namespace coordkit::wire {

template <typename Io>
void describe(Io& io, Describes<RecallRequest> auto& m) {
  io.fixed(1, m.store);
  io.number(2, m.boot);
  io.fixed(3, m.start);
}
template <typename Io>
void describe(Io& io, Describes<RecallReply> auto& m) {
  describe(io, m.asked);  // 1-3
  io.number(4, m.known.boot);
  io.fixed(5, m.known.start);
  io.number(6, m.known.term);
  io.number(7, m.known.match.index);
  io.number(8, m.known.match.term);
  io.number(9, m.known.vote);
  io.number(10, m.settled.at.index);
  io.number(11, m.settled.at.term);
  io.number(12, m.settled.known_in);
}

struct StoredReply {
  RecallReply reply;
  std::string members;
};
template <typename Io>
void describe(Io& io, Describes<StoredReply> auto& m) {
  describe(io, m.reply);  // 1-12
  io.bytes(13, m.members);
}

template <typename Io>
void describe(Io& io, Describes<SteppedAside> auto& m) {
  io.bytes(1, m.why, kSteppedAsideBytesMax);
}

template <>
void finish_reading(RecallRequest& m) {
  require(m.store && m.boot, "a disk without an identity");
}
// Something is known about the store that asks, or nothing.
template <>
void finish_reading(StoredReply& m) {
  require(m.reply.asked.store && m.reply.asked.boot, "a disk without an identity");
  if (m.reply.known != PeerMark{}) m.reply.known.store = m.reply.asked.store;
  const raft::SettledMembers& settled = m.reply.settled;
  require(bool(settled.at.index) == bool(settled.at.term), "members at half a position");
  require(settled.known_in >= settled.at.term, "members that are known before they were proposed");
  require(m.members.empty() == !settled.at.index, "members without a position");
}

template <>
void append_body(std::string& body, const RecallReply& m) {
  codec::append<Rules>(body, StoredReply{m, m.settled.at.index ? encode(m.settled.configuration) : std::string()});
}

template <>
absl::StatusOr<Message> parse_body<RecallReply>(std::string_view bytes, const SharedBytes*) {
  StoredReply stored;
  codec::read<Rules>(bytes, stored);
  finish_reading(stored);
  if (!stored.reply.settled.at.index) return std::move(stored.reply);
  absl::StatusOr<raft::Configuration> members = decode_configuration(stored.members);
  if (!members.ok()) return members.status();
  stored.reply.settled.configuration = *std::move(members);
  return std::move(stored.reply);
}

template void append_body(std::string&, const RecallRequest&);
template absl::StatusOr<Message> parse_body<RecallRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const SteppedAside&);
template absl::StatusOr<Message> parse_body<SteppedAside>(std::string_view, const SharedBytes*);

}  // namespace coordkit::wire
