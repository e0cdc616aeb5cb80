// Real replicas that leave real directories behind, and new clusters made from them; their answers are compared by
// what callers see.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/keys/kv.h"
#include "coordkit/operate/backup.h"
#include "coordkit/replica.h"
#include "tests/unit/replica/replica_cluster.h"
#include "tools/support/loopback.h"

namespace coordkit::testkit {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path);
void write_file(const fs::path& path, const std::string& bytes);
// Every file below a directory, by its path there.
std::map<std::string, std::string> tree(const fs::path& directory);

// A replica that checkpoints often, so that its directory has both a checkpoint and a log after it.
ReplicaOptions busy(ReplicaOptions options);

void put_keys(Replica& replica, int from, int count);
// Expects key-0 to key-(count - 1), each with the value that put_keys gave it.
void expect_keys(Replica& replica, int count);

// Replicas of a restored cluster, on directories and addresses of their own.
class RestoredCluster {
 public:
  explicit RestoredCluster(size_t size);
  RestoreOptions restore_options() const { return {.members = members_}; }
  const std::vector<NewMember>& members() const { return members_; }
  fs::path folder() const { return folder_.path(); }

  ReplicaOptions options(uint64_t id, const std::string& cluster = "test") const;
  void open(uint64_t id) { open(options(id)); }
  void open(ReplicaOptions options);
  void open_all();
  void close(uint64_t id) { replicas_.erase(id); }
  Replica& operator[](uint64_t id) { return *replicas_.at(id); }

 private:
  Folder folder_;
  std::vector<NewMember> members_;
  std::map<uint64_t, std::unique_ptr<Replica>> replicas_;
};

}  // namespace coordkit::testkit
