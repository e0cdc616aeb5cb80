// What the loads of etcd ask of it, and the connections they ask on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kv.grpc.pb.h"

namespace coordkit::bench::etcd {

namespace pb = etcdserverpb;

// A few to the same server: channels to one address with equal arguments would share one.
std::vector<std::shared_ptr<grpc::Channel>> connections(const std::string& address, size_t callers);

pb::PutRequest put_of(const std::string& key, int64_t lease = 0);
pb::RangeRequest range_of(const std::string& key, bool local);
pb::TxnRequest put_if_there(const std::string& key);

// The recipe of etcd's own clients: a key of the caller below the lock's name, bound to its lease, and a look for the oldest
// key there, in one transaction. Whose is the oldest has the lock. A release deletes the key.
pb::TxnRequest acquire_of(const std::string& lock, int64_t lease);
pb::DeleteRangeRequest release_of(const std::string& lock, int64_t lease);

// Throws std::runtime_error with etcd's words.
void check(const grpc::Status& status);
int64_t grant_lease(const std::shared_ptr<grpc::Channel>& channel);

}  // namespace coordkit::bench::etcd
