#include "service/calls/callback_stream.h"

#include <gtest/gtest.h>

namespace coordkit {
namespace {

class Stream final : public CallbackStream {
 public:
  using CallbackStream::Call;
  int drops = 0;

 private:
  void drop() override { ++drops; }
};

// Covers: S-66 FLT_A03
TEST(CallbackStreamTest, ACallThatWasDueWhenItsStreamEndedDoesNotBegin) {
  Stream stream;
  {
    const Stream::Call call(stream);
    ASSERT_TRUE(call);
    stream.end();
    EXPECT_EQ(stream.drops, 0) << "the call under way uses it";
    EXPECT_FALSE(Stream::Call(stream)) << "not within the last call either";
  }
  EXPECT_EQ(stream.drops, 1);
  EXPECT_FALSE(Stream::Call(stream));
  stream.end();
  EXPECT_EQ(stream.drops, 1);
}

}  // namespace
}  // namespace coordkit
