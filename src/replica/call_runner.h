// Where the calls of sessions and grants run: the replica's host, or the fake of coordkit/testing/fake_session.h. Everything
// the handles of door 1 need of their surroundings is here, so that they are the same handles in both.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "coordkit/client.h"
#include "coordkit/clock.h"

namespace coordkit {

class CallRunner {
 public:
  using Call = absl::AnyInvocable<void(Client&)>;

  virtual ~CallRunner() = default;
  // Runs `call` with the client, on the thread of its turns.
  virtual void call(Call call) = 0;
  virtual bool on_engine_thread() const = 0;
  virtual const Clock& clock() const = 0;
  virtual std::string owner_tag() = 0;  // a fresh one
  // This thread is about to block until `answered`. In virtual time somebody has to see to it that time passes.
  virtual void before_waiting(absl::FunctionRef<bool()> answered) { static_cast<void>(answered); }
};

}  // namespace coordkit
