// The transfer of a replica's whole state to a peer whose log ends before ours begins
// (docs/decisions/0006): the engine's orders to its host, and the host's answers. Plain values.
// Stores are read and machines are built outside the turn, on any thread, with the two classes
// below.
//
//   sender    ViewOrder -> StateViews::perform -> ViewOpened, ViewWasRead
//   receiver  StagingOrder -> the StateStore -> RangeStaged, StateInstalled, InstallRefused
//             restore -> RestoredState::build over a new view of the store -> StateRestored
//
// Threads: a StateViews is used by one thread at a time.
// Errors: kDataLoss while rows are read makes the engine write its state again (StateDamaged). Such
// rows are never sent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

struct HostedMachine;

using ViewId = Id<struct ViewIdTag>;  // one consistent view of this replica's store, kept open
                                      // while it is read

// ---- the sender's side

// Rows of one range of keys, or the news that the requester's own rows of that range have the same
// sum.
struct StateRows {
  KeyRange range;
  uint64_t sum = 0;                        // over range and rows (base/row_sums.h: chunk_sum)
  bool same = false;                       // then there are no rows
  std::vector<CheckpointBatch::Row> rows;  // ascending
  friend bool operator==(const StateRows&, const StateRows&) = default;
};

struct ViewOpen {
  ViewId view;
};
// Asks for the rows of `range` from its start, as many as fit `bytes_max` but at least one. With
// `sum`: asks whether all of them together have this sum.
struct ViewRead {
  ViewId view;
  Ticket ticket;
  KeyRange range;
  size_t bytes_max = 0;
  std::optional<uint64_t> sum;
};
struct ViewClose {
  ViewId view;
};
using ViewOrder = std::variant<ViewOpen, ViewRead, ViewClose>;

struct ViewFacts {
  Position at;
  uint64_t digest = 0;
};
struct ViewOpened {
  ViewId view;
  absl::StatusOr<ViewFacts> facts;
};
struct ViewWasRead {
  ViewId view;
  Ticket ticket;
  absl::StatusOr<StateRows> rows;
};
using ViewAnswer = std::variant<ViewOpened, ViewWasRead>;

// The open views of a store. perform() may block as long as reading the rows takes.
class StateViews {
 public:
  explicit StateViews(StateStore& store) : store_(store) {}
  std::optional<ViewAnswer> perform(const ViewOrder& order);  // closing has no answer
  bool any() const { return !views_.empty(); }

 private:
  absl::StatusOr<ViewFacts> open(ViewId view);
  absl::StatusOr<StateRows> read(const ViewRead& order) const;

  StateStore& store_;
  std::map<ViewId, std::unique_ptr<CheckpointView>> views_;
};

// ---- the receiver's side

struct StageRange {
  Ticket ticket;
  StateRows rows;
};
struct InstallState {
  Position at;
  uint64_t digest = 0;
};
struct ForgetStaged {};
using StagingOrder = std::variant<StageRange, InstallState, ForgetStaged>;  // in their order

// Hands one order to the store.
void perform(StagingOrder order, StateStore& store);

struct RangeStaged {
  Ticket ticket;
};
struct StateInstalled {
  Position at;
};
struct InstallRefused {
  Position at;
  absl::Status why;
};

// Machines with all their parts, made from a view. It returns to the engine in StateRestored. The
// state that it replaces comes out in EngineEffects::discarded, because destroying a large state
// takes time as well.
class RestoredState {
 public:
  // Callable on any thread. `machines` are blank ones, the same that the engine was given at its
  // recovery. kDataLoss: the rows make no sense.
  static absl::StatusOr<std::unique_ptr<RestoredState>> build(std::vector<HostedMachine> machines, const CheckpointView& view);
  ~RestoredState();

  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  explicit RestoredState(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

struct StateRestored {
  absl::StatusOr<std::unique_ptr<RestoredState>> state;
};

}  // namespace coordkit
