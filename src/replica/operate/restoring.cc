// The public calls that make a new cluster: what only door 1 knows, the calendar and a random id, is added here.
#include <utility>

#include "backup/restore.h"
#include "base/random_id.h"
#include "coordkit/operate/backup.h"
#include "replica/shell/parts.h"
#include "replica/shell/token_base.h"

namespace coordkit {
namespace {

// The old cluster may have been created, and have granted, in this very second: the new one begins with the next.
RestoreOptions with_token_base(RestoreOptions options) {
  if (options.token_base == 0) options.token_base = calendar_token_base() + kTokensPerSecond;
  return options;
}

}  // namespace

absl::StatusOr<RestoreReport> restore_backup(const std::string& file, const RestoreOptions& options) {
  return backup::restore(file, with_token_base(options), ClusterId(random_id()));
}

absl::StatusOr<RecoverReport> recover_directories(const std::vector<std::string>& directories, const RecoverOptions& options) {
  RecoverOptions complete = options;
  complete.restore = with_token_base(std::move(complete.restore));
  return backup::recover(directories, complete, ClusterId(random_id()));
}

}  // namespace coordkit
