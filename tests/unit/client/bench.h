// Shared by the client's tests: a clock that only the test moves, the host's loop, and shorthands for the usual setup.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "coordkit/engine/client.h"
#include "coordkit/error.h"
#include "tests/unit/client/fake_engine.h"

namespace coordkit::test {

using namespace std::chrono_literals;

// The answer of a call, and how often it came. Shared, so that an answer at the end of the bench still has a place.
template <typename Value, typename Call>
struct AnswerOf {
  struct Place {
    std::optional<Value> value;
    int times = 0;
  };
  std::shared_ptr<Place> place = std::make_shared<Place>();

  Call callback() {
    return [place = place](Value answer) {
      place->value = std::move(answer);
      ++place->times;
    };
  }
  int times() const { return place->times; }
  bool ok() const { return place->value && place->value->ok(); }
  absl::Status status() const { return place->value ? status_of(*place->value) : absl::UnknownError("no answer yet"); }
  std::optional<Reason> reason() const { return reason_of(status()); }
  Outcome outcome() const { return outcome_of(status()); }
  const auto& operator*() const { return place->value->value(); }

 private:
  static absl::Status status_of(const absl::Status& status) { return status; }
  template <typename T>
  static absl::Status status_of(const absl::StatusOr<T>& value) {
    return value.status();
  }
};
template <typename T>
struct Answer : AnswerOf<absl::StatusOr<T>, Callback<T>> {};
template <>
struct Answer<void> : AnswerOf<absl::Status, DoneCallback> {};

template <typename EngineType>
class Bench : public ::testing::Test {
 public:
  EngineType engine;
  Now now{LaggingTime(1h), LeadingTime(2h)};
  EngineEffects effects;
  std::unique_ptr<Client> owned = std::make_unique<Client>(engine, ClientOptions{});
  Client& client = *owned;

  void TearDown() override {
    if (owned) owned->stop();
  }

  void turn() {
    client.before_turn(now);
    engine.turn(now, effects);
    client.after_turn(now, effects);
  }
  // Time passes without a turn.
  void jump(Duration by) {
    now.lagging += by;
    now.leading += by;
  }
  // A host that keeps its promises: a turn whenever one is due, and one at the end. A client that hurries without end
  // fails the test instead of hanging it.
  void run(Duration by) {
    const LeadingTime end = now.leading + by;
    for (int turns = 0; now.leading < end; ++turns) {
      ASSERT_LT(turns, 100'000) << "turn after turn, and hardly any time passes";
      const Duration wanted = std::min(client.next_turn(now), engine_wants());
      jump(std::min(std::max(wanted, Duration(1)), end - now.leading));
      turn();
    }
  }
  Duration engine_wants() const {
    const LaggingTime at = engine.next_deadline();
    return at == LaggingTime::max() ? Duration::max() : at <= now.lagging ? Duration(0) : at - now.lagging;
  }
};

// With an engine that does what the test says.
class ClientBench : public Bench<FakeEngine> {
 public:
  static constexpr Duration kTtl = 3s;
  Duration v = validity(kTtl, 10'000, 1ms);
  std::vector<SessionPhase> phases;

  // Opens a session that is acknowledged in the turn that sent it.
  SessionRef open(uint64_t id = 1000, Duration ttl = kTtl) {
    Answer<SessionRef> answer;
    client.open_session({.ttl = ttl, .on_phase = [this](SessionPhase phase) { phases.push_back(phase); }}, answer.callback());
    client.before_turn(now);
    engine.complete(engine.take_commands<machine::OpenSession>().at(0).first.ticket, {.session = SessionId(id), .ttl = ttl});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  HoldRef hold(const SessionRef& session, std::string name = "a", uint64_t token = 5000) {
    Answer<HoldRef> answer;
    client.acquire(session, std::move(name), {.wait = LockWait::endless()}, answer.callback());
    client.before_turn(now);
    engine.complete(engine.take_commands<machine::Acquire>().at(0).first.ticket,
                    {.code = machine::ResultCode::Granted, .token = Token(token), .since = Index(1)});
    engine.turn(now, effects);
    client.after_turn(now, effects);
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
  // Runs to the next renewal and returns what was sent.
  RenewRequest next_renewal() {
    for (int i = 0; i < 10'000; ++i) {
      auto sent = engine.take<Renew>();
      if (!sent.empty()) return sent.back().request;
      jump(std::max(client.next_turn(now), Duration(1)));
      turn();
    }
    ADD_FAILURE() << "no renewal is sent";
    return {};
  }
};

}  // namespace coordkit::test
