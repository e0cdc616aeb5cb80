// The state of an own state machine as rows, id to value. The table can checkpoint, restore and
// digest itself. A machine that keeps all its state in one RowTable forwards checkpoint(),
// restore() and digest() to it and is done (examples/02_ledger).
//
// Rows live in memory, in byte order of their ids. A checkpoint writes the changes since the
// previous one. The digest is updated with every change, so reading it costs nothing. An id has at
// most kRowIdBytesMax bytes (COORDKIT_CHECK: the machine refuses longer input in apply). Put longer
// data into the value.
//
// Threads: as StateMachine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/export.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

inline constexpr size_t kRowIdBytesMax =
    kStateKeyBytesMax - 8;  // a store key has kStateKeyBytesMax, eight of them say whose it is

class RowTable {
 public:
  // `machine` is the id that the machine has in the log. It begins the key of every stored row.
  explicit RowTable(MachineId machine);

  std::optional<std::string_view> find(std::string_view id) const;  // valid until the next change
  // Adds a row, or replaces the one with this id. An equal value changes nothing.
  void put(std::string_view id, std::string value);
  bool erase(std::string_view id);              // false: there was no such row
  size_t size() const { return rows_.size(); }  // how many rows there are
  // Visits the rows whose ids start with `prefix`, in byte order.
  void each(std::string_view prefix, absl::FunctionRef<void(std::string_view id, std::string_view value)> visit) const;

  // These are for the StateMachine's methods of the same names.
  void checkpoint(CheckpointBatch& batch);
  bool forget_stored();
  absl::Status restore(const CheckpointView& view);
  uint64_t digest() const { return digest_.value(); }

 private:
  void note_change(std::string_view id);

  std::string prefix_;
  std::map<std::string, std::string, std::less<>> rows_;
  std::map<std::string, bool, std::less<>> changed_;  // since the last checkpoint: was it in that
                                                      // one?
  RowDigest digest_;                                  // of all rows
};

}  // namespace coordkit
