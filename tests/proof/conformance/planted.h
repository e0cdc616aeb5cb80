// The adapters that are broken on purpose: what is wrong with each, which test of its suite notices, and that test's message.
// docs/conformance.md holds the same list; broken_adapters_test.cc runs it.
//
// They exist only in processes that this program starts from itself to see them fail.
#pragma once

#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coordkit::testkit {

struct Planted {
  const char* suite;
  const char* name;
  const char* defect;     // what it does
  const char* caught_by;  // the test
  const char* sentence;   // a part of what that test prints
};

std::span<const Planted> planted();
std::vector<std::string> planted_in(const std::string& suite);  // names, sorted

inline constexpr char kBrokenAdapters[] = "COORDKIT_BROKEN_ADAPTERS";

// Makers of broken adapters by name, in the form that gtest needs.
template <typename Make>
struct Broken {
  std::vector<std::string> names;
  std::vector<Make> makers;

  template <typename Maker>
  void add(const char* name, Maker maker) {
    names.emplace_back(name);
    makers.emplace_back(std::move(maker));
  }
  // None in a process that was not started for them.
  std::vector<Make> here() const { return std::getenv(kBrokenAdapters) == nullptr ? std::vector<Make>() : makers; }
};

}  // namespace coordkit::testkit
