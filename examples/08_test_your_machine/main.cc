// Your own state machine, tested as coordkit tests itself: whole clusters in virtual time from one seed, under crashes,
// partitions, slow disks and wrong clocks. Here: does money stay money in the ledger of example 02?
//   08_test_your_machine [SEED]       twenty seeds, or one again, bit for bit
#include <coordkit/sim/sim_options.h>

#include <cstdio>

#include "../02_ledger/ledger.h"

namespace sim = coordkit::sim;

struct Bounds {  // an outcome may be unknown, so the truth lies between two sums
  uint64_t least = 0, most = 0;
};

class Teller final : public sim::Program {
 public:
  Teller(sim::Process& process, Bounds& bounds) : process_(process), bounds_(bounds) { serve(); }
  void calm() override { calm_ = true; }
  bool done() const override { return open_ == 0; }

  void serve() {
    if (calm_) return;
    ++open_;
    const bool deposits = process_.random(3) == 0;
    if (deposits) bounds_.most += 10;
    const std::string command = deposits ? "deposit a 10" : "move a b 3";
    process_.client().propose(example::kLedger, command, [this, deposits](absl::StatusOr<coordkit::ProposeResult> answer) {
      --open_;
      const coordkit::Outcome outcome = coordkit::outcome_of(answer.status());  // done, none or unknown
      if (deposits && outcome == coordkit::Outcome::Done) bounds_.least += 10;
      if (deposits && outcome == coordkit::Outcome::NoEffect) bounds_.most -= 10;
      process_.after(std::chrono::milliseconds(process_.random(20)), [this] { serve(); });
    });
  }

 private:
  sim::Process& process_;
  Bounds& bounds_;
  int open_ = 0;
  bool calm_ = false;
};

int main(int argc, char** argv) {
  const uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + (argc > 1 ? 1 : 20); ++seed) {
    Bounds bounds;
    sim::SimOptions options{.seed = seed, .machines = sim::hosting<example::Ledger>(example::kLedger)};
    options.program = [&bounds](sim::Process& process) { return std::make_unique<Teller>(process, bounds); };
    options.check = [&bounds](coordkit::ReplicaId, const coordkit::Engine& replica) -> std::string {
      const coordkit::StateMachine& ledger = *replica.machine(example::kLedger);
      const uint64_t money = std::stoull(*ledger.query("a")) + std::stoull(*ledger.query("b"));
      return money >= bounds.least && money <= bounds.most ? "" : std::to_string(money) + " in the ledger";
    };
    const sim::Report report = sim::simulate(options);
    std::printf("seed %lu: %lu crashes, %lu to %lu deposited %s%s\n", seed, report.crashes, bounds.least, bounds.most,
                report.violation.c_str(), report.what.c_str());
    if (!report.violation.empty()) return 1;
  }
}
