// What replicas say to each other about calls, reads, renewals and their cluster (coordkit/message.h).
#include "base/entry_codec.h"
#include "engine/wire_fields.h"

namespace coordkit::wire {

template <>
constexpr bool known(Refusal::Why why) {
  return why == Refusal::Why::NotLeader || why == Refusal::Why::NoRoom;
}
template <>
constexpr bool known(RenewReply::Coverage coverage) {
  return coverage >= RenewReply::Coverage::All && coverage <= RenewReply::Coverage::Only;
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
  io.timers(4, m.looks);
  io.number(5, m.as_of);
}
template <typename Io>
void fields(Io& io, Describes<RenewReply::Group> auto& m) {
  fields(io, m.group);  // 1-4
  io.number(5, m.coverage);
  io.timers(6, m.listed);
}
template <typename Io>
void fields(Io& io, Describes<RenewReply::Rest> auto& m) {
  io.number(1, m.timer);
  io.number(2, m.left);
}
template <typename Io>
void fields(Io& io, Describes<RenewReply> auto& m) {
  io.number(1, m.attempt);
  io.repeated(2, m.groups, kRenewGroupsMax);
  io.repeated(3, m.looks, kTimerLooksMax);
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

template <>
void settle(Refusal& m) {
  require(known(m.why), "a refusal without reason");
}
template <>
void settle(RenewRequest& m) {
  require(m.looks.size() <= kTimerLooksMax, "more looks than kTimerLooksMax");
}
template <>
void settle(RenewReply& m) {
  for (const RenewReply::Group& group : m.groups) require(known(group.coverage), "a renewal reply without coverage");
}

template <>
size_t size_hint(const Forward& m) {
  size_t bytes = 96;
  for (const SharedBytes& command : m.commands) bytes += 6 + command.size();
  return bytes;
}

template <>
void append_body(std::string& body, const Forward& m) {
  body.reserve(body.size() + size_hint(m));
  protozero::pbf_writer out(body);
  COORDKIT_CHECK(m.commands.size() <= kForwardCommandsMax);
  for (const SharedBytes& command : m.commands) {
    COORDKIT_CHECK(command.size() <= kPayloadBytesMax);
    out.add_bytes(1, command.view().data(), command.size());  // an empty one too: the count matters
  }
}

template <>
absl::StatusOr<Message> parse_body<Forward>(std::string_view body) {
  protozero::pbf_reader in(body.data(), body.size());
  Forward forward;
  while (in.next()) {
    if (in.tag_and_type() == protozero::tag_and_type(1, protozero::pbf_wire_type::length_delimited)) {
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

template void append_body(std::string&, const Refusal&);
template absl::StatusOr<Message> parse_body<Refusal>(std::string_view);
template void append_body(std::string&, const ReadIndexRequest&);
template absl::StatusOr<Message> parse_body<ReadIndexRequest>(std::string_view);
template void append_body(std::string&, const ReadIndexReply&);
template absl::StatusOr<Message> parse_body<ReadIndexReply>(std::string_view);
template void append_body(std::string&, const RenewRequest&);
template absl::StatusOr<Message> parse_body<RenewRequest>(std::string_view);
template void append_body(std::string&, const RenewReply&);
template absl::StatusOr<Message> parse_body<RenewReply>(std::string_view);

}  // namespace coordkit::wire
