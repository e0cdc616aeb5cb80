// Virtual true time and the one queue of everything that will happen. A World is a single run: one seed, one thread.
//
// Events are plain values; equal times are ordered by the moment of scheduling, so a run never depends on container
// order. Every popped event is mixed into the trace hash; two runs of a seed that differ anywhere differ there.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/sums.h"
#include "coordkit/types.h"

namespace coordkit::sim {

struct TrueTimeline {
  using duration = Duration;
};
using TrueTime = std::chrono::time_point<TrueTimeline, Duration>;

enum class EventKind : uint8_t {
  Turn,         // node: its process runs
  Timer,        // node: the deadline its engine or client asked for
  Deliver,      // node: parcel `item` arrives
  Connect,      // node, item = peer: both ends try to exchange hellos
  Disconnect,   // node, item = peer: the loss of the connection is noticed
  LogSynced,    // node, item = write number: durable
  LogReadDone,  // node, item = read slot
  LogIdle,      // node: its log has not been written to for a while
  StateSynced,  // node: the checkpoint in progress is durable
  StateDone,    // node, item = answer: a view was opened or read, or machines were built
  Worker,       // node, item = worker and step
  Resource,     // item = write in flight to a protected resource
  FaultBegin,   // item = index into the plan's faults
  FaultEnd,     // item = active fault
  Restart,      // node: its process starts again
  Resume,       // node: its frozen process resumes
  Churn,        // a membership change, a transfer, a lost disk
  Overtaking,   // node, item = step: a leader that was cut off is asked for a change, or starts again
  Program,      // node, item = requested by an embedder's program
  Script,       // item = an act of the script
  Watcher,      // item = a program that watches keys
  Stream,       // item = a program that observes leaders and the like
  FirstStart,   // node, item = an act of the operator
  Scrub,        // node: it reads all that it has stored. item: zero if no other follows
  Link,         // item: something arrives on the link of a remote
  Remote,       // node, item = an act: a fault of a remote or its link, or the end of one
};

struct Event {
  TrueTime at;
  uint64_t sequence = 0;
  EventKind kind = EventKind::Turn;
  uint32_t node = 0;   // position in the cluster, from 0
  uint32_t epoch = 0;  // incarnation the event is meant for; ignored by kinds that outlive one
  uint64_t item = 0;
};

// An event, as numbers; text is made only when it is read. `format` must be a literal with {} for each value.
struct TraceRecord {
  TrueTime at;
  uint32_t node = 0;
  const char* format = "";
  std::array<uint64_t, 4> values{};
};
inline constexpr uint32_t kNoNode = ~uint32_t{0};
std::string render(const TraceRecord& record);

class Recorder;

class World {
 public:
  explicit World(uint64_t seed) : seed_(seed), random_(seed) {}

  uint64_t seed() const { return seed_; }
  TrueTime now() const { return now_; }
  uint64_t events() const { return popped_; }
  uint64_t trace_hash() const { return hash_; }
  // One stream per part, so that a part that draws more often does not disturb the others.
  Random fork_random() { return random_.fork(); }

  void schedule(TrueTime at, EventKind kind, uint32_t node, uint32_t epoch = 0, uint64_t item = 0);
  bool empty() const { return heap_.empty(); }
  TrueTime next_time() const { return heap_.front().at; }
  // Advances to the next event.
  Event pop();

  // Mixes the result of an event into the hash, so that a divergence shows where it happens.
  void mix(uint64_t value) { hash_ = hash_mix(hash_, value); }

  void trace(uint32_t node, const char* format, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0) {
    TraceRecord& record = ring_[traced_++ % ring_.size()];
    record = {now_, node, format, {a, b, c, d}};
    if (observed_) [[unlikely]]
      tell(record);
  }
  void set_listener(std::function<void(const std::string&)> listener) {
    listener_ = std::move(listener);
    observed_ = listener_ != nullptr || recorder_ != nullptr;
  }
  // Receives events for the timeline; null: none. It outlives the run.
  Recorder* recorder() const { return recorder_; }
  void set_recorder(Recorder* recorder) {
    recorder_ = recorder;
    observed_ = listener_ != nullptr || recorder_ != nullptr;
  }
  uint32_t node() const { return node_; }  // of the newest event
  // The last records, oldest first.
  std::vector<std::string> last_events() const;

 private:
  void tell(const TraceRecord& record);

  const uint64_t seed_;
  Random random_;
  TrueTime now_{};
  std::vector<Event> heap_;
  uint64_t scheduled_ = 0;
  uint64_t popped_ = 0;
  uint64_t hash_ = 0;
  std::array<TraceRecord, 64> ring_{};
  uint64_t traced_ = 0;
  std::function<void(const std::string&)> listener_;
  Recorder* recorder_ = nullptr;
  bool observed_ = false;  // by either
  uint32_t node_ = kNoNode;
};

}  // namespace coordkit::sim
