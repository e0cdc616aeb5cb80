// The keys with all their options: ranges that take several questions, transactions, compaction.
#include <algorithm>
#include <utility>

#include "client/impl.h"
#include "coordkit/error.h"
#include "machine/kv_codec.h"

namespace coordkit {
namespace {

using machine::Result;
using machine::ResultCode;

// What an operation came to; `Kind` is what its reply must be. No reply: it had nothing to say.
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

absl::Status check_range(const RangeOperation& range) {
  const ResultCode code = machine::check(range);
  return code == ResultCode::Ok ? absl::OkStatus() : client::status_of(Result{.code = code}, client::Nameless{"range"});
}

}  // namespace

// ---- ranges

CallId Client::Impl::range(RangeOperation range, CallDeadline deadline, ReadOptions options, Callback<RangeResult> done) {
  if (absl::Status door = check_range(range); !door.ok()) return refuse(std::move(done), door);
  auto paging = std::make_shared<Paging>(Paging{std::move(range), options, {}, false});
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, paging](CallId id, Now) { ask_page(id, paging); });
}

void Client::Impl::ask_page(CallId id, std::shared_ptr<Paging> paging) {
  Call& call = *find(id);
  call.ticket =
      ask_engine({.consistency = paging->options.consistency, .at_least = paging->options.at_least, .deadline = call.deadline},
                 [this, id, paging](const Completion& completion, Now) { page_answered(id, paging, completion); });
}

// The first answer fixes the revision. The rest is read there from this replica's own state, which can only be younger.
void Client::Impl::page_answered(CallId id, const std::shared_ptr<Paging>& paging, const Completion& completion) {
  if (find(id) == nullptr) return;
  const auto state = readable(completion);
  if (!state.ok()) return static_cast<void>(fail(id, state.status()));
  auto page = paging->begun ? (*state)->rest_of_range(paging->range) : (*state)->range(paging->range);
  if (absl::Status why = client::status_of(page.refusal(), client::Nameless{"range"}); !why.ok()) {
    fail(id, std::move(why));
    return;
  }
  RangeReply& reply = page.reply;
  RangeOperation& range = paging->range;
  RangeResult& so_far = paging->so_far;
  if (!std::exchange(paging->begun, true)) {
    so_far.count = reply.count;
    so_far.revision = page.revision;
    so_far.as_of = completion.index;
    so_far.age = completion.age;
    if (!range.revision) range.revision = page.revision;
    paging->options = {Consistency::Local, completion.index};
  }
  const auto taken = static_cast<int64_t>(reply.entries.size());
  const bool full = range.limit != 0 && taken == range.limit;
  std::ranges::move(reply.entries, std::back_inserter(so_far.entries));
  if (!reply.more || full || taken == 0) {
    so_far.more = reply.more;
    answer<RangeResult>(id, std::move(so_far));
    return;
  }
  if (range.limit != 0) range.limit -= taken;
  range.key = so_far.entries.back().key + '\0';
  ask_page(id, paging);
}

// ---- room

// One look serves all puts until more is applied. What waits to be swept may make room, and only entries sweep.
absl::Status Client::Impl::room_for(uint64_t growth) {
  if (growth == 0) return absl::OkStatus();
  if (!key_space_ || key_space_->first != engine_.applied()) {
    const machine::Reads* state = reads();
    if (state == nullptr) return absl::OkStatus();
    key_space_.emplace(engine_.applied(), state->key_space());
  }
  const machine::KeySpace& space = key_space_->second;
  if (space.fits(growth) || space.sweeping) return absl::OkStatus();
  return client::status_of(Result{.code = ResultCode::NoSpace}, client::Nameless{"keys"});
}

// ---- compaction by itself

void Client::Impl::compact_keys(Now now) {
  if (!compactor_.on() || halted_ || now.lagging < next_compaction_) return;
  next_compaction_ = now.lagging + compactor_.interval();
  if (engine_.leadership().role != raft::Role::Leader) return compactor_.forget();
  const machine::Reads* state = reads();
  if (state == nullptr) return;
  const machine::KeySpace keys = state->key_space();
  const Revision at = compactor_.due(now.lagging, keys.revision, keys.compacted);
  if (!at) return;
  const machine::Request request{.body = machine::Compact{at}};
  // Whatever comes of it: what is left is looked at again.
  submit(request, now.lagging + options_.call_timeout, Urgency::Normal, [](const Completion&, Now) {});
}

// ---- the face

CallId KeyCalls::put(PutOperation put, Callback<PutResult> done, WriteOptions options) {
  const uint64_t growth = machine::growth(put, nullptr);
  const machine::Request request{.body = std::move(put)};
  absl::Status door = client::check_request(request);
  if (door.ok()) door = client_->impl_->room_for(growth);
  return client_->impl_->write<PutResult>(
      {.bytes = machine::encode(request), .options = std::move(options), .door = std::move(door)}, std::move(done), read_put);
}

CallId KeyCalls::erase(DeleteOperation erase, Callback<EraseResult> done, WriteOptions options) {
  const machine::Request request{.body = std::move(erase)};
  return client_->impl_->write<EraseResult>(
      {.bytes = machine::encode(request), .options = std::move(options), .door = client::check_request(request)},
      std::move(done), read_erase);
}

CallId KeyCalls::range(RangeOperation range, Callback<RangeResult> done, CallDeadline deadline, ReadOptions options) {
  return client_->impl_->range(std::move(range), deadline, options, std::move(done));
}

CallId KeyCalls::commit(Transaction transaction, Callback<TransactionResult> done, WriteOptions options, ReadOptions read) {
  const bool logged = machine::writes(transaction) || options.fence.has_value();
  const uint64_t growth = machine::growth(transaction, nullptr);
  const machine::Request request{.body = std::move(transaction)};
  absl::Status door = client::check_request(request);
  if (door.ok()) door = client_->impl_->room_for(growth);
  if (logged) {
    return client_->impl_->write<TransactionResult>(
        {.bytes = machine::encode(request), .options = std::move(options), .door = std::move(door)}, std::move(done),
        read_transaction);
  }
  return client_->impl_->read<TransactionResult>(
      {.options = read, .deadline = options.deadline, .door = std::move(door)}, std::move(done),
      [transaction = std::get<Transaction>(request.body)](const machine::Reads& state,
                                                          const Completion& completion) -> absl::StatusOr<TransactionResult> {
        auto now = state.read(transaction);
        absl::Status why = client::status_of(now.refusal(), client::Nameless{"transaction"});
        if (!why.ok()) return why;
        return TransactionResult{now.reply.succeeded, std::move(now.reply.replies), now.revision, completion.index};
      });
}

CallId KeyCalls::set_quota(uint64_t bytes, Callback<QuotaResult> done, WriteOptions options) {
  const machine::Request request{.body = machine::SetKeyQuota{bytes}};
  return client_->impl_->write<QuotaResult>(
      {.bytes = machine::encode(request), .options = std::move(options), .door = client::check_request(request)},
      std::move(done), [](const Completion& completion) -> absl::StatusOr<QuotaResult> {
        const auto result = client::done_of(completion, client::Nameless{"quota"});
        if (!result.ok()) return result.status();
        return QuotaResult{result->revision, completion.index};
      });
}

CallId KeyCalls::space(Callback<KeySpaceInfo> done, CallDeadline deadline, ReadOptions options) {
  return client_->impl_->read<KeySpaceInfo>({.options = options, .deadline = deadline}, std::move(done),
                                            [](const machine::Reads& state, const Completion& completion) {
                                              const machine::KeySpace now = state.key_space();
                                              return KeySpaceInfo{now.weight,   now.quota,     now.keys,     now.changes,
                                                                  now.revision, now.compacted, now.sweeping, completion.index};
                                            });
}

CallId KeyCalls::compact(Revision at, Callback<CompactResult> done, WriteOptions options) {
  const machine::Request request{.body = machine::Compact{at}};
  return client_->impl_->write<CompactResult>(
      {.bytes = machine::encode(request), .options = std::move(options), .door = client::check_request(request)},
      std::move(done), read_compact);
}

}  // namespace coordkit
