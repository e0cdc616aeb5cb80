// Reads of keys and of their leases.
#include <algorithm>
#include <utility>

#include "machine/keys/changes.h"
#include "machine/keys/kv_command.h"
#include "machine/keys/surroundings.h"
#include "machine/machine_reads.h"
#include "mvcc/reach.h"

namespace coordkit::machine {
namespace {

// The room of one answer to a question. For a range in key order the client asks again for the rest.
constexpr mvcc::RangeRoom kOneAnswer{.entries = kRowsMax, .bytes = 4 << 20};
constexpr size_t kNamesBytesMax = 1 << 20;  // of keys in one answer

bool lock_held(const State& state, std::string_view name, Token token, bool exclusive) {
  return meets(state, state.locks.view().held(name, token), name, token, exclusive);
}

template <typename Reply>
KeysRead<Reply> keys_read(const State& state, mvcc::Refusal refusal, Reply reply) {
  const bool done = refusal == mvcc::Refusal::None;
  return {machine::code_of(refusal), state.keys.revision(), state.keys.compacted(), done ? std::move(reply) : Reply()};
}

KeysRead<RangeReply> range_in(const State& state, const mvcc::RangeRoom& room, const RangeOperation& range) {
  mvcc::Selection selection;
  mvcc::Refusal refusal = mvcc::select(state.keys, range, room, selection);
  if (refusal == mvcc::Refusal::None && selection.cut && !mvcc::in_key_order(range)) refusal = mvcc::Refusal::LimitExceeded;
  return keys_read(state, refusal, std::move(selection.reply));
}

LeaseRow row_of(SessionId number, const lease::Session& lease) {
  return {lease.name, number, lease.group.ttl, lease.group.node};
}

}  // namespace

KeysRead<RangeReply> MachineReads::range(const RangeOperation& range) const {
  const mvcc::Refusal refusal = mvcc::check(range);
  if (refusal != mvcc::Refusal::None) return keys_read(state_, refusal, RangeReply());
  return range_in(state_, kOneAnswer, range);
}

KeysRead<RangeReply> MachineReads::rest_of_range(const RangeOperation& range) const {
  return range_in(state_, {.entries = kOneAnswer.entries, .bytes = kOneAnswer.bytes, .counts = false}, range);
}

KeysRead<TransactionReply> MachineReads::read(const Transaction& transaction) const {
  const auto held = [this](std::string_view name, Token token, bool exclusive) {
    return lock_held(state_, name, token, exclusive);
  };
  TransactionReply reply;
  mvcc::Refusal refusal = mvcc::check(transaction);
  if (refusal == mvcc::Refusal::None && mvcc::writes(transaction)) refusal = mvcc::Refusal::InvalidArgument;
  if (refusal == mvcc::Refusal::None) {
    refusal = with_surroundings(
        state_, held, [&](const auto& around) { return mvcc::read(state_.keys, transaction, around, kOneAnswer, reply); });
  }
  return keys_read(state_, refusal, std::move(reply));
}

bool MachineReads::reaches_too_far(const Transaction& transaction) const {
  return mvcc::reaches_too_far(state_.keys, transaction);
}

Changes MachineReads::changes(const ChangesAfter& place) const { return changes_of(state_.keys, place); }

Entry MachineReads::entry(std::string_view key) const {
  Entry out{.entry = std::nullopt, .revision = state_.keys.revision()};
  if (const mvcc::Version* found = state_.keys.find(key)) out.entry = found->entry();
  return out;
}

KeySpace MachineReads::key_space() const { return space_of(state_); }

Leases MachineReads::lease(LeaseId id, bool keys, std::string_view after) const {
  Leases reply{.leases = {}, .keys = {}, .more = false, .revision = state_.keys.revision()};
  const std::optional<SessionId> number = state_.leases.named(id);
  if (!number) return reply;
  reply.leases.push_back(row_of(*number, *state_.leases.find(*number)));
  if (!keys) return reply;
  size_t bytes = 0;
  state_.keys.attached(id, after, [&](std::string_view key) {
    reply.more = reply.keys.size() == kRowsMax || (bytes != 0 && bytes + key.size() > kNamesBytesMax);
    if (reply.more) return false;
    bytes += key.size();
    reply.keys.emplace_back(key);
    return true;
  });
  return reply;
}

Leases MachineReads::leases_after(LeaseId id, uint64_t limit) const {
  Leases reply{.leases = {}, .keys = {}, .more = false, .revision = state_.keys.revision()};
  const uint64_t most = limit == 0 ? kRowsMax : std::min(limit, kRowsMax);
  state_.leases.each_named_after(id, [&](SessionId number, const lease::Session& lease) {
    reply.more = reply.leases.size() == most;
    if (!reply.more) reply.leases.push_back(row_of(number, lease));
    return !reply.more;
  });
  return reply;
}

}  // namespace coordkit::machine
