#include "transport/frame_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.h"

namespace coordkit::tcp {
namespace {

struct FrameWriterTest : ::testing::Test {
  FrameWriter writer;
  FrameReader reader{1 << 20};
  std::vector<std::string> seen;  // by the reader: kind and body

  void gather(std::vector<std::string> messages) {
    for (std::string& body : messages) writer.messages().push_back({Lane::Bulk, std::move(body)});
  }
  // The next `bytes` of what is sealed reach the reader.
  bool write(size_t bytes) {
    std::string piece;
    for (const asio::const_buffer& buffer : writer.unsent()) {
      piece.append(static_cast<const char*>(buffer.data()), std::min(buffer.size(), bytes - piece.size()));
    }
    for (std::string_view rest = piece; !rest.empty();) {
      const std::span<char> space = reader.space();
      const size_t size = std::min(space.size(), rest.size());
      std::copy_n(rest.begin(), size, space.begin());
      rest.remove_prefix(size);
      reader.filled(size);
      while (const auto frame = reader.next()) {
        seen.push_back(std::to_string(static_cast<int>(frame->kind)) + std::string(frame->body));
      }
    }
    return writer.sent(piece.size());
  }
};

using Words = std::vector<std::string>;

TEST_F(FrameWriterTest, ABatchIsReadBackHoweverItIsWritten) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    Words expected;
    if (random.below(2) == 0) {
      writer.add(FrameKind::Pong, {});
      expected.push_back("4");
    }
    for (uint64_t left = 1 + random.below(5); left > 0; --left) {
      const std::string body(random.below(100), static_cast<char>('a' + random.below(26)));
      gather({body});
      expected.push_back("2" + body);
    }
    EXPECT_FALSE(writer.empty());
    writer.seal();
    while (!write(1 + random.below(100))) EXPECT_FALSE(writer.empty());
    EXPECT_TRUE(writer.empty());
    EXPECT_EQ(std::exchange(seen, {}), expected);
  }
}

TEST_F(FrameWriterTest, AKeyIsForTheFramesSealedFromThenOn) {
  gather({"before"});
  writer.seal();
  writer.set_key(7);
  EXPECT_TRUE(write(1000));
  reader.set_key(7);
  gather({"after"});
  writer.seal();
  EXPECT_TRUE(write(1000));
  EXPECT_EQ(seen, (Words{"2before", "2after"}));
}

TEST_F(FrameWriterTest, TheSessionsKeyIsForWhatFollowsTheNextHelloOnce) {
  const SessionKey key = session_key("0123456789abcdef", Prover::Dialer, 1, 2);
  writer.set_key_after_hello(key);
  writer.add(FrameKind::Hello, {Lane::Control, "hello"});
  writer.seal();
  EXPECT_TRUE(write(1000));
  reader.set_key(key);
  for (const std::string body : {"one", "two"}) {
    writer.add(FrameKind::Hello, {Lane::Control, "again"});
    gather({body});
    writer.seal();
    EXPECT_TRUE(write(1000));
  }
  EXPECT_EQ(seen, (Words{"1hello", "1again", "2one", "1again", "2two"}));
  EXPECT_EQ(reader.fault(), FrameFault::None);
}

}  // namespace
}  // namespace coordkit::tcp
