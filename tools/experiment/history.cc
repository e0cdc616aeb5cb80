// The conductor: three members at work, of which one or more are killed or stopped every second or two, also all at once. What
// their callers saw is one history on the clock of this machine, and is put before the checker of src/check, which knows
// nothing but the history: the keys as one store, the locks as mutexes whose holders were still inside when they last trusted
// their hold. What watches were given has to be the same everywhere, without gaps, and has to have every write that was
// answered.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>

#include "check/checker.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/seen.h"
#include "tools/support/child.h"
#include "tools/support/lines.h"
#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using support::Child;
using support::Deadline;

class Disturber {
 public:
  explicit Disturber(const HistoryOptions& options)
      : options_(options), random_(options.seed), addresses_(support::free_loopback_addresses(kNodes)) {}

  int run();

 private:
  static constexpr auto kAnswerLimit = 60s;

  struct Member {
    Child process;
    int lives = 0;
    bool leads = false;
    uint64_t answered = 0;  // in this life
  };

  Member& member(int id) { return members_.at(static_cast<size_t>(id)); }
  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }
  std::chrono::milliseconds up_to(std::chrono::milliseconds longest) {
    return std::chrono::milliseconds(below(static_cast<uint64_t>(longest.count()) + 1));
  }

  void start(int id);
  void kill(int id);
  void close(int id);
  void hear(const support::Line& line);
  void listen(Deadline deadline);
  void await_answers(const std::string& when);
  enum class Way : uint8_t { Kill, Stop, Close };
  std::vector<int> draw_victims();
  Way draw_way();
  std::chrono::milliseconds draw_length();
  void disturb();
  int judge();

  const HistoryOptions options_;
  std::mt19937_64 random_;
  const std::vector<std::string> addresses_;
  std::filesystem::path data_;
  std::array<Member, kNodes + 1> members_;  // by id, from 1
  support::LineReader lines_;
  std::ofstream log_;
  std::vector<std::filesystem::path> lives_;  // what their callers saw
  std::vector<Disturbance> disturbances_;
  std::array<uint64_t, 3> times_{};  // by way
};

void Disturber::start(int id) {
  const std::string number = std::to_string(id), life = std::to_string(++member(id).lives);
  const std::filesystem::path file = data_ / ("seen-" + number + "-" + life);
  std::vector<std::string> words = {"history-node",
                                    "--id",
                                    number,
                                    "--life",
                                    life,
                                    "--seed",
                                    std::to_string(options_.seed),
                                    "--data",
                                    data_ / ("node-" + number),
                                    "--file",
                                    file};
  if (!options_.check) words.emplace_back("--without-check");
  words.emplace_back("--members");
  words.insert(words.end(), addresses_.begin(), addresses_.end());
  member(id).leads = false;
  member(id).answered = 0;
  member(id).process = Child::start(words);
  lines_.add(id, member(id).process.output());
  lives_.push_back(file);
}

void Disturber::kill(int id) {
  member(id).process.kill();
  lines_.remove(id);
}

void Disturber::close(int id) {
  Child& process = member(id).process;
  process.close_input();
  if (!process.wait(support::in(kAnswerLimit))) throw std::runtime_error("a member did not close");
  lines_.remove(id);
}

void Disturber::hear(const support::Line& line) {
  if (line.ended) throw std::runtime_error("member " + std::to_string(line.from) + " ended");
  log_ << line.from << " " << line.text << "\n";
  const nlohmann::json report = nlohmann::json::parse(line.text, nullptr, false);
  const std::string event = report.value("event", std::string());
  if (event == "error") throw std::runtime_error(report.value("what", std::string("an error")));
  if (event != "health") return;
  member(line.from).leads = report.value("leads", false);
  member(line.from).answered = report.value("answered", uint64_t{0});
}

void Disturber::listen(Deadline deadline) {
  while (const std::optional<support::Line> line = lines_.next(deadline)) hear(*line);
}

// All are left alone, and each one's callers are answered again.
void Disturber::await_answers(const std::string& when) {
  std::array<uint64_t, kNodes + 1> before{};
  for (int id = 1; id <= kNodes; ++id) before.at(static_cast<size_t>(id)) = member(id).answered;
  const Deadline deadline = support::in(kAnswerLimit);
  for (int id = 1; id <= kNodes; ++id) {
    while (member(id).answered <= before.at(static_cast<size_t>(id))) {
      const std::optional<support::Line> line = lines_.next(deadline);
      if (!line) throw std::runtime_error("callers of member " + std::to_string(id) + " are not answered " + when);
      hear(*line);
    }
  }
}

// Mostly one, and mostly the leader; now and then a majority, or all.
std::vector<int> Disturber::draw_victims() {
  std::vector<int> ids = {1, 2, 3};
  std::ranges::shuffle(ids, random_);
  if (below(2) == 0) std::stable_partition(ids.begin(), ids.end(), [this](int id) { return member(id).leads; });
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
  disturbances_.push_back({support::machine_time_ns(), victims.size() == 1 && member(victims.front()).leads});
  for (const int id : victims) {
    if (way == Way::Kill) kill(id);
    if (way == Way::Close) close(id);
    if (way == Way::Stop && !member(id).process.freeze()) throw std::runtime_error("a member ended by itself");
  }
  times_.at(static_cast<size_t>(way)) += victims.size();
  listen(support::in(draw_length()));
  for (const int id : victims) {
    way == Way::Stop ? member(id).process.thaw() : start(id);
    listen(support::in(up_to(300ms)));
  }
}

int Disturber::run() {
  data_ = options_.out / "history-data";
  std::filesystem::remove_all(data_);
  std::filesystem::create_directories(data_);
  log_.open(options_.out / "history.log");
  for (int id = 1; id <= kNodes; ++id) start(id);
  await_answers("at the beginning");
  const auto length =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(options_.seconds));
  for (const Deadline end = support::in(length); std::chrono::steady_clock::now() < end;) {
    disturb();
    await_answers("after a disturbance");
    listen(support::in(up_to(1000ms)));
  }
  await_answers("at the end");
  for (int id = 1; id <= kNodes; ++id) close(id);
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
  const Seen seen(lives_);
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
