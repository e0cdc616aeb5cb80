// Bytes that must never change without a new format version: compared with a file beside this one. To create new ones (after
// the format document was changed): COORDKIT_REWRITE_GOLDEN=1.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/source_dir.h"

namespace coordkit::testkit {

inline std::string golden_path(const std::string& name) { return source_dir() + "/tests/proof/golden/" + name; }

inline std::string golden_bytes(const std::string& name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  EXPECT_TRUE(file) << "no golden file " << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void expect_golden(const std::string& name, const std::string& bytes) {
  if (std::getenv("COORDKIT_REWRITE_GOLDEN") != nullptr) {
    std::ofstream(golden_path(name), std::ios::binary | std::ios::trunc) << bytes;
  }
  const std::string golden = golden_bytes(name);
  ASSERT_EQ(bytes.size(), golden.size()) << name;
  for (size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], golden[i]) << name << " differs at byte " << i;
}

}  // namespace coordkit::testkit
