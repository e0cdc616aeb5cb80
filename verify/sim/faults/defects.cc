#include "sim/faults/defects.h"

#include <fmt/format.h>

#include <utility>

#include "base/fixed.h"
#include "base/sums.h"
#include "coordkit/engine/wire.h"
#include "machine/machine.h"
#include "machine/result.h"
#include "sim/nodes/inbox.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

// A machine that behaves like another one; a planted defect overrides a part of it.
class WrappedMachine : public StateMachine {
 public:
  explicit WrappedMachine(std::unique_ptr<StateMachine> inner) : inner_(std::move(inner)) {}

  void bootstrap(ClusterId cluster, uint64_t token_base) override { inner_->bootstrap(cluster, token_base); }
  void apply(std::span<const Command> commands, ApplyOutput& output) override { inner_->apply(commands, output); }
  void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) override {
    inner_->fire(index, timers, output);
  }
  absl::StatusOr<std::string> query(std::string_view request) const override { return inner_->query(request); }
  bool holds(std::string_view guard) override { return inner_->holds(guard); }
  void queued_results(std::span<const RequestId> requests,
                      absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const override {
    inner_->queued_results(requests, answer);
  }
  void checkpoint(CheckpointBatch& batch) override { inner_->checkpoint(batch); }
  bool forget_stored() override { return inner_->forget_stored(); }
  absl::Status restore(const CheckpointView& view) override { return inner_->restore(view); }
  void timers(std::vector<TimerOp>& out) const override { inner_->timers(out); }
  uint64_t digest() const override { return inner_->digest(); }
  const machine::Reads* reads() const override { return inner_->reads(); }

 private:
  std::unique_ptr<StateMachine> inner_;
};

// Loses a command now and then: on one node, or on all alike.
class ForgetfulMachine final : public WrappedMachine {
 public:
  ForgetfulMachine(std::unique_ptr<StateMachine> inner, bool releases_only)
      : WrappedMachine(std::move(inner)), releases_only_(releases_only) {}

  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    for (Command command : commands) {
      std::string other;
      if (command.index.value() % 7 == 0) {
        other = releases_only_ ? missed_release(command.payload) : "nonsense";
        command.payload = other;
      }
      WrappedMachine::apply({&command, 1}, output);
    }
  }

 private:
  // Turns a release into one of another token; any other command stays as it is.
  static std::string missed_release(std::string_view payload) {
    auto request = machine::decode_request(payload);
    if (!request.ok()) return std::string(payload);
    auto* release = std::get_if<machine::Release>(&request->body);
    if (release) release->token = release->token.previous();
    return release ? machine::encode(*request) : std::string(payload);
  }
  bool releases_only_;
};

// From some entry on its state is not what its commands made of it, as if memory had gone bad. Answers are still right, so
// only a comparison of states can tell.
class RottenMachine final : public WrappedMachine {
 public:
  using WrappedMachine::WrappedMachine;

  void apply(std::span<const Command> commands, ApplyOutput& output) override {
    WrappedMachine::apply(commands, output);
    rotten_ = rotten_ || commands.back().index > Index(100);
  }
  uint64_t digest() const override { return WrappedMachine::digest() + (rotten_ ? 1 : 0); }

 private:
  bool rotten_ = false;
};

// A machine that is restored to more than the rows say.
class ExcessiveMachine final : public StateMachine {
 public:
  explicit ExcessiveMachine(std::unique_ptr<StateMachine> inner) : inner_(std::move(inner)) {}

  absl::Status restore(const CheckpointView& view) override {
    if (absl::Status status = inner_->restore(view); !status.ok()) return status;
    const std::string put = machine::encode(machine::Request{.body = machine::Put{"nobody-put-this", "x"}});
    ApplyOutput ignored;
    const Command command{view.applied().index, {}, put};
    inner_->apply({&command, 1}, ignored);
    return absl::OkStatus();
  }
  void bootstrap(ClusterId cluster, uint64_t token_base) override { inner_->bootstrap(cluster, token_base); }
  void apply(std::span<const Command> commands, ApplyOutput& output) override { inner_->apply(commands, output); }
  void fire(Index index, std::span<const FiredTimer> timers, ApplyOutput& output) override {
    inner_->fire(index, timers, output);
  }
  absl::StatusOr<std::string> query(std::string_view request) const override { return inner_->query(request); }
  void checkpoint(CheckpointBatch& batch) override { inner_->checkpoint(batch); }
  bool forget_stored() override { return inner_->forget_stored(); }
  void queued_results(std::span<const RequestId> requests,
                      absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const override {
    inner_->queued_results(requests, answer);
  }
  void timers(std::vector<TimerOp>& out) const override { inner_->timers(out); }
  uint64_t digest() const override { return inner_->digest(); }
  const machine::Reads* reads() const override { return inner_->reads(); }

 private:
  std::unique_ptr<StateMachine> inner_;
};

// An engine seen through the glue code of a careless host.
class CarelessEngine final : public Engine {
 public:
  CarelessEngine(const Defects& defects, Engine& inner) : defects_(defects), inner_(inner) {}

  void post(EngineInput input) override {
    if (auto* ask = std::get_if<Ask>(&input); ask && defects_.stale_read) ask->consistency = Consistency::Local;
    if (const auto* submit = std::get_if<Submit>(&input); submit && defects_.submits_twice) {
      Submit again = *submit;
      again.ticket = Ticket(again.ticket.value() ^ uint64_t{1} << 62);  // no caller waits for this one
      inner_.post(std::move(again));
    }
    inner_.post(std::move(input));
  }
  void turn(Now now, EngineEffects& effects) override { inner_.turn(now, effects); }
  void fail(absl::Status why) noexcept override { inner_.fail(std::move(why)); }
  LaggingTime next_deadline() const override { return inner_.next_deadline(); }
  EngineStatus status() const override { return inner_.status(); }
  const raft::Leadership& leadership() const override { return inner_.leadership(); }
  Index applied() const override { return inner_.applied(); }
  ReplicaId self() const override { return inner_.self(); }
  StoreId store() const override { return inner_.store(); }
  BootCounter boot() const override { return inner_.boot(); }
  const StateMachine* machine(MachineId id) const override { return inner_.machine(id); }
  void observe(MachineId id, std::string_view subject, bool wanted) override { inner_.observe(id, subject, wanted); }
  const raft::Core* core() const override { return inner_.core(); }

 private:
  const Defects& defects_;
  Engine& inner_;
};

void change(const Defects& defects, Completion& completion) {
  auto result = machine::decode_result(completion.bytes.view());
  if (!result.ok()) return;
  if (defects.token_lowered && result->code == machine::ResultCode::Granted) result->token = result->token.previous();
  if (defects.answer_changed && result->code == machine::ResultCode::Ok) result->revision = result->revision.next();
  completion.bytes = SharedBytes(machine::encode(*result));
}

}  // namespace

std::unique_ptr<StateMachine> make_machine(const Defects& defects, uint32_t node) {
  std::string rows;
  append_sortable(rows, kCoordination.value());
  std::unique_ptr<StateMachine> machine = std::make_unique<machine::Machine>(std::move(rows));
  if (defects.one_state_rots && node == 0) return std::make_unique<RottenMachine>(std::move(machine));
  const bool diverges = defects.one_machine_diverges && node == 0;
  if (!diverges && !defects.forgets_release) return machine;
  return std::make_unique<ForgetfulMachine>(std::move(machine), !diverges);
}

std::vector<HostedMachine> changed_for_restore(const Defects& defects, std::vector<HostedMachine> machines) {
  if (!defects.restores_another) return machines;
  for (HostedMachine& hosted : machines) hosted.machine = std::make_unique<ExcessiveMachine>(std::move(hosted.machine));
  return machines;
}

std::unique_ptr<Engine> make_proxy(const Defects& defects, Engine& engine) {
  if (!defects.stale_read && !defects.submits_twice) return nullptr;
  return std::make_unique<CarelessEngine>(defects, engine);
}

Now shifted_for_sending(const Defects& defects, Now now) {
  if (defects.late_send_reading) now.leading += std::chrono::milliseconds(500);
  return now;
}

Now shifted_for_engine(const Defects& defects, Now now) {
  if (defects.sleep_uncounted) now.leading = LeadingTime(now.lagging.time_since_epoch());
  return now;
}

void change_answers(const Defects& defects, EngineEffects& effects) {
  if (!defects.token_lowered && !defects.answer_changed) return;
  for (Completion& completion : effects.completions) {
    if (completion.status.ok() && completion.request.sequence) change(defects, completion);
  }
}

void answer_early(const Defects& defects, Inbox& inbox, const Outbound& outbound) {
  if (!defects.heartbeats_echoed) return;
  const auto* beat = std::get_if<raft::Heartbeat>(&outbound.message);
  if (beat == nullptr) return;
  inbox.post(MessageReceived{outbound.to, raft::HeartbeatReply{beat->term, beat->stream, Index(), beat->round}});
}

void change_message(const Defects& defects, Random& random, Message& message) {
  auto* append = std::get_if<raft::AppendRequest>(&message);
  if (!defects.corrupts_entry || append == nullptr || append->entries.empty() || !random.chance(0.05)) return;
  raft::Entry& entry = append->entries.back();
  if (entry.kind != raft::EntryKind::Command) return;
  entry.payload = SharedBytes(std::string(entry.payload.view()) + "?");
  entry.content_sum = content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
}

Message through_wire(const Message& message) {
  absl::StatusOr<Message> decoded = decode(encode(message));
  if (!decoded.ok()) throw Violation("WIRE", "a message does not decode: " + decoded.status().ToString());
  if (*decoded != message) throw Violation("WIRE", fmt::format("a message of kind {} changes on the wire", message.index()));
  return *std::move(decoded);
}

}  // namespace coordkit::sim
