#include "bench/etcd/etcd_cluster.h"

#include <grpcpp/grpcpp.h>

#include <stdexcept>
#include <thread>

#include "kv.grpc.pb.h"
#include "tools/support/loopback.h"

namespace coordkit::bench {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMembers = 3;

std::string name_of(size_t member) { return "m" + std::to_string(member); }

bool leads(const std::string& address) {
  const auto stub = etcdserverpb::Maintenance::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + 1s);
  etcdserverpb::StatusResponse status;
  if (!stub->Status(&context, {}, &status).ok()) return false;
  return status.leader() != 0 && status.leader() == status.header().member_id();
}

}  // namespace

EtcdCluster::EtcdCluster(const std::string& program, const std::filesystem::path& data) {
  const std::vector<std::string> free = support::free_loopback_addresses(2 * kMembers);
  addresses_.assign(free.begin(), free.begin() + kMembers);
  std::string all;
  for (size_t i = 0; i < kMembers; ++i) all += (i == 0 ? "" : ",") + name_of(i) + "=http://" + free[kMembers + i];
  for (size_t i = 0; i < kMembers; ++i) {
    const std::string clients = "http://" + free[i], peers = "http://" + free[kMembers + i];
    members_.push_back(support::Child::start_program(
        program, {"--name", name_of(i), "--data-dir", (data / name_of(i)).string(), "--logger", "zap", "--log-level", "panic",
                  "--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers,
                  "--initial-advertise-peer-urls", peers, "--initial-cluster", all}));
  }
  const support::Deadline deadline = support::in(60s);
  while (leader().empty()) {
    for (support::Child& member : members_) {
      if (const auto status = member.wait(support::in(20ms))) {
        throw std::runtime_error(program + " ended with status " + std::to_string(*status));
      }
    }
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("three of " + program + " elect no leader");
  }
}

EtcdCluster::~EtcdCluster() {
  for (support::Child& member : members_) member.kill();
}

std::string EtcdCluster::leader() const {
  for (const std::string& address : addresses_) {
    if (leads(address)) return address;
  }
  return {};
}

}  // namespace coordkit::bench
