// What can be asked of leases of keys, and the answers. How long one still has is nothing of the replicated state: the leader
// says it of the timer, whose number the answers name.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "coordkit/types.h"

namespace coordkit::machine {

struct LeaseQuery {
  LeaseId id;
  bool keys = false;  // as many names as one answer holds
  std::string after;  // names above it
  static constexpr auto fields() { return std::tuple(&LeaseQuery::id, &LeaseQuery::keys, &LeaseQuery::after); }
  friend bool operator==(const LeaseQuery&, const LeaseQuery&) = default;
};
struct LeasesQuery {
  LeaseId after;       // ids above it, ascending
  uint64_t limit = 0;  // 0: kQueryRowsMax
  static constexpr auto fields() { return std::tuple(&LeasesQuery::after, &LeasesQuery::limit); }
  friend bool operator==(const LeasesQuery&, const LeasesQuery&) = default;
};

struct LeaseRow {
  LeaseId id;
  SessionId number;  // of its timer
  Duration ttl{};
  ReplicaId node;  // that keeps it alive; zero: none
  static constexpr auto fields() { return std::tuple(&LeaseRow::id, &LeaseRow::number, &LeaseRow::ttl, &LeaseRow::node); }
  friend bool operator==(const LeaseRow&, const LeaseRow&) = default;
};
// Of LeaseQuery: at most one lease.
struct LeasesReply {
  std::vector<LeaseRow> leases;
  std::vector<std::string> keys;
  bool more = false;
  Revision revision;  // of the store now
  friend bool operator==(const LeasesReply&, const LeasesReply&) = default;
};

std::string encode(const LeasesReply& reply);
absl::StatusOr<LeasesReply> decode_leases(std::string_view bytes);  // kDataLoss: malformed

}  // namespace coordkit::machine
