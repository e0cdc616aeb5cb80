// LimitExceeded names the limit: what is too large, how large it is, and what is allowed.
#include <gmock/gmock.h>

#include <limits>

#include "client/calls/answers.h"
#include "coordkit/error.h"
#include "machine/command.h"

namespace coordkit::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string bytes(size_t count) { return std::string(count, 'x'); }

struct Beyond {
  machine::Request request;
  std::string words;
};

TEST(LimitsTest, EveryRequestBeyondALimitIsToldWhichOne) {
  const SessionId s(1);
  constexpr uint64_t kHuge = uint64_t{std::numeric_limits<int64_t>::max()} + 1;
  const std::string name = "the name has 1025 bytes; at most 1024 are allowed";
  const std::string owner = "the owner tag has 257 bytes; at most 256 are allowed";
  const std::string amount = "9223372036854775808; at most 2^63 - 1 is allowed";
  const Transaction of_put{{}, {}, {PutOperation{.key = "a", .value = bytes((1 << 20) + 1)}}};
  std::vector<Beyond> all = {
      {{.body =
            machine::OpenSession{
                .ttl = std::chrono::seconds(1), .metadata = bytes(4097), .node = ReplicaId(1), .boot = BootCounter(1)}},
       "the session's metadata has 4097 bytes; at most 4096"},
      {{.body = machine::ResumeSession{.id = s, .secret = bytes(65)}}, "the secret has 65 bytes; at most 64"},
      {{.body = machine::ForceRelease{.name = bytes(1025), .token = Token(1)}}, name},
      {{.body = machine::ClearDelay{bytes(1025)}}, name},
      {{.body = machine::Acquire{.session = s, .name = bytes(1025)}}, name},
      {{.body = machine::Acquire{.session = s, .owner_tag = bytes(257), .name = "a"}}, owner},
      {{.body = machine::Acquire{.session = s, .name = "a", .texts = {.value = bytes(4097)}}},
       "the hold's value has 4097 bytes; at most 4096"},
      {{.body = machine::AcquireAll{.session = s, .locks = std::vector<NamedLock>(129, NamedLock{.name = "a"})}},
       "129 locks are named; at most 128"},
      {{.body = machine::AcquireAll{.session = s, .locks = {{.name = bytes(1025)}}}}, name},
      {{.body = machine::Release{.session = s, .owner_tag = bytes(257), .name = "a", .token = Token(1)}}, owner},
      {{.body = machine::Downgrade{.session = s, .owner_tag = bytes(257), .name = "a", .token = Token(1)}}, owner},
      {{.body = machine::Upgrade{.session = s, .owner_tag = bytes(257), .name = "a", .token = Token(1)}}, owner},
      {{.body = machine::UpdateValue{.session = s, .owner_tag = bytes(257), .name = "a", .token = Token(1)}}, owner},
      {{.body = machine::UpdateValue{.session = s, .name = "a", .token = Token(1), .value = bytes(4097)}},
       "the hold's value has 4097 bytes; at most 4096"},
      {{.body = machine::Put{.key = bytes(8193)}}, "the key has 8193 bytes; at most 8192"},
      {{.body = machine::Put{.key = bytes(8192), .sequential = true}}, "the key has 8192 bytes; at most 8172"},
      {{.body = machine::Put{.key = "a", .value = bytes((1 << 20) + 1)}}, "the value has 1048577 bytes; at most 1048576"},
      {{.body = machine::Delete{.key = bytes(8193)}}, "the key has 8193 bytes; at most 8192"},
      {{.body = machine::Delete{.key = "a", .end = bytes(8193)}}, "the end of the interval has 8193 bytes; at most 8192"},
      {{.body = Transaction{{Compare::exists(bytes(8193))}, {}, {}}}, "the key has 8193 bytes; at most 8192"},
      {{.body = Transaction{{{.key = bytes(1025), .target = Compare::Target::LockFree}}, {}, {}}},
       "the name of the lock in a condition has 1025 bytes; at most 1024"},
      {{.body = Transaction{{}, {RangeOperation{.key = "a", .end = bytes(8193)}}, {}}},
       "the end of the interval has 8193 bytes; at most 8192"},
      {{.body = Transaction{{}, {DeleteOperation{.key = bytes(8193)}}, {}}}, "the key has 8193 bytes; at most 8192"},
      {{.body = Transaction{{}, {of_put}, {}}}, "the value has 1048577 bytes; at most 1048576"},
  };
  const auto add = [&all](machine::CoordinationCommand command, const std::string& words) {
    all.push_back({{.body = std::move(command)}, words});
  };
  add(machine::SetSemaphoreLimit{.session = s, .name = "a", .limit = kHuge}, "the limit of the semaphore is " + amount);
  add(machine::AcquirePermits{.session = s, .name = "a", .count = 1, .initial_limit = kHuge},
      "the limit of the semaphore is " + amount);
  add(machine::AcquirePermits{.session = s, .name = "a", .count = kHuge}, "the number of permits is " + amount);
  add(machine::CreateLatch{.session = s, .name = "a", .count = kHuge}, "the count of the latch is " + amount);
  add(machine::CountDown{.session = s, .name = "a", .by = kHuge}, amount);
  add(machine::EnterBarrier{.session = s, .name = "a", .parties = kHuge}, "the number of parties is " + amount);
  add(machine::Enqueue{.name = "a", .value = bytes((64 << 10) + 1)}, "the item's value has 65537 bytes; at most 65536");
  add(machine::JoinGroup{.session = s, .name = "a", .value = bytes(4097)}, "the member's value has 4097 bytes; at most 4096");
  add(machine::JoinGroup{.session = s, .owner_tag = bytes(257), .name = "a"}, owner);
  add(machine::UpdateMember{.session = s, .name = "a", .value = bytes(4097)},
      "the member's value has 4097 bytes; at most 4096");
  add(machine::LeaveGroup{.session = s, .owner_tag = bytes(257), .name = "a"}, owner);
  add(machine::CreateLatch{.session = s, .name = bytes(1025), .count = 1}, name);
  for (const Beyond& one : all) {
    ASSERT_EQ(machine::validate(one.request), machine::ResultCode::LimitExceeded) << one.words;
    const absl::Status refused = check_request(one.request);
    EXPECT_EQ(reason_of(refused), Reason::LimitExceeded) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(one.words));
  }
  EXPECT_THAT(std::string(check_range(RangeOperation{.key = bytes(8193)}).message()),
              HasSubstr("the key has 8193 bytes; at most 8192"));
}

TEST(LimitsTest, WhatOnlyTheStateDecidesNamesItsLimitToo) {
  const machine::Result beyond{.code = machine::ResultCode::LimitExceeded};
  EXPECT_THAT(std::string(status_of(beyond, "billing").message()),
              HasSubstr("this owner has acquired \"billing\" 65,535 times, which is the most"));
  EXPECT_THAT(std::string(unordered_range_too_large().message()), AllOf(HasSubstr("10,000 entries"), HasSubstr("4 MiB")));
}

}  // namespace
}  // namespace coordkit::client
