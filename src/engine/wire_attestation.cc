// What replicas remember of each other's disks (coordkit/message.h).
#include "engine/wire_fields.h"

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
void finish_reading(RecallReply& m) {
  require(m.asked.store && m.asked.boot, "a disk without an identity");
  if (m.known != PeerMark{}) m.known.store = m.asked.store;
}

template void append_body(std::string&, const RecallRequest&);
template absl::StatusOr<Message> parse_body<RecallRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const RecallReply&);
template absl::StatusOr<Message> parse_body<RecallReply>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const SteppedAside&);
template absl::StatusOr<Message> parse_body<SteppedAside>(std::string_view, const SharedBytes*);

}  // namespace coordkit::wire
