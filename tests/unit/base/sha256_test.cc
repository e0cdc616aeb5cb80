// Against the published vectors of FIPS 180-4, and every length around the edges of a block.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace coordkit {
namespace {

std::string hex(const Sha256& digest) {
  std::string out;
  for (const uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

TEST(Sha256Test, DigestsEqualThePublishedVectors) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, EveryLengthAroundABlockHasADigestOfItsOwn) {
  std::set<std::string> seen;
  for (size_t length = 0; length <= 200; ++length) seen.insert(hex(sha256(std::string(length, '\0'))));
  EXPECT_EQ(seen.size(), 201u);
}

}  // namespace
}  // namespace coordkit
