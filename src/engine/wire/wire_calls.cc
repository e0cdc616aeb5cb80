// The messages between replicas about calls, reads, renewals and their cluster (coordkit/engine/engine_message.h).
#include "engine/wire/wire_fields.h"

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
void describe(Io& io, Describes<Forward> auto& m) {
  io.repeated(1, m.commands, kForwardCommandsMax, kPayloadBytesMax);
}
template <typename Io>
void describe(Io& io, Describes<Refusal> auto& m) {
  io.number(1, m.why);
  io.number(2, m.term);
  io.number(3, m.leader);
}
template <typename Io>
void describe(Io& io, Describes<ReadIndexRequest> auto& m) {
  io.number(1, m.id);
}
template <typename Io>
void describe(Io& io, Describes<ReadIndexReply> auto& m) {
  io.number(1, m.id);
  io.number(2, m.held);
  io.number(3, m.read_index);
}
template <typename Io>
void describe(Io& io, Describes<TimerGroup> auto& m) {
  io.number(1, m.node);
  io.number(2, m.boot);
  io.number(3, m.incarnation);
  io.number(4, m.ttl);
}
template <typename Io>
void describe(Io& io, Describes<RenewRequest::Group> auto& m) {
  describe(io, m.group);  // 1-4
  io.number(5, m.highest);
  io.number(6, m.count);
  io.fixed(7, m.sum);
  io.ascending(8, m.excluded, kTimersListedMax);
}
template <typename Io>
void describe(Io& io, Describes<RenewRequest> auto& m) {
  io.number(1, m.attempt);
  io.number(2, m.machine);
  io.repeated(3, m.groups, kRenewGroupsMax);
  io.ascending(4, m.looks, kTimersListedMax);
  io.number(5, m.as_of);
}
template <typename Io>
void describe(Io& io, Describes<RenewReply::Group> auto& m) {
  describe(io, m.group);  // 1-4
  io.number(5, m.coverage);
  io.ascending(6, m.listed, kTimersListedMax);
}
template <typename Io>
void describe(Io& io, Describes<RenewReply::Remaining> auto& m) {
  io.number(1, m.timer);
  io.number(2, m.left);
}
template <typename Io>
void describe(Io& io, Describes<RenewReply> auto& m) {
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
void finish_reading(Refusal& m) {
  require(known(m.why), "a refusal without reason");
}
template <>
void finish_reading(RenewRequest& m) {
  require(m.looks.size() <= kTimerLooksMax, "more looks than kTimerLooksMax");
}
template <>
void finish_reading(RenewReply& m) {
  for (const RenewReply::Group& group : m.groups) require(known(group.coverage), "a renewal reply without coverage");
}

template <>
size_t size_hint(const Forward& m) {
  size_t bytes = 96;
  for (const SharedBytes& command : m.commands) bytes += 6 + command.size();
  return bytes;
}

template <>
void unshare(Forward& m, size_t bytes) {
  size_t carried = 0;
  for (const SharedBytes& command : m.commands) carried += command.size();
  if (carried >= bytes / kCarriedAtLeast) return;
  for (SharedBytes& command : m.commands) command = SharedBytes(command.view());
}

template void append_body(std::string&, const Forward&);
template absl::StatusOr<Message> parse_body<Forward>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const Refusal&);
template absl::StatusOr<Message> parse_body<Refusal>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const ReadIndexRequest&);
template absl::StatusOr<Message> parse_body<ReadIndexRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const ReadIndexReply&);
template absl::StatusOr<Message> parse_body<ReadIndexReply>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const RenewRequest&);
template absl::StatusOr<Message> parse_body<RenewRequest>(std::string_view, const SharedBytes*);
template void append_body(std::string&, const RenewReply&);
template absl::StatusOr<Message> parse_body<RenewReply>(std::string_view, const SharedBytes*);

}  // namespace coordkit::wire
