// A suite: loads (load.h) with so many callers, of ours and of peers (bench/peers), each on a cluster of its own with nothing
// inherited. Rounds are interleaved: every configuration is measured once before any is measured again, so that a slow minute
// of the machine spoils one round of all and not all rounds of one. The disk is probed before and after each measurement, while
// no cluster runs: what it can do is the ceiling that stands beside the figure.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cluster/load.h"
#include "bench/peers/peer.h"

namespace coordkit::bench {

inline constexpr std::string_view kOurs = "coordkit";

// One thing that is measured once in each round.
struct Measured {
  std::string who{kOurs};  // or a peer's name
  std::string kind;        // of kKinds
  std::string where;       // as LoadOptions::where; a peer's are where it says
  size_t callers = 1;
  double per_s = 0;                // as LoadOptions::per_s
  std::string security = "plain";  // as LoadOptions::security; of ours
};

struct Suite {
  std::vector<Measured> measured;
  PeerPrograms programs;
  uint32_t rounds = 1;
  bool goes_on = false;  // where ours fails, as it does where a peer does
  LoadOptions load;      // the rest; kind, where, callers, per_s and security are filled in
};

// Every kind with every number of callers and at every rate, of ours with each security, and of each peer that can do it.
struct Product {
  std::vector<std::string> kinds;
  std::vector<std::string> securities = {"plain"};
  std::vector<size_t> callers;  // empty: 1 or 2, 16, 64; at a rate 1024
  std::vector<double> rates;    // empty: closed loops
  std::vector<std::string> peers;
  std::string where = "embedded";
};
std::vector<Measured> product_of(const Product& of);

using PrintLine = std::function<void(const nlohmann::ordered_json&)>;

// Lines: disk_probe before and after, the measurement, and with more than one round the medians at the end. A cycle of a
// kind that waits for n syncs, done by c callers at once, cannot happen more than c/n times in the time of one sync; with
// one lock for all, c is 1. That is ceiling_per_s, from the median in-place sync of the two probes beside the measurement.
// disk_suspect: a probe below half of the run's best, or a measurement above its ceiling (the probe waited for a processor,
// not for the disk): repeat it on a quiet machine. A peer that could not be measured has a line with not_measured, the reason.
// False: something saw errors. Throws std::runtime_error with a sentence.
bool run_suite(const std::filesystem::path& data, const Suite& suite, const PrintLine& print);

}  // namespace coordkit::bench
