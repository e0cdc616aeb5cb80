#include "sim/world/log_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "sim/oracle/recovery_check.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

// Whether something was found that was never written: different contents of a known entry.
bool contradicts(const LogImage& log, const log::OpenedLog& found) {
  return std::ranges::any_of(found.entries, [&](const raft::Entry& entry) {
    return log.contains(entry.index) && log.at(entry.index).entry.term == entry.term && log.at(entry.index).entry != entry;
  });
}

}  // namespace

absl::StatusOr<RecoveredLog> LogDisk::open() {
  boot_ = boot_.next();
  absl::StatusOr<log::OpenedLog> found = bytes_.open(store_);
  const bool died = bytes_.files().died();
  bytes_.files().die_after(std::nullopt);
  if (died) {
    end_process(CrashKind::Power, {});
    return absl::UnavailableError("the power went while the log was opened");
  }
  if (!found.ok()) {
    if (damage_.explains_errors()) return found.status();
    throw Violation("INV_S01", fmt::format("n{}: a log does not open: {}", node_ + 1, found.status().ToString()));
  }
  const Index last = durable_.last();
  const raft::HardState hard_state = durable_.hard_state;
  if (absl::Status accepted = accept(*found); !accepted.ok()) return accepted;
  found_ = {.unsynced = durable_.last() != last || durable_.hard_state != hard_state, .holes = !found->damaged.empty()};
  doubtful_.clear();
  compacted_ = durable_.base;
  plant_defects(*found);
  return RecoveredLog{.store = store_,
                      .boot = boot_,
                      .hard_state = found->hard_state,
                      .base = found->base,
                      .entries = std::move(found->entries),
                      .damaged = std::move(found->damaged),
                      .peers = std::move(found->peers),
                      .had_log = had_log_};
}

absl::Status LogDisk::accept(const log::OpenedLog& found) {
  switch (check_recovery(durable_, doubtful_, {compacted_.index, damage_.intact()}, history_, found)) {
    case Recovered::Exactly: damage_.found_whole(); return absl::OkStatus();
    case Recovered::WithHoles:
      if (!damage_.intact()) return absl::OkStatus();
      break;
    case Recovered::Otherwise:
      if (damage_.lost() && !contradicts(durable_, found)) return accept_loss(found);
      break;
  }
  throw Violation("INV_S01", fmt::format("n{}: recovery finds ({}, {}] with {} holes, term {}; the disk was told ({}, {}], "
                                         "term {}, and {} more writes",
                                         node_ + 1, found.base.index.value(), bytes_.state().last.index.value(),
                                         found.damaged.size(), found.hard_state.term.value(), durable_.base.index.value(),
                                         durable_.last().value(), durable_.hard_state.term.value(), doubtful_.size()));
}

absl::Status LogDisk::accept_loss(const log::OpenedLog& found) {
  if (found.damaged.empty()) {
    forget(found);
    return absl::OkStatus();
  }
  bytes_.end_process({});
  return absl::DataLossError("the log is shorter than what this disk had acknowledged");
}

// Nothing on it shows that it ever held more.
void LogDisk::forget(const log::OpenedLog& found) {
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
  damage_.loss_accepted();
  set_back_ = touched_ = true;
}

void LogDisk::plant_defects(log::OpenedLog& found) {
  if (boot_.value() == 1) return;
  if (defects_.forgets_vote) found.hard_state.vote = durable_.hard_state.vote = ReplicaId();
  if (!defects_.forgets_tail || durable_.records.size() < 2 || found.entries.empty()) return;
  durable_.records.pop_back();
  found.entries.pop_back();
  const LogWrite cut{.truncate_after = durable_.last()};
  COORDKIT_CHECK(bytes_.write({&cut, 1}).ok());
}

absl::Status LogDisk::write(std::span<const LogWrite> batch) {
  if (absl::Status status = bytes_.write(batch); !status.ok()) return status;
  for (const LogWrite& write : batch) durable_.write(write, reset_chain(write));
  had_log_ = had_log_ || (durable_.last() && !bytes_.files().faults().lying_syncs);
  return absl::OkStatus();
}

absl::Status LogDisk::persisted(TrueTime now) {
  durable_.forget(compacted_);
  bytes_.forget_passing(durable_.base.index);
  return bytes_.prepare(now);
}

absl::Status LogDisk::compact(Position through) {
  if (absl::Status status = bytes_.compact(through); !status.ok()) return status;
  compacted_ = through;
  return absl::OkStatus();
}

// INV_S04: what is read is what was written, or an error that has a cause.
absl::StatusOr<std::vector<raft::Entry>> LogDisk::read(Index first, Index last, size_t bytes_max) {
  absl::StatusOr<std::vector<raft::Entry>> entries = bytes_.read(first, last, bytes_max);
  if (entries.ok()) {
    for (const raft::Entry& entry : *entries) {
      if (!durable_.contains(entry.index) || durable_.at(entry.index).entry == entry) continue;
      throw Violation("INV_S04", fmt::format("n{} reads another entry {} than it wrote", node_ + 1, entry.index.value()));
    }
  } else if (!damage_.explains_errors() && !rots() && durable_.contains(first) && first > compacted_.index) {
    throw Violation("INV_S04",
                    fmt::format("n{} cannot read entry {}: {}", node_ + 1, first.value(), entries.status().ToString()));
  }
  return entries;
}

void LogDisk::end_process(CrashKind kind, std::vector<LogWrite> unwritten) {
  bytes_.pass();
  bytes_.end_process(unwritten);
  std::move(unwritten.begin(), unwritten.end(), std::back_inserter(doubtful_));
  if (kind == CrashKind::Power) bytes_.lose_power();
}

LogDisk::Image LogDisk::image() const {
  return {bytes_.files().image(), durable_, doubtful_, compacted_, store_, boot_, had_log_, bytes_.marked()};
}

// Error rates belong to the machine and stay; rot is copied along unnoticed.
void LogDisk::restore(const Image& image) {
  bytes_.restore(image.files, image.marked);
  durable_ = image.log;
  doubtful_ = image.doubtful;
  compacted_ = image.compacted;
  store_ = image.store;
  boot_ = image.boot;
  had_log_ = image.had_log;
  set_back_ = touched_ = true;
  damage_.replaced();
}

void LogDisk::lose(StoreId replacement) {
  restore({.store = replacement, .boot = boot_});
  set_back_ = touched_ = false;
}

void LogDisk::stand_again() {
  set_back_ = false;
  damage_.nothing_missing();
}

}  // namespace coordkit::sim
