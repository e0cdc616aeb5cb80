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
  // As requested, or its first part: then `upto` is the last row's key.
  KeyRange range;
  uint64_t sum = 0;                        // over range and rows (base/row_sums.h: chunk_sum)
  bool same = false;                       // then there are no rows
  std::vector<CheckpointBatch::Row> rows;  // ascending
  friend bool operator==(const StateRows&, const StateRows&) = default;
};

// Asks for a view of the state at this moment.
struct ViewOpen {
  ViewId view;  // chosen by the engine, above every earlier one
};
// Asks for the rows of `range` from its start, as many as fit `bytes_max` but at least one. With
// `sum`: asks whether all of them together have this sum.
struct ViewRead {
  ViewId view;                  // an open one
  Ticket ticket;                // chosen by the engine; ViewWasRead has it
  KeyRange range;               // an empty `upto`: to the end of the state
  size_t bytes_max = 0;         // of keys and values together
  std::optional<uint64_t> sum;  // base/row_sums.h: chunk_sum
};
// Ends a view; its reads may still be answered with an error.
struct ViewClose {
  ViewId view;  // a view that is not open: no effect
};
// All orders to a StateViews, to be performed in their order.
using ViewOrder = std::variant<ViewOpen, ViewRead, ViewClose>;

// The contents of an open view.
struct ViewFacts {
  Position at;          // the state is the one after this entry
  uint64_t digest = 0;  // CheckpointView::digest(), over all rows
};
// The answer to a ViewOpen.
struct ViewOpened {
  ViewId view;                      // of the order
  absl::StatusOr<ViewFacts> facts;  // an error: no view is open under this id
};
// The answer to a ViewRead.
struct ViewWasRead {
  ViewId view;                     // of the order
  Ticket ticket;                   // of the order
  absl::StatusOr<StateRows> rows;  // an error: kNotFound (no such view), kResourceExhausted (a row
                                   // is too large), kDataLoss
};
// All answers of a StateViews. Post them to the engine.
using ViewAnswer = std::variant<ViewOpened, ViewWasRead>;

// The open views of a store. perform() may block as long as reading the rows takes.
class StateViews {
 public:
  // `store` outlives the views.
  explicit StateViews(StateStore& store) : store_(store) {}
  std::optional<ViewAnswer> perform(const ViewOrder& order);  // closing has no answer
  bool any() const { return !views_.empty(); }                // whether a view is open

 private:
  absl::StatusOr<ViewFacts> open(ViewId view);
  absl::StatusOr<StateRows> read(const ViewRead& order) const;

  StateStore& store_;
  std::map<ViewId, std::unique_ptr<CheckpointView>> views_;
};

// ---- the receiver's side

// Puts rows from a peer beside the present state: StateStore::stage().
struct StageRange {
  Ticket ticket;   // chosen by the engine; RangeStaged has it
  StateRows rows;  // verified by the engine
};
// Makes the staged rows the state: StateStore::install().
struct InstallState {
  Position at;          // of the state that was fetched
  uint64_t digest = 0;  // which the staged rows must have; else InstallRefused
};
struct ForgetStaged {};
using StagingOrder = std::variant<StageRange, InstallState, ForgetStaged>;  // in their order

// Hands one order to the store.
void perform(StagingOrder order, StateStore& store);

// From StateSink::staged().
struct RangeStaged {
  Ticket ticket;  // of the StageRange
};
// From StateSink::installed(). The engine then asks for a RestoredState (EngineEffects::restore).
struct StateInstalled {
  Position at;  // of the InstallState
};
// From StateSink::install_refused(). The engine fetches the state again from the next offer.
struct InstallRefused {
  Position at;       // of the InstallState
  absl::Status why;  // not read by the engine
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
  Parts& parts() { return *parts_; }  // for the engine

 private:
  explicit RestoredState(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// The host's answer to EngineEffects::restore.
struct StateRestored {
  absl::StatusOr<std::unique_ptr<RestoredState>> state;  // kDataLoss: the engine writes its own
                                                         // state again. Any other error halts it
};

}  // namespace coordkit
