// Replica::backup: a backup of a running replica, read from a checkpoint taken for it.
#include <algorithm>
#include <utility>

#include "backup/backup.h"
#include "coordkit/error.h"
#include "coordkit/replica.h"
#include "replica/call_forms.h"
#include "replica/host.h"
#include "replica/waiting.h"
#include "storage/absolute_path.h"

namespace coordkit {
namespace {

constexpr char kAnyKey[] = "0";                                 // whose value does not matter
constexpr Duration kAskEvery = std::chrono::milliseconds(200);  // whether the backup is still awaited

// The position of an applied state that contains everything the backup must have.
absl::StatusOr<Index> state_to_save(const std::shared_ptr<Host>& host, const LiveBackupOptions& options) {
  const auto state = wait_for_async<absl::StatusOr<GetResult>>(*host, options.timeout, [&](Callback<GetResult> done) {
    return begin_by<Admission::Always>(host, std::move(done), &Client::get, std::string(kAnyKey), kAnswer,
                                       CallDeadline(host->deadline(options.timeout)), ReadOptions(options.consistency));
  });
  if (!state.ok()) return state.status();
  return state->as_of;
}

absl::StatusOr<std::unique_ptr<CheckpointView>> checkpoint(Host& host, Index at_least, LaggingTime deadline,
                                                           backup::Awaited awaited) {
  while (awaited()) {
    const LaggingTime look = std::min(deadline, host.deadline(kAskEvery));
    auto view = host.checkpoint_at(at_least, look);
    if (look == deadline || reason_of(view.status()) != Reason::CallTimeout) return view;
  }
  return backup::not_awaited();
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

absl::StatusOr<BackupInfo> Replica::backup(const std::string& file, LiveBackupOptions options) {
  const std::string path = storage::absolute_path(file);
  const LaggingTime deadline = host_->deadline(options.timeout);
  const absl::StatusOr<Index> at_least = state_to_save(host_, options);
  if (!at_least.ok()) return at_least.status();
  const auto awaited = [&] { return !options.awaited || options.awaited(); };
  const auto view = checkpoint(*host_, *at_least, deadline, awaited);
  if (!view.ok()) return view.status();
  const ReplicaOptions& opened = host_->options();
  absl::Status unread;  // what the checkpoint answered; the file's own disk says nothing about it
  absl::StatusOr<BackupInfo> written = backup::save_state(
      path,
      {.cluster = opened.cluster,
       .replica = ReplicaId(opened.id),
       .store = host_->store(),
       .applied = (*view)->applied(),
       .digest = (*view)->digest()},
      [&](std::string_view prefix, backup::RowVisitor visit) { return scan(**view, prefix, visit, unread); }, awaited);
  if (absl::IsDataLoss(unread) || reason_of(written.status()) == Reason::Corrupt) host_->checkpoint_rotten(written.status());
  return written;
}

}  // namespace coordkit
