#include "bench/cluster/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "bench/cluster/cluster.h"
#include "bench/cluster/measure.h"

namespace coordkit::bench {
namespace {

namespace fs = std::filesystem;
using Line = nlohmann::ordered_json;

constexpr double kSuspectRatio = 0.5;
constexpr size_t kAtOnce = 1024;  // of an open loop
constexpr std::array kFigures = {"cycles_per_s", "p50_us", "p99_us", "p999_us", "events_per_s", "ceiling_per_s", "of_ceiling"};

struct Configuration {
  Measured what;
  const Kind* kind;
  std::string name;
  Peer peer;  // without a name: ours
  std::vector<Line> lines = {};
};

std::string name_of(const Measured& measured) {
  std::string suffix = measured.security == "plain" ? "" : "/" + measured.security;
  if (measured.per_s > 0) suffix += fmt::format("/{:g} per second", measured.per_s);
  if (measured.who != kOurs) return measured.who + "/" + measured.kind + suffix;
  return measured.who + "/" + measured.where + "/" + measured.kind + suffix;
}

class Run {
 public:
  Run(const fs::path& data, const Suite& options, const PrintLine& print)
      : data_(data), options_(options), print_(print), durable_(!in_memory(data)) {
    for (const Measured& what : options.measured) {
      Configuration made{.what = what, .kind = &kind_of(what.kind), .name = name_of(what), .peer = {}};
      if (what.who != kOurs) made.peer = peer_of(what.who, options.programs);
      if (what.who != kOurs) made.what.where = made.peer.where;
      configurations_.push_back(std::move(made));
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
  bool measure(Configuration& of, uint32_t round) {
    std::fprintf(stderr, "# %s, %zu callers, round %u of %u\n", of.name.c_str(), of.what.callers, round, options_.rounds);
    const Line before = probe(of, "before");
    const Line result = measured(of);
    Line line = {{"name", of.name},        {"who", of.what.who},         {"kind", of.what.kind},
                 {"where", of.what.where}, {"callers", of.what.callers}, {"round", round}};
    if (of.what.per_s > 0) line["due_per_s"] = of.what.per_s;
    line.update(result);
    if (line.contains("not_measured")) {
      print_(line);
      return true;
    }
    const Line after = probe(of, "after");
    const double worst_probe = std::min(before["in_place_per_s"].get<double>(), after["in_place_per_s"].get<double>());
    add_ceiling(line, of, (before["in_place_p50_us"].get<double>() + after["in_place_p50_us"].get<double>()) / 2);
    line["durable"] = durable_;
    line["disk_suspect"] = suspect(line, worst_probe);
    print_(line);
    print_(after);
    line["worst_probe"] = worst_probe;
    of.lines.push_back(line);
    return result.value("errors", 1) == 0;
  }

  Line measured(const Configuration& of) const {
    LoadOptions load = options_.load;
    load.kind = of.what.kind;
    load.where = of.what.where;
    load.callers = of.what.callers;
    load.per_s = of.what.per_s;
    load.security = of.what.security;
    const fs::path folder = data_ / (load.kind + "-" + std::to_string(load.callers));
    const bool ours = of.what.who == kOurs;
    fs::create_directories(folder);
    const absl::Cleanup removed = [&] {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    };
    try {
      return ours ? run_cluster(folder, load) : of.peer.run(folder, load);
    } catch (const std::exception& error) {
      if (ours && !options_.goes_on) throw;
      return {{"not_measured", error.what()}};
    }
  }

  Line probe(const Configuration& of, const char* when) {
    Line line = {{"name", "disk_probe"}, {"when", when}, {"of", of.name}, {"callers", of.what.callers}};
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
    if (of.what.per_s > 0 || of.kind->syncs == 0 || sync_us <= 0 || !line.contains("cycles_per_s")) return;
    const double at_once = of.kind->one_lock ? 1 : static_cast<double>(of.what.callers);
    const double ceiling = at_once / of.kind->syncs * 1e6 / sync_us;
    line["ceiling_per_s"] = std::round(ceiling);
    line["of_ceiling"] = two_digits(line["cycles_per_s"].get<double>() / ceiling);
  }

  // Over the rounds that are not suspect; if all are, over all, and the line says so.
  void print_medians(const Configuration& of) const {
    std::vector<const Line*> good, all;
    for (const Line& measured : of.lines) {
      all.push_back(&measured);
      if (!suspect(measured, measured["worst_probe"].get<double>())) good.push_back(&measured);
    }
    if (all.empty()) return;
    const bool only_suspect = good.empty();
    if (only_suspect) good = all;
    Line line = {{"name", "median"}, {"of", of.name}, {"callers", of.what.callers}, {"rounds", good.size()}};
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

std::vector<size_t> usual_callers(const Product& of, const std::string& kind) {
  if (!of.rates.empty()) return {kAtOnce};
  return {kind_of(kind).one_lock ? size_t{2} : size_t{1}, 16, 64};
}

void add_all(std::vector<Measured>& all, const Product& of, const Measured& what) {
  for (const std::string& security : of.securities) {
    all.push_back(what);
    all.back().security = security;
  }
  for (const std::string& name : of.peers) {
    const Peer peer = peer_of(name, {});
    if (!peer.can(what.kind) || (what.per_s > 0 && !peer.paced)) continue;
    all.push_back({.who = name, .kind = what.kind, .callers = what.callers, .per_s = what.per_s});
  }
}

}  // namespace

std::vector<Measured> product_of(const Product& of) {
  std::vector<Measured> all;
  const std::vector<double> rates = of.rates.empty() ? std::vector<double>{0} : of.rates;
  for (const std::string& kind : of.kinds) {
    for (const size_t callers : of.callers.empty() ? usual_callers(of, kind) : of.callers) {
      for (const double rate : rates) {
        add_all(all, of, {.kind = kind, .where = of.where, .callers = callers, .per_s = rate});
      }
    }
  }
  return all;
}

bool run_suite(const fs::path& data, const Suite& suite, const PrintLine& print) { return Run(data, suite, print).run(); }

}  // namespace coordkit::bench
