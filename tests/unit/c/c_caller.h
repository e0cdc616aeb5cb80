// The fixture of the tests of the C interface: real replicas, and a caller that knows nothing but coordkit/c/coordkit_remote.h.
#pragma once

#include <poll.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "coordkit/c/coordkit_remote.h"
#include "tests/unit/replica/replica_cluster.h"

namespace coordkit::testkit {

inline constexpr char kSecretOfRemotes[] = "the secret of the remotes";
inline constexpr int64_t kPatienceMs = 60'000;

inline coordkit_bytes bytes(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(coordkit_bytes bytes) { return {bytes.data, bytes.size}; }

// A call's status and its report agree, and a failure has a sentence.
inline coordkit_status checked(coordkit_status status, const coordkit_error& error) {
  EXPECT_EQ(status, error.status);
  EXPECT_EQ(error.sentence_size, std::strlen(error.sentence));
  EXPECT_EQ(status == COORDKIT_OK, error.sentence_size == 0) << error.sentence;
  return status;
}

class CRemoteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (uint64_t id = 1; id <= 3; ++id) {
      ReplicaOptions options = cluster_.options(id);
      options.remotes = {.listen = gateways_[id - 1], .security = SharedSecret{kSecretOfRemotes}};
      ASSERT_NO_FATAL_FAILURE(cluster_.open(std::move(options)));
    }
    ASSERT_THAT(cluster_[1].wait_ready(kPatience), IsOk());
    remote_ = open(kSecretOfRemotes);
    ASSERT_EQ(coordkit_remote_wait_ready(remote_, kPatienceMs, &error_), COORDKIT_OK) << error_.sentence;
    session_ = open_session();
  }
  void TearDown() override {
    coordkit_session_free(session_);
    coordkit_remote_free(remote_);
  }

  coordkit_remote* open(const char* secret, uint64_t link_tag = 0) {
    std::vector<coordkit_bytes> gateways;
    for (const std::string& address : gateways_) gateways.push_back(bytes(address));
    coordkit_remote_options options{};
    options.struct_size = sizeof options;
    options.cluster = bytes("test");
    options.gateways = gateways.data();
    options.gateways_count = gateways.size();
    options.secret = bytes(secret);
    options.link_tag = link_tag;
    coordkit_remote* remote = nullptr;
    EXPECT_EQ(coordkit_remote_open(&options, &remote, &error_), COORDKIT_OK) << error_.sentence;
    return remote;
  }
  coordkit_session* open_session(uint64_t phase_tag = 0) {
    coordkit_session_options options{};
    options.struct_size = sizeof options;
    options.ttl_ms = 10'000;
    options.metadata = bytes("me");
    options.phase_tag = phase_tag;
    coordkit_session* session = nullptr;
    EXPECT_EQ(coordkit_session_open(remote_, &options, kPatienceMs, &session, &error_), COORDKIT_OK) << error_.sentence;
    return session;
  }
  coordkit_grant* acquire(std::string_view name) {
    coordkit_grant* grant = nullptr;
    EXPECT_EQ(coordkit_acquire(session_, name.data(), name.size(), nullptr, kPatienceMs, &grant, &error_), COORDKIT_OK)
        << error_.sentence;
    return grant;
  }
  coordkit_status put(std::string_view key, std::string_view value, const coordkit_write_options* options = nullptr,
                      uint64_t* revision = nullptr) {
    return checked(
        coordkit_put(remote_, key.data(), key.size(), value.data(), value.size(), options, kPatienceMs, revision, &error_),
        error_);
  }
  // The next completion; a descriptor says when.
  coordkit_completion next() {
    coordkit_completion completion{};
    completion.struct_size = sizeof completion;
    EXPECT_TRUE(readable(kPatienceMs));
    EXPECT_EQ(coordkit_poll(remote_, &completion, &error_), COORDKIT_OK) << error_.sentence;
    return completion;
  }
  bool readable(int64_t patience_ms) {
    int descriptor = -1;
    EXPECT_EQ(coordkit_descriptor(remote_, &descriptor, &error_), COORDKIT_OK);
    pollfd event{.fd = descriptor, .events = POLLIN, .revents = 0};
    return ::poll(&event, 1, static_cast<int>(patience_ms)) == 1;
  }

  Cluster cluster_;
  const std::vector<std::string> gateways_ = support::free_loopback_addresses(3);
  coordkit_remote* remote_ = nullptr;
  coordkit_session* session_ = nullptr;
  coordkit_error error_{};
};

}  // namespace coordkit::testkit
