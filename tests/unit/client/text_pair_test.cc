// Two texts in one place, and what a session and a hold take.
#include "coordkit/client/text_pair.h"

#include <gtest/gtest.h>

#include <string>

#include "client/sessions/session_table.h"
#include "coordkit/client/handles.h"

namespace coordkit {
namespace {

TEST(TextPairTest, HasBothTextsOfAnySizeInsideOrOutside) {
  for (size_t first = 0; first < 24; ++first) {
    for (size_t second = 0; second < 24; ++second) {
      const std::string a(first, 'a'), b(second, '\0');
      const TextPair<16> pair(a, b);
      ASSERT_EQ(pair.first(), a);
      ASSERT_EQ(pair.second(), b);
    }
  }
}

// With the eight bytes that the allocator adds, a hold takes 80 bytes and a session's two objects 96 and 112.
TEST(TextPairTest, WhatAProcessHasAMillionOfStaysSmall) {
  EXPECT_LE(sizeof(HoldState), 72u);
  EXPECT_LE(sizeof(SessionState), 88u);
  EXPECT_LE(sizeof(client::Session), 104u);
}

}  // namespace
}  // namespace coordkit
