#include "sim/world/disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/oracle/violation.h"
#include "sim/world/draw.h"

namespace coordkit::sim {
namespace {

constexpr auto kSpaceRetry = std::chrono::milliseconds(100);

}  // namespace

Duration DiskQuality::draw(Random& random) const {
  if (spike_per_million != 0 && random.below(1'000'000) < spike_per_million) return spike;
  return sim::draw(random, sync_min, sync_max);
}

absl::StatusOr<RecoveredLog> SimLogStore::open(LogSink& sink) {
  ++epoch_;
  absl::StatusOr<RecoveredLog> recovered = disk_.open();
  if (!recovered.ok()) return recovered;
  submitted_ = disk_.durable();
  writes_.begin();
  sink_ = &sink;
  return recovered;
}

void SimLogStore::submit(LogWrite write) {
  submitted_.write(write, disk_.reset_chain(write));
  if (failed_) return;
  const WriteNumber number = write.number;
  const TrueTime due = writes_.add(std::move(write), world_.now() + quality_.draw(random_));
  if (disk_.defects().written_before_durable) sink_->written(number);
  schedule(due, EventKind::LogSynced, number.value());
}

void SimLogStore::hurry() {
  if (sink_ == nullptr || !writes_.pending()) return;
  writes_.hurry(world_.now() + quality_.draw(random_));
  schedule(writes_.last_due(), EventKind::LogSynced, writes_.newest().value());
}

// Everything due goes in one batch with one sync, behind what waits for space.
void SimLogStore::synced(const Event& event) {
  if (sink_ == nullptr || failed_ || event.epoch != epoch_) return;
  if (WriteNumber(event.item) <= writes_.durable()) return;
  if (!writes_.take_due(world_.now()).empty()) write_batch();
}

void SimLogStore::write_batch() {
  const std::vector<LogWrite>& batch = writes_.batch();
  const absl::Status status = disk_.write(batch);
  if (disk_.bytes().may_retry(status)) {
    absl::IsResourceExhausted(status) ? report(LogSpace::Full) : report_wait(status);
    try_compact();
    return schedule(world_.now() + kSpaceRetry, EventKind::LogSynced, batch.back().number.value());
  }
  if (!status.ok()) return fail(status);
  report_wait(absl::OkStatus());
  writes_.batch_written();
  persisted();
  if (failed_) return;
  sink_->written(writes_.durable());
  try_compact();
}

void SimLogStore::persisted() {
  report_spare(disk_.bytes().look_at_spares());
  if (absl::Status status = disk_.persisted(world_.now()); !status.ok()) return fail(std::move(status));
  report_spare(disk_.bytes().look_at_spares());
  if (!writes_.batch_waits()) report(disk_.bytes().space());
  const TrueTime idle_at = world_.now() + disk_.bytes().options().idle_before_mark;
  if (mark_at_) {
    mark_at_ = idle_at;
  } else if (disk_.bytes().progress_due()) {
    mark_later(idle_at);
  }
}

void SimLogStore::mark_later(TrueTime at) {
  mark_at_ = at;
  schedule(at, EventKind::LogIdle, 0);
}

void SimLogStore::idle(const Event& event) {
  if (sink_ == nullptr || failed_ || event.epoch != epoch_) return;
  const TrueTime idle_at = *std::exchange(mark_at_, std::nullopt);
  if (!disk_.bytes().progress_due()) return;
  if (world_.now() < idle_at || writes_.batch_waits()) return mark_later(std::max(idle_at, world_.now() + kSpaceRetry));
  const absl::Status status = disk_.write_mark();
  if (status.ok()) return persisted();
  if (!disk_.bytes().may_retry(status)) return fail(status);
  mark_later(world_.now() + kSpaceRetry);
}

void SimLogStore::report(LogSpace space) {
  if (std::exchange(reported_.space, space) != space) sink_->log_space(space);
}

void SimLogStore::report_wait(absl::Status why) {
  if (why == reported_.waits) return;
  reported_.waits = why;
  sink_->log_waits(std::move(why));
}

void SimLogStore::report_spare(const absl::Status& why) {
  if (why == reported_.spare_fails) return;
  reported_.spare_fails = why;
  sink_->log_spare_fails(why);
}

// INV_S10: no error of a file that can be made again ends the log.
void SimLogStore::fail(absl::Status why) {
  if (!disk_.damage().explains_errors()) {
    throw Violation("INV_S10", fmt::format("n{}: the log of a sound disk has failed: {}", node_ + 1, why.ToString()));
  }
  failed_ = true;
  sink_->log_failed(std::move(why));
}

void SimLogStore::compact(Position through) {
  submitted_.forget(through);
  compaction_ = {through, writes_.newest()};
  try_compact();
}

// Behind the earlier writes, unless these wait for space: then it goes first, since it may free some.
void SimLogStore::try_compact() {
  if (!compaction_ || failed_) return;
  const bool stalled = writes_.batch_waits();
  if (!stalled && writes_.durable() < compaction_->after) return;
  if (absl::Status status = disk_.compact(compaction_->through); !status.ok()) return fail(std::move(status));
  compaction_.reset();
  if (stalled && disk_.write_mark().ok()) persisted();
}

void SimLogStore::read(Index first, Index last, size_t bytes_max) {
  const uint64_t slot = next_read_++;
  reads_.emplace(slot, Read{first, last, bytes_max, writes_.newest()});
  schedule(std::max(world_.now(), writes_.last_due()) + quality_.draw(random_), EventKind::LogReadDone, slot);
}

void SimLogStore::read_done(const Event& event) {
  auto it = reads_.find(event.item);
  if (it == reads_.end() || event.epoch != epoch_) return;
  if (sink_ == nullptr || failed_) return;
  const Read wanted = it->second;
  if (writes_.durable() < wanted.after) return schedule(world_.now() + kSpaceRetry, EventKind::LogReadDone, event.item);
  reads_.erase(it);
  sink_->log_read(wanted.first, disk_.read(wanted.first, wanted.last, wanted.bytes_max));
}

void SimLogStore::crash(CrashKind kind) {
  sink_ = nullptr;
  disk_.end_process(kind, writes_.end());
  reads_.clear();
  compaction_.reset();
  mark_at_.reset();
  reported_ = {};
  failed_ = false;
  submitted_ = disk_.durable();
}

void SimLogStore::restore(const LogDisk::Image& image) {
  disk_.restore(image);
  submitted_ = disk_.durable();
  writes_.begin();
}

void SimLogStore::lose(StoreId replacement) {
  disk_.lose(replacement);
  submitted_ = disk_.durable();
  writes_.begin();
}

// Chooses among entries that the process still has as they are on disk.
bool SimLogStore::rot_passing(Index applied) {
  const LogImage& durable = disk_.durable();
  const Index last = std::min(applied, durable.last());
  const Index base = std::max(disk_.compacted(), durable.base.index);
  if (sink_ == nullptr || failed_ || last <= base) return false;
  const Index index = base + 1 + random_.below(last - base);
  const bool stays = submitted_.contains(index) && submitted_.chain(index) == durable.chain(index);
  return stays && disk_.bytes().rot_passing(index);
}

void SimLogStore::scrub(Index from, std::function<void(LogScrub)> done) {
  constexpr size_t kScrubBytes = 64 << 10;
  if (sink_ == nullptr || failed_) return done({});
  done(disk_.bytes().scrub(from, kScrubBytes));
  if (!disk_.bytes().failure().ok()) fail(disk_.bytes().failure());
}

}  // namespace coordkit::sim
