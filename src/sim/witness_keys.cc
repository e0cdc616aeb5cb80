// The witness for keys with all their options: the result of a put, a delete or a transaction is what the model got from that
// entry, including the answers of their operations, and a range shows the keys as they were at that revision.
#include <fmt/format.h>

#include "machine/kv_codec.h"
#include "sim/witness.h"

namespace coordkit::sim {
namespace {

std::string shown(const std::vector<KeyValue>& entries) {
  std::string out;
  for (const KeyValue& entry : entries) out += fmt::format(" {}@{}.{}", entry.key, entry.mod.value(), entry.version);
  return out.empty() ? " nothing" : out;
}

}  // namespace

void Witness::entry_put(CallNumber number, const absl::StatusOr<PutResult>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return refused(call, answer.status());
  const CommandOutcomes::Outcome& outcome = only_execution(call);
  const bool says_more = !answer->key.empty() || answer->previous;
  const std::string told = says_more ? machine::encode(OperationReply{PutReply{answer->key, answer->previous}}) : "";
  if (!outcome.result || outcome.result->code != machine::ResultCode::Ok || outcome.index != answer->index ||
      outcome.result->revision != answer->revision || outcome.result->reply != told) {
    fail("INV_K1", call,
         fmt::format("told revision {} at {}, the log decided otherwise", answer->revision.value(), answer->index.value()));
  }
  decided(call, answer->index);
}

void Witness::entries_erased(CallNumber number, const absl::StatusOr<EraseResult>& answer) {
  const std::string told =
      answer.ok() ? machine::encode(OperationReply{DeleteReply{answer->deleted, answer->previous}}) : std::string();
  executed(number, answer.status(), [&](const machine::Result& result) {
    return result.code == machine::ResultCode::Ok && result.deleted == answer->deleted && result.revision == answer->revision &&
           result.reply == told;
  });
}

void Witness::transacted(CallNumber number, const absl::StatusOr<TransactionResult>& answer) {
  std::string told;
  if (answer.ok()) {
    told = machine::encode(OperationReply{std::vector<TransactionReply>{{answer->succeeded, answer->replies}}});
  }
  executed(number, answer.status(), [&](const machine::Result& result) {
    return result.code == machine::ResultCode::Ok && result.revision == answer->revision && result.reply == told;
  });
}

// For a past revision every caller gets the same answer forever (INV_K03), or learns that it is compacted and from where on it
// is not (INV_K04).
void Witness::ranged(CallNumber number, const RangeOperation& range, const absl::StatusOr<RangeResult>& answer) {
  Call& call = end(number);
  if (duty_ == Duty::Count) return;
  if (!answer.ok()) return range_refused(call, range, answer.status());
  observed(call, answer->as_of);
  const bool past = static_cast<bool>(range.revision);
  if (past && range.revision < model_.history().compacted_at(answer->as_of)) {
    fail("INV_K04", call, fmt::format("shown revision {}, which is compacted", range.revision.value()));
  }
  const RangeReply told{answer->entries, answer->more, answer->count};
  const RangeReply expected = model_.keys().range_at(range, past ? range.revision : answer->revision);
  if (told != expected || answer->revision != model_.history().revision_at(answer->as_of)) {
    fail(past ? "INV_K03" : "INV_K1", call,
         fmt::format("shown{} at revision {} of {}, expected{}", shown(told.entries), range.revision.value(),
                     answer->revision.value(), shown(expected.entries)));
  }
}

void Witness::range_refused(Call& call, const RangeOperation& range, const absl::Status& status) {
  const std::optional<Reason> reason = reason_of(status);
  const std::optional<Revision> carried = revision_of(status);
  const bool compacted = reason == Reason::Compacted, future = reason == Reason::FutureRevision;
  const bool lawful = !compacted || (carried && range.revision < *carried && *carried <= model_.keys().compacted());
  const bool not_there = !future || (carried && range.revision > *carried);
  if (!lawful || !not_there) fail("INV_K04", call, "refused what can be read: " + status.ToString());
  refused(call, status);
}

}  // namespace coordkit::sim
