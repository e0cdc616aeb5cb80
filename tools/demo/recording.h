// The story's knowledge of its processes, kept for the timeline page: when each led, was paused or was dead, when it awaited
// the lock and held it, which late writes were refused. From the processes' own reports, in the time of one machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "coordkit/sim/timeline.h"
#include "tools/support/claims.h"

namespace coordkit::demo {

class Recording {
 public:
  Recording(int nodes, int64_t started_ns);

  void started(int id, int64_t at_ns);
  void killed(int id, int64_t at_ns);
  void frozen(int id, int64_t at_ns);
  void thawed(int id, int64_t at_ns);
  void leadership(int id, int64_t at_ns, bool leads, uint64_t term);
  void called(int id, int64_t at_ns, const char* what, uint64_t token);
  void answered(int id, int64_t at_ns, const char* outcome, uint64_t token);
  void noted(int id, int64_t at_ns, sim::Timeline::Weight weight, const std::string& text);
  void narrated(int64_t at_ns, const std::string& sentence);  // a sentence of the story

  // `wrong`: why the story failed; empty if it did not.
  sim::Timeline timeline(const support::Claims& claims, const std::vector<support::Admission>& admissions, int64_t now_ns,
                         const std::string& wrong) const;

 private:
  struct Lane {
    bool up = false;
    size_t frozen = 0;  // position of the open freeze, from 1
    size_t called = 0;  // position of the call in progress, from 1
  };
  Duration since_start(int64_t at_ns) const { return Duration(at_ns > started_ns_ ? at_ns - started_ns_ : 0); }
  static uint32_t lane_of(int id) { return static_cast<uint32_t>(id - 1); }
  void stands(int id, int64_t at_ns, sim::Timeline::State state, uint64_t term);

  const int64_t started_ns_;
  std::vector<Lane> lanes_;
  sim::Timeline timeline_;
};

}  // namespace coordkit::demo
