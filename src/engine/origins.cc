#include "engine/origins.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/fixed.h"
#include "base/sums.h"

namespace coordkit::engine {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;
using protozero::tag_and_type;

void write_answer(pbf_writer& out, Sequence sequence, const StoredAnswer& answer) {
  pbf_writer body(out, 4);
  body.add_uint64(1, sequence.value());
  body.add_fixed64(2, answer.command_hash);
  body.add_uint32(3, static_cast<uint32_t>(answer.stage));
  if (answer.refused) body.add_uint32(4, static_cast<uint32_t>(*answer.refused));
  body.add_bytes(5, answer.bytes);
  body.add_uint64(6, answer.index.value());
}

std::pair<Sequence, StoredAnswer> read_answer(pbf_reader in) {
  Sequence sequence;
  StoredAnswer answer{.answered = true};
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(1, pbf_wire_type::varint): sequence = Sequence(in.get_uint64()); break;
      case tag_and_type(2, pbf_wire_type::fixed64): answer.command_hash = in.get_fixed64(); break;
      case tag_and_type(3, pbf_wire_type::varint): answer.stage = static_cast<ApplyOutput::Stage>(in.get_uint32()); break;
      case tag_and_type(4, pbf_wire_type::varint): answer.refused = static_cast<Reason>(in.get_uint32()); break;
      case tag_and_type(5, pbf_wire_type::length_delimited): answer.bytes = in.get_bytes(); break;
      case tag_and_type(6, pbf_wire_type::varint): answer.index = Index(in.get_uint64()); break;
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

void Origins::touch(ReplicaId replica, uint64_t what) {
  dirty_.insert(replica);
  digest_ = hash_mix(hash_mix(digest_, replica.value()), what);
}

Origins::Admission Origins::admit(const Request& request, uint64_t command_hash, Index index) {
  State* state = find(request.id.origin);
  if (!state) return {Verdict::Refuse, Reason::UnknownOrigin, nullptr};
  if (request.lowest_unanswered > state->retired) {
    retire(*state, request.lowest_unanswered);
    dirty_.insert(request.id.origin.replica);
  }
  const Sequence sequence = request.id.sequence;
  if (sequence < state->retired) return {Verdict::Refuse, Reason::SequenceRetired, nullptr};

  const uint64_t place = sequence - state->retired;
  if (place >= kAnswersMax) return {Verdict::Refuse, Reason::TooManyInFlight, nullptr};  // no engine of ours gets here
  if (place >= state->answers.size()) state->answers.resize(place + 1);
  std::optional<StoredAnswer>& slot = state->answers[place];
  if (slot && slot->command_hash != command_hash) return {Verdict::Refuse, Reason::SequenceReused, nullptr};
  if (slot) return {slot->answered ? Verdict::Repeat : Verdict::Executing, {}, &*slot};

  slot = StoredAnswer{.command_hash = command_hash, .index = index};
  touch(request.id.origin.replica, command_hash ^ sequence.value());
  if (state->bytes <= kAnswerBytesMax) return {Verdict::Execute, {}, nullptr};
  slot->answered = true;  // refused for good: a repeat must not execute later
  slot->refused = Reason::TooManyInFlight;
  return {Verdict::Repeat, {}, &*slot};
}

void Origins::store(const RequestId& id, ApplyOutput::Stage stage, std::string_view bytes, Index index) {
  State* state = find(id.origin);
  if (!state || id.sequence < state->retired) return;
  const uint64_t place = id.sequence - state->retired;
  if (place >= state->answers.size()) return;
  std::optional<StoredAnswer>& slot = state->answers[place];
  if (!slot || slot->answered) return;
  slot->answered = true;
  slot->stage = stage;
  slot->bytes = bytes;
  slot->index = index;
  state->bytes += bytes.size();
  touch(id.origin.replica, hash_bytes(bytes, static_cast<uint64_t>(stage)));
}

void Origins::retire(State& state, Sequence lowest) {
  while (state.retired < lowest && !state.answers.empty()) {
    if (state.answers.front()) state.bytes -= state.answers.front()->bytes.size();
    state.answers.pop_front();
    state.retired = state.retired.next();
  }
  if (state.retired < lowest) state.retired = lowest;
}

void Origins::enroll(const Origin& origin) {
  State& state = states_[origin.replica];
  if (state.store == origin.store && origin.boot <= state.boot) return;
  state = State{.store = origin.store, .boot = origin.boot};
  touch(origin.replica, origin.boot.value());
}

bool Origins::registered(const Origin& origin) const { return const_cast<Origins*>(this)->find(origin) != nullptr; }

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
    for (size_t i = 0; i < state.answers.size(); ++i) {
      if (state.answers[i]) write_answer(out, state.retired + i, *state.answers[i]);
    }
    batch.put(std::move(key), std::move(value));
  }
  dirty_.clear();
  std::string digest(8, '\0');
  store_u64(digest.data(), digest_);
  batch.put(std::string(prefix), std::move(digest));
}

absl::Status Origins::restore(std::string_view prefix, const CheckpointView& view) try {
  states_.clear();
  dirty_.clear();
  digest_ = 0;
  return view.scan(prefix, [&](std::string_view key, std::string_view value) {
    key.remove_prefix(prefix.size());
    if (key.empty() && value.size() == 8) {
      digest_ = load_u64(value.data());
      return absl::OkStatus();
    }
    if (key.size() != 8) return absl::DataLossError("an origin row with a malformed key");
    State state;
    pbf_reader in(value.data(), value.size());
    while (in.next()) {
      switch (in.tag_and_type()) {
        case tag_and_type(1, pbf_wire_type::fixed64): state.store = StoreId(in.get_fixed64()); break;
        case tag_and_type(2, pbf_wire_type::varint): state.boot = BootCounter(in.get_uint64()); break;
        case tag_and_type(3, pbf_wire_type::varint): state.retired = Sequence(in.get_uint64()); break;
        case tag_and_type(4, pbf_wire_type::length_delimited): {
          auto [sequence, answer] = read_answer(in.get_message());
          const uint64_t place = sequence - state.retired;
          if (sequence < state.retired || place >= kAnswersMax) return absl::DataLossError("an origin row out of bounds");
          if (place >= state.answers.size()) state.answers.resize(place + 1);
          state.bytes += answer.bytes.size();
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
