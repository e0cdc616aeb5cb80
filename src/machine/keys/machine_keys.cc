#include "machine/keys/machine_keys.h"

#include <string>
#include <utility>

#include "machine/keys/key_space.h"
#include "machine/keys/kv_codec.h"
#include "machine/keys/surroundings.h"

namespace coordkit::machine {
namespace {

// S-63: prefix and index. The index has as many digits as the largest one, so that the order of bytes is that of the numbers.
std::string sequential_key(std::string_view prefix, Index index) {
  const std::string digits = std::to_string(index.value());
  return std::string(prefix) + std::string(mvcc::kSequenceDigits - digits.size(), '0') + digits;
}

}  // namespace

bool MachineKeys::lock_shown(std::string_view name, Token token, bool exclusive) {
  return meets(state_, state_.locks.delegations().put_forward(name, token), name, token, exclusive);
}

Answer MachineKeys::execute(Put& put, ApplyStep& step) {
  const auto shown = [](std::string_view, Token, bool) { return false; };  // a put names no lock
  mvcc::Store::Change change;
  PutReply reply;
  if (!has_room(growth(put, &state_.keys))) return Result{.code = ResultCode::NoSpace};
  if (put.sequential) reply.key = put.key = sequential_key(put.key, step.index);
  const mvcc::Refusal refusal = with_surroundings(
      state_, shown, [&](const auto& around) { return mvcc::execute(state_.keys, put, around, change, reply); });
  if (refusal != mvcc::Refusal::None) return Result{.code = code_of(refusal)};
  const bool says_more = put.sequential || reply.previous;
  return Result{.reply = says_more ? encode(OperationReply{std::move(reply)}) : std::string()};
}

Answer MachineKeys::execute(Delete& erase, ApplyStep&) {
  mvcc::Store::Change change;
  DeleteReply reply;
  mvcc::execute(state_.keys, erase, change, reply);
  const uint64_t deleted = reply.deleted;
  return Result{.deleted = deleted, .reply = erase.previous ? encode(OperationReply{std::move(reply)}) : std::string()};
}

Answer MachineKeys::execute(Transaction& transaction, ApplyStep&) {
  if (!has_room(growth(transaction, &state_.keys))) return Result{.code = ResultCode::NoSpace};
  const auto shown = [this](std::string_view name, Token token, bool exclusive) { return lock_shown(name, token, exclusive); };
  mvcc::Store::Change change;
  TransactionReply reply;
  const mvcc::Refusal refusal = with_surroundings(
      state_, shown, [&](const auto& around) { return mvcc::execute(state_.keys, transaction, around, change, reply); });
  if (refusal != mvcc::Refusal::None) return Result{.code = code_of(refusal)};
  return Result{.reply = encode(OperationReply{std::vector<TransactionReply>{std::move(reply)}})};
}

Answer MachineKeys::execute(Compact& compact, ApplyStep&) { return Result{.code = code_of(state_.keys.compact(compact.at))}; }

// S-39: one revision for all keys of the lease, none if it has no keys.
void MachineKeys::end_attached(LeaseId lease) {
  mvcc::Store::Change change;
  for (const std::string& key : state_.keys.attached(lease)) {
    state_.keys.erase(change, key);
  }
}

}  // namespace coordkit::machine
