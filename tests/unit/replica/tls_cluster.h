// Three replicas in this process with certificates that can be replaced while callers work.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/replica/replica_cluster.h"
#include "tools/certificates/folder.h"

namespace coordkit::testkit {

class TlsCluster {
 public:
  TlsCluster() { support::make_certificates(order_); }

  ReplicaOptions options(uint64_t id) const {
    ReplicaOptions options = cluster.options(id);
    options.security = support::tls_of(order_.folder, id);
    return options;
  }
  void open_all() {
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_NO_FATAL_FAILURE(cluster.open(options(id)));
    for (uint64_t id = 1; id <= 3; ++id) ASSERT_THAT(cluster[id].wait_ready(kPatience), IsOk());
  }
  uint64_t closed_for(uint64_t id, CloseReason reason) { return cluster[id].metrics().value().peers.tcp->closed_for(reason); }

  // Replaces the certificates and keys of all three, or the authority, which all trust before it signs. Each replica
  // takes them, and both connections that it has dialed are replaced.
  void rotate(bool authority = false) {
    order_.new_authority = authority;
    support::make_certificates(order_);
    uint64_t before[4] = {};
    for (uint64_t id = 1; id <= 3; ++id) {
      before[id] = closed_for(id, CloseReason::Renewed);
      EXPECT_THAT(cluster[id].reload_tls(), IsOk());
    }
    for (uint64_t id = 1; id <= 3; ++id)
      EXPECT_TRUE(eventually([&] { return closed_for(id, CloseReason::Renewed) >= before[id] + 2; }));
  }

  Cluster cluster;

 private:
  Folder folder_;
  support::FolderOrder order_{.folder = folder_.path(), .cluster = "test"};
};

// Callers on every replica that take a lock, write under it and release, again and again. Counts answers other than OK.
class Callers {
 public:
  explicit Callers(Cluster& cluster) {
    for (uint64_t id = 1; id <= cluster.size(); ++id) {
      threads_.emplace_back(
          [this, &cluster, id] { work(cluster[id], cluster.session(id, 30s), "lock of " + std::to_string(id)); });
    }
  }
  ~Callers() { stop(); }
  void stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  uint64_t calls() const { return calls_; }
  uint64_t failed() const { return failed_; }

 private:
  void work(Replica& replica, Session session, const std::string& name) {
    const auto count = [&](const absl::Status& status) {
      ++calls_;
      if (status.ok()) return true;
      ++failed_;
      ADD_FAILURE() << status;
      return false;
    };
    while (!stopped_) {
      absl::StatusOr<Grant> grant = session.acquire(name, {.timeout = kPatience});
      if (!count(grant.status())) return;
      count(replica.put(name, std::to_string(calls_), {.timeout = kPatience}).status());
      count(grant->release());
    }
  }

  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> calls_{0}, failed_{0};
  std::vector<std::thread> threads_;
};

}  // namespace coordkit::testkit
