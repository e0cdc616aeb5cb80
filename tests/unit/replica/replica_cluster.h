// Three replicas in this process, on loopback ports and real files; each with a test's own options.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "coordkit/error.h"
#include "coordkit/replica.h"
#include "tests/support/sentence.h"
#include "tools/support/loopback.h"

namespace coordkit::testkit {

using namespace std::chrono_literals;

inline constexpr Duration kPatience = 60s;  // only a hang takes that long

MATCHER_P(Is, reason, std::string("is ") + std::string(name_of(reason)) + ", in a sentence") {
  const std::string fault = fault_of_sentence(arg);
  *result_listener << arg << ": " << fault;
  return reason_of(arg) == reason && fault.empty();
}
MATCHER(IsOk, "is OK") {
  *result_listener << arg;
  return arg.ok();
}
MATCHER_P(HasCode, code, "has code " + absl::StatusCodeToString(code)) {
  *result_listener << arg;
  return arg.code() == code;
}

// Polls until it is so: information reaches a replica with some delay.
template <typename Fact>
bool eventually(Fact fact) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (fact()) return true;
    std::this_thread::yield();
  }
  return false;
}

// Below TEST_TMPDIR, which is on the disk of the build folder. The path of a socket has 107 bytes at most: where a checkout's
// is so long that a socket in this folder would have more, it lies below the system's temporary directory.
class Folder {
 public:
  Folder() {
    const std::filesystem::path here = ::testing::TempDir();
    const std::filesystem::path among = here.native().size() <= 60 ? here : std::filesystem::temp_directory_path();
    std::string pattern = among / "replica.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory in " + among.string());
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Cluster {
 public:
  explicit Cluster(size_t size = 3) : addresses_(support::free_loopback_addresses(size)) {}

  size_t size() const { return addresses_.size(); }

  ReplicaOptions options(uint64_t id) const {
    ReplicaOptions options{.id = id, .cluster = "test", .data_dir = folder_.path() / std::to_string(id)};
    for (size_t i = 0; i < addresses_.size(); ++i) options.members.push_back({i + 1, addresses_[i]});
    options.security = PlainText{};
    options.segment_bytes = 1 << 20;
    return options;
  }

  void open(uint64_t id) { open(options(id)); }
  void open(ReplicaOptions options) {
    const uint64_t id = options.id;
    absl::StatusOr<std::unique_ptr<Replica>> replica = Replica::open(std::move(options));
    ASSERT_THAT(replica.status(), IsOk());
    replicas_[id] = *std::move(replica);
  }
  void open_all() {
    for (uint64_t id = 1; id <= size(); ++id) ASSERT_NO_FATAL_FAILURE(open(id));
    for (uint64_t id = 1; id <= size(); ++id) ASSERT_THAT(replicas_[id]->wait_ready(kPatience), IsOk());
  }
  Replica& operator[](uint64_t id) { return *replicas_.at(id); }
  void close(uint64_t id) { replicas_.erase(id); }
  std::unique_ptr<Replica> take(uint64_t id) { return std::move(replicas_.at(id)); }

  Session session(uint64_t id, Duration ttl = 10s) {
    absl::StatusOr<Session> session = (*this)[id].open_session({.ttl = ttl, .timeout = kPatience});
    EXPECT_THAT(session.status(), IsOk());
    return session.ok() ? *session : Session();
  }

 private:
  Folder folder_;
  const std::vector<std::string> addresses_;
  std::map<uint64_t, std::unique_ptr<Replica>> replicas_;
};

}  // namespace coordkit::testkit
