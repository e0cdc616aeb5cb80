// Public headers keep what including programs rely on: they include only installed headers, are marked as exported,
// and every optional option has a default, so that leaving it out causes no compiler warning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "coordkit/version.h"
#include "tests/support/source_dir.h"
#include "tests/support/tree.h"

namespace coordkit::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

// Their text, by path below include/.
std::map<std::string, std::string> headers() {
  const fs::path top = fs::path(source_dir()) / "include";
  std::map<std::string, std::string> found;
  for (const fs::path& path : files_below({"include"}, {".h"})) found[path.lexically_relative(top)] = text_of_file(path);
  return found;
}

std::vector<std::string> captures(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern, std::regex::multiline);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) found.push_back((*match)[1]);
  return found;
}

TEST(PublicHeadersTest, EachIncludesOnlyHeadersThatExist) {
  const auto all = headers();
  ASSERT_GE(all.size(), 80u);
  for (const auto& [path, text] : all) {
    for (const std::string& included : captures(text, "^#include \"(coordkit/[^\"]*)\"")) {
      EXPECT_TRUE(all.contains(included)) << path << " includes " << included;
    }
  }
}

// Abseil's containers lie otherwise in memory where AddressSanitizer is on, and a program may have it on where the library has
// not (tests/system/install/sanitized.cmake).
TEST(PublicHeadersTest, NoneHasAContainerOfAbseil) {
  for (const auto& [path, text] : headers()) {
    EXPECT_THAT(captures(text, "^#include \"(absl/container/[^\"]*)\""), IsEmpty()) << path;
  }
}

// The simulator and the fakes are static libraries in every build, so they need no mark.
TEST(PublicHeadersTest, EveryNamespaceOfTheLibraryIsExported) {
  for (const auto& [path, text] : headers()) {
    for (const std::string& opened : captures(text, "^(namespace coordkit\\b.*)\\{")) {
      EXPECT_TRUE(opened.starts_with("namespace coordkit::sim") || opened.starts_with("namespace coordkit::testkit") ||
                  path.starts_with("coordkit/testing/"))
          << path << ": write `namespace COORDKIT_EXPORT coordkit {`, or a shared library hides what is declared here";
    }
  }
}

// Fields of option structs without a default: "Struct.field".
std::vector<std::string> without_default(const std::string& text) {
  static const std::regex opens(R"(^struct (\w*(Options|Limits|Policy|Faults)) \{$)");
  static const std::regex field(R"(^  [^/ ].* (\w+);.*)");
  static const std::regex other(R"(^  (using|static|friend|enum|struct|class|template)\b.*|.*[=(].*;.*)");
  std::vector<std::string> found;
  std::string inside;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (const size_t comment = line.find("//"); comment != std::string::npos) line.resize(comment);
    line.resize(line.find_last_not_of(' ') + 1);
    if (std::regex_match(line, match, opens)) inside = match[1];
    if (line == "};") inside.clear();
    line = std::regex_replace(line, std::regex("<.*>"), "");  // std::function<void(int)> is no function
    if (inside.empty() || !std::regex_match(line, match, field) || std::regex_match(line, other)) continue;
    found.push_back(inside + "." + match[1].str());
  }
  return found;
}

TEST(PublicHeadersTest, AFieldOfOptionsWithoutADefaultIsSeen) {
  EXPECT_THAT(without_default("struct AOptions {\n  int a = 1;  // one\n  std::string b;  // two = 2\n  StickyLimits c;\n"
                              "  std::function<void()> d = {};\n  std::function<void()> f;\n  absl::Status validate() "
                              "const;\n};\nstruct Other {\n  int e;\n};\n"),
              ElementsAre("AOptions.b", "AOptions.c", "AOptions.f"));
}

// Everything else has a default: leaving it out of {.name = value} causes no warning (-Wmissing-field-initializers).
TEST(PublicHeadersTest, EveryOptionHasADefaultButThoseThatMustBeSaid) {
  const std::set<std::string> required = {
      "ReplicaOptions.cluster",       "EngineOptions.raft", "EngineOptions.members", "DataDirectoryOptions.cluster",
      "DataDirectoryOptions.path",    "TcpOptions.listen",  "WatchOptions.key",      "MirrorOptions.key",
      "DataDirectoryOptions.replica", "Options.self",       "Options.store",
  };
  std::set<std::string> unused = required;
  for (const auto& [path, text] : headers()) {
    for (const std::string& field : without_default(text)) {
      EXPECT_TRUE(required.contains(field)) << path << ": " << field << " needs a default: `= {}`";
      unused.erase(field);
    }
  }
  EXPECT_THAT(unused, IsEmpty()) << "these have a default now";
}

TEST(PublicHeadersTest, TheVersionIsSaidOnce) {
  EXPECT_STREQ(COORDKIT_VERSION_STRING, (std::to_string(COORDKIT_VERSION_MAJOR) + "." + std::to_string(COORDKIT_VERSION_MINOR) +
                                         "." + std::to_string(COORDKIT_VERSION_PATCH))
                                            .c_str());
  EXPECT_EQ(COORDKIT_VERSION, COORDKIT_MAKE_VERSION(COORDKIT_VERSION_MAJOR, COORDKIT_VERSION_MINOR, COORDKIT_VERSION_PATCH));
  EXPECT_LT(COORDKIT_MAKE_VERSION(0, 1, 999), COORDKIT_MAKE_VERSION(0, 2, 0));
  const std::string readme = text_of_file(fs::path(source_dir()) / "README.md");
  const std::string minor = std::to_string(COORDKIT_VERSION_MAJOR) + "." + std::to_string(COORDKIT_VERSION_MINOR);
  EXPECT_THAT(captures(readme, R"(find_package\(coordkit ([0-9.]+))"), ElementsAre(minor));
}

}  // namespace
}  // namespace coordkit::house
