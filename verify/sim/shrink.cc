// Greedy, one dimension after the other, round and round until nothing changes: a change that makes the run smaller and breaks
// the same invariant is kept. The remaining faults come up at the same times, but the cluster behaves differently between them
// once one is left out, so nothing is assumed; each candidate is run.
#include "coordkit/sim/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace coordkit::sim {
namespace {

using std::chrono::milliseconds;

bool no_larger(const RunSize& a, const RunSize& b) {
  return a.kinds <= b.kinds && a.faults <= b.faults && a.nodes <= b.nodes && a.workers <= b.workers && a.hostile <= b.hostile;
}

std::string text_of(const RunSize& size) {
  return fmt::format("{} faults of {} kinds, {} nodes with {} workers, {:.3f} s hostile", size.faults, size.kinds, size.nodes,
                     size.workers, std::chrono::duration<double>(size.hostile).count());
}

class Shrinker {
 public:
  Shrinker(const SimOptions& failing, uint64_t runs_max, const std::function<void(const std::string&)>& report)
      : runs_max_(runs_max), report_(report) {
    best_.options = failing;
    best_.options.timeline = nullptr;
    best_.options.on_event = nullptr;
    best_.before = best_.after = simulate(best_.options);
    best_.runs = 1;
  }

  Shrunk run() {
    if (best_.before.violation.empty() || best_.before.violation == "OPTIONS") return best_;
    bool smaller = true;
    while (smaller && best_.runs < runs_max_) {
      smaller = end_early();
      smaller |= without_kinds();
      smaller |= fewer_faults();
      smaller |= fewer_workers();
      smaller |= fewer_nodes();
      smaller |= shorter();
    }
    return best_;
  }

 private:
  // True: it breaks the same invariant and is smaller, and becomes the new base.
  bool accept(Reduction reduction, const char* what) {
    if (best_.runs >= runs_max_) return false;
    SimOptions options = best_.options;
    options.reduction = std::move(reduction);
    ++best_.runs;
    Report report = simulate(options);
    const RunSize before = size_of(best_.after);
    const RunSize after = size_of(report);
    if (report.violation != best_.before.violation || !no_larger(after, before) || after == before) return false;
    best_.options = std::move(options);
    best_.after = std::move(report);
    if (report_) report_(fmt::format("{}: {}", what, text_of(size_of(best_.after))));
    return true;
  }
  const Reduction& reduction() const { return best_.options.reduction; }

  // Events after the violation were never reached: the same run, bit for bit.
  bool end_early() {
    const Duration until = best_.after.virtual_time + milliseconds(1);
    if (until >= size_of(best_.after).hostile) return false;
    return hostile(until);
  }
  bool hostile(Duration length) {
    Reduction candidate = reduction();
    candidate.hostile = std::chrono::duration_cast<milliseconds>(length);
    return accept(std::move(candidate), "ends earlier");
  }

  // All at once, then one by one.
  bool without_kinds() {
    Reduction none = reduction();
    none.faults.emplace();
    bool smaller = accept(std::move(none), "without any fault");
    for (size_t kind = 0; kind < kFaultKinds; ++kind) {
      if (best_.after.faults[kind] == 0) continue;
      Reduction candidate = reduction();
      candidate.without.insert(FaultKind(kind));
      smaller |= accept(std::move(candidate), "without a kind of fault");
    }
    return smaller;
  }

  // Halves, then quarters, then single ones (ddmin).
  bool fewer_faults() {
    bool smaller = false;
    for (size_t parts = 2;;) {
      const std::vector<uint64_t> present = best_.after.struck;
      if (present.empty()) return smaller;
      parts = std::min(parts, present.size());
      if (leave_out_a_part(present, parts)) {
        smaller = true;
        parts = std::max<size_t>(2, parts - 1);
        continue;
      }
      if (parts == present.size()) return smaller;
      parts *= 2;
    }
  }
  bool leave_out_a_part(const std::vector<uint64_t>& present, size_t parts) {
    for (size_t part = 0; part < parts; ++part) {
      const size_t from = present.size() * part / parts;
      const size_t until = present.size() * (part + 1) / parts;
      std::set<uint64_t> kept(present.begin(), present.begin() + from);
      kept.insert(present.begin() + until, present.end());
      Reduction candidate = reduction();
      candidate.faults = std::move(kept);
      if (accept(std::move(candidate), "with fewer faults")) return true;
    }
    return false;
  }

  bool fewer_workers() {
    for (uint32_t workers = 1; workers < best_.after.workers; ++workers) {
      Reduction candidate = reduction();
      candidate.workers = workers;
      if (accept(std::move(candidate), "with fewer workers")) return true;
    }
    return false;
  }
  bool fewer_nodes() {
    for (uint32_t nodes = 1; nodes < best_.after.nodes; ++nodes) {
      Reduction candidate = reduction();
      candidate.nodes = nodes;
      if (accept(std::move(candidate), "with fewer nodes")) return true;
    }
    return false;
  }

  // A shorter run may break it too, in the calm phase after it or because something else comes first.
  bool shorter() {
    bool smaller = false;
    Duration low{};
    while (size_of(best_.after).hostile - low > milliseconds(20)) {
      const Duration middle = low + (size_of(best_.after).hostile - low) / 2;
      if (hostile(middle)) {
        smaller = true;
      } else {
        low = middle;
      }
      if (best_.runs >= runs_max_) break;
    }
    return smaller;
  }

  const uint64_t runs_max_;
  const std::function<void(const std::string&)>& report_;
  Shrunk best_;
};

}  // namespace

RunSize size_of(const Report& report) {
  RunSize size{.nodes = report.nodes, .workers = report.workers, .hostile = report.hostile};
  for (uint64_t count : report.faults) {
    size.kinds += count > 0 ? 1 : 0;
    size.faults += count;
  }
  return size;
}

Shrunk shrink(const SimOptions& failing, uint64_t runs_max, const std::function<void(const std::string&)>& report) {
  return Shrinker(failing, runs_max, report).run();
}

}  // namespace coordkit::sim
