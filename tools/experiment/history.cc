// The conductor: three members and some remotes at work, of which one or more are killed or stopped every second or two, also
// all at once, or asked to hand leadership over. All that their callers saw is one history on the clock of this machine. It is
// put before the checker of verify/check, which knows nothing but the history: the keys as one store, the locks as mutexes
// whose holders were still inside when they last trusted their hold. All that watches were given has to be the same everywhere,
// without gaps, and has to have every write that was answered.
//
// With faults beyond the fault model there are many clusters, one after the other. Each ends with one such fault, and what was
// seen from there on is judged by beyond.h.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "check/checker.h"
#include "tools/experiment/beyond.h"
#include "tools/experiment/history_faults.h"
#include "tools/experiment/history_group.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/seen.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using check::Verdict;
using support::Deadline;

// A history takes some ten steps a line; a search beyond this is given up, which the report says.
constexpr check::Limits kSearch{.steps = 100'000'000, .configurations = 100'000, .shrink_steps = 1'000'000};

check::Report checked(const std::vector<std::string>& lines, std::string_view model) {
  check::Options options;
  options.reading = check::Reading::Whole;
  options.limits = kSearch;
  const std::unique_ptr<check::Checker> checker = check::make_checker(model, options);
  for (const std::string& line : lines) {
    if (const absl::Status status = checker->add(line); !status.ok()) throw std::runtime_error(std::string(status.message()));
  }
  return checker->finish();
}

// The findings over all clusters.
struct Findings {
  Verdict keys = Verdict::Linearizable, locks = Verdict::Linearizable;  // the worst
  uint64_t calls = 0, answered = 0, watch_errors = 0, handed_over = 0, contradictions = 0;
  std::vector<int64_t> pauses_ms;
  std::map<std::string, Gaps> gaps;
  std::map<std::string, uint64_t> endings;
  std::vector<std::string> sentences;
  std::vector<std::string> files;
};

void add_worse(Verdict& worst, Verdict verdict) {
  if (verdict == Verdict::Violation || worst == Verdict::Linearizable) worst = verdict;
}

class Trial {
 public:
  explicit Trial(const HistoryOptions& options) : options_(options), dice_(options.seed) {}

  int run();

 private:
  struct Fault {
    int64_t at_ns = 0, rest_ns = 0;
  };

  void one_cluster(const std::string& name, Deadline end);
  std::vector<Disturbance> disturb(HistoryGroup& group, Deadline end);
  Fault go_beyond(HistoryGroup& group, std::vector<Disturbance>& disturbances);
  bool judge_ordinary(const Seen& seen, const std::filesystem::path& file);
  bool judge_beyond(const Episode& episode);
  int report() const;

  const HistoryOptions options_;
  Dice dice_;
  FaultTally tally_;
  Findings found_;
};

int Trial::run() {
  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  const Deadline end = support::in(length);
  if (!options_.beyond) {
    one_cluster("history", end);
    return report();
  }
  for (int cluster = 1; std::chrono::steady_clock::now() < end; ++cluster) {
    one_cluster("history-" + std::to_string(cluster), std::min(end, support::in(4s + dice_.up_to(10s))));
  }
  return report();
}

std::vector<Disturbance> Trial::disturb(HistoryGroup& group, Deadline end) {
  OrdinaryFaults faults(group, dice_, tally_, options_);
  const auto copies = [&] { return group.has_copy(1) + group.has_copy(2) + group.has_copy(3); };
  std::vector<Disturbance> disturbances;
  while (std::chrono::steady_clock::now() < end || (options_.beyond && copies() < 2)) {
    disturbances.push_back(faults.disturb());
    group.await_answers("after a disturbance");
    group.listen(dice_.up_to(1000ms));
  }
  return disturbances;
}

Trial::Fault Trial::go_beyond(HistoryGroup& group, std::vector<Disturbance>& disturbances) {
  disturbances.push_back(BeyondFaults(group, dice_, tally_).disturb());
  group.settle();
  const int64_t rest_ns = support::machine_time_ns();
  group.listen(2000ms);
  return {disturbances.back().at_ns, rest_ns};
}

// The evidence of an error can be looked at afterwards: data, logs and history.
void Trial::one_cluster(const std::string& name, Deadline end) {
  const std::filesystem::path data = options_.out / (name + "-data"), log = options_.out / (name + ".log"),
                              history = options_.out / (name + ".jsonl");
  HistoryGroup group(options_, data, log);
  group.await_answers("at the beginning");
  std::vector<Disturbance> disturbances = disturb(group, end);
  group.await_answers("at the end");
  std::optional<Fault> fault;
  if (options_.beyond) fault = go_beyond(group, disturbances);
  const int64_t end_ns = support::machine_time_ns();
  group.close_all();
  found_.handed_over += group.handed_over();

  for (auto& [kind, gaps] : Seen(group.files()).write_gaps(disturbances, end_ns)) {
    Gaps& of = found_.gaps[kind];
    of.lengths_ms.insert(of.lengths_ms.end(), gaps.lengths_ms.begin(), gaps.lengths_ms.end());
    of.without_end += gaps.without_end;
  }
  const Seen seen(group.files(), fault ? fault->at_ns : kToTheEnd);
  const std::vector<int64_t> pauses = seen.pauses_ms(disturbances);
  found_.pauses_ms.insert(found_.pauses_ms.end(), pauses.begin(), pauses.end());
  const bool ordinary = judge_ordinary(seen, history);
  const bool fine = (!fault || judge_beyond(group.episode(fault->rest_ns))) && ordinary;
  if (!options_.beyond || !fine) return found_.files.push_back(history);
  for (const std::filesystem::path& each : {data, log, history}) std::filesystem::remove_all(each);
}

bool Trial::judge_ordinary(const Seen& seen, const std::filesystem::path& file) {
  const std::vector<std::string> lines = seen.history();
  std::ofstream out(file);
  for (const std::string& line : lines) out << line << "\n";
  out.close();
  const check::Report keys = checked(lines, "transaction");
  const check::Report locks = checked(lines, "fenced-mutex");
  const std::vector<std::string> wrong = seen.watch_errors();
  add_worse(found_.keys, keys.verdict);
  add_worse(found_.locks, locks.verdict);
  found_.calls += lines.size();
  found_.answered += seen.answered();
  found_.watch_errors += wrong.size();
  for (const check::Report* report : {&keys, &locks}) {
    if (report->counterexample) found_.sentences.push_back(report->counterexample->why);
  }
  found_.sentences.insert(found_.sentences.end(), wrong.begin(), wrong.end());
  return keys.verdict == Verdict::Linearizable && locks.verdict == Verdict::Linearizable && wrong.empty();
}

bool Trial::judge_beyond(const Episode& episode) {
  const Judgement judgement = judge(episode);
  ++found_.endings[std::string(name_of(judgement.ending))];
  found_.contradictions += judgement.contradictions;
  found_.sentences.insert(found_.sentences.end(), judgement.wrong.begin(), judgement.wrong.end());
  return judgement.wrong.empty();
}

// Holders who do not ask valid() have to be caught, or this shows nothing.
int Trial::report() const {
  const bool locks = found_.locks == (options_.check ? Verdict::Linearizable : Verdict::Violation);
  const bool fine = found_.keys == Verdict::Linearizable && locks && found_.watch_errors == 0 && found_.answered > 0 &&
                    !found_.endings.contains("wrong");
  const Spread pauses = spread_of(found_.pauses_ms);
  nlohmann::ordered_json gaps = nlohmann::json::object();
  for (const auto& [kind, of] : found_.gaps) {
    const Spread spread = spread_of(of.lengths_ms);
    gaps[kind] = {{"times", spread.count + of.without_end}, {"median_ms", spread.median_ms}, {"most_ms", spread.most_ms}};
    if (of.without_end > 0) gaps[kind]["without_end"] = of.without_end;
    if (options_.json) continue;
    std::printf("longest without an answered write, %s: median %ld ms, at most %ld ms, of %lu", kind.c_str(), spread.median_ms,
                spread.most_ms, spread.count);
    std::printf(of.without_end > 0 ? "; writes ended after %lu\n" : "\n", of.without_end);
  }
  nlohmann::ordered_json line{{"experiment", "history"},
                              {"seconds", options_.seconds},
                              {"seed", options_.seed},
                              {"check", options_.check},
                              {"kills", tally_.kills},
                              {"stops", tally_.stops},
                              {"closes", tally_.closes},
                              {"hand_overs", tally_.hand_overs},
                              {"remotes", options_.beyond ? 0 : options_.remotes},
                              {"remotes_disturbed", tally_.remotes},
                              {"handed_over", found_.handed_over},
                              {"calls", found_.calls},
                              {"answered", found_.answered},
                              {"keys", std::string(name_of(found_.keys))},
                              {"locks", std::string(name_of(found_.locks))},
                              {"watch_errors", found_.watch_errors},
                              {"leader_gone", pauses.count},
                              {"pause_ms_median", pauses.median_ms},
                              {"pause_ms_most", pauses.most_ms},
                              {"gaps", std::move(gaps)}};
  if (options_.beyond) {
    line.update({{"set_backs", tally_.set_backs},
                 {"copies", tally_.copies},
                 {"beyond", found_.endings},
                 {"contradictions", found_.contradictions}});
  }
  line["as_expected"] = fine;
  if (!options_.json) {
    for (const std::string& sentence : found_.sentences) std::printf("%s\n", sentence.c_str());
    for (const std::string& file : found_.files) {
      std::printf("the history: %s (./dev coordctl check says more)\n", file.c_str());
    }
  }
  std::printf("%s\n", line.dump().c_str());
  return fine ? 0 : 1;
}

}  // namespace

int run_history(const HistoryOptions& options) { return Trial(options).run(); }

}  // namespace coordkit::experiment
