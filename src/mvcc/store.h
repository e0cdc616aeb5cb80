// The revisioned store: keys in byte order, each with its create revision, last change and version (docs/semantics.md S-01
// to S-03).
//
// Today it keeps the newest version of every key. Rows of the checkpoint are named by the change that wrote them
// (revision, sub-number), never by the key, and a change never rewrites a row in place: history, compaction and watches
// can keep older rows without another format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "coordkit/types.h"

namespace coordkit::mvcc {

// A change in the order of events: its revision, and its place among the changes that share it.
struct ChangeId {
  Revision revision;
  uint32_t sub = 0;
  friend auto operator<=>(const ChangeId&, const ChangeId&) = default;
};

struct Item {
  std::string value;
  Revision create;  // INV_K02: create <= mod
  ChangeId mod;
  uint64_t version = 0;  // changes since create, from 1
};

class Store {
 public:
  using Visitor = absl::FunctionRef<void(std::string_view key, const Item&)>;
  using WhileVisitor = absl::FunctionRef<bool(std::string_view key, const Item&)>;  // false: enough

  Revision revision() const { return revision_; }  // 1 when fresh
  size_t size() const { return items_.size(); }

  Revision put(std::string_view key, std::string value);
  size_t erase(std::string_view key);  // keys deleted; no change, no revision
  const Item* find(std::string_view key) const;
  // S-05: [key, end) in key order; no end: the single key; an end of one zero byte: everything from key on.
  void range(std::string_view key, std::string_view end, WhileVisitor visit) const;

  // Checkpoint: what changed since the call before, ascending. The revision is the machine's to store.
  void collect(Visitor put, absl::FunctionRef<void(ChangeId)> erase);
  absl::Status restore(std::string key, Item item);  // kDataLoss: impossible
  absl::Status restored(Revision revision);          // after the last row; kDataLoss: below a row

  uint64_t digest() const { return digest_; }  // sum over the keys; the revision is not part of it
  uint64_t recomputed_digest() const;

 private:
  void drop_row(ChangeId row);

  absl::btree_map<std::string, Item, std::less<>> items_;  // unsigned byte order
  Revision revision_{1};
  absl::btree_map<ChangeId, std::string> dirty_;  // rows the checkpoint does not have yet, with their keys
  std::vector<ChangeId> erased_;                  // rows it has that are gone
  Revision restored_max_;                         // highest one seen by restore()
  uint64_t digest_ = 0;
};

}  // namespace coordkit::mvcc
