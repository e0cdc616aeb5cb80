// The unanswered requests that a client has posted into its engine: commands and questions. It also has the client's timers.
// Every ticket is completed, twice if the machine queues the command, or forgotten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "base/inline_function.h"
#include "base/pool.h"
#include "base/slots.h"
#include "client/locks/pending_acquire.h"
#include "coordkit/client/statistics.h"
#include "coordkit/engine/engine.h"
#include "machine/command.h"
#include "machine/questions.h"

namespace coordkit::client {

class Requests {
 public:
  static constexpr size_t kOnCompletionBytes = 48;  // of a command of a session
  using OnCompletion = InlineFunction<void(const Completion&, Now), kOnCompletionBytes, alignof(void*)>;
  Requests(Engine& engine, Duration retry) : engine_(engine), retry_(retry) {}

  // Keeps the bytes of a command side by side with those of others.
  SharedBytes keep(std::string_view command) { return slab_.keep(command); }
  SharedBytes encoded(const machine::Request& request);
  // Submits a command to coordkit's machine.
  Ticket submit(const machine::Request& request, LaggingTime deadline, Urgency urgency, OnCompletion&& on_completion,
                Ticket after = {});
  Ticket submit(Submit&& submit, OnCompletion&& on_completion);
  // Asks coordkit's machine, once its state is as recent as `terms` want. `done(question, answer, completion, now)` gets its
  // question back. A state that is here answers in place, another one in bytes (machine/questions.h).
  template <typename Question, typename Done>
  Ticket ask(Ask terms, Question question, Done done) {
    if (state_is_elsewhere()) terms.question = machine::encode(machine::Question(question));
    return ask(std::move(terms),
               [this, question = std::move(question), done = std::move(done)](const Completion& completion, Now now) mutable {
                 auto answer = answer_to(question, completion);
                 done(question, std::move(answer), completion, now);
               });
  }
  // Asks coordkit's machine about any state that has applied `at_least`. `done(answer, index, now)` gets the index of that
  // state. A state that is here answers at once, as it is now.
  struct Look {
    Index at_least = {};
    LaggingTime deadline = LaggingTime::max();
  };
  template <typename Question, typename Done>
  void look(const Look& terms, const Question& question, Now now, Done done) {
    if (const machine::Reads* state = reads()) {
      return done(absl::StatusOr<typename Question::Answer>(question.ask(*state)), applied(), now);
    }
    ask({.consistency = Consistency::Local, .at_least = terms.at_least, .deadline = terms.deadline}, question,
        [done = std::move(done)](const Question&, auto answer, const Completion& completion, Now then) mutable {
          done(std::move(answer), completion.index, then);
        });
  }
  // Asks a machine of the host in bytes.
  Ticket ask(Ask ask, OnCompletion on_completion);
  void renew(RenewRequest request) { post(Renew{std::move(request)}); }
  void forget(Ticket ticket);  // it will not be completed
  // Call it from the callback of an acquire that the machine has queued. complete() then returns the acquire with its second
  // completion, and no callback is kept, since thousands may wait for theirs at the same time.
  void await_end(Ticket ticket, PoolRef<PendingAcquire> acquire);

  // This replica's own state, as it is now. Null: the engine hosts no machine of coordkit, or its state is not here.
  const machine::Reads* reads() const;
  bool state_is_elsewhere() const { return !engine_.state_is_here(); }

  // ---- the engine, for the other objects
  Index applied() const { return engine_.applied(); }
  uint64_t feature_level() const { return engine_.feature_level(); }
  bool leads() const { return engine_.leadership().role == raft::Role::Leader; }
  TimerGroup group(Duration ttl) const;   // of this process's sessions
  RequestId id(Sequence sequence) const;  // of a command of this process
  void observe(std::string_view subject, bool wanted) { engine_.observe(kCoordination, subject, wanted); }
  bool halted() const { return halted_; }

  // ---- timers, by the lagging clock
  LaggingTime now() const { return now_; }  // of the last turn
  void run_at(LaggingTime at, absl::AnyInvocable<void(Now)> run);
  void retry(Now now, absl::AnyInvocable<void(Now)> run) { run_at(retry_time(now), std::move(run)); }
  LaggingTime retry_time(Now now) const { return now.lagging + retry_; }
  void run_due(Now now);  // must come first in a turn
  LaggingTime next_timer() const { return timers_.empty() ? LaggingTime::max() : timers_.begin()->first.first; }

  // ---- the loop
  void turned(const EngineEffects& effects);
  // Runs the callback of the request. Not null: there is none, and the completion ends this acquire.
  [[nodiscard]] PoolRef<PendingAcquire> complete(const Completion& completion, Now now);
  bool posted() const { return posted_; }  // inputs are waiting in the engine
  size_t tickets() const { return tickets_.size(); }
  const CommandStatistics& statistics() const { return statistics_; }
  uint64_t unanswered() const { return statistics_.submitted - statistics_.latency.count() - statistics_.refused; }
  void clear();

 private:
  template <typename Input>
  void post(Input&& input) {
    engine_.post(std::forward<Input>(input));
    posted_ = true;
  }
  template <typename Question>
  absl::StatusOr<typename Question::Answer> answer_to(const Question& question, const Completion& completion) const {
    if (!completion.status.ok()) return completion.status;
    if (const machine::Reads* state = reads()) return question.ask(*state);
    if (state_is_elsewhere()) return machine::decode_answer<Question>(completion.bytes.view());
    return no_machine();
  }
  static absl::Status no_machine();
  Ticket next_ticket(OnCompletion&& on_completion, std::optional<LaggingTime> submitted);

  Engine& engine_;
  Duration retry_;
  struct Request {
    OnCompletion on_completion;
    std::optional<LaggingTime> submitted;  // for a command, until its first answer
  };
  using Waiting = PoolRefOfTwo<Request, PendingAcquire>;
  Pool<Request> pending_;
  Slots<Ticket, Waiting> tickets_{uint64_t{1} << 63};  // the host's tickets are smaller
  absl::btree_map<std::pair<LaggingTime, uint64_t>, absl::AnyInvocable<void(Now)>> timers_;
  uint64_t last_timer_ = 0;
  LaggingTime now_{};  // of the last turn
  CommandStatistics statistics_;
  bool posted_ = false;
  std::string scratch_;  // a command while it is written
  ByteSlab slab_;        // of commands
  bool halted_ = false;
};

}  // namespace coordkit::client
