// A state on its way to a peer (coordkit/engine/engine_message.h).
#include "engine/wire/wire_fields.h"

namespace coordkit::wire {

template <typename Io>
void describe(Io& io, Describes<StateOffer> auto& m) {
  io.number(1, m.term);
  io.number(2, m.at.index);
  io.number(3, m.at.term);
  io.fixed(4, m.digest);
}
template <typename Io>
void describe(Io& io, Describes<StateRequest> auto& m) {
  io.number(1, m.term);
  io.number(2, m.at.index);
  io.number(3, m.at.term);
  io.bytes(4, m.range.after, kStateKeyBytesMax);
  io.bytes(5, m.range.upto, kStateKeyBytesMax);
  io.fixed(6, m.sum);
}
template <typename Io>
void describe(Io& io, Describes<CheckpointBatch::Row> auto& m) {
  io.bytes(1, m.key, kStateKeyBytesMax);
  io.bytes(2, *m.value, kMessageBytesMax);
}
template <typename Io>
void describe(Io& io, Describes<StateChunk> auto& m) {
  io.number(1, m.term);
  io.number(2, m.at.index);
  io.number(3, m.at.term);
  io.bytes(4, m.rows.range.after, kStateKeyBytesMax);
  io.bytes(5, m.rows.range.upto, kStateKeyBytesMax);
  io.fixed(6, m.rows.sum);
  io.number(7, m.rows.same);
  io.repeated(8, m.rows.rows, kStateRowsMax);
}
template <typename Io>
void describe(Io& io, Describes<StateLoading> auto& m) {
  io.number(1, m.term);
  io.number(2, m.at.index);
  io.number(3, m.at.term);
}

template <>
CheckpointBatch::Row blank() {
  return {.key = {}, .value = std::string()};
}

template <>
size_t body_bytes(const CheckpointBatch::Row& row) {
  size_t bytes = 0;
  for (const std::string* part : {&row.key, &*row.value}) {
    if (!part->empty()) bytes += 1 + varint_bytes(part->size()) + part->size();
  }
  return bytes;
}
template <>
size_t size_hint(const StateChunk& m) {
  size_t bytes = 256;
  for (const CheckpointBatch::Row& row : m.rows.rows) bytes += 6 + body_bytes(row);
  return bytes;
}
template <>
void check(const StateChunk& m) {
  for (const CheckpointBatch::Row& row : m.rows.rows) COORDKIT_CHECK(row.value.has_value());
}

void require_place(Term term, Position at) { require(term && at.index && at.term, "a state without a position"); }
void require_range(const KeyRange& range) {
  require(range.upto.empty() || range.after < range.upto, "a range that ends before it begins");
}
template <>
void finish_reading(StateOffer& m) {
  require_place(m.term, m.at);
}
template <>
void finish_reading(StateLoading& m) {
  require_place(m.term, m.at);
}
template <>
void finish_reading(StateRequest& m) {
  require_place(m.term, m.at);
  require_range(m.range);
}
// Whether the rows are those of the range is checked where they are staged (base/row_sums.h).
template <>
void finish_reading(StateChunk& m) {
  require_place(m.term, m.at);
  require_range(m.rows.range);
  require(!m.rows.same || m.rows.rows.empty(), "rows that need not be sent");
}

template void append_body(std::string&, const StateOffer&);
template absl::StatusOr<Message> parse_body<StateOffer>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const StateRequest&);
template absl::StatusOr<Message> parse_body<StateRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const StateChunk&);
template absl::StatusOr<Message> parse_body<StateChunk>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const StateLoading&);
template absl::StatusOr<Message> parse_body<StateLoading>(std::string_view, const SharedBytes*);

}  // namespace coordkit::wire
