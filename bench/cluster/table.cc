#include "bench/cluster/table.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "bench/cluster/doors.h"
#include "bench/cluster/failover.h"
#include "bench/cluster/measure.h"
#include "bench/cluster/memory.h"

namespace coordkit::bench {
namespace {

namespace fs = std::filesystem;
using Line = nlohmann::ordered_json;

constexpr uint32_t kElectionTimeoutMs = 150;  // so followers campaign after 150 to 300 ms

bool is_load(const std::string& kind) {
  return std::ranges::any_of(kKinds, [&](const Kind& each) { return each.name == kind; });
}

// What the rows need, each once, in their order.
class Needed {
 public:
  explicit Needed(const std::vector<Target>& rows) {
    for (const Target& row : rows) {
      add(row.ours.of);
      if (row.against) add(row.against->of);
    }
  }
  const std::vector<Subject>& loads() const { return loads_; }
  const std::vector<Subject>& others() const { return others_; }

 private:
  void add(const Subject& subject) {
    if (seen_.insert(subject).second) (is_load(subject.kind) ? loads_ : others_).push_back(subject);
  }

  std::set<Subject> seen_;
  std::vector<Subject> loads_, others_;
};

class Measuring {
 public:
  Measuring(const fs::path& data, const TableOptions& options, const PrintLine& print)
      : data_(data), options_(options), print_([this, &print](const Line& line) {
          add_line(figures_, line);
          print(line);
        }) {}

  Figures run(const Needed& needed) {
    Suite suite = options_.suite;
    suite.goes_on = true;  // what fails is a row that says so
    for (const Subject& of : needed.loads()) {
      suite.measured.push_back({.who = of.who, .kind = of.kind, .where = of.where, .callers = of.callers});
    }
    if (!suite.measured.empty()) run_suite(data_, suite, print_);
    for (const Subject& of : needed.others()) measure(of);
    return std::move(figures_);
  }

 private:
  void measure(const Subject& of) {
    std::fprintf(stderr, "# %s, %llu\n", of.kind.c_str(), static_cast<unsigned long long>(of.callers));
    try {
      if (of.kind == "failover") return failover(of);
      if (of.kind == "one-thread") return one_thread(of);
      print_(line_of(of, 1, {{"bytes_each", memory_of(of.kind, of.callers, data_ / of.kind)}}));
    } catch (const std::exception& error) {
      fs::remove_all(data_ / of.kind);
      print_(line_of(of, 1, {{"not_measured", error.what()}}));
    }
  }

  void one_thread(const Subject& of) {
    LoadOptions load = options_.suite.load;
    load.callers = of.callers;
    for (uint32_t round = 1; round <= options_.suite.rounds; ++round) print_(line_of(of, round, run_one_thread(load)));
  }

  void failover(const Subject& of) {
    uint32_t kill = 0;
    const PrintLine each = [&](const Line& line) {
      if (line.value("phase", "").starts_with("kill ")) {
        print_(line_of(of, ++kill, {{"longest_gap_ms", line.at("longest_gap_ms")}, {"election_ms", line.at("election_ms")}}));
      }
    };
    run_failover(data_ / "failover",
                 {.sessions = {of.callers}, .election_timeout_ms = kElectionTimeoutMs, .kills = options_.kills}, each);
  }

  static Line line_of(const Subject& of, uint32_t round, const Line& figures) {
    Line line = {{"name", of.who + "/" + of.kind}, {"who", of.who}, {"kind", of.kind}, {"where", of.where},
                 {"callers", of.callers},          {"round", round}};
    line.update(figures);
    return line;
  }

  const fs::path& data_;
  const TableOptions& options_;
  Figures figures_;
  const PrintLine print_;
};

std::vector<Target> chosen(const TableOptions& options) {
  std::vector<Target> rows = targets(options.many);
  if (options.groups.empty()) return rows;
  std::erase_if(rows, [&](const Target& row) { return std::ranges::find(options.groups, row.group) == options.groups.end(); });
  return rows;
}

}  // namespace

std::vector<std::string> target_groups() {
  std::vector<std::string> groups;
  for (const Target& row : targets()) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.push_back(row.group);
  }
  return groups;
}

std::vector<Row> run_table(const fs::path& data, const TableOptions& options, const PrintLine& print) {
  const std::vector<Target> wanted = chosen(options);
  const Figures figures =
      options.from.empty() ? Measuring(data, options, print).run(Needed(wanted)) : read_figures(options.from);
  if (!options.csv.empty()) write_file(options.csv, figures.csv());
  std::vector<Row> rows;
  for (const Target& target : wanted) rows.push_back(judge(target, figures));
  return rows;
}

void add_line(Figures& figures, const Line& line) {
  if (!line.contains("who")) return;
  Subject of{line.at("who"), line.at("kind"), line.at("where"), line.at("callers"), line.value("due_per_s", 0.0)};
  if (line.contains("not_measured")) return figures.not_measured(std::move(of), line.at("not_measured"));
  if (line.value("errors", 0) != 0) return figures.not_measured(std::move(of), line.value("first_error", "it saw errors"));
  static const std::set<std::string> about = {"who", "kind", "where", "callers", "due_per_s", "round", "errors"};
  for (const auto& [name, value] : line.items()) {
    if (!value.is_number() || about.contains(name)) continue;
    figures.add({.of = of,
                 .round = line.at("round"),
                 .name = name,
                 .value = value.get<double>(),
                 .suspect = line.value("disk_suspect", false)});
  }
}

Line json_of(const Row& row) {
  Line line = {{"name", "row"}, {"row", row.target.name}, {"unit", row.target.unit}};
  if (row.figure) line["figure"] = *row.figure;
  if (row.other) line["against"] = *row.other;
  if (row.judged && row.target.against) line["ratio"] = *row.judged;
  line.update({{"floor", row.target.floor}, {"aim", row.target.aim}, {"verdict", name_of(row.verdict)}});
  if (!row.reason.empty()) line["reason"] = row.reason;
  line["disk_suspect"] = row.suspect;
  return line;
}

Figures read_figures(const std::vector<std::string>& files) {
  Figures figures;
  for (const std::string& name : files) {
    std::ifstream file(name);
    if (!file) throw std::runtime_error("cannot read " + name);
    try {
      figures.add(Figures::from_csv(std::string(std::istreambuf_iterator<char>(file), {})));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(name + ": " + error.what());
    }
  }
  return figures;
}

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace coordkit::bench
