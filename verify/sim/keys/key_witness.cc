#include "sim/keys/key_witness.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "coordkit/error.h"
#include "machine/keys/kv_codec.h"

namespace coordkit::sim {
namespace {

using machine::Result;
using machine::ResultCode;

std::string text_of(const std::optional<KeyModel::Value>& value) {
  if (!value) return "nothing";
  return fmt::format("{} (create {}, mod {}, version {})", value->value, value->create.value(), value->mod.value(),
                     value->version);
}

std::string shown(const std::vector<KeyValue>& entries) {
  std::string out;
  for (const KeyValue& entry : entries) out += fmt::format(" {}@{}.{}", entry.key, entry.mod.value(), entry.version);
  return out.empty() ? " nothing" : out;
}

}  // namespace

void KeyWitness::put(CallNumber number, const absl::StatusOr<PutResult>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (history_) history_->put(number, answer);
  if (!call) return;
  const CommandOutcomes::Outcome& outcome = rules_.only_execution(*call);
  if (outcome.index != answer->index || outcome.result->revision != answer->revision) {
    fail("INV_K1", *call,
         fmt::format("answered with revision {} at {}, but the log decided {} at {}", answer->revision.value(),
                     answer->index.value(), outcome.result->revision.value(), outcome.index.value()));
  }
  rules_.decided(*call, answer->index);
}

void KeyWitness::erased(CallNumber number, const absl::StatusOr<EraseResult>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (history_) history_->erased(number, answer);
  if (!call) return;
  const Result* result = model_.outcomes().answered_at(answer->index);
  if (result == nullptr || result->deleted != answer->deleted || result->revision != answer->revision ||
      model_.value_at(call->subject, answer->index)) {
    fail("INV_K1", *call,
         fmt::format("answered with {} deleted at {}, but the log decided otherwise", answer->deleted, answer->index.value()));
  }
  rules_.decided(*call, answer->index);
}

void KeyWitness::got(CallNumber number, const absl::StatusOr<GetResult>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (history_) history_->got(number, answer);
  if (!call) return;
  rules_.observed(*call, answer->as_of);
  std::optional<KeyModel::Value> value;
  if (answer->entry) {
    const KeyValue& entry = *answer->entry;
    value = KeyModel::Value{entry.value, entry.create, entry.mod, entry.version, entry.lease};
  }
  const std::optional<KeyModel::Value> expected = model_.value_at(call->subject, answer->as_of);
  if (value != expected || answer->revision != model_.history().revision_at(answer->as_of)) {
    fail("INV_K1", *call,
         fmt::format("answered with {} at {}, expected {}", text_of(value), answer->as_of.value(), text_of(expected)));
  }
}

// ---- with all their options

void KeyWitness::entry_put(CallNumber number, const absl::StatusOr<PutResult>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return;
  const CommandOutcomes::Outcome& outcome = rules_.only_execution(*call);
  const bool says_more = !answer->key.empty() || answer->previous;
  const std::string reply = says_more ? machine::encode(OperationReply{PutReply{answer->key, answer->previous}}) : "";
  if (!outcome.result || outcome.result->code != ResultCode::Ok || outcome.index != answer->index ||
      outcome.result->revision != answer->revision || outcome.result->reply != reply) {
    fail("INV_K1", *call,
         fmt::format("answered with revision {} at {}, but the log decided otherwise", answer->revision.value(),
                     answer->index.value()));
  }
  rules_.decided(*call, answer->index);
}

void KeyWitness::entries_erased(CallNumber number, const absl::StatusOr<EraseResult>& answer) {
  const std::string reply =
      answer.ok() ? machine::encode(OperationReply{DeleteReply{answer->deleted, answer->previous}}) : std::string();
  rules_.executed(number, answer.status(), [&](const Result& result) {
    return result.code == ResultCode::Ok && result.deleted == answer->deleted && result.revision == answer->revision &&
           result.reply == reply;
  });
}

void KeyWitness::transacted(CallNumber number, const absl::StatusOr<TransactionResult>& answer) {
  std::string reply;
  if (answer.ok()) {
    reply = machine::encode(OperationReply{std::vector<TransactionReply>{{answer->succeeded, answer->replies}}});
  }
  rules_.executed(number, answer.status(), [&](const Result& result) {
    return result.code == ResultCode::Ok && result.revision == answer->revision && result.reply == reply;
  });
}

void KeyWitness::compacted(CallNumber number, const absl::StatusOr<CompactResult>& answer) {
  rules_.executed(number, answer.status(), [](const Result& result) { return result.code == ResultCode::Ok; });
}

// For a past revision every caller gets the same answer forever (INV_K03), or learns that it is compacted and from where on it
// is not (INV_K04).
void KeyWitness::ranged(CallNumber number, const RangeOperation& range, const absl::StatusOr<RangeResult>& answer) {
  const Call* call = rules_.succeeded(number, answer.status());
  if (!call) return check_refusal(calls_.at(number), range, answer.status());
  rules_.observed(*call, answer->as_of);
  const bool past = static_cast<bool>(range.revision);
  if (past && range.revision < model_.history().compacted_at(answer->as_of)) {
    fail("INV_K04", *call, fmt::format("shown revision {}, which is compacted", range.revision.value()));
  }
  const RangeReply reply{answer->entries, answer->more, answer->count};
  const RangeReply expected = model_.keys().range_at(range, past ? range.revision : answer->revision);
  if (reply != expected || answer->revision != model_.history().revision_at(answer->as_of)) {
    fail(past ? "INV_K03" : "INV_K1", *call,
         fmt::format("shown{} at revision {} of {}, expected{}", shown(reply.entries), range.revision.value(),
                     answer->revision.value(), shown(expected.entries)));
  }
}

void KeyWitness::check_refusal(const Call& call, const RangeOperation& range, const absl::Status& status) const {
  if (!rules_.judges()) return;
  const std::optional<Reason> reason = reason_of(status);
  const std::optional<Revision> carried = revision_of(status);
  const bool compacted = reason == Reason::Compacted, future = reason == Reason::FutureRevision;
  const bool lawful = !compacted || (carried && range.revision < *carried && *carried <= model_.keys().compacted());
  const bool not_there = !future || (carried && range.revision > *carried);
  if (!lawful || !not_there) fail("INV_K04", call, "refused what can be read: " + status.ToString());
}

}  // namespace coordkit::sim
