#include "sim/disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/sums.h"
#include "sim/draw.h"
#include "sim/recovery_check.h"
#include "sim/violation.h"

namespace coordkit::sim {
namespace {

constexpr auto kSpaceRetry = std::chrono::milliseconds(100);

// Whether something was found that was never written: different contents of a known entry.
bool contradicts(const LogImage& log, const log::OpenedLog& found) {
  return std::ranges::any_of(found.entries, [&](const raft::Entry& entry) {
    return log.contains(entry.index) && log.at(entry.index).entry.term == entry.term && log.at(entry.index).entry != entry;
  });
}

}  // namespace

Duration DiskQuality::draw(Random& random) const {
  if (spike_per_million != 0 && random.below(1'000'000) < spike_per_million) return spike;
  return sim::draw(random, sync_min, sync_max);
}

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
  boot_ = boot_.next();
  ++epoch_;
  absl::StatusOr<log::OpenedLog> found = bytes_.open(store_);
  const bool died = bytes_.files().died();
  bytes_.files().die_after(std::nullopt);
  if (died) {
    crash(CrashKind::Power);
    return absl::UnavailableError("the power went while the log was opened");
  }
  if (!found.ok()) {
    if (intact() && bytes_.files().faults() == FileFaults{}) {
      throw Violation("INV_S01", fmt::format("n{}: a log does not open: {}", node_ + 1, found.status().ToString()));
    }
    return found.status();
  }
  const Index last = durable_.last();
  const raft::HardState hard_state = durable_.hard_state;
  switch (check_recovery(durable_, doubtful_, {compacted_.index, intact()}, history_, *found)) {
    case Recovered::Exactly:
      rotten_ = false;
      lost_ = lost_ && bytes_.files().holds_ghosts();
      break;
    case Recovered::WithHoles:
      if (!intact()) break;
      [[fallthrough]];
    case Recovered::Otherwise:
      if (lost_ && !contradicts(durable_, *found)) {
        if (found->damaged.empty()) {
          forget(*found);
          break;
        }
        bytes_.end_process({});
        return absl::DataLossError("the log is shorter than what this disk had acknowledged");
      }
      throw Violation("INV_S01", fmt::format("n{}: recovery finds ({}, {}] with {} holes, term {}; the disk was told ({}, {}], "
                                             "term {}, and {} more writes",
                                             node_ + 1, found->base.index.value(), bytes_.state().last.index.value(),
                                             found->damaged.size(), found->hard_state.term.value(), durable_.base.index.value(),
                                             durable_.last().value(), durable_.hard_state.term.value(), doubtful_.size()));
  }
  found_holes_ = !found->damaged.empty();
  found_unsynced_ = durable_.last() != last || durable_.hard_state != hard_state;
  doubtful_.clear();
  compacted_ = durable_.base;
  plant_defects(*found);
  submitted_ = durable_;
  durable_number_ = WriteNumber{};
  sink_ = &sink;
  return RecoveredLog{.store = store_,
                      .boot = boot_,
                      .hard_state = found->hard_state,
                      .base = found->base,
                      .entries = std::move(found->entries),
                      .damaged = std::move(found->damaged),
                      .peers = std::move(found->peers),
                      .had_log = had_log_};
}

// Nothing on it shows that it ever held more.
void SimLogStore::forget(const log::OpenedLog& found) {
  LogImage now{.hard_state = found.hard_state, .base = found.base, .peers = found.peers};
  now.votes = {durable_.votes.begin(), durable_.votes.lower_bound(now.hard_state.term)};
  if (now.hard_state.vote) now.votes[now.hard_state.term] = now.hard_state.vote;
  if (now.base.index) {
    const bool known = now.base.index >= durable_.base.index && now.base.index <= durable_.last();
    now.base_chain = known ? durable_.chain(now.base.index) : history_(now.base);
  }
  for (const raft::Entry& entry : found.entries) now.records.push_back({entry, chain_hash(now.chain(now.last()), entry)});
  if (forgets_) forgets_({{}, now, {}, now.base, store_, boot_});
  durable_ = std::move(now);
  compacted_ = durable_.base;
  rotten_ = false;  // what is left is whole
  set_back_ = touched_ = true;
}

bool SimLogStore::lose_files(Files which) {
  SimFileSystem::Image files = bytes_.files().image();
  std::vector<std::string> segments;
  for (const auto& [name, bytes] : files) {
    if (name.ends_with(".seg")) segments.push_back(name);
  }
  if (segments.empty()) return false;
  const uint64_t chosen = which == Files::Newest ? segments.size() - 1 : random_.below(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    if (which == Files::All || i == chosen) files.erase(segments[i]);
  }
  bytes_.files().restore(files);
  return rotten_ = lost_ = true;
}

void SimLogStore::stand_again() {
  set_back_ = false;
  lost_ = bytes_.files().faults().lying_syncs || bytes_.files().holds_ghosts();
}

void SimLogStore::plant_defects(log::OpenedLog& found) {
  if (boot_.value() == 1) return;
  if (defects_.forgets_vote) found.hard_state.vote = durable_.hard_state.vote = ReplicaId();
  if (!defects_.forgets_tail || durable_.records.size() < 2 || found.entries.empty()) return;
  durable_.records.pop_back();
  found.entries.pop_back();
  const LogWrite cut{.truncate_after = durable_.last()};
  COORDKIT_CHECK(bytes_.write({&cut, 1}).ok());
}

void SimLogStore::schedule(TrueTime at, EventKind kind, uint64_t item) { world_.schedule(at, kind, node_, epoch_, item); }

void SimLogStore::submit(LogWrite write) {
  submitted_.write(write, write.reset_to ? history_(*write.reset_to) : 0);
  if (failed_) return;
  const WriteNumber number = write.number;
  last_sync_ = std::max(last_sync_, world_.now() + quality_.draw(random_));
  pending_.push_back({std::move(write), last_sync_});
  if (defects_.written_before_durable) sink_->written(number);
  schedule(last_sync_, EventKind::LogSynced, number.value());
}

void SimLogStore::hurry() {
  if (sink_ == nullptr || pending_.empty()) return;
  last_sync_ = world_.now() + quality_.draw(random_);
  for (Pending& pending : pending_) pending.due = std::min(pending.due, last_sync_);
  schedule(last_sync_, EventKind::LogSynced, pending_.back().write.number.value());
}

// Everything due goes in one batch with one sync, behind what waits for space.
void SimLogStore::synced(const Event& event) {
  if (sink_ == nullptr || failed_ || event.epoch != epoch_) return;
  if (WriteNumber(event.item) <= durable_number_) return;
  while (!pending_.empty() && pending_.front().due <= world_.now()) {
    batch_.push_back(std::move(pending_.front().write));
    pending_.pop_front();
  }
  if (!batch_.empty()) write_batch();
}

void SimLogStore::write_batch() {
  const absl::Status status = bytes_.write(batch_);
  if (!status.ok() && bytes_.waits_for_space(status)) {
    report(LogSpace::Full);
    try_compact();
    return schedule(world_.now() + kSpaceRetry, EventKind::LogSynced, batch_.back().number.value());
  }
  if (!status.ok()) return fail(status);
  for (const LogWrite& write : batch_) durable_.write(write, write.reset_to ? history_(*write.reset_to) : 0);
  durable_number_ = batch_.back().number;
  had_log_ = had_log_ || (durable_.last() && !bytes_.files().faults().lying_syncs);
  batch_.clear();
  persisted();
  if (failed_) return;
  sink_->written(durable_number_);
  try_compact();
}

// After each sync, of a batch or of a mark: what the log was told to forget is gone for good.
void SimLogStore::persisted() {
  durable_.forget(compacted_);
  bytes_.forget_passing(durable_.base.index);
  if (absl::Status status = bytes_.prepare(); !status.ok()) return fail(status);
  if (batch_.empty()) report(bytes_.space());
  mark_at_ = world_.now() + bytes_.options().idle_before_mark;
  if (mark_scheduled_ || !bytes_.progress_due()) return;
  mark_scheduled_ = true;
  schedule(mark_at_, EventKind::LogIdle, 0);
}

void SimLogStore::idle(const Event& event) {
  if (sink_ == nullptr || failed_ || event.epoch != epoch_) return;
  mark_scheduled_ = false;
  if (!bytes_.progress_due()) return;
  if (world_.now() < mark_at_ || !batch_.empty()) {
    mark_scheduled_ = true;
    return schedule(std::max(mark_at_, world_.now() + kSpaceRetry), EventKind::LogIdle, 0);
  }
  const absl::Status status = bytes_.write_mark();
  if (status.ok()) return persisted();
  if (!bytes_.waits_for_space(status)) return fail(status);
  mark_scheduled_ = true;
  schedule(world_.now() + kSpaceRetry, EventKind::LogIdle, 0);
}

void SimLogStore::report(LogSpace space) {
  if (std::exchange(space_, space) != space) sink_->log_space(space);
}

void SimLogStore::fail(absl::Status why) {
  failed_ = true;
  sink_->log_failed(std::move(why));
}

void SimLogStore::compact(Position through) {
  submitted_.forget(through);
  compact_wanted_ = through;
  compact_after_ = submitted_number();
  try_compact();
}

// Behind the earlier writes, unless these wait for space: then it goes first, since it may free some.
void SimLogStore::try_compact() {
  if (!compact_wanted_ || failed_) return;
  const bool stalled = space_ == LogSpace::Full;
  if (!stalled && durable_number_ < compact_after_) return;
  if (absl::Status status = bytes_.compact(*compact_wanted_); !status.ok()) return fail(status);
  compacted_ = *compact_wanted_;
  compact_wanted_.reset();
  if (stalled) {
    if (const absl::Status status = bytes_.write_mark(); status.ok()) return persisted();
  }
}

WriteNumber SimLogStore::submitted_number() const {
  if (!pending_.empty()) return pending_.back().write.number;
  return batch_.empty() ? durable_number_ : batch_.back().number;
}

void SimLogStore::read(Index first, Index last, size_t bytes_max) {
  const uint64_t slot = next_read_++;
  reads_.emplace(slot, Read{first, last, bytes_max, submitted_number()});
  schedule(std::max(world_.now(), last_sync_) + quality_.draw(random_), EventKind::LogReadDone, slot);
}

void SimLogStore::read_done(const Event& event) {
  auto it = reads_.find(event.item);
  if (it == reads_.end() || event.epoch != epoch_) return;
  if (sink_ == nullptr || failed_) return;
  const Read wanted = it->second;
  if (durable_number_ < wanted.after) return schedule(world_.now() + kSpaceRetry, EventKind::LogReadDone, event.item);
  reads_.erase(it);
  answer(wanted);
}

// INV_S04: what is read is what was written, or an error that has a cause.
void SimLogStore::answer(const Read& wanted) {
  absl::StatusOr<std::vector<raft::Entry>> entries = bytes_.read(wanted.first, wanted.last, wanted.bytes_max);
  if (entries.ok()) {
    for (const raft::Entry& entry : *entries) {
      if (!durable_.contains(entry.index) || durable_.at(entry.index).entry == entry) continue;
      throw Violation("INV_S04", fmt::format("n{} reads another entry {} than it wrote", node_ + 1, entry.index.value()));
    }
  } else if (intact() && !rots() && bytes_.files().faults() == FileFaults{} && durable_.contains(wanted.first) &&
             wanted.first > compacted_.index) {
    throw Violation("INV_S04",
                    fmt::format("n{} cannot read entry {}: {}", node_ + 1, wanted.first.value(), entries.status().ToString()));
  }
  sink_->log_read(wanted.first, std::move(entries));
}

void SimLogStore::crash(CrashKind kind) {
  sink_ = nullptr;
  bytes_.pass();
  const size_t before = doubtful_.size();
  std::move(batch_.begin(), batch_.end(), std::back_inserter(doubtful_));
  for (Pending& pending : pending_) doubtful_.push_back(std::move(pending.write));
  bytes_.end_process(std::span(doubtful_).subspan(before));
  if (kind == CrashKind::Power) bytes_.lose_power();
  batch_.clear();
  pending_.clear();
  reads_.clear();
  compact_wanted_.reset();
  space_ = LogSpace::Ample;
  failed_ = mark_scheduled_ = false;
  submitted_ = durable_;
  last_sync_ = TrueTime{};
}

void SimLogStore::lose(StoreId replacement) {
  restore({.store = replacement, .boot = boot_});
  set_back_ = touched_ = false;
}

SimLogStore::Image SimLogStore::image() const {
  return {bytes_.files().image(), durable_, doubtful_, compacted_, store_, boot_, had_log_, bytes_.marked()};
}

// Error rates belong to the machine and stay; rot is copied along unnoticed.
void SimLogStore::restore(const Image& image) {
  bytes_.restore(image.files, image.marked);
  durable_ = submitted_ = image.log;
  doubtful_ = image.doubtful;
  compacted_ = image.compacted;
  store_ = image.store;
  boot_ = image.boot;
  had_log_ = image.had_log;
  set_back_ = touched_ = true;
  durable_number_ = {};
  rotten_ = false;
  lost_ = bytes_.files().faults().lying_syncs;
}

void SimLogStore::set_faults(const FileFaults& faults) {
  bytes_.files().set_faults(faults);
  lost_ = lost_ || faults.lying_syncs;
}

bool SimLogStore::rot() {
  const std::optional<LogOnDisk::Place> place = bytes_.place_below_mark();
  if (!place || !bytes_.files().rot(place->name, place->page)) return false;
  rotten_ = true;
  return true;
}

bool SimLogStore::misdirect() {
  const std::optional<LogOnDisk::Place> place = bytes_.place_below_mark();
  if (!place) return false;
  bytes_.files().misdirect_next_write(place->name, place->page);
  rotten_ = lost_ = true;
  return true;
}

void SimLogStore::rot(Index index) {
  rotten_ = true;
  bytes_.rot(store_, index);
}

bool SimLogStore::rot_passing(Index applied) {
  const Index last = std::min(applied, durable_.last());
  const Index base = std::max(compacted_.index, durable_.base.index);
  if (sink_ == nullptr || failed_ || last <= base) return false;
  const Index index = base + 1 + random_.below(last - base);
  const bool stays = submitted_.contains(index) && submitted_.chain(index) == durable_.chain(index);
  return stays && bytes_.rot_passing(index);
}

void SimLogStore::scrub(Index from, std::function<void(LogScrub)> done) {
  constexpr size_t kScrubBytes = 64 << 10;
  done(sink_ == nullptr || failed_ ? LogScrub() : bytes_.scrub(from, kScrubBytes));
}

}  // namespace coordkit::sim
