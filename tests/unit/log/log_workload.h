// Random work on a log, with its model beside it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "base/random.h"
#include "coordkit/testing/entries.h"
#include "tests/unit/log/log_model.h"
#include "tests/unit/log/recording_fs.h"

namespace coordkit::testkit {

inline constexpr StoreId kStore{0x1122334455667788};

inline log::LogOptions tiny_segments() { return {.store = kStore, .segment_bytes = 48 << 10, .small_segment_bytes = 32 << 10}; }

// The segments of a log's disk, oldest first.
inline std::vector<std::string> segment_names(const Image& image) {
  std::vector<std::string> names;
  for (const auto& [name, file] : image.names) {
    if (name.ends_with(".seg")) names.push_back(name);
  }
  return names;
}

class LogWorkload {
 public:
  // A state the log was asked to adopt, and the disk's progress at that time.
  struct Moment {
    LogModel model;
    size_t appended_at = 0;            // changes of the disk when it was being appended
    std::optional<size_t> durable_at;  // changes when its sync had returned
  };

  LogWorkload(RecordingFs& disk, uint64_t seed)
      : disk_(disk), random_(seed), spares_(1 + seed % 3), level_(seed % 2 == 0 ? 0 : log::kSecondFormatLevel) {}

  absl::Status open() {
    log::LogOptions options = tiny_segments();
    options.spares = spares_;
    absl::StatusOr<log::OpenedLog> opened = log::Log::open(disk_, options);
    if (!opened.ok()) return opened.status();
    if (moments_.empty()) moments_.push_back({.model = {}, .appended_at = 0, .durable_at = 0});
    log_ = std::move(opened->log);
    return absl::OkStatus();
  }

  absl::Status step() {
    if (random_.chance(0.15)) return mark();
    if (random_.chance(0.15)) return compact();
    if (log_->spares().wanted() && random_.chance(0.3)) return spare();
    std::vector<LogWrite> steps;
    LogModel next = moments_.back().model;
    for (uint64_t i = random_.between(1, 3); i > 0; --i) {
      steps.push_back(random_step(next));
      next.apply(steps.back());
    }
    moments_.push_back({.model = std::move(next), .appended_at = disk_.changes().size()});
    if (absl::Status status = log_->append(steps); !status.ok()) return status;
    if (absl::Status status = log_->sync(); !status.ok()) return status;
    moments_.back().durable_at = disk_.changes().size();
    return absl::OkStatus();
  }

  // Whether what was recovered after `count` changes is an allowed state: the last durable one, or one begun after it.
  bool allows(size_t count, const log::OpenedLog& opened) const {
    bool some_later_is_durable = false;
    // NOLINTNEXTLINE(modernize-loop-convert): clang 14 knows no views of this library
    for (auto moment = moments_.rbegin(); moment != moments_.rend(); ++moment) {
      if (moment->appended_at > count) continue;
      if (some_later_is_durable) return false;
      LogModel model = moment->model;
      model.base = std::max(model.base, compacted_, [](const Position& a, const Position& b) { return a.index < b.index; });
      model.base = std::min(model.base, model.last(), [](const Position& a, const Position& b) { return a.index < b.index; });
      if (model.agrees_with(opened)) return true;
      some_later_is_durable = moment->durable_at && *moment->durable_at <= count;
    }
    return false;
  }

  const LogModel& model() const { return moments_.back().model; }
  bool log_is_open() const { return log_ != nullptr; }

 private:
  LogWrite random_step(const LogModel& now) {
    if (random_.chance(0.02)) level_ = log::kSecondFormatLevel;
    LogWrite step{.feature_level = level_};
    const Term term(now.last().term.value() + random_.below(2));
    if (random_.chance(0.2)) {
      step.hard_state = raft::HardState{Term(now.hard_state.term.value() + 1), ReplicaId(random_.below(4))};
    }
    Index last = now.last().index;
    if (random_.chance(0.04)) {
      step.reset_to = Position{Index(last.value() + random_.below(3)), term.next()};
      last = step.reset_to->index;
    } else if (random_.chance(0.15)) {
      step.truncate_after = Index(random_.between(now.base.index.value(), last.value()));
      last = *step.truncate_after;
    }
    if (random_.chance(0.1)) step.peers = marks(random_.below(4));
    const Term entries_term = std::max(term, step.reset_to ? step.reset_to->term : term).next();
    step.entries = entries(last.value() + 1, random_.below(4), entries_term.value(), random_.chance(0.1) ? 5000 : 30);
    return step;
  }

  std::vector<PeerMark> marks(uint64_t count) {
    std::vector<PeerMark> made;
    for (uint64_t store = 1; store <= count; ++store) {
      made.push_back({.store = StoreId(store),
                      .boot = BootCounter(random_.below(9)),
                      .start = random_(),
                      .term = Term(random_.below(9)),
                      .vote = ReplicaId(random_.below(4)),
                      .match = {Index(random_.below(99)), Term(random_.below(9))}});
    }
    return made;
  }

  absl::Status mark() {
    if (absl::Status status = log_->append_mark(); !status.ok()) return status;
    return log_->sync();
  }

  absl::Status compact() {
    LogModel& now = moments_.back().model;
    const Index through(random_.between(now.base.index.value(), now.last().index.value()));
    if (through == now.base.index) return absl::OkStatus();
    now.base = now.entries[through - now.floor.index - 1].position();
    if (now.base.index > compacted_.index) compacted_ = now.base;
    return log_->compact(now.base);
  }

  absl::Status spare() {
    log::SpareMaker maker(disk_, log_->spares().take_number(), log_->spares().segment_bytes());
    for (;;) {
      const absl::StatusOr<bool> ready = maker.step(16 << 10);
      if (!ready.ok()) return ready.status();
      if (*ready) break;
    }
    log_->spares().add(maker.number(), maker.capacity());
    return absl::OkStatus();
  }

  RecordingFs& disk_;
  Random random_;
  const size_t spares_;
  uint64_t level_;  // of the cluster
  std::unique_ptr<log::Log> log_;
  std::vector<Moment> moments_;
  Position compacted_;
};

}  // namespace coordkit::testkit
