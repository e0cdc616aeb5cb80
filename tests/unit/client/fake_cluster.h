// A cluster in a hundred lines: the real machine, applied at once by a leader with its own clock, and one engine per
// node whose two directions can be cut. Every node sees the same stream of results and events, in order, when it listens.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/engine/engine.h"
#include "coordkit/error.h"
#include "machine/machine.h"

namespace coordkit::test {

class FakeCluster {
 public:
  struct Item {  // of the applied stream
    std::optional<ApplyOutput::Result> result;
    std::optional<ApplyOutput::Event> event;
  };

  FakeCluster() { machine.bootstrap(ClusterId(1), uint64_t{1} << 31); }

  void apply(const RequestId& request, std::string_view bytes) {
    const Command command{Index(++index), request, bytes};
    ApplyOutput output;
    machine.apply({&command, 1}, output);
    take(output);
  }
  // The leader's turn: what is due by its clock is fired, as one entry.
  void tick(LaggingTime at) {
    now = std::max(now, at);
    std::vector<FiredTimer> due;
    for (const auto& [id, timer] : timers) {
      if (timer.deadline <= now) due.push_back({id, timer.op.generation});
    }
    if (due.empty()) return;
    ApplyOutput output;
    machine.fire(Index(++index), due, output);
    take(output);
  }
  RenewReply renew(const RenewRequest& request) {
    RenewReply reply{.attempt = request.attempt};
    for (const RenewRequest::Group& group : request.groups) {
      RenewReply::Group out{.group = group.group, .coverage = RenewReply::Coverage::All};
      uint64_t count = 0;
      uint64_t sum = 0;
      for (auto& [id, timer] : timers) {
        if (timer.op.group != group.group || id > group.highest) continue;
        if (std::binary_search(group.excluded.begin(), group.excluded.end(), id)) continue;
        timer.deadline = now + timer.op.duration;
        out.listed.push_back(id);
        ++count;
        sum += timer_set_hash(id);
      }
      if (count == group.count && sum == group.sum) {
        out.listed.clear();
      } else {
        out.coverage = RenewReply::Coverage::Only;
      }
      reply.groups.push_back(std::move(out));
    }
    for (const TimerId id : request.looks) {
      const auto timer = timers.find(id);
      if (timer != timers.end()) reply.looks.push_back({id, std::max(timer->second.deadline - now, Duration(0))});
    }
    return reply;
  }

  struct Timer {
    TimerOp op;
    LaggingTime deadline;
  };
  machine::Machine machine;
  uint64_t index = 0;
  LaggingTime now{};
  std::map<TimerId, Timer> timers;
  std::vector<Item> stream;

 private:
  void take(ApplyOutput& output) {
    for (auto& result : output.results) stream.push_back({std::move(result), std::nullopt});
    for (auto& event : output.events) stream.push_back({std::nullopt, std::move(event)});
    for (const TimerOp& op : output.timer_ops) {
      if (op.kind == TimerOp::Kind::Disarm) {
        timers.erase(op.id);
      } else {
        timers[op.id] = {op, now + op.duration};
      }
    }
  }
};

class FakeNode : public Engine {
 public:
  FakeNode(FakeCluster& cluster, uint64_t id, uint64_t boot = 1) : cluster_(cluster), id_(id), boot_(boot) {
    cursor_ = cluster.stream.size();  // a later boot starts from a state that has all before it
  }

  bool speaks = true;   // its commands, questions and renewals arrive
  bool listens = true;  // it applies, and gets answers
  size_t commands = 0;  // that reached the log

  void lead() { leadership_.role = raft::Role::Leader; }
  void skip_news() { cursor_ = cluster_.stream.size(); }
  // The same with what the engine does when a peer's state takes the place of its own: queued commands are answered as the
  // machine says, or end as unknown.
  void take_state() {
    skip_news();
    std::vector<RequestId> requests;
    for (const auto& [ticket, pending] : submits_) {
      if (pending.queued) requests.push_back(pending.request);
    }
    std::ranges::sort(requests);
    std::map<RequestId, ApplyOutput::Result> known;
    cluster_.machine.queued_results(requests, [&](const ApplyOutput::Result& result) { known[result.request] = result; });
    for (const auto& [ticket, pending] : submits_) {
      const auto found = known.find(pending.request);
      if (!pending.queued || (found != known.end() && found->second.stage == ApplyOutput::Stage::Queued)) continue;
      Completion completion{.ticket = ticket, .request = pending.request};
      if (found != known.end()) {
        completion.bytes = found->second.bytes;
      } else {
        completion.status = make_error(Reason::SequenceRetired, Outcome::Unknown, "skipped");
      }
      of_state_.push_back(std::move(completion));
    }
    for (const Completion& completion : of_state_) submits_.erase(completion.ticket);
  }

  void post(EngineInput input) override {
    if (auto* submit = std::get_if<Submit>(&input)) {
      submits_[submit->ticket] = {std::move(*submit), {}};
    } else if (auto* ask = std::get_if<Ask>(&input)) {
      asks_.push_back(std::move(*ask));
    } else if (auto* renew = std::get_if<Renew>(&input)) {
      if (speaks) renews_.push_back(std::move(renew->request));
    } else if (auto* forget = std::get_if<Forget>(&input)) {
      submits_.erase(forget->ticket);
      std::erase_if(asks_, [&](const Ask& ask) { return ask.ticket == forget->ticket; });
    }
  }
  void turn(Now now, EngineEffects& effects) override {
    effects.clear();
    for (const RenewRequest& request : std::exchange(renews_, {})) {
      RenewReply reply = cluster_.renew(request);
      if (listens) effects.renewals.push_back(std::move(reply));
    }
    if (speaks) send();
    if (listens) listen(effects);
    if (speaks && listens) answer(effects);
    expire(now, effects);
  }
  LaggingTime next_deadline() const override {
    LaggingTime next = LaggingTime::max();
    for (const auto& [ticket, submit] : submits_) next = std::min(next, submit.submit.deadline);
    for (const Ask& ask : asks_) next = std::min(next, ask.deadline);
    return next;
  }
  EngineStatus status() const override { return {}; }
  const raft::Leadership& leadership() const override { return leadership_; }
  Index applied() const override { return Index(cluster_.index); }
  ReplicaId self() const override { return ReplicaId(id_); }
  StoreId store() const override { return StoreId(id_); }
  BootCounter boot() const override { return BootCounter(boot_); }
  const StateMachine* machine(MachineId) const override { return &cluster_.machine; }
  void observe(MachineId, std::string_view subject, bool wanted) override { cluster_.machine.observe(subject, wanted); }
  const raft::Core* core() const override { return nullptr; }

 private:
  struct Pending {
    Submit submit;
    RequestId request;  // zero until sent
    bool queued = false;
  };
  void send() {
    for (auto& [ticket, pending] : submits_) {
      if (pending.request.sequence) continue;
      pending.request = {{self(), store(), boot()}, Sequence(++sequence_)};
      ++commands;
      cluster_.apply(pending.request, pending.submit.command.view());
    }
  }
  void listen(EngineEffects& effects) {
    for (Completion& completion : std::exchange(of_state_, {})) effects.completions.push_back(std::move(completion));
    for (; cursor_ < cluster_.stream.size(); ++cursor_) {
      const FakeCluster::Item& item = cluster_.stream[cursor_];
      if (item.event) effects.events.push_back({kCoordination, item.event->index, item.event->bytes});
      if (!item.result || item.result->request.origin != Origin{self(), store(), boot()}) continue;
      for (auto at = submits_.begin(); at != submits_.end(); ++at) {
        if (at->second.request != item.result->request) continue;
        effects.completions.push_back({.ticket = at->first,
                                       .stage = item.result->stage,
                                       .bytes = item.result->bytes,
                                       .index = item.result->index,
                                       .request = item.result->request});
        at->second.queued = item.result->stage == ApplyOutput::Stage::Queued;
        if (!at->second.queued) submits_.erase(at);
        break;
      }
    }
  }
  void answer(EngineEffects& effects) {
    for (const Ask& ask : std::exchange(asks_, {})) {
      effects.completions.push_back({.ticket = ask.ticket, .index = Index(cluster_.index)});
    }
  }
  void expire(Now now, EngineEffects& effects) {
    for (auto at = submits_.begin(); at != submits_.end();) {
      if (at->second.submit.deadline > now.lagging) {
        ++at;
        continue;
      }
      const bool sent = static_cast<bool>(at->second.request.sequence);
      effects.completions.push_back(
          {.ticket = at->first,
           .status = make_error(Reason::CallTimeout, sent ? Outcome::Unknown : Outcome::NoEffect, "deadline"),
           .request = at->second.request});
      at = submits_.erase(at);
    }
    std::erase_if(asks_, [&](const Ask& ask) {
      if (ask.deadline > now.lagging) return false;
      effects.completions.push_back(
          {.ticket = ask.ticket, .status = make_error(Reason::CallTimeout, Outcome::NoEffect, "late")});
      return true;
    });
  }

  FakeCluster& cluster_;
  uint64_t id_;
  uint64_t boot_;
  uint64_t sequence_ = 0;
  size_t cursor_ = 0;
  std::map<Ticket, Pending> submits_;
  std::vector<Completion> of_state_;
  std::vector<Ask> asks_;
  std::vector<RenewRequest> renews_;
  raft::Leadership leadership_;
};

}  // namespace coordkit::test
