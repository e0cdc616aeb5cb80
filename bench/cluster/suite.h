// A suite: kinds of load (load.h), each with each number of callers, each on a fresh cluster of its own.
// Rounds are interleaved: every configuration is measured once before any is measured again, so that a slow minute of the
// machine spoils one round of all and not all rounds of one. The disk is probed before and after each measurement, while no
// cluster runs: its capability is the ceiling printed beside the figure.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cluster/load.h"

namespace coordkit::bench {

struct Suite {
  std::vector<std::string> kinds;                   // from kKinds
  std::vector<std::string> securities = {"plain"};  // as in LoadOptions::security; several: the same loads with each
  std::vector<size_t> callers;                      // empty: 1 or 2, 16, 64
  std::string etcd;  // path of that program: the same loads on three of it, beside ours; empty: none
  uint32_t rounds = 1;
  LoadOptions load;  // kind and callers are filled in
};

using PrintLine = std::function<void(const nlohmann::ordered_json&)>;

// Lines: disk_probe before and after, the measurement, and with more than one round the medians at the end. A cycle of a
// kind that waits for n syncs, done by c callers at once, cannot happen more than c/n times in the time of one sync; with
// one lock for all, c is 1. That is ceiling_per_s, from the median in-place sync of the two probes beside the measurement.
// disk_suspect: a probe below half of the run's best, or a measurement above its ceiling (the probe waited for a processor,
// not for the disk): repeat it on a quiet machine. False: something saw errors. Throws std::runtime_error with a sentence.
bool run_suite(const std::filesystem::path& data, const Suite& suite, const PrintLine& print);

}  // namespace coordkit::bench
