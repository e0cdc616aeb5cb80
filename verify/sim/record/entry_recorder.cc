#include "sim/record/entry_recorder.h"

#include <algorithm>
#include <utility>

#include "raft/log/entry_codec.h"

namespace coordkit::sim {

void EntryRecorder::writes(uint32_t node, const LogWrite& write) {
  for (const raft::Entry& entry : write.entries) {
    if (seen_.contains({entry.index, entry.term})) continue;
    if (const Timeline::Entry* oldest = entries_.next_to_go()) seen_.erase({oldest->index, oldest->term});
    if (entry.kind == raft::EntryKind::Genesis) {
      const auto genesis = decode_genesis(entry.payload.view());
      if (genesis.ok()) timeline_.token_base = genesis->token_base;
    }
    CommandReader::Description description = commands_.read(entry);
    if (entry.kind == raft::EntryKind::Configuration)
      notes_.add(node, Timeline::Weight::Members, "appends " + description.text);
    seen_[{entry.index, entry.term}] = entries_.add(
        {entry.index, entry.term, node, time_of(world_), std::move(description.text), std::move(description.operations)});
  }
}

void EntryRecorder::applied(const Model& model, Term term) {
  const Index index = model.applied();
  const auto seen = seen_.find({index, term});
  const Timeline::Entry* entry = seen == seen_.end() ? nullptr : entries_.find(seen->second);
  if (entry == nullptr) return;
  const machine::Result* answer = model.outcomes().answered_at(index);
  const bool decided = answer != nullptr && answer->code != machine::ResultCode::Queued;
  for (uint64_t call : entry->operations) operations_.carried(call, index, decided);
}

void EntryRecorder::carries(Index index, uint64_t call) {
  auto& entries = entries_.items();
  const auto found =
      std::find_if(entries.rbegin(), entries.rend(), [index](const auto& entry) { return entry.index == index; });
  if (found != entries.rend()) found->operations.push_back(call);
}

}  // namespace coordkit::sim
