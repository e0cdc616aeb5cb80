// Which watches a key concerns: a lookup for watches of one key and of prefixes, a scan of those of any other interval.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "coordkit/client/watch_events.h"

namespace coordkit::machine {

class WatchIndex {
 public:
  void add(WatchId id, std::string_view key, std::string_view end);
  void remove(WatchId id, std::string_view key, std::string_view end);
  void clear() { *this = {}; }
  // Visits each watch once, in an arbitrary but deterministic order.
  void visit(std::string_view key, absl::FunctionRef<void(WatchId)> watch) const;

 private:
  using Ids = absl::btree_set<WatchId>;
  using ByKey = absl::btree_map<std::string, Ids, std::less<>>;
  using ByInterval = absl::btree_map<std::pair<std::string, std::string>, Ids>;

  ByKey keys_;
  ByKey prefixes_;
  absl::btree_map<size_t, size_t> lengths_;  // of the prefixes, each with how many prefixes have it
  ByInterval others_;                        // by their lower end
};

}  // namespace coordkit::machine
