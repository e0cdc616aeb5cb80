// The conductor: three members at work, of which one or more are killed or stopped every second or two, also all at once. What
// their callers saw is one history on the clock of this machine, and is put before the checker of src/check, which knows
// nothing but the history: the keys as one store, the locks as mutexes whose holders were still inside when they last trusted
// their hold. What watches were given has to be the same everywhere, without gaps, and has to have every write that was
// answered.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "check/checker.h"
#include "tools/experiment/processes.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/seen.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using support::Deadline;

class Disturber {
 public:
  explicit Disturber(const HistoryOptions& options)
      : options_(options),
        random_(options.seed),
        data_(options.out / "history-data"),
        members_(data_, options.out / "history.log", kNodes,
                 [this](int from, const std::string& event, const nlohmann::json& report) { hear(from, event, report); }) {}

  int run();

 private:
  static constexpr auto kAnswerLimit = 60s;

  struct Life {
    int number = 0;
    bool leads = false;
    uint64_t answered = 0;
  };

  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }
  std::chrono::milliseconds up_to(std::chrono::milliseconds longest) {
    return std::chrono::milliseconds(below(static_cast<uint64_t>(longest.count()) + 1));
  }

  void start(int id);
  void hear(int from, const std::string& event, const nlohmann::json& report);
  void await_answers(const std::string& when);
  enum class Way : uint8_t { Kill, Stop, Close };
  std::vector<int> draw_victims();
  Way draw_way();
  std::chrono::milliseconds draw_length();
  void disturb();
  int judge();

  const HistoryOptions options_;
  std::mt19937_64 random_;
  const std::filesystem::path data_;
  std::map<int, Life> life_;  // of each member
  Processes members_;
  std::vector<std::filesystem::path> seen_;  // what the callers of each life saw
  std::vector<Disturbance> disturbances_;
  std::array<uint64_t, 3> times_{};  // by way
};

void Disturber::start(int id) {
  life_[id] = {.number = life_[id].number + 1};
  const std::string life = std::to_string(life_[id].number);
  seen_.push_back(data_ / ("seen-" + std::to_string(id) + "-" + life));
  std::vector<std::string> words = {"--life", life, "--seed", std::to_string(options_.seed), "--file", seen_.back()};
  if (!options_.check) words.emplace_back("--without-check");
  members_.start_member(id, "history-node", words);
}

void Disturber::hear(int from, const std::string& event, const nlohmann::json& report) {
  if (event != "health") return;
  life_[from].leads = report.value("leads", false);
  life_[from].answered = report.value("answered", uint64_t{0});
}

// All are left alone, and each one's callers are answered again.
void Disturber::await_answers(const std::string& when) {
  const std::map<int, Life> before = life_;
  for (int id = 1; id <= kNodes; ++id) {
    members_.need("answers to callers of member " + std::to_string(id) + " " + when, kAnswerLimit,
                  [&] { return life_[id].answered > before.at(id).answered; });
  }
}

// Mostly one, and mostly the leader; now and then a majority, or all.
std::vector<int> Disturber::draw_victims() {
  std::vector<int> ids = {1, 2, 3};
  std::ranges::shuffle(ids, random_);
  if (below(2) == 0) std::stable_partition(ids.begin(), ids.end(), [this](int id) { return life_[id].leads; });
  ids.resize(below(4) != 0 ? 1 : 1 + below(kNodes));
  return ids;
}

// Holders who do not ask valid() do wrong only when they are stopped and wake up again.
Disturber::Way Disturber::draw_way() {
  const uint64_t way = below(5);
  if (way < 2 || !options_.check) return Way::Stop;
  return way < 4 ? Way::Kill : Way::Close;
}

// A session lives on if its process is back within a second.
std::chrono::milliseconds Disturber::draw_length() {
  if (!options_.check) return 1500ms + up_to(1500ms);
  return below(2) == 0 ? up_to(4000ms) : up_to(600ms);
}

void Disturber::disturb() {
  const std::vector<int> victims = draw_victims();
  const Way way = draw_way();
  disturbances_.push_back({support::machine_time_ns(), victims.size() == 1 && life_[victims.front()].leads});
  for (const int id : victims) {
    if (way == Way::Kill) members_.kill(id);
    if (way == Way::Close) members_.close(id);
    if (way == Way::Stop && !members_[id].freeze()) throw std::runtime_error("a member ended by itself");
  }
  times_.at(static_cast<size_t>(way)) += victims.size();
  members_.listen(support::in(draw_length()));
  for (const int id : victims) {
    way == Way::Stop ? members_[id].thaw() : start(id);
    members_.listen(support::in(up_to(300ms)));
  }
}

int Disturber::run() {
  for (int id = 1; id <= kNodes; ++id) start(id);
  await_answers("at the beginning");
  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  for (const Deadline end = support::in(length); std::chrono::steady_clock::now() < end;) {
    disturb();
    await_answers("after a disturbance");
    members_.listen(support::in(up_to(1000ms)));
  }
  await_answers("at the end");
  for (int id = 1; id <= kNodes; ++id) members_.close(id);
  return judge();
}

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

// Holders who do not ask valid() have to be caught, or this shows nothing.
int Disturber::judge() {
  const std::filesystem::path file = options_.out / "history.jsonl";
  const Seen seen(seen_);
  const std::vector<std::string> lines = seen.history();
  std::ofstream out(file);
  for (const std::string& line : lines) out << line << "\n";
  out.close();
  const check::Report keys = checked(lines, "transaction");
  const check::Report locks = checked(lines, "fenced-mutex");
  const std::vector<std::string> wrong = seen.watch_errors();
  const Seen::Pauses pauses = seen.pauses(disturbances_);
  const auto legal = [](const check::Report& report) { return report.verdict == check::Verdict::Linearizable; };
  const bool caught = locks.verdict == check::Verdict::Violation;
  const bool fine = legal(keys) && wrong.empty() && (options_.check ? legal(locks) : caught) && seen.answered() > 0;
  const nlohmann::ordered_json line{{"experiment", "history"},
                                    {"seconds", options_.seconds},
                                    {"seed", options_.seed},
                                    {"check", options_.check},
                                    {"kills", times_[0]},
                                    {"stops", times_[1]},
                                    {"closes", times_[2]},
                                    {"calls", lines.size()},
                                    {"answered", seen.answered()},
                                    {"keys", std::string(name_of(keys.verdict))},
                                    {"locks", std::string(name_of(locks.verdict))},
                                    {"watch_errors", wrong.size()},
                                    {"leader_gone", pauses.count},
                                    {"pause_ms_median", pauses.median_ms},
                                    {"pause_ms_most", pauses.most_ms},
                                    {"as_expected", fine}};
  if (!options_.json) {
    for (const check::Report* report : {&keys, &locks}) {
      if (report->counterexample) std::printf("%s\n", report->counterexample->why.c_str());
    }
    for (const std::string& sentence : wrong) std::printf("%s\n", sentence.c_str());
    std::printf("the history: %s (./dev coordctl check says more)\n", file.c_str());
  }
  std::printf("%s\n", line.dump().c_str());
  return fine ? 0 : 1;
}

}  // namespace

int run_history(const HistoryOptions& options) { return Disturber(options).run(); }

}  // namespace coordkit::experiment
