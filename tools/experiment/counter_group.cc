#include "tools/experiment/counter_group.h"

#include <utility>

namespace coordkit::experiment {
namespace {

constexpr int kCounter = 0;  // nodes have their ids
constexpr auto kStart = std::chrono::seconds(60);

}  // namespace

CounterGroup::CounterGroup(const std::filesystem::path& data, const std::filesystem::path& log, Processes::OnReport on_report)
    : data_(data),
      processes_(data, log, 2 * kNodes,
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
  nodes_ = arguments.remote ? kRemote : kNodes;
  for (int id = 1; id <= nodes_; ++id) start_node(id, arguments);
  processes_.need("all nodes are ready", kStart, [this] { return ready_ == nodes_; });
}

void CounterGroup::start_node(int id, const Arguments& arguments) {
  std::vector<std::string> words = {
      "node", "--id", std::to_string(id), "--data", processes_.data_of(id), "--counter", std::to_string(port_)};
  words.insert(words.end(), arguments.node.begin(), arguments.node.end());
  const std::vector<std::string> members = addresses(), listening = gateways();
  if (id == kRemote) {
    words.emplace_back("--gateways");
    words.insert(words.end(), listening.begin(), listening.end());
  } else if (arguments.remote) {
    words.insert(words.end(), {"--remotes", listening.at(static_cast<size_t>(id) - 1)});
  }
  words.emplace_back("--members");
  words.insert(words.end(), members.begin(), members.end());
  processes_.start(id, words);
}

std::vector<std::string> CounterGroup::some_addresses(size_t first) const {
  const auto from = processes_.addresses().begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + kNodes};
}

void CounterGroup::stop() {
  for (int id = nodes_; id >= 1; --id) processes_.close(id);
  processes_.close(kCounter);
}

}  // namespace coordkit::experiment
