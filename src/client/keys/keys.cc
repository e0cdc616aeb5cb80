#include "client/keys/keys.h"

#include <algorithm>

#include "client/calls/answers.h"

namespace coordkit::client {

using machine::ResultCode;

// ---- ranges

CallId Keys::range(RangeOperation range, CallDeadline deadline, ReadOptions options, Callback<RangeResult> done) {
  if (absl::Status refusal = check_range(range); !refusal.ok()) return calls_.refuse(std::move(done), std::move(refusal));
  auto paging = std::make_shared<Paging>(Paging{.range = std::move(range), .options = options});
  return calls_.enter(std::move(done), OnAbandon::Forget, deadline,
                      [this, paging = std::move(paging)](CallId id, Now) { ask_page(id, paging); });
}

void Keys::ask_page(CallId id, const PagingRef& paging) {
  Call& call = *calls_.find(id);
  call.ticket = requests_.ask(
      {.consistency = paging->options.consistency, .at_least = paging->options.at_least, .deadline = call.deadline},
      machine::PageOf{paging->range, paging->begun},
      [this, id, paging](const machine::PageOf&, auto&& page, const Completion& completion, Now) {
        page_read(id, paging, std::move(page), completion);
      });
}

// The first answer fixes the revision. The rest is read from this replica's own state at that revision; the state can only be
// newer.
void Keys::page_read(CallId id, const PagingRef& paging, absl::StatusOr<Page> read, const Completion& completion) {
  if (calls_.find(id) == nullptr) return;
  if (!read.ok()) return static_cast<void>(calls_.fail(id, read.status()));
  Page& page = *read;
  if (page.code != ResultCode::Ok) {
    const bool large = page.code == ResultCode::LimitExceeded;
    calls_.fail(id, large ? unordered_range_too_large() : status_of(page.refusal(), Nameless{"range"}));
    return;
  }
  RangeOperation& range = paging->range;
  RangeResult& so_far = paging->so_far;
  if (!std::exchange(paging->begun, true)) {
    so_far.count = page.reply.count;
    so_far.revision = page.revision;
    so_far.as_of = completion.index;
    so_far.age = completion.age;
    if (!range.revision) range.revision = page.revision;
    paging->options = {Consistency::Local, completion.index};
  }
  const auto taken = static_cast<int64_t>(page.reply.entries.size());
  const bool full = range.limit != 0 && taken == range.limit;
  std::ranges::move(page.reply.entries, std::back_inserter(so_far.entries));
  if (!page.reply.more || full || taken == 0) {
    so_far.more = page.reply.more;
    calls_.answer<RangeResult>(id, std::move(so_far));
    return;
  }
  if (range.limit != 0) range.limit -= taken;
  range.key = so_far.entries.back().key + '\0';
  ask_page(id, paging);
}

// ---- space

// One check serves all puts until more is applied. Waiting sweeps may make room, and only entries sweep.
absl::Status Keys::room_for(uint64_t growth) {
  if (growth == 0) return absl::OkStatus();
  if (!space_ || space_->first != requests_.applied()) {
    const machine::Reads* state = requests_.reads();
    if (state == nullptr) return absl::OkStatus();
    space_.emplace(requests_.applied(), state->key_space());
  }
  const machine::KeySpace& space = space_->second;
  if (space.fits(growth) || space.sweeping) return absl::OkStatus();
  return status_of({.code = ResultCode::NoSpace}, Nameless{"keys"});
}

// All replicas would do nothing else while they carry it out, and so would a replica that reads it.
absl::Status Keys::within_reach(const Transaction& transaction) const {
  const machine::Reads* state = requests_.reads();
  if (state == nullptr || !state->reaches_too_far(transaction)) return absl::OkStatus();
  return make_error(Reason::LimitExceeded,
                    "the conditions, ranges and deletes of this transaction look at more than a million keys together, and at "
                    "more keys than exist; make them narrower, or read the ranges one by one");
}

// ---- automatic compaction

void Keys::compact(Now now) {
  if (!compactor_.on() || requests_.halted() || now.lagging < next_compaction_) return;
  next_compaction_ = now.lagging + compactor_.interval();
  if (!requests_.leads()) return compactor_.forget();
  const machine::Reads* state = requests_.reads();
  if (state == nullptr) return;
  const machine::KeySpace space = state->key_space();
  const Revision at = compactor_.due(now.lagging, space.revision, space.compacted);
  if (!at) return;
  // After any outcome, the remaining history is checked again.
  requests_.submit({.body = machine::Compact{at}}, now.lagging + options_.call_timeout, Urgency::Normal,
                   [](const Completion&, Now) {});
}

}  // namespace coordkit::client
