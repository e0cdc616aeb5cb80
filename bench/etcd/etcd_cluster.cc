#include "bench/etcd/etcd_cluster.h"

#include <grpcpp/grpcpp.h>

#include "kv.grpc.pb.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

bool leads(const std::string& address) {
  const auto stub = etcdserverpb::Maintenance::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 1s);
  etcdserverpb::StatusResponse status;
  if (!stub->Status(&context, {}, &status).ok()) return false;
  return status.leader() != 0 && status.leader() == status.header().member_id();
}

}  // namespace

EtcdCluster::EtcdCluster(const std::string& program, const std::filesystem::path& data) : members_(program, 3, data) {
  members_.await([this] { return !leader().empty(); });
}

std::string EtcdCluster::leader() const {
  for (const std::string& address : members_.addresses()) {
    if (leads(address)) return address;
  }
  return {};
}

}  // namespace coordkit::bench
