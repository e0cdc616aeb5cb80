#include "client/keys/leases.h"

#include <algorithm>
#include <utility>

#include "client/calls/answers.h"
#include "coordkit/error.h"

namespace coordkit::client {
namespace {

constexpr uint64_t kLookBit = uint64_t{1} << 63;  // marks an attempt that is a query; attempts of renewals stay below

TimerId timer_of_row(const machine::LeaseRow& row) { return TimerId(row.number.value()); }

absl::Status no_lease() { return make_error(Reason::LeaseNotFound, "the lease has ended or never existed; grant a new one"); }

}  // namespace

CallId Leases::keep(KeepLeaseOptions options, Callback<KeyLeaseRef> done) {
  const TimerGroup process = requests_.group({});
  machine::Request request{.body = machine::GrantLease{.id = options.id,
                                                       .ttl = options.ttl,
                                                       .node = process.node,
                                                       .boot = process.boot,
                                                       .incarnation = process.incarnation}};
  return sessions_.open(
      std::move(request), options.ttl, {.give_up = options.give_up, .on_phase = Sessions::shared(std::move(options.on_phase))},
      std::move(done), options.deadline, [this](CallId id, const Session& life) {
        calls_.answer<KeyLeaseRef>(id, std::make_shared<KeyLeaseState>(life.lease(), life.state, short_lived(life.ttl())));
      });
}

CallId Leases::write(const machine::Request& request, Callback<GrantedLease> done, CallDeadline deadline) {
  return writes_.write<GrantedLease>(
      writes_.command(request, {.deadline = deadline}), std::move(done),
      [this](const Completion& completion) -> absl::StatusOr<GrantedLease> {
        const auto result = done_of(completion, Nameless{"lease"});
        if (!result.ok()) return result.status();
        return GrantedLease{result->lease, result->ttl, short_lived(result->ttl), result->revision, completion.index};
      });
}

// ---- reads

CallId Leases::time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline) {
  return read({.one = id, .with_keys = keys}, std::move(done), deadline);
}

CallId Leases::list(Callback<LeaseList> done, CallDeadline deadline) { return read({}, std::move(done), deadline); }

CallId Leases::read(Reading reading, AnyCallback callback, CallDeadline deadline) {
  return calls_.enter(
      std::move(callback), OnAbandon::Forget, deadline,
      [this, reading = std::make_shared<Reading>(std::move(reading))](CallId id, Now) { ask_page(id, reading); });
}

void Leases::ask_page(CallId id, const ReadingRef& reading) {
  Call& call = *calls_.find(id);
  const Ask terms{
      .consistency = reading->options.consistency, .at_least = reading->options.at_least, .deadline = call.deadline};
  const auto read = [this, id, reading](const auto&, auto&& page, const Completion& completion, Now now) {
    page_read(id, reading, std::move(page), completion, now);
  };
  if (reading->one) {
    const std::string after = reading->keys.empty() ? std::string() : reading->keys.back();
    call.ticket = requests_.ask(terms, machine::LeaseOf{*reading->one, reading->with_keys, after}, read);
  } else {
    const LeaseId after = reading->rows.empty() ? LeaseId() : reading->rows.back().id;
    call.ticket = requests_.ask(terms, machine::LeasesAfter{after}, read);
  }
}

// The first answer is linearizable; the rest is read from this replica's own state, which can only be newer.
void Leases::page_read(CallId id, const ReadingRef& reading, absl::StatusOr<machine::Leases> read, const Completion& completion,
                       Now now) {
  if (calls_.find(id) == nullptr) return;
  if (!read.ok()) return static_cast<void>(calls_.fail(id, read.status()));
  machine::Leases& page = *read;
  const bool gone = page.leases.empty() || (reading->begun && page.leases.front() != reading->rows.front());
  if (reading->one && gone) return static_cast<void>(calls_.fail(id, no_lease()));
  if (!std::exchange(reading->begun, true)) {
    reading->revision = page.revision;
    reading->as_of = completion.index;
    reading->options = {Consistency::Local, completion.index};
  } else if (reading->one) {
    page.leases.clear();  // their rows are known
  }
  std::ranges::move(page.leases, std::back_inserter(reading->rows));
  std::ranges::move(page.keys, std::back_inserter(reading->keys));
  if (page.more) return ask_page(id, reading);
  std::ranges::sort(reading->rows, {}, &machine::LeaseRow::number);
  look_at_timers(id, reading, now);
}

void Leases::look_at_timers(CallId id, const ReadingRef& reading, Now now) {
  std::vector<TimerId> timers;
  for (; reading->looked < reading->rows.size() && timers.size() < kTimerLooksMax; ++reading->looked) {
    timers.push_back(timer_of_row(reading->rows[reading->looked]));
  }
  if (timers.empty()) return complete(id, *reading);
  const uint64_t attempt = kLookBit | ++last_look_;
  looks_.emplace(attempt, Look{id, reading, std::move(timers)});
  post_look(attempt, now);
}

// The engine drops it when the leader changes. So it is repeated until it is answered or its call has ended.
void Leases::post_look(uint64_t attempt, Now now) {
  const auto look = looks_.find(attempt);
  if (look == looks_.end()) return;
  if (requests_.halted()) {
    calls_.fail(look->second.call, make_error(Reason::ReplicaFailed, Outcome::NoEffect, "this replica has stopped"));
  }
  if (calls_.find(look->second.call) == nullptr) {
    looks_.erase(look);
    return;
  }
  requests_.renew({.attempt = attempt, .looks = look->second.timers});
  requests_.retry(now, [this, attempt](Now then) { post_look(attempt, then); });
}

void Leases::looked(const RenewReply& reply, Now now) {
  const auto found = looks_.find(reply.attempt);
  if (found == looks_.end()) return;
  const Look look = std::move(found->second);
  looks_.erase(found);
  if (calls_.find(look.call) == nullptr) return;
  for (const RenewReply::Remaining& rest : reply.looks) look.reading->remaining[rest.timer] = rest.left;
  look_at_timers(look.call, look.reading, now);
}

// A timer that no longer exists belongs to a lease that has ended since.
void Leases::complete(CallId id, const Reading& reading) {
  std::vector<LeaseInfo> leases;
  for (const machine::LeaseRow& row : reading.rows) {
    const auto rest = reading.remaining.find(timer_of_row(row));
    if (rest == reading.remaining.end()) continue;
    leases.push_back({.id = row.id, .ttl = row.ttl, .remaining = rest->second, .keeper = row.node});
  }
  if (!reading.one) {
    std::ranges::sort(leases, {}, [](const LeaseInfo& lease) { return std::pair(lease.remaining, lease.id); });
    calls_.answer<LeaseList>(id, LeaseList{std::move(leases), reading.as_of});
    return;
  }
  if (leases.empty()) return static_cast<void>(calls_.fail(id, no_lease()));
  leases.front().keys = reading.keys;
  calls_.answer<LeaseDetails>(id, LeaseDetails{std::move(leases.front()), reading.revision, reading.as_of});
}

}  // namespace coordkit::client
