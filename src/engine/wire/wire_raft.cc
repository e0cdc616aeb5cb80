// The messages between replicas about consensus (coordkit/raft/raft_message.h).
#include "engine/wire/wire_fields.h"

namespace coordkit::wire {

using raft::Entry;

// An entry's kind may be newer than this code.
template <>
constexpr bool known(raft::VoteKind kind) {
  return kind == raft::VoteKind::Pre || kind == raft::VoteKind::Real;
}
template <>
constexpr bool known(raft::Cause cause) {
  return cause == raft::Cause::Silence || cause == raft::Cause::Transfer;
}
template <>
constexpr bool known(raft::AppendVerdict verdict) {
  return verdict == raft::AppendVerdict::Accepted || verdict == raft::AppendVerdict::Conflict;
}
template <>
constexpr bool known(raft::EntryKind kind) {
  return kind != raft::EntryKind{0};
}

template <typename Io>
void describe(Io& io, Describes<raft::VoteRequest> auto& m) {
  io.number(1, m.kind);
  io.number(2, m.term);
  io.number(3, m.round);
  io.number(4, m.last.index);
  io.number(5, m.last.term);
  io.number(6, m.cause);
}
template <typename Io>
void describe(Io& io, Describes<raft::VoteReply> auto& m) {
  io.number(1, m.kind);
  io.number(2, m.term);
  io.number(3, m.round);
  io.number(4, m.granted);
}
// The index is not sent: entries follow `previous` one by one.
template <typename Io>
void describe(Io& io, Describes<Entry> auto& m) {
  io.number(1, m.term);
  io.number(2, m.kind);
  io.fixed(3, m.content_sum);
  io.bytes(4, m.payload, kPayloadBytesMax);
}
constexpr uint32_t kEntriesField = 8;  // of an append
template <typename Io>
void describe_head(Io& io, Describes<raft::AppendRequest> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.previous.index);
  io.number(4, m.previous.term);
  io.number(5, m.commit);
  io.number(6, m.everyone_has);
  io.number(7, m.round);
  io.fixed(9, m.previous_sum);
  io.number(10, m.last);
}
template <typename Io>
void describe_entries(Io& io, Describes<raft::AppendRequest> auto& m) {
  io.repeated(kEntriesField, m.entries, kEntriesMax);
}
template <typename Io>
void describe(Io& io, Describes<raft::AppendRequest> auto& m) {
  describe_head(io, m);
  describe_entries(io, m);
}
template <typename Io>
void describe(Io& io, Describes<raft::AppendReply> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.verdict);
  io.number(4, m.match);
  io.number(5, m.hint.index);
  io.number(6, m.hint.term);
  io.number(7, m.rejected);
  io.number(8, m.round);
}
template <typename Io>
void describe(Io& io, Describes<raft::Heartbeat> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.commit);
  io.number(4, m.everyone_has);
  io.number(5, m.round);
  io.number(6, m.committed);
  io.number(7, m.durable.index);
  io.number(8, m.durable.term);
  io.number(9, m.hold_back);
  io.number(10, m.needed);
}
template <typename Io>
void describe(Io& io, Describes<raft::HeartbeatReply> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.match);
  io.number(4, m.round);
}
template <typename Io>
void describe(Io& io, Describes<raft::TimeoutNow> auto& m) {
  io.number(1, m.term);
}
template <typename Io>
void describe(Io& io, Describes<raft::Removed> auto& m) {
  io.number(1, m.term);
  io.number(2, m.configuration.index);
  io.number(3, m.configuration.term);
}
template <>
raft::VoteRequest blank() {
  return {.kind = raft::VoteKind{0}};
}
template <>
raft::VoteReply blank() {
  return {.kind = raft::VoteKind{0}};
}
template <>
raft::AppendReply blank() {
  return {.verdict = raft::AppendVerdict{0}};
}
template <>
Entry blank() {
  return {.kind = raft::EntryKind{0}};
}

// The size of the fields above, so that the length can be written first and the payload is never moved.
template <>
size_t body_bytes(const Entry& entry) {
  size_t bytes = 0;
  if (entry.term) bytes += 1 + varint_bytes(entry.term.value());
  bytes += 1 + varint_bytes(number_of(entry.kind));
  if (entry.content_sum != 0) bytes += 1 + sizeof entry.content_sum;
  if (!entry.payload.empty()) bytes += 1 + varint_bytes(entry.payload.size()) + entry.payload.size();
  return bytes;
}
template <>
size_t size_hint(const raft::AppendRequest& m) {
  size_t bytes = 96;
  for (const Entry& entry : m.entries) bytes += 6 + body_bytes(entry);
  return bytes;
}
template <>
void finish_reading(raft::VoteRequest& m) {
  require(known(m.kind) && m.term, "a vote request without kind or term");
}
template <>
void finish_reading(raft::VoteReply& m) {
  require(known(m.kind), "a vote reply without kind");
}
template <>
void finish_reading(raft::AppendReply& m) {
  require(known(m.verdict), "an append reply without verdict");
}
template <>
void finish_reading(raft::Heartbeat& m) {
  require(static_cast<bool>(m.term), "a heartbeat without term");
}
template <>
void finish_reading(raft::TimeoutNow& m) {
  require(static_cast<bool>(m.term), "an order to campaign without term");
}
template <>
void finish_reading(raft::Removed& m) {
  require(static_cast<bool>(m.term), "a removal without term");
}
template <>
void finish_reading(raft::AppendRequest& m) {
  require(m.term && m.previous.term <= m.term, "an append older than what it follows");
  require(m.previous.index.value() <= kPositionMax - kEntriesMax, "an index out of range");
  Position last = m.previous;
  for (Entry& entry : m.entries) {
    require(last.term <= entry.term && entry.term <= m.term && entry.term, "entries whose terms are out of order");
    require(known(entry.kind), "an entry without kind");
    entry.index = last.index.next();
    last = entry.position();
  }
}

template <>
void make_room(raft::AppendRequest& m, std::string_view bytes) {
  size_t count = 0;
  for (protozero::pbf_reader in(bytes.data(), bytes.size()); count < kEntriesMax && in.next(kEntriesField); in.skip()) ++count;
  m.entries.reserve(count);
}

template <>
void unshare(raft::AppendRequest& m, size_t bytes) {
  size_t carried = 0;
  for (const Entry& entry : m.entries) carried += entry.payload.size();
  if (carried >= bytes / kCarriedAtLeast) return;
  for (Entry& entry : m.entries) entry.payload = SharedBytes(entry.payload.view());
}

template <>
void check(const raft::AppendRequest& m) {
  Index expected = m.previous.index;
  for (const Entry& entry : m.entries) COORDKIT_CHECK(entry.index == (expected = expected.next()));
}

template void append_body(std::string&, const raft::VoteRequest&);
template absl::StatusOr<Message> parse_body<raft::VoteRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::VoteReply&);
template absl::StatusOr<Message> parse_body<raft::VoteReply>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::AppendRequest&);
template absl::StatusOr<Message> parse_body<raft::AppendRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::AppendReply&);
template absl::StatusOr<Message> parse_body<raft::AppendReply>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::Heartbeat&);
template absl::StatusOr<Message> parse_body<raft::Heartbeat>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::HeartbeatReply&);
template absl::StatusOr<Message> parse_body<raft::HeartbeatReply>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::TimeoutNow&);
template absl::StatusOr<Message> parse_body<raft::TimeoutNow>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const raft::Removed&);
template absl::StatusOr<Message> parse_body<raft::Removed>(std::string_view, const SharedBytes*);

// ---- an append in its two parts

void append_head(std::string& body, const raft::AppendRequest& m) {
  check(m);
  codec::append_by<Rules>(body, [&m](auto& out) { describe_head(out, m); });
}
void append_entries(std::string& bytes, const raft::AppendRequest& m) {
  bytes.reserve(bytes.size() + size_hint(m));
  codec::append_by<Rules>(bytes, [&m](auto& out) { describe_entries(out, m); });
}

}  // namespace coordkit::wire
