#include "replica/engine_turns.h"

#include <algorithm>
#include <utility>

#include "coordkit/wire.h"

namespace coordkit {

EngineTurns::EngineTurns(std::unique_ptr<Engine> engine, ClientOptions options, bool host_and_port)
    : engine_(std::move(engine)), client_(std::make_unique<Client>(*engine_, std::move(options))), membership_(host_and_port) {}

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

void EngineTurns::take(Arrivals& arrivals, LaggingTime looked) {
  arrivals.take(inputs_);
  for (Arrivals::Arrival& arrival : inputs_) {
    if (auto* input = std::get_if<EngineInput>(&arrival)) {
      meter_.arrived(*input, looked);
      if (event_log_) event_log_->arrived(*input, looked);
      engine_->post(std::move(*input));
    } else if (auto* mail = std::get_if<Arrivals::Mail>(&arrival)) {
      const size_t bytes = mail->body.size();
      absl::StatusOr<Message> message = decode_taking(std::move(mail->body));
      meter_.received(bytes, message.ok());
      if (message.ok()) engine_->post(MessageReceived{mail->from, *std::move(message)});
    } else {
      std::move(std::get<Call>(arrival))(*client_);
    }
  }
  inputs_.clear();
  arrivals.take_calls(calls_);
  for (Call& call : calls_) std::move(call)(*client_);
  calls_.clear();
}

LaggingTime EngineTurns::turn(Now now) {
  client_->before_turn(now);
  engine_->turn(now, effects_);
  client_->after_turn(now, effects_);
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
  const Duration client = client_->next_turn(now);
  const LaggingTime engine = engine_->next_deadline();
  return client > LaggingTime::max() - now.lagging ? engine : std::min(engine, now.lagging + client);
}

Ticket EngineTurns::change_members(LaggingTime now, const MembershipChange& change, MembershipOptions options,
                                   Callback<Index> done) {
  return membership_.change(*engine_, now, change, options, std::move(done));
}

Ticket EngineTurns::transfer_leadership(LaggingTime now, ReplicaId target, Duration timeout, DoneCallback done) {
  return membership_.transfer(*engine_, now, target, timeout, std::move(done));
}

uint64_t EngineTurns::postpone(absl::AnyInvocable<void()> act) {
  postponed_.emplace(++last_postponed_, std::move(act));
  return last_postponed_;
}

void EngineTurns::run_postponed(uint64_t number) {
  if (auto act = postponed_.extract(number)) act.mapped()();
}

std::unique_lock<std::recursive_mutex> EngineTurns::stop(Arrivals& arrivals) {
  std::unique_lock lock(stopped_mutex_);
  for (auto& [number, act] : std::exchange(postponed_, {})) act();  // none of them twice, whatever it postpones
  {
    const std::lock_guard late(late_mutex_);
    late_.emplace();
  }
  arrivals.close(inputs_, calls_);
  for (Arrivals::Arrival& arrival : inputs_) {
    if (auto* call = std::get_if<Call>(&arrival)) std::move (*call)(*client_);
  }
  for (Call& call : calls_) std::move(call)(*client_);
  inputs_.clear();
  calls_.clear();
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
  std::move(call)(*client_);
  stopped_runner_ = outer;
}

}  // namespace coordkit
