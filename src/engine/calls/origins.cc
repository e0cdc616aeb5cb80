#include "engine/calls/origins.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/fixed.h"
#include "base/sums.h"
#include "engine/loop/engine_fields.h"

namespace coordkit::engine {

// A large answer, or one of a replica's row.
struct AnswerRow {
  Sequence sequence;
  StoredAnswer answer;
};
// The row of a replica.
struct OriginRow {
  StoreId store;
  BootCounter boot;
  Sequence retired{1};
  std::vector<Displaced> displaced = {};
  std::vector<AnswerRow> answers = {};
  std::string name = {};
};

template <typename Io>
void describe(Io& io, Describes<AnswerRow> auto& row) {
  io.number(1, row.sequence);
  io.fixed(2, row.answer.command_hash);
  io.number(3, row.answer.stage);
  io.bytes(4, row.answer.bytes);
  io.number(5, row.answer.index);
  io.number(6, row.answer.refused);
}

template <typename Io>
void describe(Io& io, Describes<Displaced> auto& previous) {
  io.fixed(1, previous.store);
  io.number(2, previous.boot);
  io.number(3, previous.next);
}

template <typename Io>
void describe(Io& io, Describes<OriginRow> auto& row) {
  io.fixed(1, row.store);
  io.number(2, row.boot);
  io.number(3, row.retired);
  io.repeated(5, row.displaced, codec::kUnlimited);
  io.repeated(4, row.answers, codec::kUnlimited);
  io.bytes_if_any(6, row.name);
}

namespace {

// The only refusals that are kept. Another one was stored by a later version.
bool known(const std::optional<Reason>& refused) {
  return !refused || *refused == Reason::Fenced || *refused == Reason::ResultTooLarge || *refused == Reason::PermissionDenied;
}

std::string row_key(std::string_view prefix, uint64_t id) {
  std::string key(prefix);
  append_sortable(key, id);
  return key;
}

}  // namespace

Origins::State* Origins::find(const Origin& origin) {
  const auto it = states_.find(origin.replica);
  if (it == states_.end() || it->second.store != origin.store || it->second.boot != origin.boot) return nullptr;
  return &it->second;
}

uint64_t Origins::digest() const { return hash_mix(admitted_digest_, answered_digest_); }

Origins::Admission Origins::admit(const Request& request, uint64_t command_hash, Index index) {
  State* state = find(request.id.origin);
  if (!state || state->name != request.name) return {Verdict::Refuse, Reason::UnknownOrigin, nullptr};
  if (request.lowest_unanswered > state->retired) {
    retire(*state, request.lowest_unanswered);
    state->dirty = true;
    admitted_digest_ = hash_mix(admitted_digest_, request.lowest_unanswered.value());
  }
  const Sequence sequence = request.id.sequence;
  if (sequence < state->retired) return {Verdict::Refuse, Reason::SequenceRetired, nullptr};

  const uint64_t place = sequence - state->retired;
  if (place >= kAnswersMax) return {Verdict::Refuse, Reason::TooManyInFlight, nullptr};  // our own engine never gets here
  if (const StoredAnswer* known = state->at(sequence)) {
    if (known->command_hash != command_hash) return {Verdict::Refuse, Reason::SequenceReused, nullptr};
    return {known->answered ? Verdict::Repeat : Verdict::Executing, {}, known};
  }
  if (request.after >= state->retired && !state->at(request.after)) return {Verdict::Overtakes, {}, nullptr};

  while (place >= state->answers.size()) state->answers.push_back();
  StoredAnswer& reserved = state->answers[place].emplace();
  reserved.command_hash = command_hash;
  reserved.index = index;
  state->dirty = true;
  admitted_digest_ = hash_mix_all(admitted_digest_, request.id.origin.replica.value(), sequence.value(), command_hash);
  return {Verdict::Execute, {}, nullptr};
}

void Origins::store(const RequestId& id, ApplyOutput::Stage stage, const SharedBytes& bytes, Index index) {
  State* state = find(id.origin);
  if (!state) return;
  answered_digest_ =
      hash_mix(hash_mix(answered_digest_, id.sequence.value()), hash_bytes(bytes.view(), static_cast<uint64_t>(stage)));
  StoredAnswer* slot = unanswered(*state, id.sequence);
  if (!slot) return;
  slot->answered = true;
  slot->stage = stage;
  slot->bytes = bytes;
  slot->index = index;
}

void Origins::store(const RequestId& id, Reason refused, Index index) {
  State* state = find(id.origin);
  if (!state) return;
  answered_digest_ = hash_mix_all(answered_digest_, id.sequence.value(), static_cast<uint64_t>(refused));
  StoredAnswer* slot = unanswered(*state, id.sequence);
  if (!slot) return;
  slot->answered = true;
  slot->refused = refused;
  slot->index = index;
}

// The reserved place of a request, or null: it was retired by a later request of the current batch, or long ago.
StoredAnswer* Origins::unanswered(State& state, Sequence sequence) {
  StoredAnswer* reserved = state.at(sequence);
  if (!reserved || reserved->answered) return nullptr;
  state.dirty = true;
  return reserved;
}

void Origins::retire(State& state, Sequence lowest) {
  while (state.retired < lowest && !state.answers.empty()) {
    state.answers.pop_front();
    state.retired = state.retired.next();
  }
  if (state.retired < lowest) state.retired = lowest;
}

void Origins::enroll(const Origin& origin, Sequence lowest, std::string_view name) {
  const auto [it, fresh] = states_.try_emplace(origin.replica);
  if (!fresh && it->second.store == origin.store && origin.boot <= it->second.boot) return;
  if (!fresh && it->second.name != name) return;
  State blank{.retired = std::max(lowest, Sequence(1)),
              .displaced = it->second.displaced,
              .stored = it->second.stored,
              .rows = it->second.rows,
              .name = std::string(name)};
  for (const Displaced& previous : blank.displaced) {
    if (previous.store != origin.store) continue;
    if (origin.boot < previous.boot) return;
    if (origin.boot == previous.boot) blank.retired = std::max(blank.retired, previous.next);
  }
  if (!fresh && it->second.store != origin.store) {
    if (blank.displaced.size() >= kDisplacedMax) blank.displaced.pop_front();
    blank.displaced.push_back({it->second.store, it->second.boot, it->second.next()});
  }
  it->second = std::move(blank);
  it->second.store = origin.store;
  it->second.boot = origin.boot;
  it->second.dirty = true;
  admitted_digest_ = hash_mix_all(admitted_digest_, origin.store.value(), origin.boot.value(), it->second.retired.value());
  if (!name.empty()) admitted_digest_ = hash_mix(admitted_digest_, hash_bytes(name));
}

void Origins::keep_members_only(const raft::Configuration& configuration) {
  for (auto& [replica, state] : states_) {
    if (state.answers.empty() || is_remote(replica) || raft::member_of(configuration, replica)) continue;
    state.retired = state.next();
    state.answers = {};
    state.dirty = true;
    admitted_digest_ = hash_mix_all(admitted_digest_, replica.value(), state.retired.value());
  }
}

TimerOp Origins::timer_of(const Origin& remote) {
  return {TimerOp::Kind::Arm,
          TimerId(remote.replica.value()),
          Generation(remote.boot.value()),
          kRemoteTtl,
          {.node = remote.replica, .boot = remote.boot, .incarnation = remote.store.value(), .ttl = kRemoteTtl}};
}

bool Origins::forget(ReplicaId remote, Generation generation, Index at) {
  const auto it = states_.find(remote);
  if (it == states_.end() || Generation(it->second.boot.value()) != generation) return false;
  const std::string key = row_key({}, remote.value());
  if (it->second.stored) erased_.push_back(key);
  for (const Sequence sequence : it->second.rows) erased_.push_back(row_key(key, sequence.value()));
  states_.erase(it);
  forgotten_ = at;
  admitted_digest_ = hash_mix_all(admitted_digest_, remote.value(), generation.value(), at.value());
  return true;
}

void Origins::timers(absl::FunctionRef<void(const TimerOp&)> each) const {
  for (const auto& [replica, state] : states_) {
    if (is_remote(replica)) each(timer_of({replica, state.store, state.boot}));
  }
}

std::optional<std::string_view> Origins::name_of(const Origin& origin) const {
  const State* const state = const_cast<Origins*>(this)->find(origin);
  return state == nullptr ? std::nullopt : std::optional<std::string_view>(state->name);
}

const StoredAnswer* Origins::find_answer(const RequestId& request) const {
  State* state = const_cast<Origins*>(this)->find(request.origin);
  const StoredAnswer* stored = state ? state->at(request.sequence) : nullptr;
  return stored && stored->answered ? stored : nullptr;
}

void Origins::checkpoint(std::string_view prefix, uint64_t feature_level, CheckpointBatch& batch) {
  for (const std::string& key : std::exchange(erased_, {})) batch.erase(std::string(prefix) + key);
  const size_t small = feature_level >= kAnswerRowsLevel ? kSmallAnswerMax : std::numeric_limits<size_t>::max();
  for (auto& [replica, state] : states_) {
    if (std::exchange(state.dirty, false)) put_rows(row_key(prefix, replica.value()), state, small, batch);
  }
  std::string common(forgotten_ ? 24 : 16, '\0');
  store_u64(common.data(), admitted_digest_);
  store_u64(common.data() + 8, answered_digest_);
  if (forgotten_) store_u64(common.data() + 16, forgotten_.value());
  batch.put(std::string(prefix), std::move(common));
}

// An answer does not change any more: a row of its own is put once, and erased when the answer is retired.
void Origins::put_rows(const std::string& key, State& state, size_t small, CheckpointBatch& batch) {
  OriginRow row{state.store, state.boot, state.retired, {state.displaced.begin(), state.displaced.end()}, {}, state.name};
  const std::vector<Sequence> before = std::exchange(state.rows, {});
  for (size_t i = 0; i < state.answers.size(); ++i) {
    if (!state.answers[i]) continue;
    StoredAnswer& answer = *state.answers[i];
    const Sequence sequence = state.retired + i;
    if (answer.bytes.size() <= small) {
      row.answers.push_back({sequence, answer});
      continue;
    }
    state.rows.push_back(sequence);
    if (std::exchange(answer.own_row, true)) continue;
    std::string value;
    codec::append<FieldRules>(value, AnswerRow{sequence, answer});
    batch.put(row_key(key, sequence.value()), std::move(value));
  }
  for (const Sequence sequence : before) {
    if (!std::binary_search(state.rows.begin(), state.rows.end(), sequence)) batch.erase(row_key(key, sequence.value()));
  }
  std::string value;
  codec::append<FieldRules>(value, row);
  batch.put(key, std::move(value));
  state.stored = true;
}

void Origins::forget_stored() {
  erased_.clear();
  for (auto& [replica, state] : states_) {
    state.dirty = true;
    state.stored = false;
    state.rows.clear();
    for (size_t i = 0; i < state.answers.size(); ++i) {
      if (state.answers[i]) state.answers[i]->own_row = false;
    }
  }
}

// Rows are visited in the order of their keys: that of an origin, then those of its large answers.
absl::Status Origins::restore(std::string_view prefix, const CheckpointView& view) try {
  states_.clear();
  erased_.clear();
  admitted_digest_ = answered_digest_ = 0;
  forgotten_ = Index();
  return view.scan(prefix, [&](std::string_view key, std::string_view value) {
    key.remove_prefix(prefix.size());
    if (key.empty() && (value.size() == 16 || value.size() == 24)) {
      admitted_digest_ = load_u64(value.data());
      answered_digest_ = load_u64(value.data() + 8);
      if (value.size() == 24) forgotten_ = Index(load_u64(value.data() + 16));
      return absl::OkStatus();
    }
    if (key.size() != 8 && key.size() != 16) return absl::DataLossError("an origin row with a malformed key");
    const ReplicaId replica(load_sortable(key.data()));
    return key.size() == 8 ? restore_origin(states_[replica], value) : restore_large(replica, key.substr(8), value);
  });
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed origin row: ") + error.what());
}

absl::Status Origins::restore_origin(State& state, std::string_view value) {
  OriginRow row;
  codec::read<FieldRules>(value, row);
  state = {.store = row.store, .boot = row.boot, .retired = row.retired, .stored = true, .name = std::move(row.name)};
  state.displaced.assign(row.displaced.begin(), row.displaced.end());
  for (AnswerRow& each : row.answers) {
    if (absl::Status status = restore_answer(state, std::move(each)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Origins::restore_large(ReplicaId replica, std::string_view key, std::string_view value) {
  const auto state = states_.find(replica);
  AnswerRow row;
  codec::read<FieldRules>(value, row);
  if (state == states_.end() || row.sequence.value() != load_sortable(key.data())) {
    return absl::DataLossError("a stored answer in the wrong place");
  }
  row.answer.own_row = true;
  state->second.rows.push_back(row.sequence);
  return restore_answer(state->second, std::move(row));
}

absl::Status Origins::restore_answer(State& state, AnswerRow row) {
  if (!known(row.answer.refused)) return absl::DataLossError("a stored refusal of a kind this version does not know");
  const uint64_t place = row.sequence - state.retired;
  if (row.sequence < state.retired || place >= kAnswersMax) return absl::DataLossError("an origin row out of bounds");
  while (place >= state.answers.size()) state.answers.push_back();
  row.answer.answered = true;
  state.answers[place] = std::move(row.answer);
  return absl::OkStatus();
}

}  // namespace coordkit::engine
