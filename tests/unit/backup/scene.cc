#include "tests/unit/backup/scene.h"

#include <fstream>
#include <iterator>

namespace coordkit::testkit {

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::map<std::string, std::string> tree(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().lexically_relative(directory).string();
    files[name] = entry.is_regular_file() ? read_file(entry.path()) : "a directory";
  }
  return files;
}

ReplicaOptions busy(ReplicaOptions options) {
  options.checkpoint_entries = 16;
  options.log_retained_bytes = 0;
  options.segment_bytes = 64 << 10;
  return options;
}

void put_keys(Replica& replica, int from, int count) {
  for (int i = from; i < from + count; ++i) {
    ASSERT_THAT(replica.put("key-" + std::to_string(i), "value-" + std::to_string(i), {.timeout = kPatience}).status(), IsOk());
  }
}

void expect_keys(Replica& replica, int count) {
  const auto found = Kv(replica).range(RangeOperation::prefix("key-"), {.timeout = kPatience});
  ASSERT_THAT(found.status(), IsOk());
  std::map<std::string, std::string> there, wanted;
  for (const KeyValue& entry : found->entries) there[entry.key] = entry.value;
  for (int i = 0; i < count; ++i) wanted["key-" + std::to_string(i)] = "value-" + std::to_string(i);
  EXPECT_EQ(there, wanted);
}

RestoredCluster::RestoredCluster(size_t size) {
  for (const std::string& address : support::free_loopback_addresses(size)) {
    const uint64_t id = members_.size() + 1;
    members_.push_back({id, address, (folder_.path() / ("new-" + std::to_string(id))).string()});
  }
}

ReplicaOptions RestoredCluster::options(uint64_t id, const std::string& cluster) const {
  ReplicaOptions options{.id = id, .cluster = cluster, .data_dir = members_.at(id - 1).directory};
  for (const NewMember& member : members_) options.members.push_back({member.id, member.address});
  options.security = PlainText{};
  options.segment_bytes = 1 << 20;
  return options;
}

void RestoredCluster::open(ReplicaOptions options) {
  const uint64_t id = options.id;
  auto replica = Replica::open(std::move(options));
  ASSERT_THAT(replica.status(), IsOk());
  replicas_[id] = *std::move(replica);
}

void RestoredCluster::open_all() {
  for (const NewMember& member : members_) ASSERT_NO_FATAL_FAILURE(open(member.id));
  for (const NewMember& member : members_) ASSERT_THAT((*this)[member.id].wait_ready(kPatience), IsOk());
}

}  // namespace coordkit::testkit
