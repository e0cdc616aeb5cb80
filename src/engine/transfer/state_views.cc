#include <utility>

#include "base/fixed.h"
#include "base/row_sums.h"
#include "coordkit/engine/state_transfer.h"

namespace coordkit {
namespace {

constexpr size_t kRowBytesMax = 24 << 20;  // of one row: a message holds at least one
constexpr size_t kRowsMax = 32 << 10;      // of one answer; the wire takes more

// The end of a scan that has enough; never leaves this file.
absl::Status enough() { return absl::CancelledError("enough"); }

absl::Status too_large(std::string_view key, size_t bytes) {
  const std::string whose = key.size() < 8 ? "" : " of machine " + std::to_string(load_sortable(key.data()));
  return absl::ResourceExhaustedError("a row" + whose + " has " + std::to_string(bytes) + " bytes, and at most " +
                                      std::to_string(kRowBytesMax) + " are sent: spread growing data over many rows");
}

}  // namespace

std::optional<ViewAnswer> StateViews::perform(const ViewOrder& order) {
  if (const auto* open_order = std::get_if<ViewOpen>(&order)) return ViewOpened{open_order->view, open(open_order->view)};
  if (const auto* read_order = std::get_if<ViewRead>(&order)) {
    return ViewWasRead{read_order->view, read_order->ticket, read(*read_order)};
  }
  views_.erase(std::get<ViewClose>(order).view);
  return std::nullopt;
}

absl::StatusOr<ViewFacts> StateViews::open(ViewId view) {
  absl::StatusOr<std::unique_ptr<CheckpointView>> opened = store_.view();
  if (!opened.ok()) return opened.status();
  const ViewFacts facts{(*opened)->applied(), (*opened)->digest()};
  views_[view] = *std::move(opened);
  return facts;
}

absl::StatusOr<StateRows> StateViews::read(const ViewRead& order) const {
  const auto view = views_.find(order.view);
  if (view == views_.end()) return absl::NotFoundError("this view is not open");
  StateRows out{.range = order.range};
  size_t bytes = 0;
  bool whole = true;
  absl::Status status = view->second->scan_range(order.range, [&](std::string_view key, std::string_view value) {
    const size_t size = key.size() + value.size();
    if (size > kRowBytesMax) return too_large(key, size);
    if (!out.rows.empty() && (bytes + size > order.bytes_max || out.rows.size() == kRowsMax)) {
      whole = false;
      return enough();
    }
    bytes += size;
    out.rows.push_back({std::string(key), std::string(value)});
    return absl::OkStatus();
  });
  if (!status.ok() && whole) return status;
  if (!whole) out.range.upto = out.rows.back().key;
  out.sum = chunk_sum(out.range, out.rows);
  out.same = whole && order.sum == out.sum;
  if (out.same) out.rows.clear();
  return out;
}

void perform(StagingOrder order, StateStore& store) {
  if (auto* stage = std::get_if<StageRange>(&order)) {
    store.stage(stage->ticket, std::move(stage->rows.range), std::move(stage->rows.rows));
  } else if (const auto* install = std::get_if<InstallState>(&order)) {
    store.install(install->at, install->digest);
  } else {
    store.unstage();
  }
}

}  // namespace coordkit
