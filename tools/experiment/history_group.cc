#include "tools/experiment/history_group.h"

#include <sys/wait.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerLimit = 60s;
constexpr auto kEndLimit = 20s;
constexpr int kRefused = 3;  // exit status of a member that could not open its directory

void copy_directory(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

}  // namespace

HistoryGroup::HistoryGroup(const HistoryOptions& options, const std::filesystem::path& data, const std::filesystem::path& log)
    : options_(options),
      data_(data),
      processes_(data_, log, kCopy + kNodes,  // the last ones: where members listen for remotes
                 [this](int from, const std::string& event, const nlohmann::json& report) { hear(from, event, report); }) {
  if (options_.beyond) {
    wires_.emplace(kCopy, kNodes);
    mend();
  }
  for (int id = 1; id <= kNodes; ++id) start(id);
  for (const int place : remotes()) start(place);
}

std::vector<int> HistoryGroup::remotes() const {
  std::vector<int> places;
  for (uint64_t i = 1; i <= options_.remotes && !options_.beyond; ++i) places.push_back(kCopy + static_cast<int>(i));
  return places;
}

void HistoryGroup::start(int id) {
  if (id <= kNodes) return start(id, id);
  std::vector<std::string> words = {"--gateways"};
  const std::vector<std::string>& addresses = processes_.addresses();
  words.insert(words.end(), addresses.begin() + kCopy, addresses.end());
  start_process(id, id, std::move(words));
}

void HistoryGroup::start(int place, int id) {
  std::vector<std::string> words;
  const std::vector<std::string>& addresses = processes_.addresses();
  if (place != id) words.insert(words.end(), {"--listen", addresses.at(static_cast<size_t>(place) - 1)});
  if (!remotes().empty()) words.insert(words.end(), {"--remotes", addresses.at(static_cast<size_t>(kCopy + place) - 1)});
  if (wires_) {
    words.emplace_back("--doors");
    for (int member = 1; member <= kNodes; ++member) words.push_back(wires_->door(place, member));
  }
  start_process(place, id, std::move(words));
}

void HistoryGroup::start_process(int place, int id, std::vector<std::string> more) {
  places_[place] = {.runs = true};
  const std::string life = std::to_string(++lives_[id]);
  files_.push_back({data_ / ("seen-" + std::to_string(id) + "-" + life), place});
  std::vector<std::string> words = {"history-node",
                                    "--id",
                                    std::to_string(id),
                                    "--data",
                                    processes_.data_of(place),
                                    "--life",
                                    life,
                                    "--seed",
                                    std::to_string(options_.seed),
                                    "--file",
                                    files_.back().file};
  if (!options_.check) words.emplace_back("--without-check");
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--members");
  const std::vector<std::string>& addresses = processes_.addresses();
  words.insert(words.end(), addresses.begin(), addresses.begin() + kNodes);
  processes_.start(place, words);
}

void HistoryGroup::kill(int place) {
  processes_.kill(place);
  ended(place);
}

void HistoryGroup::close(int place) {
  processes_.close(place);
  ended(place);
}

void HistoryGroup::ended(int place) {
  places_[place].runs = false;
  places_[place].leads = false;
}

void HistoryGroup::freeze(int place) {
  if (!processes_[place].freeze()) throw std::runtime_error("a member ended by itself");
}

void HistoryGroup::thaw(int place) { processes_[place].thaw(); }

void HistoryGroup::ask_to_hand_over(int asked, int target) { processes_.tell(asked, "transfer " + std::to_string(target)); }

void HistoryGroup::word(int from, const std::string& sentence) {
  if (!beyond_) throw std::runtime_error("process " + std::to_string(from) + " says: " + sentence);
  words_.push_back({from, sentence});
}

void HistoryGroup::hear(int from, const std::string& event, const nlohmann::json& report) {
  if (event == "transferred") handed_over_ += report.value("ok", false) ? 1 : 0;
  const std::string what = report.value("what", std::string());
  if (what.find("CannotListen") != std::string::npos) throw std::runtime_error(what);  // says nothing of the data
  if (event == "refused") word(from, what);
  if (event == "failed" && !beyond_) throw std::runtime_error(what);
  if (event == "told") {
    const std::string sentence = report.value("sentence", std::string());
    if (is_word(report.value("kind", std::string()), report.value("severity", std::string()), sentence)) word(from, sentence);
  }
  if (event != "health") return;
  Place& place = places_[from];
  place.leads = report.value("leads", false);
  place.leader = report.value("leader", uint64_t{0});
  place.term = report.value("term", uint64_t{0});
  place.answered = report.value("answered", uint64_t{0});
  place.state = report.value("state", std::string());
}

void HistoryGroup::await_answers(const std::string& when) {
  const std::map<int, Place> before = places_;
  std::vector<int> all = remotes();
  for (int id = 1; id <= kNodes; ++id) all.push_back(id);
  for (const int place : all) {
    processes_.need("answers to callers of process " + std::to_string(place) + " " + when, kAnswerLimit,
                    [&] { return places_[place].answered > before.at(place).answered; });
  }
}

void HistoryGroup::copy(int id) { copy_directory(processes_.data_of(id), copy_of(id)); }

void HistoryGroup::put_back(int id) {
  copy_directory(copy_of(id), processes_.data_of(id));
  for (LifeFile& each : files_) each.kept = each.kept && each.place != id;
}

void HistoryGroup::beyond() {
  beyond_ = true;
  processes_.let_end(Processes::Ends::AsTheyLike);
}

void HistoryGroup::start_copy(int id, bool earlier) {
  copy_directory(earlier ? copy_of(id) : processes_.data_of(id), processes_.data_of(kCopy));
  start(kCopy, id);
}

void HistoryGroup::end_copy() {
  kill(kCopy);
  for (LifeFile& each : files_) each.kept = each.kept && each.place != kCopy;
}

void HistoryGroup::lead(int from, int member, int place) {
  wires_->lead(from, member, place == 0 ? std::string() : processes_.addresses().at(static_cast<size_t>(place) - 1));
}

void HistoryGroup::cut(int id, int with) {
  const auto beside_the_copy = [&](int place) { return place == kCopy || place == with; };
  for (int from = 1; from <= kCopy; ++from) {
    for (int member = 1; member <= kNodes; ++member) {
      const int place = member == id && beside_the_copy(from) ? kCopy : member;
      lead(from, member, beside_the_copy(from) == beside_the_copy(place) ? place : 0);
    }
  }
}

void HistoryGroup::mend() {
  for (int from = 1; from <= kCopy; ++from) {
    for (int member = 1; member <= kNodes; ++member) lead(from, member, member);
  }
}

uint64_t HistoryGroup::answered() const {
  uint64_t answered = 0;
  for (const auto& [number, place] : places_) answered += place.answered;
  return answered;
}

// A member that stepped aside has no part in it.
bool HistoryGroup::settled() {
  std::set<std::pair<uint64_t, uint64_t>> leaders;
  for (const auto& [number, place] : places_) {
    if (!place.runs || processes_.ended(number) || place.state == "Quarantine" || place.state == "Halted") continue;
    if (place.state != "Ready") return false;
    leaders.emplace(place.leader, place.term);
  }
  return leaders.size() == 1 && leaders.begin()->first != 0;
}

void HistoryGroup::settle() {
  constexpr auto kAtOneFor = 1s, kUnansweredFor = 8s, kLimit = 40s;
  auto apart = std::chrono::steady_clock::now(), answer = apart;
  uint64_t answers = answered();
  for (const support::Deadline end = support::in(kLimit); std::chrono::steady_clock::now() < end;) {
    listen(100ms);
    const auto now = std::chrono::steady_clock::now();
    if (answered() != std::exchange(answers, answered())) answer = now;
    if (!settled()) apart = now;
    if (now - apart >= kAtOneFor || now - answer >= kUnansweredFor) break;
  }
}

void HistoryGroup::close_all() {
  if (wires_ && wires_->connected() == 0) throw std::runtime_error("the members do not dial through their doors");
  for (auto& [number, place] : places_) {
    if (!place.runs) continue;
    if (!processes_.ended(number)) {
      close(number);
      continue;
    }
    const std::optional<int> status = processes_[number].wait(support::in(kEndLimit));
    if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) != kRefused) died_.push_back(number);
  }
}

std::vector<std::filesystem::path> HistoryGroup::files() const {
  std::vector<std::filesystem::path> files;
  for (const LifeFile& each : files_) files.push_back(each.file);
  return files;
}

Episode HistoryGroup::episode(int64_t rest_ns) const {
  Episode episode{.lives = {}, .words = words_, .died = died_, .rest_ns = rest_ns};
  for (const LifeFile& each : files_) episode.lives.push_back({read_life(each.file), each.place, each.kept});
  return episode;
}

}  // namespace coordkit::experiment
