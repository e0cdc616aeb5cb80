#include "testing/fake_process.h"

#include <utility>

namespace coordkit::testkit {

void FakeProcess::start(Engine& engine) {
  ClientOptions options;
  options.notify = [this](absl::AnyInvocable<void()> task) { callbacks_.push_back(std::move(task)); };
  options.draw_secret = [this] { return "secret number " + std::to_string(++secrets_); };
  client_ = std::make_unique<Client>(engine, std::move(options));
}

void FakeProcess::crash() {
  client_->stop();
  run_calls();
  run_callbacks();
  client_.reset();
}

void FakeProcess::stop() {
  if (std::exchange(stopped_, true)) return;
  client_->stop();
  run_callbacks();
}

void FakeProcess::call(CallRunner::Call call) {
  if (stopped_) return std::move(call)(*client_);
  calls_.push_back(std::move(call));
}

void FakeProcess::run_calls() {
  for (CallRunner::Call& call : std::exchange(calls_, {})) std::move(call)(*client_);
}

void FakeProcess::before_turn(Now now) {
  if (paused_) return;
  run_calls();
  client_->before_turn(now);
}

void FakeProcess::after_turn(Now now, const EngineEffects& effects) {
  if (!paused_) client_->after_turn(now, effects);
}

void FakeProcess::run_callbacks() {
  while (!callbacks_.empty() && !paused_) {
    absl::AnyInvocable<void()> task = std::move(callbacks_.front());
    callbacks_.pop_front();
    std::move(task)();
  }
}

Duration FakeProcess::next_turn(Now now) const { return paused_ ? Duration::max() : client_->next_turn(now); }

}  // namespace coordkit::testkit
