#include "bench/etcd/etcd_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/cluster/kv_load.h"

namespace coordkit::bench::etcd {
namespace {

constexpr size_t kConnectionsMax = 4;
constexpr int64_t kLeaseSeconds = 60;

std::string key_below(const std::string& lock, int64_t lease) { return fmt::format("{}/{:x}", lock, lease); }

}  // namespace

std::vector<std::shared_ptr<grpc::Channel>> connections(const std::string& address, size_t callers) {
  std::vector<std::shared_ptr<grpc::Channel>> made;
  for (size_t number = 0; number < std::min(kConnectionsMax, callers); ++number) {
    grpc::ChannelArguments arguments;
    arguments.SetInt("coordkit.connection", static_cast<int>(number));
    made.push_back(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  }
  return made;
}

pb::PutRequest put_of(const std::string& key, int64_t lease) {
  pb::PutRequest put;
  put.set_key(key);
  put.set_value(std::string(kSixteenBytes));
  put.set_lease(lease);
  return put;
}

pb::RangeRequest range_of(const std::string& key, bool local) {
  pb::RangeRequest range;
  range.set_key(key);
  range.set_serializable(local);
  return range;
}

pb::TxnRequest put_if_there(const std::string& key) {
  pb::TxnRequest txn;
  pb::Compare& compare = *txn.add_compare();
  compare.set_key(key);
  compare.set_target(pb::Compare::VERSION);
  compare.set_result(pb::Compare::GREATER);
  compare.set_version(0);
  *txn.add_success()->mutable_request_put() = put_of(key);
  *txn.add_failure()->mutable_request_range() = range_of(key, false);
  return txn;
}

pb::TxnRequest acquire_of(const std::string& lock, int64_t lease) {
  const std::string key = key_below(lock, lease);
  pb::RangeRequest oldest;
  oldest.set_key(lock + "/");
  oldest.set_range_end(lock + "0");  // the character behind the slash: all that begin so
  oldest.set_limit(1);
  oldest.set_sort_order(pb::RangeRequest::ASCEND);
  oldest.set_sort_target(pb::RangeRequest::CREATE);
  pb::TxnRequest txn;
  pb::Compare& compare = *txn.add_compare();
  compare.set_key(key);
  compare.set_target(pb::Compare::CREATE);
  compare.set_result(pb::Compare::EQUAL);
  compare.set_create_revision(0);
  pb::PutRequest& put = *txn.add_success()->mutable_request_put();
  put.set_key(key);
  put.set_lease(lease);
  *txn.add_success()->mutable_request_range() = oldest;
  *txn.add_failure()->mutable_request_range() = range_of(key, false);
  *txn.add_failure()->mutable_request_range() = oldest;
  return txn;
}

pb::DeleteRangeRequest release_of(const std::string& lock, int64_t lease) {
  pb::DeleteRangeRequest release;
  release.set_key(key_below(lock, lease));
  return release;
}

void check(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error("etcd: " + status.error_message());
}

int64_t grant_lease(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  pb::LeaseGrantRequest request;
  request.set_ttl(kLeaseSeconds);
  pb::LeaseGrantResponse response;
  check(pb::Lease::NewStub(channel)->LeaseGrant(&context, request, &response));
  return response.id();
}

}  // namespace coordkit::bench::etcd
