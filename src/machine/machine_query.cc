// Machine as seen by queries (docs/semantics.md S-56): the applied state as it is now.
#include <algorithm>
#include <utility>

#include "coordkit/error.h"
#include "machine/guard.h"
#include "machine/machine.h"

namespace coordkit::machine {
namespace {

constexpr size_t kReplyBytesMax = 4 << 20;  // of rows; one row more than fits is left for the next query

// Counts rows and bytes of one answer against its limits.
class Room {
 public:
  explicit Room(uint64_t limit) : rows_(limit == 0 ? kQueryRowsMax : std::min(limit, kQueryRowsMax)) {}
  // False, and `more` from then on, once the answer is full. The first row always fits.
  bool take(size_t bytes) {
    if (more_ || rows_ == 0 || (taken_ != 0 && taken_ + bytes > kReplyBytesMax)) {
      more_ = true;
      return false;
    }
    --rows_;
    taken_ += bytes + 1;
    return true;
  }
  bool more() const { return more_; }

 private:
  uint64_t rows_;
  size_t taken_ = 0;
  bool more_ = false;
};

}  // namespace

absl::StatusOr<std::string> Machine::query(std::string_view request) const {
  const absl::StatusOr<Query> query = decode_query(request);
  if (!query.ok()) return query.status();
  return std::visit(
      [this](const auto& kind) -> absl::StatusOr<std::string> {
        if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, std::monostate>) {
          return make_error(Reason::InvalidArgument, "a query of a kind this version does not know");
        } else {
          return answer_to(kind);
        }
      },
      *query);
}

bool Machine::holds(std::string_view bytes) {
  const absl::StatusOr<Guard> guard = decode_guard(bytes);
  if (!guard.ok()) return false;
  if (const auto* held = std::get_if<LockHeld>(&*guard)) return lock_shown(held->name, held->token, held->exclusive);
  const auto* free = std::get_if<LockFree>(&*guard);
  return free != nullptr && state_.locks.free(free->name);
}

std::string Machine::answer_to(const HoldersQuery& query) const {
  HoldersReply reply;
  Room room(0);
  state_.locks.holders(query.name, [&](const lock::ClaimView& hold) {
    if (!room.take(hold.tag.size() + hold.value.size())) return;
    reply.holders.push_back({hold.session, std::string(hold.tag), hold.token, hold.count, hold.since, hold.request,
                             std::string(hold.value), lock::mode_on(hold, query.name), hold.block.last, hold.block.asked});
  });
  reply.waiters = state_.locks.waiting(query.name);
  reply.delayed = state_.locks.delayed(query.name);
  return encode(reply);
}

std::string Machine::answer_to(const QueueQuery& query) const {
  QueueReply reply;
  Room room(query.limit);
  state_.locks.queue(query.name, [&](const lock::ClaimView& wait) {
    if (!room.take(wait.tag.size())) return false;
    reply.waiters.push_back(
        {reply.waiters.size(), wait.session, std::string(wait.tag), wait.since, wait.request, lock::mode_on(wait, query.name)});
    return true;
  });
  reply.more = room.more();
  return encode(reply);
}

SessionInfo Machine::describe(SessionId id, const lease::Session& session, const lock::Table& locks) {
  const lock::Table::Counts counts = locks.counts(id);
  return {
      id,           session.group.ttl, session.group.node, session.group.boot, session.group.incarnation, session.generation,
      counts.holds, counts.waiters,    session.metadata,   session.ending};
}

std::string Machine::answer_to(const SessionQuery& query) const {
  SessionReply reply;
  const std::optional<lease::Session> session = state_.sessions.find(query.session);
  if (session) reply.session = describe(query.session, *session, state_.locks);
  return encode(reply);
}

std::string Machine::answer_to(const SessionsQuery& query) const {
  SessionsReply reply;
  Room room(query.limit);
  state_.sessions.each_after(query.after, [&](SessionId id, const lease::Session& session) {
    if (!room.take(session.metadata.size())) return false;
    reply.sessions.push_back(describe(id, session, state_.locks));
    return true;
  });
  reply.more = room.more();
  return encode(reply);
}

std::string Machine::answer_to(const LocksOfQuery& query) const {
  LocksOfReply reply;
  Room room(0);
  const auto add = [&](const lock::ClaimView& hold, const lock::Wanted& on) {
    if (!room.take(on.name.size() + hold.tag.size())) return;
    reply.locks.push_back({std::string(on.name), std::string(hold.tag), hold.token, hold.request, hold.since, on.mode,
                           hold.count, hold.releases, hold.block.last, hold.block.asked});
  };
  for (const lock::ClaimView& hold : state_.locks.holds_of(query.session)) {
    if (hold.token <= query.after) continue;
    const size_t before = reply.locks.size();
    add(hold, {hold.name, hold.mode});
    for (const lock::Wanted& other : hold.others) add(hold, other);
    if (!room.more()) continue;
    reply.locks.resize(before);  // a multi-lock is shown as a whole; the next page begins with it
    break;
  }
  reply.more = room.more();
  return encode(reply);
}

std::string Machine::answer_to(const TokenStillHeldQuery& query) const {
  return encode(TokenStillHeldReply{state_.locks.held(query.name, query.token).has_value() ||
                                    state_.coordination.still_held(query.name, query.token)});
}

std::string Machine::answer_to(const GetQuery& query) const {
  KeysReply reply;
  if (const mvcc::Version* found = state_.keys.find(query.key)) reply.keys.push_back(found->entry());
  reply.revision = state_.keys.revision();
  return encode(reply);
}

}  // namespace coordkit::machine
