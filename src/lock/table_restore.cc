#include "lock/table_restore.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "lock/row_check.h"

namespace coordkit::lock {

absl::Status TableRestore::check_order(const ClaimView& row) const {
  if (row.held()) return row.token > last_hold_ ? absl::OkStatus() : absl::DataLossError("holds out of order");
  return claims_.records().find_wait(row.since) ? absl::DataLossError("two waiters of one entry") : absl::OkStatus();
}

absl::Status TableRestore::check_place(const ClaimView& row, const Wanted& place) {
  const Lock& lock = claims_.restore_lock(place.name);
  const ClaimKind kind = row.sticky() ? ClaimKind::Sticky : ClaimKind::Plain;
  if (claims_.records().find(lock, row.session, row.tag, kind)) {
    return absl::DataLossError("two claims of one owner on one lock");
  }
  if (row.held()) {
    if (!lock.queue.empty()) return absl::DataLossError("a hold restored after a waiter");
    if (!lock.holds.empty() && !compatible(lock.holds.first->mode, place.mode)) {
      return absl::DataLossError("two holds of one lock that exclude each other");
    }
  } else if (!lock.queue.empty() && lock.queue.last->claim().since >= row.since) {
    return absl::DataLossError("a queue out of order");
  }
  return absl::OkStatus();
}

absl::Status TableRestore::add(const ClaimView& row) {
  if (absl::Status status = check_row(row); !status.ok()) return status;
  if (absl::Status status = check_order(row); !status.ok()) return status;
  if (row.held()) last_hold_ = row.token;
  if (claims_.restore_at_rest(row)) return absl::OkStatus();
  if (absl::Status status = check_place(row, {row.name, row.mode}); !status.ok()) return status;
  std::vector<std::string_view> names{row.name};
  for (const Wanted& other : row.others) {
    if (absl::Status status = check_place(row, other); !status.ok()) return status;
    names.push_back(other.name);
  }
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) return absl::DataLossError("a claim twice on one lock");
  claims_.restore(row);
  return absl::OkStatus();
}

absl::Status TableRestore::finish() const {
  bool any_grantable = false;
  claims_.records().each_wait([&](const Claim& wait) { any_grantable = any_grantable || grantable(wait); });
  return any_grantable ? absl::DataLossError("a waiter that nothing keeps waiting") : absl::OkStatus();
}

}  // namespace coordkit::lock
