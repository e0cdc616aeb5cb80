// Claims to hold the lock, by holder and time: checked from the holders' own reports, all in the time of one machine.
//
// A claim runs from the moment a holder knew its grant to the last moment at which it still found valid() true. It asks
// right before and after it uses the lock and takes the earlier reading, so a process that is frozen in between claims
// nothing it did not believe. Two claims of different holders must never overlap, and a later grant has a larger token.
// The protected resource keeps a second record: the writes it accepted, in its own order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coordkit::support {

struct Claim {
  int holder = 0;
  uint64_t token = 0;
  int64_t from_ns = 0;
  int64_t until_ns = 0;
  int64_t ended_ns = 0;  // it began to release, or was stopped from outside; 0: not known
};

struct Admission {  // a write as the resource saw it
  int64_t at_ns = 0;
  int holder = 0;
  uint64_t token = 0;
  bool accepted = false;
};

class Claims {
 public:
  void granted(int holder, uint64_t token, int64_t at_ns);
  void valid(uint64_t token, int64_t at_ns);  // the holder found it valid at that moment
  void ended(uint64_t token, int64_t at_ns);  // the first moment counts

  // In the order of the grants.
  std::vector<Claim> in_order() const;
  const Claim* newest() const;

  size_t handovers() const;        // grants to a holder other than the previous one
  int64_t longest_gap_ns() const;  // from a holder's end to the next grant
  size_t overlaps() const;
  // One sentence for each impossible thing: overlapping claims, a token granted twice, tokens that go down.
  std::vector<std::string> faults() const;

 private:
  std::map<uint64_t, Claim> by_token_;
  std::vector<std::string> faults_;
};

// One sentence for each write accepted after a newer token, or with a token that its writer was never granted.
std::vector<std::string> faults_of(const std::vector<Admission>& admissions, const std::vector<Claim>& claims);

}  // namespace coordkit::support
