// The renewals of many remotes in one request of their gateway (docs/decisions/0052, T1 of docs/time.md). A reply belongs to an
// attempt of a remote only if the request that was confirmed was made of that attempt. So no two requests of a gateway have the
// same number, also over its restarts: a late reply to an earlier process would confirm what was sent after it. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine/engine_message.h"
#include "coordkit/engine/wire.h"
#include "coordkit/ports/clock.h"

namespace coordkit::remote {

class MergedRenewals {
 public:
  // `wait`: how long a renewal may wait for others. `boot`: of the gateway.
  MergedRenewals(Duration wait, BootCounter boot) : wait_(wait), last_(boot.value() << kBootShift) {}

  bool takes(const RenewRequest& request) const { return next_.groups.size() + request.groups.size() <= kRenewGroupsMax; }
  void add(ReplicaId remote, RenewRequest&& request, LaggingTime now) {
    if (parts_.empty()) due_ = now + wait_;
    // A lower `as_of` excludes fewer timers, and those end later.
    next_.as_of = parts_.empty() ? request.as_of : std::min(next_.as_of, request.as_of);
    parts_.push_back({remote, request.attempt, request.groups.size()});
    std::ranges::move(request.groups, std::back_inserter(next_.groups));
  }
  bool any() const { return !parts_.empty(); }
  LaggingTime due() const { return any() ? due_ : LaggingTime::max(); }
  // To be sent now.
  RenewRequest take() {
    next_.attempt = begin(std::exchange(parts_, {}));
    return std::exchange(next_, {});
  }
  // A request that waits for no other.
  RenewRequest alone(ReplicaId remote, RenewRequest&& request) {
    request.attempt = begin({{remote, request.attempt, request.groups.size()}});
    return std::move(request);
  }

  // The parts of a reply, each for its remote. A reply to another request has none.
  std::vector<std::pair<ReplicaId, RenewReply>> parts_of(const RenewReply& reply) {
    std::vector<std::pair<ReplicaId, RenewReply>> out;
    const auto found = sent_.find(reply.attempt);
    if (found == sent_.end()) return out;
    auto group = reply.groups.begin();
    for (const Part& part : found->second) {
      if (static_cast<size_t>(reply.groups.end() - group) < part.groups) break;
      RenewReply own{.attempt = part.attempt, .groups = {group, group + static_cast<std::ptrdiff_t>(part.groups)}};
      if (found->second.size() == 1) own.looks = reply.looks;
      group += static_cast<std::ptrdiff_t>(part.groups);
      out.emplace_back(part.remote, std::move(own));
    }
    sent_.erase(found);
    return out;
  }

 private:
  struct Part {
    ReplicaId remote;
    uint64_t attempt = 0;  // of the remote
    size_t groups = 0;
  };
  static constexpr size_t kKept = 1024;  // requests without a reply
  // Attempts of a client are below this number, and its looks are above.
  static constexpr uint64_t kBit = uint64_t{1} << 61;
  static constexpr int kBootShift = 32;  // 2^29 boots of 2^32 requests each

  uint64_t begin(std::vector<Part> parts) {
    const uint64_t attempt = kBit | (++last_ & (kBit - 1));
    sent_.emplace(attempt, std::move(parts));
    if (sent_.size() > kKept) sent_.erase(sent_.begin());
    return attempt;
  }

  const Duration wait_;
  RenewRequest next_;
  std::vector<Part> parts_;  // of next_
  LaggingTime due_{};
  absl::btree_map<uint64_t, std::vector<Part>> sent_;  // by attempt
  uint64_t last_;
};

}  // namespace coordkit::remote
