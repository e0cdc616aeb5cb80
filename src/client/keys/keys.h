// Keys beyond one command: ranges that take several reads, the room left for a put, compaction by the leader's client.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "client/calls/calls.h"
#include "client/calls/requests.h"
#include "client/keys/compactor.h"
#include "coordkit/client/keys.h"

namespace coordkit::client {

class Keys {
 public:
  Keys(const ClientOptions& options, Requests& requests, Calls& calls)
      : options_(options), requests_(requests), calls_(calls), compactor_(options.compaction) {}

  CallId range(RangeOperation range, CallDeadline deadline, ReadOptions options, Callback<RangeResult> done);
  // OK, or NoSpace: according to this replica's state, a put that adds this much would be refused.
  absl::Status room_for(uint64_t growth);
  absl::Status within_reach(const Transaction& transaction) const;

  void compact(Now now);  // if it is due
  LaggingTime next_compaction() const { return compactor_.on() ? next_compaction_ : LaggingTime::max(); }

 private:
  struct Paging {
    RangeOperation range;  // the part still to be read
    ReadOptions options;   // of the next page
    RangeResult so_far = {};
    bool begun = false;
  };
  using PagingRef = std::shared_ptr<Paging>;
  void ask_page(CallId id, const PagingRef& paging);
  using Page = machine::PageOf::Answer;
  void page_read(CallId id, const PagingRef& paging, absl::StatusOr<Page> read, const Completion& completion);

  const ClientOptions& options_;
  Requests& requests_;
  Calls& calls_;
  Compactor compactor_;
  LaggingTime next_compaction_ = LaggingTime::min();
  std::optional<std::pair<Index, machine::KeySpace>> space_;  // the space after that entry
};

}  // namespace coordkit::client
