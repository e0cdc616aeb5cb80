#include "bench/cluster/suite.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bench/cluster/cluster.h"
#include "bench/cluster/measure.h"
#include "bench/etcd/etcd_load.h"

namespace coordkit::bench {
namespace {

namespace fs = std::filesystem;
using Line = nlohmann::ordered_json;

constexpr double kSuspectRatio = 0.5;
constexpr std::array kFigures = {"cycles_per_s", "p50_us", "p99_us", "p999_us", "events_per_s", "ceiling_per_s", "of_ceiling"};

double two_digits(double value) { return std::round(value * 100) / 100; }

struct Configuration {
  const Kind* kind;
  size_t callers = 0;
  std::string name;
  std::string security = "plain";
  bool of_etcd = false;
  std::vector<Line> measured = {};
};

class Run {
 public:
  Run(const fs::path& data, const Suite& options, const PrintLine& print)
      : data_(data), options_(options), print_(print), durable_(!in_memory(data)) {
    for (const std::string& kind : options.kinds) {
      for (const size_t callers : callers_of(kind_of(kind))) {
        for (const std::string& security : options.securities) {
          const std::string suffix = security == "plain" ? "" : "/" + security;
          configurations_.push_back({.kind = &kind_of(kind),
                                     .callers = callers,
                                     .name = "coordkit/" + options.load.where + "/" + kind + suffix,
                                     .security = security});
        }
        if (!options.etcd.empty()) {
          configurations_.push_back({.kind = &kind_of(kind), .callers = callers, .name = "etcd/" + kind, .of_etcd = true});
        }
      }
    }
  }

  bool run() {
    bool passed = true;
    for (uint32_t round = 1; round <= options_.rounds; ++round) {
      for (Configuration& configuration : configurations_) passed = measure(configuration, round) && passed;
    }
    if (options_.rounds > 1) {
      for (const Configuration& configuration : configurations_) print_medians(configuration);
    }
    return passed;
  }

 private:
  std::vector<size_t> callers_of(const Kind& kind) const {
    if (!options_.callers.empty()) return options_.callers;
    return {kind.one_lock ? size_t{2} : size_t{1}, 16, 64};
  }

  bool measure(Configuration& of, uint32_t round) {
    LoadOptions load = options_.load;
    load.kind = of.kind->name;
    load.callers = of.callers;
    load.security = of.security;
    std::fprintf(stderr, "# %s, %zu callers, round %u of %u\n", of.name.c_str(), of.callers, round, options_.rounds);
    const Line before = probe(of, "before");
    const fs::path folder = data_ / (std::string(of.kind->name) + "-" + std::to_string(of.callers));
    const Line measured = of.of_etcd ? run_etcd(options_.etcd, folder, load) : run_cluster(folder, load);
    const Line after = probe(of, "after");
    Line line = {{"name", of.name}, {"where", of.of_etcd ? "client" : load.where}, {"callers", of.callers}, {"round", round}};
    line.update(measured);
    const double worst_probe = std::min(before["in_place_per_s"].get<double>(), after["in_place_per_s"].get<double>());
    add_ceiling(line, of, (before["in_place_p50_us"].get<double>() + after["in_place_p50_us"].get<double>()) / 2);
    line["durable"] = durable_;
    line["disk_suspect"] = suspect(line, worst_probe);
    print_(line);
    print_(after);
    line["worst_probe"] = worst_probe;
    of.measured.push_back(line);
    return measured.value("errors", 1) == 0;
  }

  Line probe(const Configuration& of, const char* when) {
    Line line = {{"name", "disk_probe"}, {"when", when}, {"of", of.name}, {"callers", of.callers}};
    line.update(probe_disk(data_));
    best_probe_ = std::max(best_probe_, line["in_place_per_s"].get<double>());
    if (std::string_view(when) == "before") print_(line);
    return line;
  }

  // Faster than the disk can be: the probe had to wait for a processor, and says nothing about the disk.
  bool suspect(const Line& line, double worst_probe) const {
    return worst_probe < kSuspectRatio * best_probe_ || line.value("of_ceiling", 0.0) > 1;
  }

  static void add_ceiling(Line& line, const Configuration& of, double sync_us) {
    if (of.kind->syncs == 0 || sync_us <= 0 || !line.contains("cycles_per_s")) return;
    const double at_once = of.kind->one_lock ? 1 : static_cast<double>(of.callers);
    const double ceiling = at_once / of.kind->syncs * 1e6 / sync_us;
    line["ceiling_per_s"] = std::round(ceiling);
    line["of_ceiling"] = two_digits(line["cycles_per_s"].get<double>() / ceiling);
  }

  // Over the rounds that are not suspect; if all are, over all, and the line says so.
  void print_medians(const Configuration& of) const {
    std::vector<const Line*> good, all;
    for (const Line& measured : of.measured) {
      all.push_back(&measured);
      if (!suspect(measured, measured["worst_probe"].get<double>())) good.push_back(&measured);
    }
    const bool only_suspect = good.empty();
    if (only_suspect) good = all;
    Line line = {{"name", "median"}, {"of", of.name}, {"callers", of.callers}, {"rounds", good.size()}};
    for (const char* figure : kFigures) {
      std::vector<double> values;
      for (const Line* measured : good) {
        if (measured->contains(figure)) values.push_back((*measured)[figure].get<double>());
      }
      if (!values.empty()) line[figure] = two_digits(median(std::move(values)));
    }
    line["disk_suspect"] = only_suspect;
    print_(line);
  }

  const fs::path& data_;
  const Suite& options_;
  const PrintLine& print_;
  const bool durable_;
  std::vector<Configuration> configurations_;
  double best_probe_ = 0;
};

}  // namespace

bool run_suite(const fs::path& data, const Suite& suite, const PrintLine& print) { return Run(data, suite, print).run(); }

}  // namespace coordkit::bench
