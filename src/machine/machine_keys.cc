// Machine, the part for the revisioned store: the results of its commands and queries, and what the end of a session does
// to the keys attached to it.
#include <string>
#include <utility>

#include "machine/changes.h"
#include "machine/kv_codec.h"
#include "machine/machine.h"

namespace coordkit::machine {
namespace {

constexpr size_t kReplyBytesMax = 4 << 20;  // of one answer to a question; the client asks again for the rest

// S-63: prefix and index; as many digits as any index has, so that the order of bytes is that of the numbers.
std::string sequential_key(std::string_view prefix, Index index) {
  const std::string digits = std::to_string(index.value());
  return std::string(prefix) + std::string(mvcc::kSequenceDigits - digits.size(), '0') + digits;
}

}  // namespace

// Calls `run(surroundings)`, which are valid only during the call. `held(name, token, exclusively)`: whether a lock is held.
template <typename Held, typename Run>
auto Machine::with_surroundings(Held held, Run run) const {
  const auto exists = [this](LeaseId lease) { return lease_exists(lease); };
  const auto lock_condition = [this, held](const Compare& compare) {
    if (compare.target == Compare::Target::LockFree) return state_.locks.free(compare.key);
    return held(compare.key, Token(compare.number), compare.target == Compare::Target::LockHeldExclusively);
  };
  return run(mvcc::Surroundings{exists, lock_condition});
}

bool Machine::lock_held(std::string_view name, Token token, bool exclusive) const {
  return meets(state_.locks.held(name, token), name, token, exclusive);
}

// S-58: as a guard; it retires the earlier tokens of the delegation.
bool Machine::lock_shown(std::string_view name, Token token, bool exclusive) {
  return meets(state_.locks.put_forward(name, token), name, token, exclusive);
}

bool Machine::meets(std::optional<LockMode> mode, std::string_view name, Token token, bool exclusive) const {
  if (!mode && !exclusive) return state_.coordination.still_held(name, token);
  return mode && (!exclusive || *mode == LockMode::Exclusive);
}

Machine::Answer Machine::execute(Put& put, Step& step) {
  const auto shown = [](std::string_view, Token, bool) { return false; };  // a put names no lock
  mvcc::Store::Change change;
  PutReply reply;
  if (!has_room(growth(put, &state_.keys))) return Result{.code = ResultCode::NoSpace};
  if (put.sequential) reply.key = put.key = sequential_key(put.key, step.index);
  const mvcc::Refusal refusal =
      with_surroundings(shown, [&](const auto& around) { return mvcc::execute(state_.keys, put, around, change, reply); });
  if (refusal != mvcc::Refusal::None) return Result{.code = code_of(refusal)};
  const bool says_more = put.sequential || reply.previous;
  return Result{.reply = says_more ? encode(OperationReply{std::move(reply)}) : std::string()};
}

Machine::Answer Machine::execute(Delete& erase, Step&) {
  mvcc::Store::Change change;
  DeleteReply reply;
  mvcc::execute(state_.keys, erase, change, reply);
  const uint64_t deleted = reply.deleted;
  return Result{.deleted = deleted, .reply = erase.previous ? encode(OperationReply{std::move(reply)}) : std::string()};
}

Machine::Answer Machine::execute(Transaction& transaction, Step&) {
  if (!has_room(growth(transaction, &state_.keys))) return Result{.code = ResultCode::NoSpace};
  const auto shown = [this](std::string_view name, Token token, bool exclusive) { return lock_shown(name, token, exclusive); };
  mvcc::Store::Change change;
  TransactionReply reply;
  const mvcc::Refusal refusal = with_surroundings(
      shown, [&](const auto& around) { return mvcc::execute(state_.keys, transaction, around, change, reply); });
  if (refusal != mvcc::Refusal::None) return Result{.code = code_of(refusal)};
  return Result{.reply = encode(OperationReply{std::vector<TransactionReply>{std::move(reply)}})};
}

Machine::Answer Machine::execute(Compact& compact, Step&) { return Result{.code = code_of(state_.keys.compact(compact.at))}; }

// S-39: one revision for all of them, none if there are none.
void Machine::end_attached(LeaseId lease) {
  mvcc::Store::Change change;
  for (const std::string& key : state_.keys.attached(lease)) {
    state_.keys.erase(change, key);
  }
}

KeysRead<RangeReply> Machine::range(const RangeOperation& range) const {
  return range_in({.entries = kRowsMax, .bytes = kReplyBytesMax}, range);
}

KeysRead<RangeReply> Machine::rest_of_range(const RangeOperation& range) const {
  return range_in({.entries = kRowsMax, .bytes = kReplyBytesMax, .counts = false}, range);
}

KeysRead<RangeReply> Machine::range_in(const mvcc::RangeRoom& room, const RangeOperation& range) const {
  mvcc::Selection selection;
  mvcc::Refusal refusal = mvcc::check(range);
  if (refusal == mvcc::Refusal::None) {
    refusal = mvcc::select(state_.keys, range, room, selection);
  }
  if (refusal == mvcc::Refusal::None && selection.cut && !mvcc::in_key_order(range)) refusal = mvcc::Refusal::LimitExceeded;
  return keys_read(refusal, std::move(selection.reply));
}

KeysRead<TransactionReply> Machine::read(const Transaction& transaction) const {
  const auto held = [this](std::string_view name, Token token, bool exclusive) { return lock_held(name, token, exclusive); };
  TransactionReply reply;
  mvcc::Refusal refusal = mvcc::check(transaction);
  if (refusal == mvcc::Refusal::None && mvcc::writes(transaction)) refusal = mvcc::Refusal::InvalidArgument;
  if (refusal == mvcc::Refusal::None) {
    refusal = with_surroundings(held, [&](const auto& around) { return mvcc::read(state_.keys, transaction, around, reply); });
  }
  return keys_read(refusal, std::move(reply));
}

template <typename Reply>
KeysRead<Reply> Machine::keys_read(mvcc::Refusal refusal, Reply reply) const {
  const bool done = refusal == mvcc::Refusal::None;
  return {code_of(refusal), state_.keys.revision(), state_.keys.compacted(), done ? std::move(reply) : Reply()};
}

Changes Machine::changes(const ChangesAfter& place) const { return changes_of(state_.keys, place); }

Entry Machine::entry(std::string_view key) const {
  Entry out{.entry = std::nullopt, .revision = state_.keys.revision()};
  if (const mvcc::Version* found = state_.keys.find(key)) out.entry = found->entry();
  return out;
}

}  // namespace coordkit::machine
