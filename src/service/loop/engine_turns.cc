#include "service/loop/engine_turns.h"

#include <algorithm>
#include <new>
#include <utility>

#include "coordkit/engine/wire.h"

namespace coordkit {

EngineTurns::EngineTurns(std::unique_ptr<Engine> engine, ClientOptions options, bool host_and_port, LinkTurns* links)
    : engine_(std::move(engine)),
      client_(std::make_unique<Client>(*engine_, std::move(options))),
      membership_(host_and_port),
      links_(links) {}

void EngineTurns::report_events(Duration election_timeout, Agreement agreement, OnReplicaEvent tell, LaggingTime now) {
  event_log_.emplace(election_timeout, std::move(agreement), std::move(tell));
  event_log_->opened(*engine_, now);
}

void EngineTurns::threw(const absl::Status& why, LaggingTime now) {
  if (event_log_) event_log_->threw(why, now);
}

void EngineTurns::held_up(std::string sentence, LaggingTime now) {
  if (event_log_) event_log_->held_up(std::move(sentence), now);
}

// Nothing that may be half-changed is used any more, least of all the client.
void EngineTurns::fail(const absl::Status& why) {
  engine_->fail(why);
  client_->stop(why);
  membership_.stop(why);
  run_calls();  // those that wait are refused; those that threw answer as they go
  inputs_.clear();
}

void EngineTurns::run_calls() {
  while (calls_.begun < calls_.all.size()) std::move(calls_.all[calls_.begun++])(*client_);
  calls_.all.clear();
  calls_.begun = 0;
}

void EngineTurns::take(Arrivals& arrivals, LaggingTime looked) {
  arrivals.take(inputs_);
  for (Arrivals::Arrival& arrival : inputs_) {
    if (auto* input = std::get_if<EngineInput>(&arrival)) {
      meter_.arrived(*input, looked);
      if (event_log_) event_log_->arrived(*input, looked);
      engine_->post(std::move(*input));
    } else if (auto* mail = std::get_if<Arrivals::Mail>(&arrival)) {
      take(*mail);
    } else if (auto* news = std::get_if<LinkNews>(&arrival)) {
      if (links_ != nullptr) links_->take(std::move(*news));
    } else {
      std::move(std::get<Call>(arrival))(*client_);
    }
  }
  inputs_.clear();
  arrivals.take_calls(calls_.all);
  run_calls();
}

// Without memory for it a message is lost, as on any network.
void EngineTurns::take(Arrivals::Mail& mail) {
  const size_t bytes = mail.body.size();
  try {
    absl::StatusOr<Message> message = decode_taking(std::move(mail.body));
    meter_.received(bytes, message.ok());
    if (message.ok()) engine_->post(MessageReceived{mail.from, *std::move(message)});
  } catch (const std::bad_alloc&) {
    meter_.received(bytes, false);
  }
}

LaggingTime EngineTurns::turn(Now now) {
  if (links_ != nullptr) links_->before_turn(now);
  client_->before_turn(now);
  engine_->turn(now, effects_);
  client_->after_turn(now, effects_);
  if (links_ != nullptr) links_->after_turn(now, effects_);
  membership_.after_turn(effects_);
  meter_.turned(effects_, now.lagging);
  if (event_log_) event_log_->turned(*engine_, effects_, now.lagging);
  return next_due(now);
}

const std::vector<Outbound>& EngineTurns::released(WriteNumber durable) {
  released_.clear();
  engine_->take_sends(durable, released_);
  return released_;
}

LaggingTime EngineTurns::next_due(Now now) const {
  const Duration links = links_ != nullptr ? links_->next_turn(now) : Duration::max();
  const Duration next = std::min(client_->next_turn(now), links);
  const LaggingTime engine = engine_->next_deadline();
  return next > LaggingTime::max() - now.lagging ? engine : std::min(engine, now.lagging + next);
}

Ticket EngineTurns::change_members(LaggingTime now, const MembershipChange& change, MembershipOptions options,
                                   Callback<Index> done) {
  return membership_.change(*engine_, now, change, options, std::move(done));
}

Ticket EngineTurns::transfer_leadership(LaggingTime now, ReplicaId target, Duration timeout, DoneCallback done) {
  return membership_.transfer(*engine_, now, target, timeout, std::move(done));
}

uint64_t EngineTurns::postpone(absl::AnyInvocable<void()> act) {
  postponed_.acts.emplace(++postponed_.last, std::move(act));
  return postponed_.last;
}

void EngineTurns::run_postponed(uint64_t number) {
  if (auto act = postponed_.acts.extract(number)) act.mapped()();
}

std::unique_lock<std::recursive_mutex> EngineTurns::stop(Arrivals& arrivals) {
  std::unique_lock lock(stopped_mutex_);
  for (auto& [number, act] : std::exchange(postponed_.acts, {})) act();  // none of them twice, whatever it postpones
  {
    const std::lock_guard late(late_mutex_);
    late_.emplace();
  }
  arrivals.close(inputs_, calls_.all);
  for (Arrivals::Arrival& arrival : std::exchange(inputs_, {})) {
    if (auto* call = std::get_if<Call>(&arrival)) std::move (*call)(*client_);
  }
  run_calls();
  client_->stop();
  membership_.stop();
  return lock;
}

void EngineTurns::run_late() {
  std::unique_lock lock(late_mutex_);
  while (!late_->empty()) {
    std::vector<Call> calls = std::exchange(*late_, {});
    lock.unlock();
    for (Call& call : calls) std::move(call)(*client_);
    calls.clear();  // user state dies outside the lock
    lock.lock();
  }
  late_.reset();
}

void EngineTurns::run_stopped(Call call) {
  if (!call) return;
  {
    const std::lock_guard lock(late_mutex_);
    if (late_) {
      late_->push_back(std::move(call));
      return;
    }
  }
  const std::lock_guard lock(stopped_mutex_);
  const std::thread::id outer = stopped_runner_.exchange(std::this_thread::get_id());
  try {
    std::move(call)(*client_);
  } catch (...) {
    stopped_runner_ = outer;
    throw;
  }
  stopped_runner_ = outer;
}

}  // namespace coordkit
