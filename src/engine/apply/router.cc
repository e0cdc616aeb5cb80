#include "engine/apply/router.h"

#include <algorithm>
#include <new>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "base/fixed.h"
#include "base/remote_name.h"
#include "base/sums.h"
#include "base/thrown.h"
#include "coordkit/error.h"
#include "engine/apply/router_meta.h"
#include "raft/log/entry_codec.h"
#include "raft/members/configuration_rules.h"

namespace coordkit {

std::string row_prefix(MachineId machine) {
  std::string prefix;
  append_sortable(prefix, machine.value());
  return prefix;
}

}  // namespace coordkit

namespace coordkit::engine {
namespace {

constexpr char kHostIt[] = ", which is not hosted here: open this replica with that machine";

std::string name_of(MachineId id) { return "machine " + std::to_string(id.value()); }

std::string not_hosted(Index index, const Request& request) {
  const std::string guard = request.guard ? " under a guard of " + name_of(request.guard->machine) : "";
  return "entry " + std::to_string(index.value()) + " is a command of " + name_of(request.machine) + guard + kHostIt;
}

std::string newer_level(const std::string& what, uint64_t level, uint64_t spoken) {
  return what + " is of feature level " + std::to_string(level) + ", and this build speaks " + std::to_string(spoken) +
         ": start a newer build on this directory";
}

std::string newer_entry(Index index, const RaiseLevel& raise, uint64_t spoken) {
  return newer_level("the log after entry " + std::to_string(index.value()), raise.level, spoken);
}

// Sums up all that a repeat of the id must have in common with the first.
uint64_t command_hash(const Request& request) {
  const uint64_t hash = hash_bytes(request.payload, request.machine.value());
  return request.guard ? hash_mix(hash, hash_bytes(request.guard->bytes, request.guard->machine.value())) : hash;
}

std::string threw_at(MachineId machine, Index first, Index last) {
  return name_of(machine) + " threw at entries " + std::to_string(first.value()) + " to " + std::to_string(last.value()) + ": ";
}

std::string threw_after(MachineId machine, Index applied) {
  return name_of(machine) + " threw after entry " + std::to_string(applied.value()) + ": ";
}

// A machine must not throw. If it does, those that repair it need to know where. A machine of our own that finds no memory may
// be left half-changed, even by a question, and is not looked at again.
template <typename Where, typename Call>
void guarded(MachineId machine, Where where, Call call) try {
  call();
} catch (const std::bad_alloc&) {
  if (machine < kFirstHostMachine) throw;
  throw MachineThrew(where() + what_was_thrown());
} catch (...) {
  const std::string sentence = where() + what_was_thrown();
  if (machine < kFirstHostMachine) throw std::runtime_error(sentence);  // one of our own checks
  throw MachineThrew(sentence);
}

template <typename Call>
void run_machine(MachineId machine, Index first, Index last, Call call) {
  guarded(
      machine, [&] { return threw_at(machine, first, last); }, call);
}

// Asks a machine something between entries.
template <typename Call>
void ask_machine(MachineId machine, Index applied, Call call) {
  guarded(
      machine, [&] { return threw_after(machine, applied); }, call);
}

// Those that a machine added from `first` on. Among another's they would take the place of that one's, and be read as its own.
void check_rows(MachineId machine, std::span<const CheckpointBatch::Row> rows, size_t first) {
  const std::string prefix = row_prefix(machine);
  for (const CheckpointBatch::Row& row : rows.subspan(first)) {
    const bool own = row.key.starts_with(prefix);
    if (own && row.key.size() <= kStateKeyBytesMax) continue;
    const std::string ours = "row_prefix(MachineId(" + std::to_string(machine.value()) + "))";
    throw MachineThrew(
        name_of(machine) + " added a row to a checkpoint whose key " +
        (own ? "has more than 64 bytes" : "does not start with " + ours + ": is its RowTable made for another id?"));
  }
}

// Whose rows they are must not get lost with what it throws at them.
absl::Status restore_machine(MachineId id, StateMachine& machine, const CheckpointView& view) try {
  return machine.restore(view);
} catch (const std::bad_alloc&) {  // which says nothing about the rows
  throw;
} catch (const std::exception& error) {
  return make_error(Reason::Corrupt, name_of(id) + " cannot read its rows of the state, and threw: " + error.what());
} catch (...) {
  return make_error(Reason::HostThrew, name_of(id) + " threw something that is no std::exception at its rows of the state");
}

// The name of the remote whose permissions count. Absent: a member, or one of a time before there were any.
std::optional<std::string_view> remote_of(const Request& request, uint64_t feature_level) {
  const bool counts = feature_level >= Origins::kNamesLevel && is_remote(request.id.origin.replica);
  return counts ? std::optional(request.name) : std::nullopt;
}

// No more is known about a machine of the host.
void note_acts(MachineId machine, std::span<const Command> commands, RouterOutput& output) {
  for (const Command& command : commands) {
    if (!command.remote || command.remote->empty()) continue;
    output.acts.push_back({command.index, std::string(*command.remote), "a command of " + name_of(machine)});
  }
}

}  // namespace

void RouterOutput::clear() {
  answers.clear();
  events.clear();
  timer_ops.clear();
  leader_starts.clear();
  digests.clear();
  configurations.clear();
  overtaking.clear();
  acts.clear();
}

Router::Router(std::vector<HostedMachine> machines, uint64_t digest_entries)
    : machines_(std::move(machines)), digest_entries_(digest_entries) {}

StateMachine* Router::find(MachineId id) {
  const auto it = std::ranges::find(machines_, id, &HostedMachine::id);
  return it == machines_.end() ? nullptr : it->machine.get();
}

const StateMachine* Router::machine(MachineId id) const { return const_cast<Router*>(this)->find(id); }

void Router::observe(MachineId id, std::string_view subject, bool wanted) {
  StateMachine* machine = find(id);
  if (machine == nullptr) return;
  const std::pair key(id, std::string(subject));
  size_t& by = observed_[key];
  if (!wanted && by > 1) return static_cast<void>(--by);
  if (wanted && by++ > 0) return;
  if (!wanted) observed_.erase(key);
  ask_machine(id, applied_.index, [&] { machine->observe(subject, wanted); });
}

void Router::observe_as(const Router& previous) {
  for (const auto& [observed, by] : previous.observed_) {
    observe(observed.first, observed.second, true);
    observed_[observed] = by;
  }
}

void Router::apply(std::span<const raft::Entry> entries, RouterOutput& output) {
  Position at = applied_;
  for (const raft::Entry& entry : entries) {
    COORDKIT_CHECK_MSG(entry.index == at.index.next(), "entries are applied in order, without a gap");
    apply_one(entry, output);
    at = entry.position();
    if (digest_entries_ != 0 && entry.index.value() % digest_entries_ == 0) {
      flush(output);
      output.digests.push_back({ReplicaId(), entry.index, digest()});
    }
  }
  flush(output);
  applied_ = at;  // only after the machines have executed all of it
}

void Router::apply_one(const raft::Entry& entry, RouterOutput& output) {
  switch (entry.kind) {
    case raft::EntryKind::Command: return apply_command(entry, output);
    case raft::EntryKind::LeaderStart:
      flush(output);
      leader_term_ = entry.term;
      output.leader_starts.push_back(entry.term);
      return;
    case raft::EntryKind::Genesis: return apply_genesis(entry);
    case raft::EntryKind::Configuration: {
      flush(output);
      auto configuration = decode_configuration(entry.payload.view());
      COORDKIT_CHECK_MSG(configuration.ok(), "committed configuration is malformed");
      configuration_ = *std::move(configuration);
      configuration_at_ = entry.position();
      if (feature_level_ >= Origins::kMembersOnlyLevel) origins_.keep_members_only(configuration_);
      output.configurations.push_back({entry.index, configuration_});
      return;
    }
  }
  check_failed("known entry kind", __FILE__, __LINE__, "entry " + std::to_string(entry.index.value()));
}

void Router::apply_genesis(const raft::Entry& entry) {
  COORDKIT_CHECK_MSG(!genesis_, "a second genesis");
  auto genesis = decode_genesis(entry.payload.view());
  COORDKIT_CHECK_MSG(genesis.ok(), "committed genesis is malformed");
  configuration_ = genesis->configuration;
  configuration_at_ = entry.position();
  genesis_ = *std::move(genesis);
  feature_level_ = genesis_->feature_level;
  if (feature_level_ > speaks_) throw NewerLevel(newer_level("this cluster", feature_level_, speaks_));
  if (StateMachine* machine = find(kCoordination)) begin(kCoordination, *machine, entry.index);
}

void Router::begin(MachineId id, StateMachine& machine, Index at) {
  if (!begun_.insert(id).second) return;
  COORDKIT_CHECK_MSG(genesis_, "a command before genesis");
  run_machine(id, at, at, [&] { machine.bootstrap(genesis_->cluster, genesis_->token_base); });
}

void Router::apply_command(const raft::Entry& entry, RouterOutput& output) {
  absl::StatusOr<LogCommand> command = decode_command(entry.payload.view());
  COORDKIT_CHECK_MSG(command.ok(),
                     "entry " + std::to_string(entry.index.value()) + ": " + std::string(command.status().message()));
  if (auto* const request = std::get_if<Request>(&*command)) {
    if (feature_level_ < Origins::kNamesLevel) request->name = {};  // older builds skip it
    return apply_request(entry, *request, output);
  }
  if (const auto* vote = std::get_if<DigestVote>(&*command)) {
    output.digests.push_back({vote->replica, vote->index, vote->digest});
    return;
  }
  flush(output);
  if (const auto* registration = std::get_if<RegisterOrigin>(&*command)) return apply_registration(*registration, output);
  if (const auto* raise = std::get_if<RaiseLevel>(&*command)) return apply_raise(entry, *raise);
  apply_fired(entry, std::get<FireTimers>(*command), output);
}

// S-42. A command for a machine that is not hosted here cannot be skipped: other replicas execute it.
void Router::apply_request(const raft::Entry& entry, const Request& request, RouterOutput& output) {
  if (batch_machine_ != request.machine) flush(output);
  COORDKIT_CHECK_MSG(hosts(request), not_hosted(entry.index, request));
  const uint64_t hash = command_hash(request);
  Origins::Admission admission = origins_.admit(request, hash, entry.index);
  if (admission.verdict == Origins::Verdict::Executing) {  // its first copy is in the current batch
    flush(output);
    admission = origins_.admit(request, hash, entry.index);
    COORDKIT_CHECK_MSG(admission.verdict != Origins::Verdict::Executing, "the machine owes an answer to every command");
  }
  if (admission.verdict == Origins::Verdict::Repeat) {
    const StoredAnswer& stored = *admission.answer;
    output.answers.push_back({request.id, stored.stage, stored.refused, stored.bytes, stored.index});
    return;
  }
  if (admission.verdict == Origins::Verdict::Overtakes) {
    output.overtaking.push_back(request.id);
    return;
  }
  if (admission.verdict != Origins::Verdict::Execute) {
    output.answers.push_back({request.id, ApplyOutput::Stage::Final, admission.refusal, {}, entry.index});
    return;
  }
  if (!permitted(entry, request, output) || !guard_met(entry, request, output)) return;
  if (batch_.empty()) {
    begin(request.machine, *find(request.machine), entry.index);
    batch_machine_ = request.machine;
  }
  batch_.push_back({entry.index, request.id, request.payload, remote_of(request, feature_level_)});
}

// S-75. coordkit's own machine checks its own commands. It is asked about guards and about other machines, in the state right
// before the entry.
bool Router::permitted(const raft::Entry& entry, const Request& request, RouterOutput& output) {
  const std::optional<std::string_view> remote = remote_of(request, feature_level_);
  const bool own = request.machine == kCoordination;
  const bool guarded = request.guard && request.guard->machine == kCoordination;
  if (!remote || (own && !request.guard)) return true;
  if (batch_machine_ == kCoordination) flush(output);
  bool permitted = true;
  if (const StateMachine* const judge = machine(kCoordination)) {
    run_machine(kCoordination, entry.index, entry.index, [&] {
      const bool foreign = !own || (request.guard && !guarded);
      permitted =
          (!foreign || judge->permits(*remote, std::nullopt)) && (!guarded || judge->permits(*remote, request.guard->bytes));
    });
  }
  if (!permitted) refuse(entry, request, Reason::PermissionDenied, output);
  return permitted;
}

void Router::refuse(const raft::Entry& entry, const Request& request, Reason why, RouterOutput& output) {
  flush(output);
  origins_.store(request.id, why, entry.index);
  output.answers.push_back({request.id, ApplyOutput::Stage::Final, why, {}, entry.index});
  const std::optional<std::string_view> remote = remote_of(request, feature_level_);
  if (!remote || remote->empty()) return;
  output.acts.push_back({entry.index, std::string(*remote),
                         "a command of " + name_of(request.machine) + ": " + std::string(coordkit::name_of(why))});
}

// Everything before the entry is executed before its guard is checked, and before the refusal is stored: answers are
// stored in the order of the log, however it is cut into batches.
bool Router::guard_met(const raft::Entry& entry, const Request& request, RouterOutput& output) {
  if (!request.guard) return true;
  const Request::GuardView& guard = *request.guard;
  if (batch_machine_ == guard.machine) flush(output);
  bool met = false;
  run_machine(guard.machine, entry.index, entry.index, [&] { met = find(guard.machine)->holds(guard.bytes); });
  if (!met) refuse(entry, request, Reason::Fenced, output);
  return met;
}

bool Router::hosts(const Request& request) const {
  return machine(request.machine) && (!request.guard || machine(request.guard->machine));
}

absl::Status Router::check_readable(std::span<const raft::Entry> entries) const {
  for (const raft::Entry& entry : entries) {
    if (entry.kind != raft::EntryKind::Command) continue;
    const absl::StatusOr<LogCommand> command = decode_command(entry.payload.view());
    if (!command.ok()) continue;  // apply stops there
    const auto* request = std::get_if<Request>(&*command);
    if (request && !hosts(*request)) return make_error(Reason::MachineMissing, not_hosted(entry.index, *request));
    const auto* raise = std::get_if<RaiseLevel>(&*command);
    if (raise && raise->level > speaks_) return make_error(Reason::NewerFormat, newer_entry(entry.index, *raise, speaks_));
  }
  return absl::OkStatus();
}

// If two disks have one id, only the one that still votes counts, so that they do not displace each other in turns.
void Router::apply_registration(const RegisterOrigin& registration, RouterOutput& output) {
  const Origin& origin = registration.origin;
  if (is_remote(origin.replica)) {
    if (feature_level_ < Origins::kRemotesLevel || registration.as_of < origins_.forgotten()) return;
    const bool named = feature_level_ >= Origins::kNamesLevel && !registration.name.empty();
    if (named && !is_remote_name(registration.name)) return;  // no gateway lets it pass
    origins_.enroll(origin, registration.lowest_unanswered, named ? registration.name : std::string_view());
    if (origins_.registered(origin)) output.timer_ops.push_back({kOrigins, Origins::timer_of(origin)});
    return;
  }
  const raft::Member* member = raft::member_of(configuration_, origin.replica);
  if (member && member->store == origin.store) origins_.enroll(origin, registration.lowest_unanswered);
}

void Router::apply_raise(const raft::Entry& entry, const RaiseLevel& raise) {
  if (raise.level > speaks_) throw NewerLevel(newer_entry(entry.index, raise, speaks_));
  const uint64_t before = std::exchange(feature_level_, std::max(feature_level_, raise.level));
  const auto comes = [&](uint64_t level) { return before < level && feature_level_ >= level; };
  if (comes(Origins::kAnswerRowsLevel)) origins_.forget_stored();
  if (comes(Origins::kMembersOnlyLevel)) origins_.keep_members_only(configuration_);
}

void Router::apply_fired(const raft::Entry& entry, const FireTimers& fired, RouterOutput& output) {
  const bool current = fired.term == entry.term && entry.term == leader_term_;  // T4: an earlier leader's entry is void
  if (current && fired.machine == kOrigins) {
    for (const FiredTimer& timer : fired.timers) {
      const bool forgotten = origins_.forget(ReplicaId(timer.id.value()), timer.generation, entry.index);
      if (forgotten) output.timer_ops.push_back({kOrigins, {.kind = TimerOp::Kind::Disarm, .id = timer.id}});
    }
    return;
  }
  StateMachine* machine = find(fired.machine);
  if (!current || !machine) return;
  run_machine(fired.machine, entry.index, entry.index, [&] { machine->fire(entry.index, fired.timers, machine_output_); });
  collect(fired.machine, output);
}

void Router::flush(RouterOutput& output) {
  if (batch_.empty()) return;
  if (batch_machine_ != kCoordination) note_acts(batch_machine_, batch_, output);
  run_machine(batch_machine_, batch_.front().index, batch_.back().index,
              [&] { find(batch_machine_)->apply(batch_, machine_output_); });
  batch_.clear();
  collect(batch_machine_, output);
}

void Router::collect(MachineId machine, RouterOutput& output) {
  for (ApplyOutput::Result& result : machine_output_.results) {
    if (result.bytes.size() > kResultBytesMax) {
      origins_.store(result.request, Reason::ResultTooLarge, result.index);
      output.answers.push_back({result.request, ApplyOutput::Stage::Final, Reason::ResultTooLarge, {}, result.index});
      continue;
    }
    origins_.store(result.request, result.stage, result.bytes, result.index);
    output.answers.push_back({result.request, result.stage, std::nullopt, std::move(result.bytes), result.index});
  }
  for (ApplyOutput::Event& event : machine_output_.events) {
    output.events.push_back({machine, event.index, std::move(event.bytes)});
  }
  for (const TimerOp& op : machine_output_.timer_ops) output.timer_ops.push_back({machine, op});
  if (machine == kCoordination) std::ranges::move(machine_output_.acts, std::back_inserter(output.acts));
  machine_output_.acts.clear();
  machine_output_.results.clear();
  machine_output_.events.clear();
  machine_output_.timer_ops.clear();
}

uint64_t Router::digest() const {
  uint64_t digest = hash_mix(origins_.digest(), leader_term_.value());
  digest = hash_mix(hash_mix(digest, configuration_at_.index.value()), hash_bytes(coordkit::encode(configuration_)));
  if (genesis_) digest = hash_mix(digest, hash_bytes(coordkit::encode(*genesis_)));
  if (feature_level_ != 0) digest = hash_mix(digest, feature_level_);
  for (const MachineId id : begun_) {
    ask_machine(id, applied_.index, [&] { digest = hash_mix(hash_mix(digest, id.value()), machine(id)->digest()); });
  }
  return digest;
}

void Router::checkpoint(CheckpointBatch& batch) {
  batch.applied = applied_;
  batch.put(meta_key(), encode(RouterMeta{.leader_term = leader_term_,
                                          .genesis = genesis_,
                                          .configuration = configuration_,
                                          .configuration_at = configuration_at_.index,
                                          .begun = {begun_.begin(), begun_.end()},
                                          .feature_level = feature_level_}));
  origins_.checkpoint(origins_prefix(), feature_level_, batch);
  for (const MachineId id : begun_) {
    const size_t before = batch.rows.size();
    ask_machine(id, applied_.index, [&] { find(id)->checkpoint(batch); });
    check_rows(id, batch.rows, before);
  }
}

absl::Status Router::whole_checkpoint(CheckpointBatch& batch) {
  for (const MachineId id : begun_) {
    bool forgets = false;
    ask_machine(id, applied_.index, [&] { forgets = find(id)->forget_stored(); });
    if (forgets) continue;
    return absl::UnimplementedError(name_of(id) +
                                    " cannot write all its rows again, and the stored ones are damaged: give it a "
                                    "StateMachine::forget_stored, and replace this member");
  }
  origins_.forget_stored();
  checkpoint(batch);
  batch.whole = true;
  return absl::OkStatus();
}

absl::Status Router::restore(const CheckpointView& view) try {
  begun_.clear();
  absl::Status status = view.scan(meta_key(), [&](std::string_view, std::string_view value) -> absl::Status {
    absl::StatusOr<RouterMeta> meta = decode_router_meta(value);
    if (!meta.ok()) return meta.status();
    leader_term_ = meta->leader_term;
    genesis_ = std::move(meta->genesis);
    configuration_ = std::move(meta->configuration);
    configuration_at_.index = meta->configuration_at;
    begun_ = {meta->begun.begin(), meta->begun.end()};
    feature_level_ = meta->feature_level;
    if (feature_level_ <= speaks_) return absl::OkStatus();
    return make_error(Reason::NewerFormat, newer_level("the state on this disk", feature_level_, speaks_));
  });
  if (!status.ok()) return status;
  if (!genesis_) return make_error(Reason::Corrupt, "the checkpoint has no genesis");
  if (status = origins_.restore(origins_prefix(), view); !status.ok()) return status;
  for (const MachineId id : begun_) {
    StateMachine* machine = find(id);
    if (!machine) return make_error(Reason::MachineMissing, "the checkpoint has state of " + name_of(id) + kHostIt);
    if (status = restore_machine(id, *machine, view); !status.ok()) return status;
  }
  applied_ = view.applied();
  configuration_at_.term = applied_.term;
  return absl::OkStatus();
} catch (const protozero::exception& error) {
  return make_error(Reason::Corrupt, std::string("malformed checkpoint: ") + error.what());
}

std::optional<Answer> Router::stored(const RequestId& request) const {
  const StoredAnswer* stored = origins_.find_answer(request);
  if (!stored) return std::nullopt;
  return Answer{request, stored->stage, stored->refused, stored->bytes, stored->index};
}

bool Router::executed(const Request& request) const {
  const StoredAnswer* stored = origins_.find_answer(request.id);
  return stored && stored->command_hash == command_hash(request);
}

void Router::queued_results(MachineId id, std::span<const RequestId> requests,
                            absl::FunctionRef<void(const ApplyOutput::Result&)> answer) const {
  const StateMachine* hosted = machine(id);
  if (hosted) ask_machine(id, applied_.index, [&] { hosted->queued_results(requests, answer); });
}

void Router::timers(std::vector<MachineTimerOp>& out) const {
  std::vector<TimerOp> ops;
  for (const MachineId id : begun_) {
    ops.clear();
    ask_machine(id, applied_.index, [&] { machine(id)->timers(ops); });
    for (const TimerOp& op : ops) out.push_back({id, op});
  }
  origins_.timers([&out](const TimerOp& op) { out.push_back({kOrigins, op}); });
}

}  // namespace coordkit::engine
