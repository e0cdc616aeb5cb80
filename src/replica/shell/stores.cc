#include "replica/shell/stores.h"

#include <utility>

#include "coordkit/error.h"
#include "coordkit/storage/data_directory.h"
#include "service/calls/waiting.h"

namespace coordkit {
namespace {

// A view whose scans end once the stores have stopped: what they are made for is not wanted any more.
class ViewUntilStop final : public CheckpointView {
 public:
  ViewUntilStop(std::unique_ptr<CheckpointView> view, std::shared_ptr<const std::atomic<bool>> stopped)
      : view_(std::move(view)), stopped_(std::move(stopped)) {}

  Position applied() const override { return view_->applied(); }
  bool installed() const override { return view_->installed(); }
  uint64_t digest() const override { return view_->digest(); }
  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    return view_->scan(prefix, [&](std::string_view key, std::string_view value) { return offer(key, value, visit); });
  }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return view_->scan_range(range, [&](std::string_view key, std::string_view value) { return offer(key, value, visit); });
  }

 private:
  absl::Status offer(std::string_view key, std::string_view value, Visitor visit) const {
    return *stopped_ ? closed_already() : visit(key, value);
  }

  const std::unique_ptr<CheckpointView> view_;
  const std::shared_ptr<const std::atomic<bool>> stopped_;
};

}  // namespace

Stores::Stores(std::shared_ptr<DataDirectory> directory, std::unique_ptr<LogStore> log, std::unique_ptr<StateStore> state,
               OwnThread* loop)
    : loop_(loop), directory_(std::move(directory)), log_(std::move(log)), state_(std::move(state)) {}

absl::StatusOr<Stores::Recovered> Stores::open(StoreEvents& sink) {
  absl::StatusOr<Position> checkpoint = state_->open(sink);
  if (!checkpoint.ok()) return checkpoint.status();
  log_->checkpointed(checkpoint->index);
  absl::StatusOr<RecoveredLog> log = log_->open(sink);
  if (!log.ok()) return log.status();
  if (!log->store || !log->boot) {
    return make_error(Reason::InvalidArgument,
                      "the log store has no identity: RecoveredLog::store and boot are 1 or above (PartContext has both)");
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_->view();
  if (!view.ok()) return view.status();
  return Recovered{*std::move(log), *std::move(view)};
}

void Stores::keep_reserve() {
  const absl::Status kept = directory_ ? directory_->keep_reserve() : absl::OkStatus();
  if (kept.ok()) return;
  no_reserve_ = "a start on a full disk may be refused until this replica was closed or started with room: " +
                std::string(sentence_of(kept));
}

void Stores::start(StateWorker::Machines machines, Scrubber::Options scrub, const std::function<void(EngineInput)>& post,
                   const std::function<void()>& fail, std::function<void()> written) {
  written_ = std::move(written);
  worker_.emplace(*state_, std::move(machines), post, fail);
  scrubber_.emplace(*state_, *log_, scrub, post);
}

void Stores::carry_out(EngineEffects& effects, bool busy) {
  for (LogWrite& write : effects.writes) submit(std::move(write), busy);
  for (const raft::ReadRequest& read : effects.log_reads) log_->read(read.first, read.last, read.bytes_max);
  if (effects.checkpoint) state_->commit(*std::move(effects.checkpoint));
  if (effects.compact) log_->compact(*effects.compact);
  for (ViewOrder& order : effects.views) worker_->read(std::move(order));
  for (StagingOrder& order : effects.staging) perform(std::move(order), *state_);
  if (effects.restore) worker_->restore();
  if (effects.discarded) worker_->discard(std::move(effects.discarded));
}

// If there is nothing else to do, on this thread, once it has finished what it began: a fast disk is done before another
// thread has woken up. Otherwise beside this thread's work.
void Stores::submit(LogWrite write, bool busy) {
  if (busy || loop_ == nullptr) return log_->submit(std::move(write));
  if (!log_->defer(std::move(write))) return;
  deferred_ = true;
  loop_->block_after([this] { log_->perform_deferred(); }, [this] { written_(); });
}

absl::Status Stores::scrub_now(absl::FunctionRef<bool()> awaited) { return scrubber_->now(awaited); }

absl::StatusOr<std::unique_ptr<CheckpointView>> Stores::view() {
  const std::lock_guard lock(viewing_);
  if (*stopped_) return closed_already();
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = state_->view();
  if (!view.ok()) return view;
  return std::make_unique<ViewUntilStop>(*std::move(view), stopped_);
}

void Stores::stop() {
  if (scrubber_) scrubber_->stop();
  if (worker_) worker_->stop();
  log_->close();
  const std::lock_guard lock(viewing_);
  *stopped_ = true;
  state_->close();
}

void Stores::release() {
  log_bytes_ = log_bytes_written();
  log_.reset();
  state_.reset();
  if (directory_) directory_->keep_reserve().IgnoreError();  // the next open tries again, and says so
  directory_.reset();
}

}  // namespace coordkit
