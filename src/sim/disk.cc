#include "sim/disk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sums.h"

namespace coordkit::sim {
namespace {

Duration draw_latency(Random& random, const DiskQuality& quality) {
  if (quality.spike_per_million != 0 && random.below(1'000'000) < quality.spike_per_million) return quality.spike;
  return Duration(random.between(quality.sync_min.count(), quality.sync_max.count()));
}

}  // namespace

uint64_t chain_hash(uint64_t previous, const raft::Entry& entry) {
  uint64_t h = hash_mix(previous, entry.index.value());
  h = hash_mix(h, entry.term.value());
  h = hash_mix(h, static_cast<uint64_t>(entry.kind));
  h = hash_mix(h, entry.content_sum);
  return hash_mix(h, hash_bytes(entry.payload.view()));
}

void LogImage::write(const LogWrite& write, uint64_t reset_chain) {
  if (write.hard_state) {
    hard_state = *write.hard_state;
    if (hard_state.vote) votes[hard_state.term] = hard_state.vote;
  }
  if (write.peers) peers = *write.peers;
  if (write.reset_to) reset(*write.reset_to, reset_chain);
  if (write.truncate_after) {
    COORDKIT_CHECK(*write.truncate_after >= base.index);
    while (last() > *write.truncate_after) records.pop_back();
  }
  for (const raft::Entry& entry : write.entries) {
    COORDKIT_CHECK_MSG(entry.index == last().next(), "a log write must continue the log");
    records.push_back({entry, chain_hash(chain(last()), entry)});
  }
  for (const raft::Entry& entry : write.repairs) {
    if (!contains(entry.index) || !at(entry.index).rotten) continue;
    Record& record = records[entry.index - base.index - 1];
    COORDKIT_CHECK_MSG(entry == record.entry, "a repair with another content");
    record.rotten = false;
  }
}

void LogImage::rot(Index index) {
  if (contains(index)) records[index - base.index - 1].rotten = true;
}

void LogImage::forget(Position through) {
  while (base.index < through.index && !records.empty()) {
    base = records.front().entry.position();
    base_chain = records.front().chain;
    records.pop_front();
  }
}

void LogImage::reset(Position new_base, uint64_t chain) {
  records.clear();
  base = new_base;
  base_chain = chain;
}

absl::StatusOr<RecoveredLog> SimLogStore::open(LogSink& sink) {
  sink_ = &sink;
  boot_ = boot_.next();
  ++epoch_;
  submitted_ = durable_;
  durable_number_ = WriteNumber{};
  RecoveredLog out;
  out.store = store_;
  out.boot = boot_;
  out.hard_state = durable_.hard_state;
  out.base = durable_.base;
  out.peers = durable_.peers;
  for (const LogImage::Record& record : durable_.records) {
    if (record.rotten) {
      out.damaged.push_back({record.entry.index, record.entry.term, record.entry.content_sum});
    } else {
      out.entries.push_back(record.entry);
    }
  }
  return out;
}

void SimLogStore::submit(LogWrite write) {
  submitted_.write(write, write.reset_to ? history_(*write.reset_to) : 0);
  const WriteNumber number = write.number;
  pending_.push_back(std::move(write));
  if (defects_.written_before_durable) sink_->written(number);
  last_sync_ = std::max(last_sync_, world_.now() + draw_latency(random_, quality_));
  world_.schedule(last_sync_, EventKind::LogSynced, node_, epoch_, number.value());
}

void SimLogStore::hurry() {
  if (sink_ == nullptr || pending_.empty()) return;
  last_sync_ = world_.now() + draw_latency(random_, quality_);
  world_.schedule(last_sync_, EventKind::LogSynced, node_, epoch_, pending_.back().number.value());
}

void SimLogStore::persist(const LogWrite& write) {
  durable_.write(write, write.reset_to ? history_(*write.reset_to) : 0);
  durable_number_ = write.number;
}

void SimLogStore::synced(const Event& event) {
  if (sink_ == nullptr || event.epoch != epoch_) return;
  const WriteNumber number{event.item};
  if (number <= durable_number_) return;  // hurried
  while (!pending_.empty() && pending_.front().number <= number) {
    persist(pending_.front());
    pending_.pop_front();
  }
  sink_->written(number);
}

void SimLogStore::rot(Index index) {
  durable_.rot(index);
  submitted_.rot(index);
}

void SimLogStore::read(Index first, Index last, size_t bytes_max) {
  const uint64_t slot = next_read_++;
  reads_.emplace(slot, Read{first, last, bytes_max});
  world_.schedule(world_.now() + draw_latency(random_, quality_), EventKind::LogReadDone, node_, epoch_, slot);
}

void SimLogStore::read_done(const Event& event) {
  auto it = reads_.find(event.item);
  if (it == reads_.end()) return;
  const Read wanted = it->second;
  reads_.erase(it);
  if (sink_ == nullptr || event.epoch != epoch_) return;
  if (!submitted_.contains(wanted.first)) {
    sink_->log_read(wanted.first, absl::OutOfRangeError("these entries are not in the log"));
    return;
  }
  std::vector<raft::Entry> entries;
  size_t bytes = 0;
  for (Index i = wanted.first; i <= wanted.last && submitted_.contains(i); i = i.next()) {
    if (submitted_.at(i).rotten) {
      sink_->log_read(wanted.first, absl::DataLossError("an entry is rotten on this disk"));
      return;
    }
    const raft::Entry& entry = submitted_.at(i).entry;
    if (!entries.empty() && bytes + entry.bytes() > wanted.bytes_max) break;
    bytes += entry.bytes();
    entries.push_back(entry);
  }
  sink_->log_read(wanted.first, std::move(entries));
}

void SimLogStore::compact(Position through) {
  submitted_.forget(through);
  durable_.forget({std::min(through.index, durable_.last()), through.term});
}

void SimLogStore::restore(const Image& image) {
  lose(store_);
  durable_ = submitted_ = image.log;
  set_back_ = true;
  boot_ = image.boot;
}

void SimLogStore::lose(StoreId replacement) {
  store_ = replacement;
  set_back_ = false;
  durable_ = submitted_ = {};
  durable_number_ = {};
  pending_.clear();
  reads_.clear();
}

void SimLogStore::crash() {
  sink_ = nullptr;
  const uint64_t survivors = random_.below(pending_.size() + 1);
  for (uint64_t i = 0; i < survivors; ++i) persist(pending_[i]);
  pending_.clear();
  reads_.clear();
  if (defects_.forgets_vote) durable_.hard_state.vote = ReplicaId();
  if (defects_.forgets_tail && durable_.records.size() > 1) durable_.records.pop_back();
  submitted_ = durable_;
  last_sync_ = TrueTime{};
}

absl::StatusOr<Position> SimStateStore::open(StateSink& sink) {
  sink_ = &sink;
  ++epoch_;
  rows_.unstage();
  return rows_.applied();
}

void SimStateStore::commit(CheckpointBatch batch) { start(std::move(batch)); }
void SimStateStore::stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) {
  start(StageRows{ticket, std::move(range), std::move(rows)});
}
void SimStateStore::install(Position applied, uint64_t digest) { start(InstallStaged{applied, digest}); }
void SimStateStore::unstage() { start(Unstage{}); }

void SimStateStore::start(StateOperation operation) {
  if (sink_ == nullptr) return;
  const bool busy = std::ranges::any_of(pending_, [](const Pending& one) { return changes_state(one.operation); });
  COORDKIT_CHECK_MSG(!changes_state(operation) || !busy, "at most one commit or install is under way");
  pending_.push_back({++started_, std::move(operation)});
  last_sync_ = std::max(last_sync_, world_.now() + 4 * draw_latency(random_, quality_));
  world_.schedule(last_sync_, EventKind::StateSynced, node_, epoch_, started_);
}

void SimStateStore::hurry() {
  if (sink_ == nullptr || pending_.empty()) return;
  last_sync_ = world_.now() + 4 * draw_latency(random_, quality_);
  world_.schedule(last_sync_, EventKind::StateSynced, node_, epoch_, started_);
}

void SimStateStore::synced(const Event& event) {
  if (sink_ == nullptr || event.epoch != epoch_) return;
  while (!pending_.empty() && pending_.front().number <= event.item) {
    const StateReport report = rows_.perform(std::move(pending_.front().operation));
    pending_.pop_front();
    if (report) report(*sink_);
  }
}

void SimStateStore::crash() {
  sink_ = nullptr;
  for (Pending& pending : pending_) {
    if (!random_.chance(0.5)) break;
    rows_.perform(std::move(pending.operation));
  }
  pending_.clear();
  rows_.unstage();
  last_sync_ = TrueTime{};
}

absl::StatusOr<std::unique_ptr<CheckpointView>> SimStateStore::view() { return rows_.view(); }

}  // namespace coordkit::sim
