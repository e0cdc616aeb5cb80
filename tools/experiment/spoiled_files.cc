// The conductor: three members at work, and again and again the files of one of them are damaged, while it is stopped or
// running. It may continue, repair itself, refuse to open, step aside or stop, each with a sentence. It must not crash. Nothing
// that was acknowledged may be missing in the end, because the other two are intact. A member that cannot continue is replaced
// by a blank one, as an operator would do it.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>

#include "tools/experiment/processes.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/spoil.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
constexpr int kKeys = 12;  // of each member, which writes them one after the other: what was acknowledged last is the newest

// The reports of a member since its start.
struct MemberReports {
  bool opened = false, ready = false, quarantined = false;
  std::string refused, halted, sentence;  // of opening, of the end, of its health
  size_t warnings = 0;
  std::string first_warning;
};

class Spoiler {
 public:
  explicit Spoiler(const SpoiledFilesOptions& options)
      : options_(options),
        random_(options.seed),
        nodes_(
            options.out / "spoiled-data", options.out / "spoiled-files.log", kNodes,
            [this](int from, const std::string& event, const nlohmann::json& report) { hear(from, event, report); },
            Processes::Ends::AsTheyLike) {}

  int run();

 private:
  static constexpr auto kAnswerLimit = 60s;
  static constexpr auto kReportTime = 20s;  // for a damaged member: by then it has reported all it will

  enum class Outcome { Unharmed, Mended, Refused, Quarantined, Halted, Waiting, Died };
  static const char* name_of(Outcome outcome);

  MemberReports& reported(int id) { return reported_.at(static_cast<size_t>(id)); }
  int any_member(int but = 0) {
    int id = 0;
    do id = 1 + static_cast<int>(below(kNodes));
    while (id == but);
    return id;
  }
  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }

  void start(int id);
  bool stop(int id, bool gently);  // false: it was ended by a signal
  void hear(int id, const std::string& event, const nlohmann::json& report);

  void work(int puts, int but);
  void spoil_stopped();
  void spoil_running();
  Outcome await_outcome(int id);
  void note(Outcome outcome, const std::string& spoiled, const std::string& sentence);
  void replace(int id);
  void look_for_lost();
  int judge();

  const SpoiledFilesOptions options_;
  std::mt19937_64 random_;
  std::array<MemberReports, kNodes + 1> reported_;
  Processes nodes_;

  uint64_t next_value_ = 0;
  int answers_ = 0;  // still awaited
  bool replaced_ = false;
  bool scrubbed_ = false;
  std::map<std::string, uint64_t> acknowledged_;
  std::map<std::string, uint64_t> found_;
  std::map<std::string, uint64_t> tally_;
  uint64_t stopped_runs_ = 0, running_runs_ = 0, wordless_ = 0, lost_ = 0, replacements_ = 0;
};

const char* Spoiler::name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Unharmed: return "unharmed";
    case Outcome::Mended: return "mended";
    case Outcome::Refused: return "refused";
    case Outcome::Quarantined: return "quarantined";
    case Outcome::Halted: return "halted";
    case Outcome::Waiting: return "waiting";
    case Outcome::Died: break;
  }
  return "died";
}

void Spoiler::start(int id) {
  reported(id) = {};
  nodes_.start_member(id, "spoiled-node");
}

bool Spoiler::stop(int id, bool gently) {
  if (gently) return WIFEXITED(nodes_.close(id));
  nodes_.kill(id);
  return true;
}

void Spoiler::hear(int id, const std::string& event, const nlohmann::json& report) {
  MemberReports& from = reported(id);
  const std::string sentence = report.value("sentence", std::string());
  if (event == "opened") from.opened = true;
  if (event == "refused") from.refused = sentence.empty() ? "?" : sentence;
  if (event == "halted") from.halted = sentence.empty() ? "?" : sentence;
  if (event == "scrubbed") scrubbed_ = true;
  if (event == "replaced") replaced_ = report.value("ok", false);
  if (event == "replaced" || event == "put" || event == "got") --answers_;
  if (event == "health") {
    from.ready = report.value("ready", false);
    from.quarantined = report.value("quarantined", false);
    from.sentence = sentence;
    from.warnings = report["warnings"].size();
    if (from.warnings != 0) from.first_warning = report["warnings"][0];
  }
  if (event == "put" && report.value("ok", false)) {
    uint64_t& newest = acknowledged_[report["key"]];
    newest = std::max<uint64_t>(newest, std::stoull(report["value"].get<std::string>()));
  }
  if (event == "got" && report.value("ok", false)) {
    const std::string value = report["value"];
    found_[report["key"]] = value.empty() ? 0 : std::stoull(value);
  }
}

void Spoiler::work(int puts, int but) {
  answers_ = 0;
  for (int i = 0; i < puts; ++i) {
    const int writer = any_member(but);
    const std::string key = "key-" + std::to_string(writer) + "-" + std::to_string(below(kKeys));
    if (nodes_[writer].send("put " + key + " " + std::to_string(++next_value_))) ++answers_;
  }
  nodes_.until(kAnswerLimit, [&] { return answers_ <= 0; });
}

// A damaged member has been started, or continues to run.
Spoiler::Outcome Spoiler::await_outcome(int id) {
  const MemberReports& it = reported(id);
  nodes_.until(kReportTime, [&] { return it.ready || it.quarantined || nodes_.ended(id) || !it.halted.empty(); });
  if (nodes_.ended(id)) {
    const std::optional<int> status = nodes_[id].wait(support::in(kAnswerLimit));
    if (!status || !WIFEXITED(*status)) return Outcome::Died;
    return it.refused.empty() ? Outcome::Halted : Outcome::Refused;
  }
  if (!it.halted.empty()) return Outcome::Halted;
  if (it.quarantined) return Outcome::Quarantined;
  if (!it.ready) return Outcome::Waiting;
  return it.warnings == 0 ? Outcome::Unharmed : Outcome::Mended;
}

void Spoiler::note(Outcome outcome, const std::string& spoiled, const std::string& sentence) {
  ++tally_[name_of(outcome)];
  const bool silent = outcome != Outcome::Unharmed && outcome != Outcome::Died && sentence.empty();
  wordless_ += silent ? 1 : 0;
  nodes_.log() << "0 "
               << nlohmann::json{{"event", "outcome"},
                                 {"spoiled", spoiled},
                                 {"outcome", name_of(outcome)},
                                 {"sentence", sentence}}
               << std::endl;
}

// Does what an operator does with a member that cannot continue.
void Spoiler::replace(int id) {
  ++replacements_;
  for (int attempt = 0; attempt < 5; ++attempt) {
    nodes_.kill(id);
    std::filesystem::remove_all(nodes_.data_of(id));
    start(id);
    nodes_.need("a blank member", kAnswerLimit, [&] { return reported(id).opened; });
    replaced_ = false;
    answers_ = 1;
    nodes_.tell(any_member(id), "replace " + std::to_string(id));
    nodes_.until(kAnswerLimit, [&] { return answers_ <= 0; });
    if (nodes_.until(kReportTime, [&] { return reported(id).ready; })) return;
  }
  throw std::runtime_error("a member could not be replaced");
}

// The sentence that an operator reads first.
std::string first_sentence_of(const MemberReports& member) {
  if (!member.refused.empty()) return member.refused;
  if (!member.halted.empty()) return member.halted;
  return member.warnings != 0 ? member.first_warning : member.sentence;
}

void Spoiler::spoil_stopped() {
  const int id = any_member();
  work(6, 0);
  if (!stop(id, below(2) == 0)) note(Outcome::Died, "nothing", {});
  work(3, id);
  const std::string what = spoil(nodes_.data_of(id), nodes_.data_of(any_member(id)), random_);
  if (what.empty()) return start(id);
  ++stopped_runs_;
  start(id);
  const Outcome outcome = await_outcome(id);
  note(outcome, what, first_sentence_of(reported(id)));
  if (outcome != Outcome::Unharmed && outcome != Outcome::Mended) replace(id);
}

// It is asked to scrub its files, and restarted at the end: what it does not need while running it needs then.
void Spoiler::spoil_running() {
  const int id = any_member();
  work(6, 0);
  const std::string what = spoil(nodes_.data_of(id), nodes_.data_of(any_member(id)), random_);
  if (what.empty()) return;
  ++running_runs_;
  scrubbed_ = false;
  nodes_[id].send("scrub");
  work(10, 0);
  nodes_.until(kReportTime, [&] { return scrubbed_ || nodes_.ended(id); });
  work(80, 0);  // past the next checkpoint
  Outcome outcome = await_outcome(id);
  std::string sentence = reported(id).halted.empty() ? reported(id).first_warning : reported(id).halted;
  if (outcome == Outcome::Unharmed || outcome == Outcome::Mended) {
    if (!stop(id, true)) {
      outcome = Outcome::Died;
    } else {
      start(id);
      const Outcome again = await_outcome(id);
      if (again != Outcome::Unharmed) {
        outcome = again;
        sentence = first_sentence_of(reported(id));
      }
    }
  }
  note(outcome, what + ", while it ran", sentence);
  if (outcome != Outcome::Unharmed && !(outcome == Outcome::Mended && reported(id).ready)) replace(id);
}

void Spoiler::look_for_lost() {
  for (int id = 1; id <= kNodes; ++id) {
    found_.clear();
    answers_ = 0;
    for (const auto& [key, value] : acknowledged_) answers_ += nodes_[id].send("get " + key) ? 1 : 0;
    nodes_.need("answers of member " + std::to_string(id), kAnswerLimit, [&] { return answers_ <= 0; });
    for (const auto& [key, value] : acknowledged_) {
      const auto found = found_.find(key);
      if (found != found_.end() && found->second < value) ++lost_;
      if (found == found_.end()) throw std::runtime_error("this did not come: the value of " + key);
    }
  }
}

int Spoiler::run() {
  for (int id = 1; id <= kNodes; ++id) start(id);
  const auto all_ready = [&] {
    for (int id = 1; id <= kNodes; ++id) {
      if (!reported(id).ready) return false;
    }
    return true;
  };
  nodes_.need("three members that are ready", kAnswerLimit, all_ready);
  while (stopped_runs_ < options_.runs || running_runs_ < options_.running) {
    const bool running = running_runs_ < options_.running &&
                         (stopped_runs_ >= options_.runs || below(options_.runs + options_.running) < options_.running);
    running ? spoil_running() : spoil_stopped();
    nodes_.need("three members that are ready again", kAnswerLimit, all_ready);
    if ((stopped_runs_ + running_runs_) % 10 == 0) look_for_lost();
    if (!options_.json) std::fprintf(stderr, "\r%lu of %lu", stopped_runs_ + running_runs_, options_.runs + options_.running);
  }
  look_for_lost();
  for (int id = 1; id <= kNodes; ++id) nodes_.close(id);
  return judge();
}

int Spoiler::judge() {
  const bool fine = tally_["died"] == 0 && lost_ == 0 && wordless_ == 0;
  const nlohmann::ordered_json line{{"experiment", "spoiled-files"},
                                    {"seed", options_.seed},
                                    {"stopped", stopped_runs_},
                                    {"running", running_runs_},
                                    {"outcomes", tally_},
                                    {"replaced", replacements_},
                                    {"acknowledged", next_value_},
                                    {"lost", lost_},
                                    {"without_a_sentence", wordless_},
                                    {"as_expected", fine}};
  std::printf("%s%s\n", options_.json ? "" : "\n", line.dump().c_str());
  return fine ? 0 : 1;
}

}  // namespace

int run_spoiled_files(const SpoiledFilesOptions& options) { return Spoiler(options).run(); }

}  // namespace coordkit::experiment
