#include "client/calls/any_callback.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace coordkit::client {
namespace {

using Answer = absl::StatusOr<std::string>;

struct AnyCallbackTest : testing::Test {
  AnyCallback made() {
    return absl::AnyInvocable<void(Answer)>([this](Answer answer) {
      ++times;
      received = std::move(answer);
    });
  }
  int times = 0;
  Answer received = absl::UnknownError("nothing yet");
};

TEST_F(AnyCallbackTest, ItIsAnsweredUnderItsOwnType) {
  AnyCallback callback = made();
  callback.as<Answer>()(Answer("yes"));
  EXPECT_EQ(*received, "yes");
  EXPECT_EQ(times, 1);
}

TEST_F(AnyCallbackTest, AnyCanBeToldWhyThereIsNoAnswer) {
  made().fail(absl::AbortedError("no"));
  EXPECT_EQ(received.status(), absl::AbortedError("no"));
  std::optional<absl::Status> done;
  AnyCallback plain(absl::AnyInvocable<void(absl::Status)>([&](absl::Status status) { done = status; }));
  plain.fail(absl::AbortedError("no"));
  EXPECT_EQ(done, absl::AbortedError("no"));
}

TEST_F(AnyCallbackTest, AnotherTypeOfAnswerIsADefectThatIsNoticed) {
  AnyCallback callback = made();
  EXPECT_THROW(callback.as<absl::StatusOr<int>>(), CheckFailure);
  EXPECT_THROW(callback.as<absl::Status>(), CheckFailure);
  EXPECT_EQ(times, 0);
}

TEST_F(AnyCallbackTest, ItMovesWithWhatItHoldsAndDestroysItOnce) {
  const auto alive = std::make_shared<int>(0);
  const auto holding = [&alive] {
    return AnyCallback(absl::AnyInvocable<void(absl::Status)>([kept = alive](absl::Status) { ++*kept; }));
  };
  {
    AnyCallback first = holding();
    AnyCallback second = std::move(first);
    AnyCallback third = made();
    third = std::move(second);
    third.as<absl::Status>()(absl::OkStatus());
    EXPECT_EQ(*alive, 1);
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace coordkit::client
