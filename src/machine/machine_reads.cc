#include "machine/machine_reads.h"

#include <algorithm>
#include <utility>

#include "machine/locks/machine_locks.h"
#include "machine/permissions/denial.h"

namespace coordkit::machine {
namespace {

constexpr size_t kRowsBytesMax = 4 << 20;  // of rows; the first row that does not fit is left for the next answer

// Counts rows and bytes of one answer against its limits.
class Room {
 public:
  explicit Room(uint64_t limit) : rows_(limit == 0 ? kRowsMax : std::min(limit, kRowsMax)) {}
  // Returns false, and sets `more`, once the answer is full. The first row always fits.
  bool take(size_t bytes) {
    if (more_ || rows_ == 0 || (taken_ != 0 && taken_ + bytes > kRowsBytesMax)) {
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

HeldLock held_lock(const lock::ClaimView& hold, std::string_view name, LockMode mode) {
  HolderInfo holder{.session = hold.session,
                    .owner_tag = std::string(hold.tag),
                    .token = hold.token,
                    .since = hold.since,
                    .request = hold.request,
                    .texts = hold_texts<std::string>(hold.texts),
                    .mode = mode,
                    .count = hold.count};
  return {{std::move(holder), std::string(name)}, hold.releases, hold.block.last, hold.block.asked};
}

}  // namespace

Holders MachineReads::holders_of(std::string_view name) const {
  Holders reply;
  Room room(0);
  state_.locks.view().holders(name, [&](const lock::ClaimView& hold) {
    if (!room.take(hold.tag.size() + bytes_of(hold.texts))) return;
    reply.holders.push_back(held_lock(hold, {}, lock::mode_on(hold, name)));
  });
  reply.waiters = state_.locks.view().waiting(name);
  reply.delayed = state_.locks.view().delayed(name);
  reply.more = room.more();
  return reply;
}

LockQueue MachineReads::queue_of(std::string_view name, uint64_t limit) const {
  LockQueue reply;
  Room room(limit);
  state_.locks.view().queue(name, [&](const lock::ClaimView& wait) {
    if (!room.take(wait.tag.size())) return false;
    reply.waiters.push_back(
        {reply.waiters.size(), wait.session, std::string(wait.tag), wait.since, wait.request, lock::mode_on(wait, name)});
    return true;
  });
  reply.more = room.more();
  return reply;
}

namespace {

SessionInfo describe(SessionId id, const lease::Session& session, const lock::TableView& locks) {
  const lock::ClaimCounts counts = locks.counts(id);
  coordkit::SessionInfo info{.session = id,
                             .ttl = session.group.ttl,
                             .node = session.group.node,
                             .boot = session.group.boot,
                             .holds = counts.holds,
                             .waiters = counts.waiters,
                             .metadata = session.metadata,
                             .ending = session.ending};
  return {std::move(info), session.group.incarnation, session.generation};
}

}  // namespace

std::optional<SessionInfo> MachineReads::session(SessionId id) const {
  const std::optional<lease::Session> session = state_.sessions.find(id);
  return session ? std::optional(describe(id, *session, state_.locks.view())) : std::nullopt;
}

Sessions MachineReads::sessions_after(SessionId id, uint64_t limit) const {
  Sessions reply;
  Room room(limit);
  state_.sessions.each_after(id, [&](SessionId next, const lease::Session& session) {
    if (!room.take(session.metadata.size())) return false;
    reply.sessions.push_back(describe(next, session, state_.locks.view()));
    return true;
  });
  reply.more = room.more();
  return reply;
}

HeldLocks MachineReads::locks_of(SessionId session, Token after) const {
  HeldLocks reply;
  Room room(0);
  const auto add = [&](const lock::ClaimView& hold, const lock::Wanted& on) {
    if (!room.take(on.name.size() + hold.tag.size() + bytes_of(hold.texts))) return;
    reply.locks.push_back(held_lock(hold, on.name, on.mode));
  };
  state_.locks.view().holds_of(session, after, [&](const lock::ClaimView& hold) {
    const size_t before = reply.locks.size();
    add(hold, {hold.name, hold.mode});
    for (const lock::Wanted& other : hold.others) add(hold, other);
    if (room.more()) reply.locks.resize(before);  // a multi-lock is shown as a whole; the next page begins with it
    return !room.more();
  });
  reply.more = room.more();
  return reply;
}

PermissionLists MachineReads::permissions(std::string_view first) const {
  PermissionLists reply;
  Room room(0);
  state_.permissions.each(first, [&](std::string_view remote, const std::vector<Permission>& list) {
    size_t bytes = remote.size();
    for (const Permission& one : list) bytes += one.prefix.size();
    if (room.take(bytes)) reply.lists.push_back({std::string(remote), list});
    return !room.more();
  });
  reply.more = room.more();
  return reply;
}

std::optional<std::string> MachineReads::denial(const RemoteCaller& caller, const Needs& needs) const {
  return machine::denial(state_, caller, needs);
}

std::optional<Result> MachineReads::refusal_of(const Acquire& acquire) const { return machine::refusal_of(state_, acquire); }
std::optional<Result> MachineReads::refusal_of(const AcquireAll& acquire) const { return machine::refusal_of(state_, acquire); }

Contents MachineReads::contents() const {
  return {.sessions = state_.sessions.size(),
          .leases = state_.leases.size(),
          .locks = state_.locks.view().names(),
          .claims = state_.locks.view().claims(),
          .objects = state_.coordination.records(),
          .keys = state_.keys.size(),
          .changes = state_.keys.versions(),
          .key_weight = state_.keys.weight()};
}

std::optional<Token> MachineReads::held_by(std::string_view name, SessionId session, std::string_view owner) const {
  const std::optional<lock::ClaimView> claim = state_.locks.view().claim(name, session, owner);
  return claim && claim->held() ? std::optional(claim->token) : std::nullopt;
}

bool MachineReads::still_held(std::string_view name, Token token) const {
  return state_.locks.view().held(name, token).has_value() || state_.coordination.still_held(name, token);
}

}  // namespace coordkit::machine
