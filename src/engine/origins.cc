#include "engine/origins.h"

#include <utility>
#include <vector>

#include "base/fixed.h"
#include "base/sums.h"
#include "engine/fields.h"

namespace coordkit::engine {

// The row of a replica.
struct AnswerRow {
  Sequence sequence;
  StoredAnswer answer;
};
struct OriginRow {
  StoreId store;
  BootCounter boot;
  Sequence retired{1};
  std::vector<Displaced> displaced = {};
  std::vector<AnswerRow> answers = {};
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
}

namespace {

// The only refusals that are kept. Another one was stored by a later version.
bool known(const std::optional<Reason>& refused) {
  return !refused || *refused == Reason::Fenced || *refused == Reason::ResultTooLarge;
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
  if (!state) return {Verdict::Refuse, Reason::UnknownOrigin, nullptr};
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

void Origins::enroll(const Origin& origin, Sequence lowest) {
  const auto [it, fresh] = states_.try_emplace(origin.replica);
  if (!fresh && it->second.store == origin.store && origin.boot <= it->second.boot) return;
  State blank{.retired = std::max(lowest, Sequence(1)), .displaced = it->second.displaced};
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
}

bool Origins::registered(const Origin& origin) const { return const_cast<Origins*>(this)->find(origin) != nullptr; }

const StoredAnswer* Origins::find_answer(const RequestId& request) const {
  State* state = const_cast<Origins*>(this)->find(request.origin);
  const StoredAnswer* stored = state ? state->at(request.sequence) : nullptr;
  return stored && stored->answered ? stored : nullptr;
}

void Origins::checkpoint(std::string_view prefix, CheckpointBatch& batch) {
  for (auto& [replica, state] : states_) {
    if (!std::exchange(state.dirty, false)) continue;
    std::string key(prefix);
    append_sortable(key, replica.value());
    OriginRow row{state.store, state.boot, state.retired, {state.displaced.begin(), state.displaced.end()}};
    for (size_t i = 0; i < state.answers.size(); ++i) {
      if (state.answers[i]) row.answers.push_back({state.retired + i, *state.answers[i]});
    }
    std::string value;
    codec::append<FieldRules>(value, row);
    batch.put(std::move(key), std::move(value));
  }
  std::string digest(16, '\0');
  store_u64(digest.data(), admitted_digest_);
  store_u64(digest.data() + 8, answered_digest_);
  batch.put(std::string(prefix), std::move(digest));
}

void Origins::forget_stored() {
  for (auto& [replica, state] : states_) state.dirty = true;
}

absl::Status Origins::restore(std::string_view prefix, const CheckpointView& view) try {
  states_.clear();
  admitted_digest_ = answered_digest_ = 0;
  return view.scan(prefix, [&](std::string_view key, std::string_view value) {
    key.remove_prefix(prefix.size());
    if (key.empty() && value.size() == 16) {
      admitted_digest_ = load_u64(value.data());
      answered_digest_ = load_u64(value.data() + 8);
      return absl::OkStatus();
    }
    if (key.size() != 8) return absl::DataLossError("an origin row with a malformed key");
    OriginRow row;
    codec::read<FieldRules>(value, row);
    State state{.store = row.store, .boot = row.boot, .retired = row.retired};
    state.displaced.assign(row.displaced.begin(), row.displaced.end());
    for (AnswerRow& each : row.answers) {
      if (!known(each.answer.refused)) return absl::DataLossError("a stored refusal of a kind this version does not know");
      const uint64_t place = each.sequence - row.retired;
      if (each.sequence < row.retired || place >= kAnswersMax) return absl::DataLossError("an origin row out of bounds");
      while (place >= state.answers.size()) state.answers.push_back();
      each.answer.answered = true;
      state.answers[place] = std::move(each.answer);
    }
    states_[ReplicaId(load_sortable(key.data()))] = std::move(state);
    return absl::OkStatus();
  });
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed origin row: ") + error.what());
}

}  // namespace coordkit::engine
