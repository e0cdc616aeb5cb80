// The protocols in which peers are spoken to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "bench/redis/resp.h"
#include "bench/zookeeper/jute.h"

namespace coordkit::bench {
namespace {

using redis::Reply;
using redis::ReplyReader;
using zookeeper::FrameCutter;
using zookeeper::FrameReader;
using zookeeper::Lifetime;

TEST(RespTest, ACommandIsAnArrayOfBulkStrings) {
  std::string out;
  redis::append_command(out, {"SET", "lock-1", "", "NX"});
  EXPECT_EQ(out, "*4\r\n$3\r\nSET\r\n$6\r\nlock-1\r\n$0\r\n\r\n$2\r\nNX\r\n");
}

TEST(RespTest, RepliesAreReadHoweverTheyAreCutIntoPieces) {
  const std::string bytes = "+OK\r\n$-1\r\n:1\r\n$4\r\na\r\nb\r\n-ERR no\r\n";
  ReplyReader reader;
  std::vector<Reply> replies;
  for (const char byte : bytes) {
    reader.add({&byte, 1});
    while (auto reply = reader.next()) replies.push_back(*reply);
  }
  ASSERT_EQ(replies.size(), 5u);
  EXPECT_EQ(replies[0].kind, Reply::Kind::Status);
  EXPECT_EQ(replies[0].text, "OK");
  EXPECT_EQ(replies[1].kind, Reply::Kind::Nothing);
  EXPECT_EQ(replies[2].number, 1);
  EXPECT_EQ(replies[3].text, "a\r\nb");
  EXPECT_EQ(replies[4].kind, Reply::Kind::Error);
  EXPECT_EQ(replies[4].text, "ERR no");
}

TEST(RespTest, WhatIsNoReplyIsRefused) {
  for (const char* bytes : {"*1\r\n", "hello\r\n", "\r\n", ":one\r\n", "$-2\r\n"}) {
    ReplyReader reader;
    reader.add(bytes);
    EXPECT_THROW(reader.next(), std::runtime_error) << bytes;
  }
}

std::string_view without_length(const std::string& frame) { return std::string_view(frame).substr(4); }

TEST(JuteTest, ARequestForASessionIsAsLongAsServersExpect) {
  const std::string frame = zookeeper::connect_frame(30'000);
  EXPECT_EQ(frame.size(), 4u + 4 + 8 + 4 + 8 + 4 + 16 + 1);
  FrameReader reader(frame);
  EXPECT_EQ(reader.integer(), static_cast<int32_t>(frame.size()) - 4);
  EXPECT_EQ(reader.integer(), 0);
  EXPECT_EQ(reader.longer(), 0);
  EXPECT_EQ(reader.integer(), 30'000);
}

TEST(JuteTest, ARequestForANodeHasPathNoDataOnePermissionAndItsLifetime) {
  const std::string frame = zookeeper::create_frame(7, "/a", Lifetime::EphemeralSequential);
  FrameReader reader(without_length(frame));
  EXPECT_EQ(reader.integer(), 7);
  EXPECT_EQ(reader.integer(), 1);
  EXPECT_EQ(reader.string(), "/a");
  EXPECT_EQ(reader.string(), "");
  EXPECT_EQ(reader.integer(), 1);
  EXPECT_EQ(reader.integer(), 31);
  EXPECT_EQ(reader.string(), "world");
  EXPECT_EQ(reader.string(), "anyone");
  EXPECT_EQ(reader.integer(), 3);
  EXPECT_THROW(reader.integer(), std::runtime_error);
}

TEST(JuteTest, NumbersBelowZeroAndListsAreRead) {
  const std::string frame = zookeeper::delete_frame(-1, "/a");
  FrameReader reader(without_length(frame));
  EXPECT_EQ(reader.integer(), -1);
  EXPECT_EQ(reader.integer(), 2);
  EXPECT_EQ(reader.string(), "/a");
  EXPECT_EQ(reader.integer(), -1);
  const std::string list("\0\0\0\2\0\0\0\1a\0\0\0\2bc", 15);
  EXPECT_THAT(FrameReader(list).strings(), ::testing::ElementsAre("a", "bc"));
}

TEST(JuteTest, FramesAreCutHoweverTheyCome) {
  const std::string one = zookeeper::children_frame(1, "/a"), two = zookeeper::delete_frame(2, "/b");
  FrameCutter cutter;
  std::vector<std::string> frames;
  for (const char byte : one + two) {
    cutter.add({&byte, 1});
    while (auto frame = cutter.next()) frames.push_back(*frame);
  }
  EXPECT_THAT(frames, ::testing::ElementsAre(without_length(one), without_length(two)));
}

TEST(JuteTest, WhatIsCutOffOrImpossiblyLongIsRefused) {
  EXPECT_THROW(FrameReader(std::string_view("\0\0\0\5ab", 6)).string(), std::runtime_error);
  FrameCutter cutter;
  cutter.add("\x7f\xff\xff\xff");
  EXPECT_THROW(cutter.next(), std::runtime_error);
}

}  // namespace
}  // namespace coordkit::bench
