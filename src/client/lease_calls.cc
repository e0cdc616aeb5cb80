// Leases of keys. One that is kept is, for this client, the life of a session: opened, renewed, questioned and ended by the
// same code (session_calls.cc). What is left of one only the leader knows: a look at its timer travels as a renewal that renews
// nothing, and is confirmed like one (docs/decisions/0012).
#include <algorithm>
#include <utility>

#include "client/impl.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

using machine::Result;
using machine::ResultCode;

constexpr uint64_t kLookBit = uint64_t{1} << 63;  // of an attempt that is a look; those of renewals stay below

TimerId timer_of(const machine::LeaseRow& row) { return TimerId(row.number.value()); }

absl::StatusOr<RevokedLease> read_revoked(const Completion& completion) {
  const auto result = client::done_of(completion, client::Nameless{"lease"});
  if (!result.ok()) return result.status();
  return RevokedLease{result->deleted, result->revision, completion.index};
}

absl::Status no_lease() { return make_error(Reason::LeaseNotFound, "the lease has ended or never existed; grant a new one"); }

}  // namespace

// ---- leases that are kept

CallId Client::Impl::keep_lease(KeepLeaseOptions options, Callback<KeyLeaseRef> done) {
  machine::Request request{.body = machine::GrantLease{.id = options.id,
                                                       .ttl = options.ttl,
                                                       .node = engine_.self(),
                                                       .boot = engine_.boot(),
                                                       .incarnation = engine_.store().value()}};
  if (absl::Status door = client::check_request(request); !door.ok()) return refuse(std::move(done), door);
  Wish wish{.give_up = options.give_up};
  if (options.on_phase) wish.on_phase = std::make_shared<OnPhase::element_type>(std::move(options.on_phase));
  return enter(std::move(done), Fate::Pursue, options.deadline, options_.call_timeout,
               [this, request = std::move(request), ttl = options.ttl, wish = std::move(wish)](CallId id, Now now) mutable {
                 start_open(id, now, std::move(request), ttl, std::move(wish));
               });
}

void Client::Impl::granted_lease(CallId id, const SessionRef& life, LeaseId lease) {
  answer<KeyLeaseRef>(id, std::make_shared<KeyLeaseState>(lease, life, short_lived(life->ttl())));
}

CallId Client::Impl::revoke_lease(const KeyLeaseRef& lease, DoneCallback done, CallDeadline deadline) {
  if (lease == nullptr)
    return refuse(std::move(done),
                  make_error(Reason::InvalidArgument, "no lease was given; pass the one that keep() answered"));
  return close(lease->life_, std::move(done), deadline);
}

// ---- leases that are only granted

CallId Client::Impl::write_lease(const machine::Request& request, Callback<GrantedLease> done, CallDeadline deadline) {
  return write<GrantedLease>(
      {.bytes = machine::encode(request), .options = {.deadline = deadline}, .door = client::check_request(request)},
      std::move(done), [this](const Completion& completion) -> absl::StatusOr<GrantedLease> {
        const auto result = client::done_of(completion, client::Nameless{"lease"});
        if (!result.ok()) return result.status();
        return GrantedLease{result->lease, result->ttl, short_lived(result->ttl), result->revision, completion.index};
      });
}

// ---- looks

CallId Client::Impl::time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline) {
  auto reading = std::make_shared<client::LeaseReading>();
  reading->one = id;
  reading->with_keys = keys;
  return read_leases(std::move(reading), std::move(done), deadline);
}

CallId Client::Impl::list_leases(Callback<LeaseList> done, CallDeadline deadline) {
  return read_leases(std::make_shared<client::LeaseReading>(), std::move(done), deadline);
}

CallId Client::Impl::read_leases(ReadingRef reading, Done done, CallDeadline deadline) {
  return enter(std::move(done), Fate::Forget, deadline, options_.call_timeout,
               [this, reading = std::move(reading)](CallId id, Now) { ask_leases(id, reading); });
}

void Client::Impl::ask_leases(CallId id, const ReadingRef& reading) {
  Call& call = *find(id);
  call.ticket = ask_engine(
      {.consistency = reading->options.consistency, .at_least = reading->options.at_least, .deadline = call.deadline},
      [this, id, reading](const Completion& completion, Now now) { leases_answered(id, reading, completion, now); });
}

// The first answer is linearizable; the rest is read from this replica's own state, which can only be younger.
void Client::Impl::leases_answered(CallId id, const ReadingRef& reading, const Completion& completion, Now now) {
  if (find(id) == nullptr) return;
  const auto state = readable(completion);
  if (!state.ok()) return static_cast<void>(fail(id, state.status()));
  machine::Leases page = reading->page(**state);
  const bool gone = page.leases.empty() || (reading->begun && page.leases.front() != reading->rows.front());
  if (reading->one && gone) return static_cast<void>(fail(id, no_lease()));
  if (!std::exchange(reading->begun, true)) {
    reading->revision = page.revision;
    reading->as_of = completion.index;
    reading->options = {Consistency::Local, completion.index};
  } else if (reading->one) {
    page.leases.clear();  // known
  }
  std::ranges::move(page.leases, std::back_inserter(reading->rows));
  std::ranges::move(page.keys, std::back_inserter(reading->keys));
  if (page.more) return ask_leases(id, reading);
  std::ranges::sort(reading->rows, {}, &machine::LeaseRow::number);
  look_at_timers(id, reading, now);
}

void Client::Impl::look_at_timers(CallId id, const ReadingRef& reading, Now now) {
  std::vector<TimerId> timers;
  for (; reading->looked < reading->rows.size() && timers.size() < kTimerLooksMax; ++reading->looked) {
    timers.push_back(timer_of(reading->rows[reading->looked]));
  }
  if (timers.empty()) return leases_read(id, *reading);
  const uint64_t attempt = kLookBit | ++last_look_;
  looks_.emplace(attempt, client::Look{id, reading, std::move(timers)});
  post_look(attempt, now);
}

// The engine drops it when the leader changes: repeated until it is answered or nobody waits.
void Client::Impl::post_look(uint64_t attempt, Now now) {
  const auto look = looks_.find(attempt);
  if (look == looks_.end()) return;
  if (halted_) fail(look->second.call, make_error(Reason::ReplicaFailed, Outcome::None, "this replica has stopped"));
  if (find(look->second.call) == nullptr) {
    looks_.erase(look);
    return;
  }
  post(Renew{RenewRequest{.attempt = attempt, .looks = look->second.timers}});
  run_later(retry_time(now), [this, attempt](Now then) { post_look(attempt, then); });
}

void Client::Impl::looked(const RenewReply& reply, Now now) {
  const auto found = looks_.find(reply.attempt);
  if (found == looks_.end()) return;
  const client::Look look = std::move(found->second);
  looks_.erase(found);
  if (find(look.call) == nullptr) return;
  for (const RenewReply::Rest& rest : reply.looks) look.reading->rests[rest.timer] = rest.left;
  look_at_timers(look.call, look.reading, now);
}

// A timer that is not there any more is that of a lease that has ended since.
void Client::Impl::leases_read(CallId id, const client::LeaseReading& reading) {
  std::vector<LeaseInfo> leases;
  for (const machine::LeaseRow& row : reading.rows) {
    const auto rest = reading.rests.find(timer_of(row));
    if (rest == reading.rests.end()) continue;
    leases.push_back({.id = row.id, .ttl = row.ttl, .remaining = rest->second, .keeper = row.node});
  }
  if (!reading.one) {
    std::ranges::sort(leases, {}, [](const LeaseInfo& lease) { return std::pair(lease.remaining, lease.id); });
    answer<LeaseList>(id, LeaseList{std::move(leases), reading.as_of});
    return;
  }
  if (leases.empty()) return static_cast<void>(fail(id, no_lease()));
  leases.front().keys = reading.keys;
  answer<LeaseDetails>(id, LeaseDetails{std::move(leases.front()), reading.revision, reading.as_of});
}

// ---- the face

CallId LeaseCalls::keep(KeepLeaseOptions options, Callback<KeyLeaseRef> done) {
  return client_->impl_->keep_lease(std::move(options), std::move(done));
}

CallId LeaseCalls::revoke(const KeyLeaseRef& lease, DoneCallback done, CallDeadline deadline) {
  return client_->impl_->revoke_lease(lease, std::move(done), deadline);
}

CallId LeaseCalls::grant(LeaseId id, Duration ttl, Callback<GrantedLease> done, CallDeadline deadline) {
  return client_->impl_->write_lease({.body = machine::GrantLease{.id = id, .ttl = ttl}}, std::move(done), deadline);
}

CallId LeaseCalls::renew(LeaseId id, Callback<GrantedLease> done, CallDeadline deadline) {
  return client_->impl_->write_lease({.body = machine::RenewLease{id}}, std::move(done), deadline);
}

CallId LeaseCalls::revoke(LeaseId id, Callback<RevokedLease> done, CallDeadline deadline) {
  const machine::Request request{.body = machine::RevokeLease{.id = id}};
  return client_->impl_->write<RevokedLease>(
      {.bytes = machine::encode(request), .options = {.deadline = deadline}, .door = client::check_request(request)},
      std::move(done), read_revoked);
}

CallId LeaseCalls::time_to_live(LeaseId id, bool keys, Callback<LeaseDetails> done, CallDeadline deadline) {
  return client_->impl_->time_to_live(id, keys, std::move(done), deadline);
}

CallId LeaseCalls::list(Callback<LeaseList> done, CallDeadline deadline) {
  return client_->impl_->list_leases(std::move(done), deadline);
}

}  // namespace coordkit
