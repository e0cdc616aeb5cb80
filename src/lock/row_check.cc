#include "lock/row_check.h"

#include "lock/block.h"

namespace coordkit::lock {
namespace {

absl::Status check_block(const ClaimView& row) {
  const Block& block = row.block;
  if (!row.sticky()) return block == Block() ? absl::OkStatus() : absl::DataLossError("a block of tokens without a size");
  if (block.size > kBlockMax) return absl::DataLossError("a block of too many tokens");
  const bool plain = row.mode == Mode::Exclusive && row.others.empty() && !row.reentrant;
  if (!plain) return absl::DataLossError("a sticky claim of an impossible kind");
  if (!row.held()) return block == Block{.size = block.size} ? absl::OkStatus() : absl::DataLossError("a waiter with tokens");
  const bool valid = block.first >= row.token && block.last.value() == block.first.value() + block.size - 1 &&
                     (!block.newest || may_be_current(block, block.newest));
  return valid ? absl::OkStatus() : absl::DataLossError("a block of tokens that is none");
}

}  // namespace

absl::Status check_row(const ClaimView& row) {
  if (row.delay < Duration::zero() || row.delay > kDelayMax) return absl::DataLossError("a lock-delay out of range");
  if (row.timeout < Duration::zero()) return absl::DataLossError("a wait of less than no time");
  if (row.others.size() >= kNamesMax) return absl::DataLossError("a claim on too many locks");
  if (row.reentrant && !row.others.empty()) return absl::DataLossError("a re-entrant claim on several locks");
  if (row.count == 0 || row.count > kCountMax) return absl::DataLossError("a hold counted out of range");
  const bool counted = row.count > 1 || row.releases > 0;
  if (counted && (!row.held() || !row.reentrant)) return absl::DataLossError("a count on a claim that has none");
  if (absl::Status block = check_block(row); !block.ok()) return block;
  if (row.held() && row.timeout != Duration::zero()) return absl::DataLossError("a hold with a timeout");
  return absl::OkStatus();
}

}  // namespace coordkit::lock
