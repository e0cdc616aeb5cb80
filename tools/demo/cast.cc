#include "tools/demo/cast.h"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "tools/support/loopback.h"

namespace coordkit::demo {
namespace {

constexpr int kResource = 0;  // as a source of lines; nodes have their ids

std::string name_of(int from) { return from == kResource ? "the resource" : "node " + std::to_string(from); }

}  // namespace

Cast::Cast(std::filesystem::path data, support::Deadline deadline)
    : data_(std::move(data)),
      deadline_(deadline),
      addresses_(support::free_loopback_addresses(kNodes)),
      recording_(kNodes, support::machine_time_ns()) {}

void Cast::start_resource() {
  resource_ = support::Child::start({"resource", "--gate", data_ / "resource.fence"});
  lines_.add(kResource, resource_.output());
  until("the resource listens", [&] { return resource_port_ != 0; });
}

void Cast::start_node(int id) {
  NodeView fresh;
  fresh.process =
      support::Child::start({"node", "--id", std::to_string(id), "--data", data_ / ("node-" + std::to_string(id)), "--resource",
                             std::to_string(resource_port_), "--members", addresses_[0], addresses_[1], addresses_[2]});
  node(id) = std::move(fresh);
  lines_.add(id, node(id).process.output());
  recording_.started(id, support::machine_time_ns());
}

int Cast::leader() const {
  for (int id = 1; id <= kNodes; ++id) {
    const NodeView& one = nodes_.at(static_cast<size_t>(id));
    if (one.process.running() && !one.frozen && one.leads && one.term == term()) return id;
  }
  return 0;
}

uint64_t Cast::term() const {
  uint64_t newest = 0;
  for (const NodeView& one : nodes_) newest = std::max(newest, one.term);
  return newest;
}

void Cast::tell(int id, const std::string& command) {
  if (!node(id).process.send(command)) throw StoryFailed(name_of(id) + " does not listen to: " + command);
}

uint64_t Cast::tell_mode(int id, const std::string& mode) {
  tell(id, mode + " " + std::to_string(++commands_));
  return commands_;
}

void Cast::freeze(int id) {
  claims_.ended(node(id).token, support::machine_time_ns());
  if (!node(id).process.freeze()) throw StoryFailed(name_of(id) + " ended when it should have been frozen");
  node(id).frozen = true;
  recording_.frozen(id, support::machine_time_ns());
}

void Cast::thaw(int id) {
  recording_.thawed(id, support::machine_time_ns());
  node(id).process.thaw();
  node(id).frozen = false;
}

void Cast::kill(int id) {
  node(id).leaving = true;
  claims_.ended(node(id).token, support::machine_time_ns());
  node(id).process.kill();
  recording_.killed(id, support::machine_time_ns());
  until("the last words of " + name_of(id), [&] { return node(id).process.output() < 0; });
  node(id).leads = false;
}

// In two steps: the first to go must not take the majority from those that still have a session to close.
void Cast::dismiss() {
  for (int id = 1; id <= kNodes; ++id) tell(id, "leave");
  for (int id = 1; id <= kNodes; ++id) {
    until(name_of(id) + " has closed its session", [&] { return node(id).left; });
  }
  leaving_ = true;
  for (int id = 1; id <= kNodes; ++id) {
    node(id).leaving = true;
    tell(id, "quit");
  }
  for (int id = 1; id <= kNodes; ++id) {
    const std::optional<int> status = node(id).process.wait(deadline_);
    if (!status) throw StoryFailed(name_of(id) + " did not close in time");
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0) throw StoryFailed(name_of(id) + " did not close well");
  }
  resource_.send("quit");
  resource_.wait(deadline_);
}

void Cast::go_on(support::Deadline until) {
  while (lines_.next(until)) {
  }
}

size_t Cast::refusals() const {
  return static_cast<size_t>(
      std::count_if(admissions_.begin(), admissions_.end(), [](const auto& one) { return !one.accepted; }));
}

int Cast::grants_of(int id) const {
  const std::vector<support::Claim> claims = claims_.in_order();
  return static_cast<int>(std::count_if(claims.begin(), claims.end(), [id](const auto& one) { return one.holder == id; }));
}

void Cast::listen(const std::string& what) {
  const std::optional<support::Line> line = lines_.next(deadline_);
  if (!line) throw StoryFailed("waited in vain until " + what);
  hear(*line);
}

void Cast::hear(const support::Line& line) {
  if (line.ended) return hear_ended(line.from);
  const auto report = nlohmann::json::parse(line.text, nullptr, false);
  if (report.is_discarded()) return;  // cut off by a kill
  const std::string event = report.at("event");
  if (event == "error") throw StoryFailed(name_of(line.from) + ": " + std::string(report.at("what")));
  if (line.from != kResource) return hear_node(line.from, event, report);
  if (event == "listening") resource_port_ = report.at("port");
  if (event == "write") admissions_.push_back({report.at("at"), report.at("node"), report.at("token"), report.at("taken")});
}

void Cast::hear_node(int id, const std::string& event, const nlohmann::json& report) {
  NodeView& one = node(id);
  const uint64_t token = report.value("token", uint64_t{0});
  const int64_t at = report.at("at");
  if (event == "ready") {
    one.ready = true;
  } else if (event == "leadership") {
    one.leads = report.at("leads");
    one.term = report.at("term");
    recording_.leadership(id, at, one.leads, one.term);
  } else if (event == "waiting") {
    one.waiting = true;
    recording_.called(id, at, "acquire", 0);
  } else if (event == "granted") {
    one.waiting = false;
    one.token = token;
    one.rows = 0;
    claims_.granted(id, token, at);
    recording_.answered(id, at, "ok", token);
  } else if (event == "wrote") {
    claims_.valid(token, report.at("valid_at"));
    if (report.at("taken")) ++one.rows;
  } else if (event == "invalid") {
    one.invalid = token;
    claims_.ended(token, at);
  } else if (event == "lost") {
    one.lost = token;
    recording_.noted(id, at, sim::Timeline::Weight::Loss, "lost() fires for token " + std::to_string(token));
  } else if (event == "releasing") {
    one.releasing = token;
    recording_.called(id, at, "release", token);
    claims_.ended(token, at);
  } else if (event == "released") {
    one.released = token;
    recording_.answered(id, at, report.at("ok") ? "ok" : "not answered in time", 0);
  } else if (event == "resting") {
    one.resting = report.at("number");
  } else if (event == "left") {
    one.left = report.at("ok");
  } else if (event == "late_write") {
    ++one.late_writes;
    one.late_write_taken = one.late_write_taken || report.at("taken");
  } else if (event == "not_granted") {
    recording_.answered(id, at, "not granted", 0);
  } else if (event == "queue") {
    ++one.queue_answers;
    one.waiters = report.at("waiters");
  } else if (event == "status") {
    ++one.status_answers;
    one.applied = report.at("applied");
    one.digest = report.at("digest");
  }
}

void Cast::hear_ended(int from) {
  if (from == kResource) {
    if (!leaving_) throw StoryFailed("the resource ended");
    return;
  }
  if (!node(from).leaving) throw StoryFailed(name_of(from) + " ended by itself");
  node(from).process = {};
}

}  // namespace coordkit::demo
