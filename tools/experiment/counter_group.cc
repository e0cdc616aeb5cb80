#include "tools/experiment/counter_group.h"

#include <utility>

namespace coordkit::experiment {
namespace {

constexpr int kCounter = 0;  // nodes have their ids
constexpr auto kStart = std::chrono::seconds(60);

}  // namespace

CounterGroup::CounterGroup(const std::filesystem::path& data, const std::filesystem::path& log, Processes::OnReport on_report)
    : data_(data),
      processes_(data, log, kNodes,
                 [this, on_report = std::move(on_report)](int from, const std::string& event, const nlohmann::json& report) {
                   if (event == "listening") port_ = report.value("port", uint16_t{0});
                   if (event == "ready") ++ready_;
                   on_report(from, event, report);
                 }) {}

void CounterGroup::start(const Arguments& arguments) {
  std::vector<std::string> counter = {"counter", "--directory", data_};
  counter.insert(counter.end(), arguments.counter.begin(), arguments.counter.end());
  processes_.start(kCounter, counter);
  processes_.need("the counter listens", kStart, [this] { return port_ != 0; });
  std::vector<std::string> node = {"--counter", std::to_string(port_)};
  node.insert(node.end(), arguments.node.begin(), arguments.node.end());
  for (int id = 1; id <= kNodes; ++id) processes_.start_member(id, "node", node);
  processes_.need("all nodes are ready", kStart, [this] { return ready_ == kNodes; });
}

void CounterGroup::stop() {
  for (int id = 1; id <= kNodes; ++id) processes_.close(id);
  processes_.close(kCounter);
}

}  // namespace coordkit::experiment
