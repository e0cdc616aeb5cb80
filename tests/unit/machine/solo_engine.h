// One replica that is its own cluster: the real engine with coordkit's machine over stores in memory, in virtual time, as fast
// as possible. Commands are posted in batches; each batch is answered by a few turns.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "coordkit/ports/store_events.h"
#include "coordkit/storage/memory_stores.h"
#include "machine/machine.h"

namespace coordkit::machine {

class SoloEngine final : private StoreEvents {
 public:
  SoloEngine() {
    EngineOptions options;
    options.raft.self = ReplicaId(1);
    options.raft.election_timeout = std::chrono::milliseconds(300);
    options.raft.heartbeat_interval = std::chrono::milliseconds(60);
    options.raft.seed = 1;
    options.members = {{ReplicaId(1), "here"}};
    options.new_cluster = ClusterId(1);
    options.token_base = uint64_t{1} << 31;
    options.start = 1;
    RecoveredLog recovered = log_.open(*this).value();
    EXPECT_TRUE(state_.open(*this).ok());
    auto machine = std::make_unique<Machine>(row_prefix(kCoordination));
    machine_ = machine.get();
    std::vector<HostedMachine> machines;
    machines.push_back({kCoordination, std::move(machine)});
    engine_ =
        Engine::recover(std::move(options), std::move(machines), std::move(recovered), *state_.view().value(), now_).value();
    while (engine_->status().state != ReplicaState::Ready) turn();
  }

  // Runs these commands, in this order, until all have final answers.
  std::vector<Result> run(const std::vector<Request::Body>& bodies) {
    const uint64_t first = last_ticket_ + 1;
    for (const Request::Body& body : bodies) {
      engine_->post(Submit{
          .ticket = Ticket(++last_ticket_), .command = SharedBytes(encode(Request{body, {}})), .deadline = LaggingTime::max()});
    }
    answers_.assign(bodies.size(), {});
    first_ = first;
    for (open_ = bodies.size(); open_ != 0;) turn();
    return std::move(answers_);
  }
  const Machine& machine() const { return *machine_; }
  size_t stored_rows() {
    size_t rows = 0;
    EXPECT_TRUE(state_.view()
                    .value()
                    ->scan("",
                           [&rows](std::string_view, std::string_view) {
                             ++rows;
                             return absl::OkStatus();
                           })
                    .ok());
    return rows;
  }

 private:
  void turn() {
    now_.lagging += std::chrono::milliseconds(1);
    now_.leading += std::chrono::milliseconds(1);
    engine_->turn(now_, effects_);
    ASSERT_FALSE(effects_.halted) << *effects_.halted;
    for (const Completion& done : effects_.completions) {
      ASSERT_TRUE(done.status.ok()) << done.status;
      if (done.stage != ApplyOutput::Stage::Final) continue;
      answers_.at(done.ticket.value() - first_) = decode_result(done.bytes).value();
      --open_;
    }
    for (LogWrite& write : effects_.writes) log_.submit(std::move(write));
    for (const raft::ReadRequest& read : effects_.log_reads) log_.read(read.first, read.last, read.bytes_max);
    if (effects_.checkpoint) state_.commit(*std::move(effects_.checkpoint));
    if (effects_.compact) log_.compact(*effects_.compact);
  }

  void post_event(EngineInput input) override { engine_->post(std::move(input)); }

  MemoryLogStore log_{StoreId(1)};
  MemoryStateStore state_;
  Now now_{LaggingTime(std::chrono::hours(1)), LeadingTime(std::chrono::hours(2))};
  std::unique_ptr<Engine> engine_;
  const Machine* machine_ = nullptr;  // the engine's
  EngineEffects effects_;
  std::vector<Result> answers_;
  uint64_t first_ = 0;
  uint64_t last_ticket_ = 0;
  size_t open_ = 0;
};

}  // namespace coordkit::machine
