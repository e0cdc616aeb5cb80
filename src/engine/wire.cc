#include "engine/wire.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/entry_codec.h"

namespace coordkit {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;
using raft::Entry;

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

struct Malformed : protozero::exception {
  explicit Malformed(const char* why) : why_(why) {}
  const char* what() const noexcept override { return why_; }

 private:
  const char* why_;
};

void require(bool fact, const char* otherwise) {
  if (!fact) throw Malformed(otherwise);
}

// ---- what each enumeration may say. An entry's kind may be newer than this code.

constexpr bool known(raft::VoteKind kind) { return kind == raft::VoteKind::Pre || kind == raft::VoteKind::Real; }
constexpr bool known(raft::Cause cause) { return cause == raft::Cause::Silence || cause == raft::Cause::Transfer; }
constexpr bool known(raft::Answer answer) { return answer == raft::Answer::No || answer == raft::Answer::Yes; }
constexpr bool known(raft::AppendVerdict verdict) {
  return verdict == raft::AppendVerdict::Accepted || verdict == raft::AppendVerdict::Conflict;
}
constexpr bool known(raft::EntryKind kind) { return kind != raft::EntryKind{0}; }
constexpr bool known(Refusal::Why why) { return why == Refusal::Why::NotLeader || why == Refusal::Why::NoRoom; }
constexpr bool known(RenewReply::Coverage coverage) {
  return coverage >= RenewReply::Coverage::All && coverage <= RenewReply::Coverage::Only;
}

// ---- single values, the same in both directions

template <typename Tag>
constexpr uint64_t number_of(Id<Tag> id) {
  return id.value();
}
constexpr uint64_t number_of(uint64_t value) { return value; }
constexpr uint64_t number_of(Duration duration) { return static_cast<uint64_t>(duration.count()); }
template <typename E>
requires std::is_enum_v<E>
constexpr uint64_t number_of(E value) { return static_cast<uint64_t>(value); }

template <typename T>
T value_of(uint64_t number) {
  if constexpr (std::is_same_v<T, Term> || std::is_same_v<T, Index>) {
    require(number <= kPositionMax, "a term or an index out of range");
    return T(number);
  } else if constexpr (std::is_same_v<T, Duration>) {
    require(number <= static_cast<uint64_t>(Duration::max().count()), "a negative duration");
    return T(static_cast<Duration::rep>(number));
  } else if constexpr (std::is_enum_v<T>) {
    require(number <= 255 && known(static_cast<T>(number)), "an unknown enumerator");
    return static_cast<T>(number);
  } else {
    return T(number);
  }
}

// ---- one description of the fields of a message serves the writer and the reader

struct Writer {
  std::string& buffer;
  pbf_writer out{buffer};

  template <typename T>
  void number(uint32_t tag, const T& value) {
    if (number_of(value) != 0) out.add_uint64(tag, number_of(value));
  }
  void fixed(uint32_t tag, uint64_t value) {
    if (value != 0) out.add_fixed64(tag, value);
  }
  void timers(uint32_t tag, const std::vector<TimerId>& ids);
  template <typename M>
  void repeated(uint32_t tag, const std::vector<M>& items, size_t limit);
  void bytes(uint32_t tag, const SharedBytes& payload) {
    COORDKIT_CHECK(payload.size() <= kPayloadBytesMax);
    if (!payload.empty()) out.add_bytes(tag, payload.view().data(), payload.size());
  }
};

struct Reader {
  pbf_reader& in;
  size_t& timers_left;  // of the whole message
  bool taken = false;   // the field under the cursor

  bool at(uint32_t tag, pbf_wire_type type) {
    if (in.tag_and_type() != protozero::tag_and_type(tag, type)) return false;
    return taken = true;
  }
  template <typename T>
  void number(uint32_t tag, T& value) {
    if (at(tag, pbf_wire_type::varint)) value = value_of<T>(in.get_uint64());
  }
  void fixed(uint32_t tag, uint64_t& value) {
    if (at(tag, pbf_wire_type::fixed64)) value = in.get_fixed64();
  }
  void timers(uint32_t tag, std::vector<TimerId>& ids);
  template <typename M>
  void repeated(uint32_t tag, std::vector<M>& items, size_t limit);
  void bytes(uint32_t tag, SharedBytes& payload) {
    if (!at(tag, pbf_wire_type::length_delimited)) return;
    const protozero::data_view view = in.get_view();
    require(view.size() <= kPayloadBytesMax, "a payload beyond kPayloadBytesMax");
    payload = SharedBytes(std::string(view.data(), view.size()));
  }
};

template <typename M, typename T>
concept Describes = std::is_same_v<std::remove_const_t<M>, T>;

template <typename Io>
void fields(Io& io, Describes<raft::VoteRequest> auto& m) {
  io.number(1, m.kind);
  io.number(2, m.term);
  io.number(3, m.round);
  io.number(4, m.last.index);
  io.number(5, m.last.term);
  io.number(6, m.cause);
}
template <typename Io>
void fields(Io& io, Describes<raft::VoteReply> auto& m) {
  io.number(1, m.kind);
  io.number(2, m.term);
  io.number(3, m.round);
  io.number(4, m.granted);
}
// The index is not sent: entries follow `previous` one by one.
template <typename Io>
void fields(Io& io, Describes<Entry> auto& m) {
  io.number(1, m.term);
  io.number(2, m.kind);
  io.fixed(3, m.content_sum);
  io.bytes(4, m.payload);
}
template <typename Io>
void fields(Io& io, Describes<raft::AppendRequest> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.previous.index);
  io.number(4, m.previous.term);
  io.number(5, m.commit);
  io.number(6, m.everyone_has);
  io.number(7, m.round);
  io.repeated(8, m.entries, kEntriesMax);
}
template <typename Io>
void fields(Io& io, Describes<raft::AppendReply> auto& m) {
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
void fields(Io& io, Describes<raft::Heartbeat> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.commit);
  io.number(4, m.everyone_has);
  io.number(5, m.round);
  io.number(6, m.committed);
}
template <typename Io>
void fields(Io& io, Describes<raft::HeartbeatReply> auto& m) {
  io.number(1, m.term);
  io.number(2, m.stream);
  io.number(3, m.match);
  io.number(4, m.round);
}
template <typename Io>
void fields(Io& io, Describes<raft::TimeoutNow> auto& m) {
  io.number(1, m.term);
}
template <typename Io>
void fields(Io& io, Describes<raft::Removed> auto& m) {
  io.number(1, m.term);
  io.number(2, m.configuration.index);
  io.number(3, m.configuration.term);
}
template <typename Io>
void fields(Io& io, Describes<Refusal> auto& m) {
  io.number(1, m.why);
  io.number(2, m.term);
  io.number(3, m.leader);
}
template <typename Io>
void fields(Io& io, Describes<ReadIndexRequest> auto& m) {
  io.number(1, m.id);
}
template <typename Io>
void fields(Io& io, Describes<ReadIndexReply> auto& m) {
  io.number(1, m.id);
  io.number(2, m.held);
  io.number(3, m.read_index);
}
template <typename Io>
void fields(Io& io, Describes<TimerGroup> auto& m) {
  io.number(1, m.node);
  io.number(2, m.boot);
  io.number(3, m.incarnation);
  io.number(4, m.ttl);
}
template <typename Io>
void fields(Io& io, Describes<RenewRequest::Group> auto& m) {
  fields(io, m.group);  // 1-4
  io.number(5, m.highest);
  io.number(6, m.count);
  io.fixed(7, m.sum);
  io.timers(8, m.excluded);
}
template <typename Io>
void fields(Io& io, Describes<RenewRequest> auto& m) {
  io.number(1, m.attempt);
  io.number(2, m.machine);
  io.repeated(3, m.groups, kRenewGroupsMax);
}
template <typename Io>
void fields(Io& io, Describes<RenewReply::Group> auto& m) {
  fields(io, m.group);  // 1-4
  io.number(5, m.coverage);
  io.timers(6, m.listed);
}
template <typename Io>
void fields(Io& io, Describes<RenewReply> auto& m) {
  io.number(1, m.attempt);
  io.repeated(2, m.groups, kRenewGroupsMax);
}

// What absent fields mean: zero, also where the type's own default is another.
template <typename M>
M blank() {
  return M{};
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
template <>
Refusal blank() {
  return {.why = Refusal::Why{0}};
}
template <>
RenewRequest blank() {
  return {.machine = MachineId()};
}
template <>
RenewReply::Group blank() {
  return {.coverage = RenewReply::Coverage{0}};
}

// ---- repeated fields

size_t varint_bytes(uint64_t value) { return static_cast<size_t>(protozero::length_of_varint(value)); }

// Of the fields above, so that the length goes first and the payload is never moved.
size_t body_bytes(const Entry& entry) {
  size_t bytes = 0;
  if (entry.term) bytes += 1 + varint_bytes(entry.term.value());
  bytes += 1 + varint_bytes(number_of(entry.kind));
  if (entry.content_sum != 0) bytes += 1 + sizeof entry.content_sum;
  if (!entry.payload.empty()) bytes += 1 + varint_bytes(entry.payload.size()) + entry.payload.size();
  return bytes;
}
template <typename M>
size_t body_bytes(const M&) {
  return 0;
}  // protozero's "not known yet"

template <typename M>
void Writer::repeated(uint32_t tag, const std::vector<M>& items, size_t limit) {
  COORDKIT_CHECK(items.size() <= limit);
  for (const M& item : items) {
    const size_t before = buffer.size();
    {
      pbf_writer parent(buffer);  // one for each: protozero 1.7 takes one child of known size per parent
      const pbf_writer brackets(parent, tag, body_bytes(item));
      Writer inner{buffer};
      fields(inner, item);
    }
    if (buffer.size() == before) out.add_message(tag, "", 0);  // protozero leaves out what is empty; the count matters
  }
}

// Ascending ids as differences: live timers lie close together, so most take one or two bytes instead of nine.
void Writer::timers(uint32_t tag, const std::vector<TimerId>& ids) {
  if (ids.empty()) return;
  COORDKIT_CHECK(ids.size() <= kTimersListedMax);
  protozero::packed_field_uint64 packed(out, tag);
  TimerId last;
  for (const TimerId id : ids) {
    COORDKIT_CHECK(last < id);
    packed.add_element(id - last);
    last = id;
  }
}

template <typename M>
void read(pbf_reader in, M& m, size_t& timers_left) {
  while (in.next()) {
    Reader reader{in, timers_left};
    fields(reader, m);
    if (!reader.taken) in.skip();
  }
}

template <typename M>
void Reader::repeated(uint32_t tag, std::vector<M>& items, size_t limit) {
  if (!at(tag, pbf_wire_type::length_delimited)) return;
  require(items.size() < limit, "a list beyond its limit");
  read(in.get_message(), items.emplace_back(blank<M>()), timers_left);
}

void Reader::timers(uint32_t tag, std::vector<TimerId>& ids) {
  if (!at(tag, pbf_wire_type::length_delimited)) return;
  require(ids.empty(), "a timer list in two pieces");
  const auto packed = in.get_packed_uint64();
  const size_t count = packed.size();  // counts bytes, allocates nothing
  require(count <= timers_left, "more timers than kTimersListedMax");
  timers_left -= count;
  ids.reserve(count);
  TimerId last;
  for (const uint64_t distance : packed) {
    require(distance != 0 && distance <= ~last.value(), "timers that do not ascend");
    ids.push_back(last = last + distance);
  }
}

// ---- bodies

template <typename M>
void write_body(std::string& body, const M& m) {
  Writer writer{body};
  fields(writer, m);
}
void write_body(std::string& body, const GenesisOffer& m) { pbf_writer(body).add_message(1, encode(m.genesis)); }
void write_body(std::string& body, const Forward& m) {
  pbf_writer out(body);
  COORDKIT_CHECK(m.commands.size() <= kForwardCommandsMax);
  for (const SharedBytes& command : m.commands) {
    COORDKIT_CHECK(command.size() <= kPayloadBytesMax);
    out.add_bytes(1, command.view().data(), command.size());  // an empty one too: the count matters
  }
}

template <typename M>
size_t size_hint(const M&) {
  return 96;
}
size_t size_hint(const raft::AppendRequest& m) {
  size_t bytes = 96;
  for (const Entry& entry : m.entries) bytes += 6 + body_bytes(entry);
  return bytes;
}
size_t size_hint(const Forward& m) {
  size_t bytes = 96;
  for (const SharedBytes& command : m.commands) bytes += 6 + command.size();
  return bytes;
}

// ---- what a message states about itself

template <typename M>
void settle(M&) {}
void settle(raft::VoteRequest& m) { require(known(m.kind) && m.term, "a vote request without kind or term"); }
void settle(raft::VoteReply& m) { require(known(m.kind), "a vote reply without kind"); }
void settle(raft::AppendReply& m) { require(known(m.verdict), "an append reply without verdict"); }
void settle(raft::Heartbeat& m) { require(static_cast<bool>(m.term), "a heartbeat without term"); }
void settle(raft::TimeoutNow& m) { require(static_cast<bool>(m.term), "an order to campaign without term"); }
void settle(raft::Removed& m) { require(static_cast<bool>(m.term), "a removal without term"); }
void settle(Refusal& m) { require(known(m.why), "a refusal without reason"); }
void settle(raft::AppendRequest& m) {
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
void settle(RenewReply& m) {
  for (const RenewReply::Group& group : m.groups) require(known(group.coverage), "a renewal reply without coverage");
}

void check(const raft::AppendRequest& m) {
  Index expected = m.previous.index;
  for (const Entry& entry : m.entries) COORDKIT_CHECK(entry.index == (expected = expected.next()));
}
template <typename M>
void check(const M&) {}

template <typename M>
absl::StatusOr<Message> decode_as(pbf_reader in) {
  M m = blank<M>();
  size_t timers_left = kTimersListedMax;
  read(in, m, timers_left);
  settle(m);
  return Message(std::move(m));
}

absl::StatusOr<Message> decode_genesis_offer(pbf_reader in) {
  std::string_view bytes;
  while (in.next()) {
    if (in.tag_and_type() == protozero::tag_and_type(1, pbf_wire_type::length_delimited)) {
      const protozero::data_view view = in.get_view();
      bytes = {view.data(), view.size()};
    } else {
      in.skip();
    }
  }
  require(bytes.size() <= kGenesisBytesMax, "a genesis beyond kGenesisBytesMax");
  absl::StatusOr<raft::Genesis> genesis = decode_genesis(bytes);
  if (!genesis.ok()) return genesis.status();
  return GenesisOffer{*std::move(genesis)};
}

absl::StatusOr<Message> decode_forward(pbf_reader in) {
  Forward forward;
  while (in.next()) {
    if (in.tag_and_type() == protozero::tag_and_type(1, pbf_wire_type::length_delimited)) {
      const protozero::data_view view = in.get_view();
      require(forward.commands.size() < kForwardCommandsMax, "more commands than kForwardCommandsMax");
      require(view.size() <= kPayloadBytesMax, "a command beyond kPayloadBytesMax");
      forward.commands.emplace_back(std::string(view.data(), view.size()));
    } else {
      in.skip();
    }
  }
  return forward;
}

absl::StatusOr<Message> decode_body(char kind, pbf_reader in) {
  switch (kind) {
    case kKind<raft::VoteRequest>: return decode_as<raft::VoteRequest>(in);
    case kKind<raft::VoteReply>: return decode_as<raft::VoteReply>(in);
    case kKind<raft::AppendRequest>: return decode_as<raft::AppendRequest>(in);
    case kKind<raft::AppendReply>: return decode_as<raft::AppendReply>(in);
    case kKind<raft::Heartbeat>: return decode_as<raft::Heartbeat>(in);
    case kKind<raft::HeartbeatReply>: return decode_as<raft::HeartbeatReply>(in);
    case kKind<GenesisOffer>: return decode_genesis_offer(in);
    case kKind<Forward>: return decode_forward(in);
    case kKind<Refusal>: return decode_as<Refusal>(in);
    case kKind<ReadIndexRequest>: return decode_as<ReadIndexRequest>(in);
    case kKind<ReadIndexReply>: return decode_as<ReadIndexReply>(in);
    case kKind<RenewRequest>: return decode_as<RenewRequest>(in);
    case kKind<RenewReply>: return decode_as<RenewReply>(in);
    case kKind<raft::TimeoutNow>: return decode_as<raft::TimeoutNow>(in);
    case kKind<raft::Removed>: return decode_as<raft::Removed>(in);
    default: return absl::UnimplementedError("a message of a kind this version does not know");
  }
}

}  // namespace

std::string encode(const Message& message) {
  std::string body;
  std::visit(
      [&body](const auto& m) {
        check(m);
        body.reserve(size_hint(m));
        body.push_back(kKind<std::decay_t<decltype(m)>>);
        write_body(body, m);
      },
      message);
  COORDKIT_CHECK(body.size() <= kMessageBytesMax);
  return body;
}

absl::StatusOr<Message> decode(std::string_view body) try {
  if (body.empty()) return absl::DataLossError("a message without a kind");
  if (body.size() > kMessageBytesMax) return absl::DataLossError("a message beyond kMessageBytesMax");
  return decode_body(body.front(), pbf_reader(body.data() + 1, body.size() - 1));
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed message: ") + error.what());
}

Lane lane_of(const Message& message) {
  const bool bulk = std::holds_alternative<raft::AppendRequest>(message) || std::holds_alternative<Forward>(message) ||
                    std::holds_alternative<GenesisOffer>(message);
  return bulk ? Lane::Bulk : Lane::Life;
}

}  // namespace coordkit
