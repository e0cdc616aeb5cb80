#include "engine/origins.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/fields.h"
#include "base/fixed.h"
#include "base/sums.h"

namespace coordkit::engine {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

void write_answer(pbf_writer& out, Sequence sequence, const StoredAnswer& answer) {
  pbf_writer body(out, 4);
  body.add_uint64(1, sequence.value());
  body.add_fixed64(2, answer.command_hash);
  body.add_uint32(3, static_cast<uint32_t>(answer.stage));
  body.add_bytes(4, answer.bytes.view().data(), answer.bytes.size());
  body.add_uint64(5, answer.index.value());
  if (answer.refused) body.add_uint32(6, static_cast<uint32_t>(*answer.refused));
}

// The only refusals that are kept. Any other was stored by a later version.
bool known(const std::optional<Reason>& refused) {
  return !refused || *refused == Reason::Fenced || *refused == Reason::ResultTooLarge;
}

std::pair<Sequence, StoredAnswer> read_answer(pbf_reader in) {
  Sequence sequence;
  StoredAnswer answer{.answered = true};
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::number(1): sequence = Sequence(in.get_uint64()); break;
      case fields::fixed(2): answer.command_hash = in.get_fixed64(); break;
      case fields::number(3): answer.stage = static_cast<ApplyOutput::Stage>(in.get_uint32()); break;
      case fields::bytes(4): answer.bytes = SharedBytes(fields::view(in)); break;
      case fields::number(5): answer.index = Index(in.get_uint64()); break;
      case fields::number(6): answer.refused = static_cast<Reason>(in.get_uint32()); break;
      default: in.skip();
    }
  }
  return {sequence, std::move(answer)};
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
    dirty_.insert(request.id.origin.replica);
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

  while (place >= state->answers.size()) state->answers.push_back(std::nullopt);
  std::optional<StoredAnswer>& slot = state->answers[place];
  slot = StoredAnswer{.command_hash = command_hash, .index = index};
  dirty_.insert(request.id.origin.replica);
  for (const uint64_t part : {request.id.origin.replica.value(), sequence.value(), command_hash}) {
    admitted_digest_ = hash_mix(admitted_digest_, part);
  }
  return {Verdict::Execute, {}, nullptr};
}

void Origins::store(const RequestId& id, ApplyOutput::Stage stage, const SharedBytes& bytes, Index index) {
  if (!find(id.origin)) return;
  answered_digest_ =
      hash_mix(hash_mix(answered_digest_, id.sequence.value()), hash_bytes(bytes.view(), static_cast<uint64_t>(stage)));
  StoredAnswer* slot = unanswered(id);
  if (!slot) return;
  slot->answered = true;
  slot->stage = stage;
  slot->bytes = bytes;
  slot->index = index;
}

void Origins::store(const RequestId& id, Reason refused, Index index) {
  if (!find(id.origin)) return;
  for (const uint64_t part : {id.sequence.value(), static_cast<uint64_t>(refused)}) {
    answered_digest_ = hash_mix(answered_digest_, part);
  }
  StoredAnswer* slot = unanswered(id);
  if (!slot) return;
  slot->answered = true;
  slot->refused = refused;
  slot->index = index;
}

// The reserved place of a request, or null: it was retired by a later request of the current batch, or long ago.
StoredAnswer* Origins::unanswered(const RequestId& id) {
  State* state = find(id.origin);
  StoredAnswer* reserved = state ? state->at(id.sequence) : nullptr;
  if (!reserved || reserved->answered) return nullptr;
  dirty_.insert(id.origin.replica);
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
  for (const Displaced& former : blank.displaced) {
    if (former.store != origin.store) continue;
    if (origin.boot < former.boot) return;
    if (origin.boot == former.boot) blank.retired = std::max(blank.retired, former.next);
  }
  if (!fresh && it->second.store != origin.store) {
    if (blank.displaced.size() >= kDisplacedMax) blank.displaced.pop_front();
    blank.displaced.push_back({it->second.store, it->second.boot, it->second.next()});
  }
  it->second = std::move(blank);
  it->second.store = origin.store;
  it->second.boot = origin.boot;
  dirty_.insert(origin.replica);
  for (const uint64_t part : {origin.store.value(), origin.boot.value(), it->second.retired.value()}) {
    admitted_digest_ = hash_mix(admitted_digest_, part);
  }
}

bool Origins::registered(const Origin& origin) const { return const_cast<Origins*>(this)->find(origin) != nullptr; }

const StoredAnswer* Origins::find_answer(const RequestId& request) const {
  State* state = const_cast<Origins*>(this)->find(request.origin);
  const StoredAnswer* stored = state ? state->at(request.sequence) : nullptr;
  return stored && stored->answered ? stored : nullptr;
}

Origins::Displaced Origins::read_displaced(protozero::pbf_reader in) {
  Displaced former;
  while (in.next()) {
    switch (in.tag_and_type()) {
      case fields::fixed(1): former.store = StoreId(in.get_fixed64()); break;
      case fields::number(2): former.boot = BootCounter(in.get_uint64()); break;
      case fields::number(3): former.next = Sequence(in.get_uint64()); break;
      default: in.skip();
    }
  }
  return former;
}

void Origins::checkpoint(std::string_view prefix, CheckpointBatch& batch) {
  for (const ReplicaId replica : dirty_) {
    const State& state = states_.at(replica);
    std::string key(prefix);
    append_sortable(key, replica.value());
    std::string value;
    pbf_writer out(value);
    out.add_fixed64(1, state.store.value());
    out.add_uint64(2, state.boot.value());
    out.add_uint64(3, state.retired.value());
    for (const Displaced& former : state.displaced) {
      pbf_writer body(out, 5);
      body.add_fixed64(1, former.store.value());
      body.add_uint64(2, former.boot.value());
      body.add_uint64(3, former.next.value());
    }
    for (size_t i = 0; i < state.answers.size(); ++i) {
      if (state.answers[i]) write_answer(out, state.retired + i, *state.answers[i]);
    }
    batch.put(std::move(key), std::move(value));
  }
  dirty_.clear();
  std::string digest(16, '\0');
  store_u64(digest.data(), admitted_digest_);
  store_u64(digest.data() + 8, answered_digest_);
  batch.put(std::string(prefix), std::move(digest));
}

void Origins::forget_stored() {
  for (const auto& [replica, state] : states_) dirty_.insert(replica);
}

absl::Status Origins::restore(std::string_view prefix, const CheckpointView& view) try {
  states_.clear();
  dirty_.clear();
  admitted_digest_ = answered_digest_ = 0;
  return view.scan(prefix, [&](std::string_view key, std::string_view value) {
    key.remove_prefix(prefix.size());
    if (key.empty() && value.size() == 16) {
      admitted_digest_ = load_u64(value.data());
      answered_digest_ = load_u64(value.data() + 8);
      return absl::OkStatus();
    }
    if (key.size() != 8) return absl::DataLossError("an origin row with a malformed key");
    State state;
    pbf_reader in(value.data(), value.size());
    while (in.next()) {
      switch (in.tag_and_type()) {
        case fields::fixed(1): state.store = StoreId(in.get_fixed64()); break;
        case fields::number(2): state.boot = BootCounter(in.get_uint64()); break;
        case fields::number(3): state.retired = Sequence(in.get_uint64()); break;
        case fields::bytes(5): state.displaced.push_back(read_displaced(in.get_message())); break;
        case fields::bytes(4): {
          auto [sequence, answer] = read_answer(in.get_message());
          if (!known(answer.refused)) return absl::DataLossError("a stored refusal of a kind this version does not know");
          const uint64_t place = sequence - state.retired;
          if (sequence < state.retired || place >= kAnswersMax) return absl::DataLossError("an origin row out of bounds");
          while (place >= state.answers.size()) state.answers.push_back(std::nullopt);
          state.answers[place] = std::move(answer);
          break;
        }
        default: in.skip();
      }
    }
    states_[ReplicaId(load_sortable(key.data()))] = std::move(state);
    return absl::OkStatus();
  });
} catch (const protozero::exception& error) {
  return absl::DataLossError(std::string("malformed origin row: ") + error.what());
}

}  // namespace coordkit::engine
