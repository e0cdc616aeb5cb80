// Engines for tests of the client. FakeEngine does nothing by itself: it records what is posted and returns, in its next
// turn, what the test put into `next`. MachineEngine hosts the real machine and acts as a cluster of one that can be cut off.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"
#include "machine/command.h"
#include "machine/reads.h"
#include "machine/result.h"

namespace coordkit::test {

// A state that contains only what a test sets.
class FakeReads final : public machine::Reads {
 public:
  machine::Holders holders;
  std::optional<machine::SessionInfo> one_session;
  bool held = false;
  machine::Entry one_entry;

  machine::Holders holders_of(std::string_view) const override { return holders; }
  machine::LockQueue queue_of(std::string_view, uint64_t) const override { return {}; }
  std::optional<machine::SessionInfo> session(SessionId) const override { return one_session; }
  machine::Sessions sessions_after(SessionId, uint64_t) const override { return {}; }
  machine::HeldLocks locks_of(SessionId, Token) const override { return {}; }
  machine::OwnedObjects objects_of(SessionId, const machine::OwnedObjects::Place&) const override { return {}; }
  std::optional<Token> held_by(std::string_view, SessionId session, std::string_view owner) const override {
    for (const machine::HolderInfo& holder : holders.holders) {
      if (holder.session == session && holder.owner_tag == owner) return holder.token;
    }
    return std::nullopt;
  }
  bool still_held(std::string_view, Token) const override { return held; }
  std::optional<machine::Result> refusal_of(const machine::Acquire&) const override { return std::nullopt; }
  std::optional<machine::Result> refusal_of(const machine::AcquireAll&) const override { return std::nullopt; }
  machine::ObjectView object(coordination::Kind, std::string_view, uint64_t) const override { return {}; }
  std::vector<machine::ObjectRow> members_of(std::string_view) const override { return {}; }
  machine::Entry entry(std::string_view key) const override {
    const bool there = one_entry.entry && one_entry.entry->key == key;
    return {.entry = there ? one_entry.entry : std::nullopt, .revision = one_entry.revision};
  }
  machine::KeysRead<RangeReply> range(const RangeOperation&) const override { return {}; }
  machine::KeysRead<RangeReply> rest_of_range(const RangeOperation&) const override { return {}; }
  machine::KeysRead<TransactionReply> read(const Transaction&) const override { return {}; }
  machine::Changes changes(const machine::ChangesAfter&) const override { return {}; }
  bool reaches_too_far(const Transaction&) const override { return false; }
  machine::KeySpace key_space() const override { return {}; }
  Contents contents() const override { return {}; }
  machine::Leases lease(LeaseId, bool, std::string_view) const override { return {}; }
  machine::Leases leases_after(LeaseId, uint64_t) const override { return {}; }
  machine::PermissionLists permissions(std::string_view) const override { return {}; }
  std::optional<std::string> denial(const machine::RemoteCaller&, const machine::Needs&) const override { return std::nullopt; }
};

class FakeEngine : public Engine {
 public:
  void post(EngineInput input) override { posted.push_back(std::move(input)); }
  void turn(Now, EngineEffects& effects) override { effects = std::exchange(next, {}); }
  LaggingTime next_deadline() const override { return LaggingTime::max(); }
  EngineStatus status() const override { return {}; }
  const raft::Leadership& leadership() const override { return leadership_; }
  Index applied() const override { return Index(index); }
  ReplicaId self() const override { return ReplicaId(3); }
  StoreId store() const override { return StoreId(70); }
  BootCounter boot() const override { return BootCounter(7); }
  const StateMachine* machine(MachineId) const override { return state == nullptr ? nullptr : &machine_; }
  bool state_is_here() const override { return !state_elsewhere; }
  void observe(MachineId, std::string_view, bool) override {}
  const raft::Core* core() const override { return nullptr; }

  // All posts of one kind since the last call, in order.
  template <typename Input>
  std::vector<Input> take() {
    std::vector<Input> out;
    std::erase_if(posted, [&out](const EngineInput& input) {
      if (const auto* found = std::get_if<Input>(&input)) out.push_back(*found);
      return std::holds_alternative<Input>(input);
    });
    return out;
  }
  // Submissions whose command is of this kind; others stay.
  template <typename Body>
  std::vector<std::pair<Submit, machine::Request>> take_commands() {
    std::vector<std::pair<Submit, machine::Request>> out;
    std::erase_if(posted, [&out](const EngineInput& input) {
      const auto* submit = std::get_if<Submit>(&input);
      if (submit == nullptr) return false;
      auto request = machine::decode_request(submit->command.view());
      if (!request.ok() || !std::holds_alternative<Body>(request->body)) return false;
      out.emplace_back(*submit, *std::move(request));
      return true;
    });
    return out;
  }

  RequestId request_of(Ticket ticket) const { return {{self(), store(), boot()}, Sequence(ticket.value() & 0xffffffff)}; }
  void complete(Ticket ticket, const machine::Result& result, ApplyOutput::Stage stage = ApplyOutput::Stage::Final) {
    next.completions.push_back({.ticket = ticket,
                                .stage = stage,
                                .bytes = SharedBytes(machine::encode(result)),
                                .index = Index(++index),
                                .request = request_of(ticket)});
  }
  void complete_bytes(Ticket ticket, std::string bytes) {
    next.completions.push_back({.ticket = ticket, .bytes = SharedBytes(bytes), .index = Index(index)});
  }
  // The state that was asked for may be read now, for one turn, as `seen` says.
  void let_read(Ticket ticket, const machine::Reads& seen) {
    state = &seen;
    next.completions.push_back({.ticket = ticket, .index = Index(index)});
  }
  enum class Sent { No, Yes };
  using Engine::fail;
  void fail(Ticket ticket, absl::Status status, Sent sent = Sent::No) {
    next.completions.push_back(
        {.ticket = ticket, .status = std::move(status), .request = sent == Sent::Yes ? request_of(ticket) : RequestId{}});
  }
  void end_session(SessionId id) {
    next.events.push_back(
        {kCoordination, Index(++index), machine::encode(machine::Event(machine::SessionEnded{.session = id}))});
  }
  void confirm(const RenewRequest& request) {
    RenewReply reply{.attempt = request.attempt};
    for (const auto& group : request.groups) reply.groups.push_back({group.group, RenewReply::Coverage::All, {}});
    next.renewals.push_back(std::move(reply));
  }

  std::vector<EngineInput> posted;
  EngineEffects next;
  uint64_t index = 0;
  const machine::Reads* state = nullptr;  // null: no machine of coordkit's
  bool state_elsewhere = false;           // no machine is here, and questions go in bytes

 protected:
  raft::Leadership leadership_;

 private:
  class ReadOnlyMachine final : public StateMachine {
   public:
    explicit ReadOnlyMachine(const FakeEngine& engine) : engine_(engine) {}
    void bootstrap(ClusterId, uint64_t) override {}
    void apply(std::span<const Command>, ApplyOutput&) override {}
    void fire(Index, std::span<const FiredTimer>, ApplyOutput&) override {}
    absl::StatusOr<std::string> query(std::string_view) const override { return absl::InvalidArgumentError("no bytes"); }
    void checkpoint(CheckpointBatch&) override {}
    absl::Status restore(const CheckpointView&) override { return absl::OkStatus(); }
    void timers(std::vector<TimerOp>&) const override {}
    uint64_t digest() const override { return 0; }
    const machine::Reads* reads() const override { return engine_.state; }

   private:
    const FakeEngine& engine_;
  };
  ReadOnlyMachine machine_{*this};
};

}  // namespace coordkit::test
