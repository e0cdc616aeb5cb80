// The keys and the host's own machines behind the public interface.
#include <string>
#include <utility>

#include "client/calls/answers.h"
#include "client/impl.h"
#include "coordkit/error.h"
#include "machine/keys/kv_codec.h"

namespace coordkit {
namespace {

using client::WriteCalls;
using machine::Result;
using machine::ResultCode;

// The result of an operation; `Kind` is the expected kind of its reply. Without a reply it had nothing to report.
template <typename Kind>
absl::StatusOr<Kind> reply_of(const Result& result, Outcome outcome) {
  if (result.reply.empty()) return Kind();
  auto reply = machine::decode_operation_reply(result.reply);
  if (!reply.ok() || !std::holds_alternative<Kind>(reply->body)) return client::unreadable(outcome);
  return std::get<Kind>(std::move(reply->body));
}

absl::StatusOr<PutResult> read_put(const Completion& completion) {
  const auto result = client::done_of(completion, client::Nameless{"key"});
  if (!result.ok()) return result.status();
  auto reply = reply_of<PutReply>(*result, Outcome::Done);
  if (!reply.ok()) return reply.status();
  return PutResult{result->revision, completion.index, std::move(reply->key), std::move(reply->previous)};
}

absl::StatusOr<EraseResult> read_erase(const Completion& completion) {
  const auto result = client::done_of(completion, client::Nameless{"key"});
  if (!result.ok()) return result.status();
  auto reply = reply_of<DeleteReply>(*result, Outcome::Done);
  if (!reply.ok()) return reply.status();
  return EraseResult{result->deleted, result->revision, completion.index, std::move(reply->previous)};
}

absl::StatusOr<TransactionResult> read_transaction(const Completion& completion) {
  const auto result = client::done_of(completion, client::Nameless{"transaction"});
  if (!result.ok()) return result.status();
  auto nested = reply_of<std::vector<TransactionReply>>(*result, Outcome::Done);
  if (!nested.ok()) return nested.status();
  if (nested->size() != 1) return client::unreadable(Outcome::Done);
  TransactionReply& reply = nested->front();
  return TransactionResult{reply.succeeded, std::move(reply.replies), result->revision, completion.index};
}

absl::StatusOr<CompactResult> read_compact(const Completion& completion) {
  const auto result = client::done_of(completion, client::Nameless{"compaction"});
  if (!result.ok()) return result.status();
  return CompactResult{result->revision, completion.index};
}

// A transaction that only reads is read in one step, during which this replica does nothing else.
absl::Status answer_too_large() {
  return make_error(
      Reason::LimitExceeded,
      "the ranges of this transaction found more than the 10,000 entries or 4 MiB of one answer; give them limits, or "
      "read them one by one at the revision of the first");
}

// coordkit's own machine has its own calls; raw commands to it would bypass sessions and locks.
absl::Status check_machine(MachineId machine) {
  if (machine >= kFirstHostMachine) return absl::OkStatus();
  return make_error(Reason::InvalidArgument, "machine ids below " + std::to_string(kFirstHostMachine.value()) +
                                                 " are coordkit's own; name one of the host's machines");
}

}  // namespace

Fence fenced_by(const HoldRef& hold) {
  return hold == nullptr ? Fence{} : Fence{.lock = hold->name(), .token = hold->token(), .hold = hold};
}

Fence while_free(std::string lock) { return {.lock = std::move(lock), .token = {}, .wants = Fence::Wants::Free}; }

// ---- keys

CallId KeyCalls::put(PutOperation put, Callback<PutResult> done, WriteOptions options) {
  const uint64_t growth = machine::growth(put, nullptr);
  const machine::Request request{.body = std::move(put)};
  WriteCalls::Write write = client_->impl_->writes.command(request, std::move(options));
  if (write.refusal.ok()) write.refusal = client_->impl_->keys.room_for(growth);
  return client_->impl_->writes.write<PutResult>(std::move(write), std::move(done), read_put);
}

CallId KeyCalls::erase(DeleteOperation erase, Callback<EraseResult> done, WriteOptions options) {
  const machine::Request request{.body = std::move(erase)};
  return client_->impl_->writes.write<EraseResult>(client_->impl_->writes.command(request, std::move(options)), std::move(done),
                                                   read_erase);
}

CallId KeyCalls::range(RangeOperation range, Callback<RangeResult> done, CallDeadline deadline, ReadOptions options) {
  return client_->impl_->keys.range(std::move(range), deadline, options, std::move(done));
}

CallId KeyCalls::commit(Transaction transaction, Callback<TransactionResult> done, WriteOptions options, ReadOptions read) {
  const bool logged = machine::writes(transaction) || options.fence.has_value();
  const uint64_t growth = machine::growth(transaction, nullptr);
  client_->impl_->locks.lines().lent().deny_former(transaction);
  machine::Request request{.body = std::move(transaction)};
  absl::Status refusal = client::check_request(request);
  if (refusal.ok()) refusal = client_->impl_->keys.room_for(growth);
  if (refusal.ok()) refusal = client_->impl_->keys.within_reach(std::get<Transaction>(request.body));
  if (logged) {
    return client_->impl_->writes.write<TransactionResult>(
        client_->impl_->writes.command(request, std::move(options), std::move(refusal)), std::move(done), read_transaction);
  }
  return client_->impl_->reads.read<TransactionResult>(
      {.options = read, .deadline = options.deadline, .refusal = std::move(refusal)},
      machine::OutcomeOf{std::get<Transaction>(std::move(request.body))}, std::move(done),
      [](const machine::OutcomeOf&, machine::KeysRead<TransactionReply> now,
         const Completion& completion) -> absl::StatusOr<TransactionResult> {
        if (now.code == ResultCode::LimitExceeded) return answer_too_large();
        absl::Status why = client::status_of(now.refusal(), client::Nameless{"transaction"});
        if (!why.ok()) return why;
        return TransactionResult{now.reply.succeeded, std::move(now.reply.replies), now.revision, completion.index};
      });
}

CallId KeyCalls::set_quota(uint64_t bytes, Callback<QuotaResult> done, WriteOptions options) {
  const machine::Request request{.body = machine::SetKeyQuota{bytes}};
  return client_->impl_->writes.write<QuotaResult>(client_->impl_->writes.command(request, std::move(options)), std::move(done),
                                                   [](const Completion& completion) -> absl::StatusOr<QuotaResult> {
                                                     const auto result = client::done_of(completion, client::Nameless{"quota"});
                                                     if (!result.ok()) return result.status();
                                                     return QuotaResult{result->revision, completion.index};
                                                   });
}

CallId KeyCalls::space(Callback<KeySpaceInfo> done, CallDeadline deadline, ReadOptions options) {
  return client_->impl_->reads.read<KeySpaceInfo>(
      {.options = options, .deadline = deadline}, machine::SpaceOf{}, std::move(done),
      [](const machine::SpaceOf&, const machine::KeySpace& now, const Completion& completion) {
        return KeySpaceInfo{now.weight,   now.quota,     now.keys,     now.changes,
                            now.revision, now.compacted, now.sweeping, completion.index};
      });
}

CallId KeyCalls::compact(Revision at, Callback<CompactResult> done, WriteOptions options) {
  const machine::Request request{.body = machine::Compact{at}};
  return client_->impl_->writes.write<CompactResult>(client_->impl_->writes.command(request, std::move(options)),
                                                     std::move(done), read_compact);
}

CallId Client::put(std::string key, std::string value, Callback<PutResult> done, WriteOptions options) {
  return keys().put({.key = std::move(key), .value = std::move(value)}, std::move(done), std::move(options));
}

CallId Client::get(std::string key, Callback<GetResult> done, CallDeadline deadline, ReadOptions options) {
  absl::Status refusal = client::check_key(key);
  return impl_->reads.read<GetResult>(
      {.options = options, .deadline = deadline, .refusal = std::move(refusal)}, machine::EntryOf{std::move(key)},
      std::move(done), [](const machine::EntryOf&, machine::Entry now, const Completion& completion) {
        return GetResult{
            .entry = std::move(now.entry), .revision = now.revision, .as_of = completion.index, .age = completion.age};
      });
}

CallId Client::erase(std::string key, Callback<EraseResult> done, WriteOptions options) {
  return keys().erase({.key = std::move(key)}, std::move(done), std::move(options));
}

// ---- machines of the host

CallId Client::propose(MachineId machine, std::string command, Callback<ProposeResult> done, WriteOptions options) {
  return impl_->writes.write<ProposeResult>({.machine = machine,
                                             .bytes = impl_->requests.keep(command),
                                             .options = std::move(options),
                                             .refusal = check_machine(machine)},
                                            std::move(done), [](const Completion& completion) {
                                              return ProposeResult{.bytes = std::string(completion.bytes.view()),
                                                                   .index = completion.index};
                                            });
}

CallId Client::query(MachineId machine, std::string question, Callback<QueryResult> done, CallDeadline deadline,
                     ReadOptions options) {
  return impl_->reads.query(machine, std::move(question),
                            {.options = options, .deadline = deadline, .refusal = check_machine(machine)}, std::move(done));
}

}  // namespace coordkit
