#include "tools/experiment/counter_group.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tools/support/loopback.h"

namespace coordkit::experiment {
namespace {

using namespace std::chrono_literals;
using support::Child;

constexpr int kCounter = 0;  // as a source of lines; nodes have their ids
constexpr auto kStart = 60s;
constexpr auto kEnd = 30s;

}  // namespace

CounterGroup::CounterGroup(OnReport on_report)
    : on_report_(std::move(on_report)), addresses_(support::free_loopback_addresses(kNodes)) {}

void CounterGroup::start(const std::filesystem::path& data, const std::filesystem::path& log, const Arguments& arguments) {
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  log_.open(log);
  std::vector<std::string> counter = {"counter", "--directory", data};
  counter.insert(counter.end(), arguments.counter.begin(), arguments.counter.end());
  counter_ = Child::start(counter);
  lines_.add(kCounter, counter_.output());
  until("the counter listens", support::in(kStart), [this] { return port_ != 0; });
  for (int id = 1; id <= kNodes; ++id) {
    const std::string number = std::to_string(id);
    std::vector<std::string> words = {"node", "--id", number, "--data", data / ("node-" + number), "--counter"};
    words.push_back(std::to_string(port_));
    words.insert(words.end(), arguments.node.begin(), arguments.node.end());
    words.emplace_back("--members");
    words.insert(words.end(), addresses_.begin(), addresses_.end());
    node(id) = Child::start(words);
    lines_.add(id, node(id).output());
  }
  until("all nodes are ready", support::in(kStart), [this] { return ready_ == kNodes; });
}

void CounterGroup::stop() {
  leaving_ = true;
  for (int id = 1; id <= kNodes; ++id) node(id).close_input();
  until("all nodes have closed", support::in(kEnd), [this] { return ended_ == kNodes; });
  counter_.close_input();
  until("the counter has summed up", support::in(kEnd), [this] { return ended_ == kNodes + 1; });
}

template <typename Condition>
void CounterGroup::until(const std::string& what, support::Deadline deadline, Condition condition) {
  while (!condition()) {
    const std::optional<support::Line> line = lines_.next(deadline);
    if (!line) throw std::runtime_error("this did not come: " + what);
    hear(*line);
  }
}

void CounterGroup::listen(support::Deadline deadline) {
  while (const std::optional<support::Line> line = lines_.next(deadline)) hear(*line);
}

void CounterGroup::hear(const support::Line& line) {
  if (line.ended) {
    if (!leaving_) throw std::runtime_error(line.from == kCounter ? "the counter ended" : "a node ended");
    lines_.remove(line.from);
    ++ended_;
    return;
  }
  log_ << line.from << " " << line.text << "\n";
  const nlohmann::json report = nlohmann::json::parse(line.text, nullptr, false);
  const std::string event = report.value("event", std::string());
  if (event == "error") throw std::runtime_error(report.value("what", std::string("an error")));
  if (event == "listening") port_ = report.value("port", uint16_t{0});
  if (event == "ready") ++ready_;
  on_report_(line.from, event, report);
}

}  // namespace coordkit::experiment
