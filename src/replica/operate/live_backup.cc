// RunningHost::backup: a backup of a running replica, read from a checkpoint taken for it.
#include <algorithm>
#include <utility>

#include "backup/backup.h"
#include "coordkit/error.h"
#include "replica/shell/running_host.h"
#include "service/calls/call_forms.h"
#include "service/calls/waiting.h"
#include "storage/absolute_path.h"

namespace coordkit {
namespace {

constexpr char kAnyKey[] = "0";                                 // whose value does not matter
constexpr Duration kAskEvery = std::chrono::milliseconds(200);  // whether the backup is still awaited

// The position of an applied state that contains everything the backup must have.
absl::StatusOr<Index> state_to_save(const std::shared_ptr<RunningHost>& host, const LiveBackupOptions& options) {
  const auto state = wait_for_async<absl::StatusOr<GetResult>>(*host, options.timeout, [&](Callback<GetResult> done) {
    return begin_by<Admission::Always>(host, std::move(done), &Client::get, std::string(kAnyKey), kAnswer,
                                       CallDeadline(host->deadline(options.timeout)), ReadOptions(options.consistency));
  });
  if (!state.ok()) return state.status();
  return state->as_of;
}

// The same as the view's own; `unread` is its failure, unless that came from `visit`.
absl::Status scan(const CheckpointView& view, std::string_view prefix, backup::RowVisitor visit, absl::Status& unread) {
  absl::Status refused;
  absl::Status status = view.scan(prefix, [&](std::string_view key, std::string_view value) {
    refused = visit(key, value);
    return refused;
  });
  if (refused.ok()) unread = status;
  return status;
}

}  // namespace

absl::StatusOr<BackupInfo> RunningHost::backup(const std::string& file, LiveBackupOptions options) {
  const std::string path = storage::absolute_path(file);
  const LaggingTime until = deadline(options.timeout);
  const absl::StatusOr<Index> at_least = state_to_save(self(), options);
  if (!at_least.ok()) return at_least.status();
  const auto awaited = [&] { return !options.awaited || options.awaited(); };
  absl::StatusOr<std::unique_ptr<CheckpointView>> view = backup::not_awaited();
  while (awaited()) {
    const LaggingTime look = std::min(until, deadline(kAskEvery));
    view = checkpoint_at(*at_least, look);
    if (look == until || reason_of(view.status()) != Reason::CallTimeout) break;
    view = backup::not_awaited();
  }
  if (!view.ok()) return view.status();
  absl::Status unread;  // what the checkpoint answered; the file's own disk says nothing about it
  absl::StatusOr<BackupInfo> written = backup::save_state(
      path,
      {.cluster = options_.cluster,
       .replica = ReplicaId(options_.id),
       .store = turns_->engine().store(),
       .applied = (*view)->applied(),
       .digest = (*view)->digest()},
      [&](std::string_view prefix, backup::RowVisitor visit) { return scan(**view, prefix, visit, unread); }, awaited);
  if (absl::IsDataLoss(unread) || reason_of(written.status()) == Reason::Corrupt) {
    arrivals_.post(EngineInput(StateRotten{written.status()}));
  }
  return written;
}

}  // namespace coordkit
