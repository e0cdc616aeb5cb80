// The processes of the demo as the story sees them: starts them, reads their lines, keeps what they reported.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/demo/recording.h"
#include "tools/support/child.h"
#include "tools/support/claims.h"
#include "tools/support/lines.h"

namespace coordkit::demo {

// A claim of the demo did not hold, or an awaited event did not come. The message is a sentence.
struct StoryFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct NodeView {
  support::Child process;
  bool frozen = false;
  bool leaving = false;  // told to quit: its end is expected
  bool left = false;     // has closed its session
  bool ready = false;
  bool leads = false;
  uint64_t term = 0;
  uint64_t token = 0;    // of its newest grant
  int rows = 0;          // written under that token
  uint64_t invalid = 0;  // the last token it found invalid
  uint64_t lost = 0;     // the last token whose lost() fired
  uint64_t releasing = 0;
  uint64_t released = 0;
  bool waiting = false;
  uint64_t resting = 0;  // number of the command with which it came to rest
  int late_writes = 0;
  bool late_write_taken = false;
  int queue_answers = 0;
  uint64_t waiters = 0;
  int status_answers = 0;
  uint64_t applied = 0;
  uint64_t digest = 0;
};

class Cast {
 public:
  static constexpr int kNodes = 3;

  Cast(std::filesystem::path data, support::Deadline deadline);

  void start_resource();
  void start_node(int id);
  NodeView& node(int id) { return nodes_.at(static_cast<size_t>(id)); }
  // 0: no running process says that it leads.
  int leader() const;
  uint64_t term() const;  // the newest reported by anyone

  void tell(int id, const std::string& command);
  uint64_t tell_mode(int id, const std::string& mode);  // the number of the command
  void freeze(int id);
  void thaw(int id);
  void kill(int id);                    // and reads its last lines
  void dismiss();                       // all of them; they must be at rest, and each must end well
  void go_on(support::Deadline until);  // all of them; their output is not kept

  // Listens until `condition` holds. Throws StoryFailed: not in time, or a process failed meanwhile.
  template <typename Condition>
  void until(const std::string& what, Condition condition) {
    while (!condition()) listen(what);
  }

  const support::Claims& claims() const { return claims_; }
  const std::vector<support::Admission>& admissions() const { return admissions_; }
  Recording& recording() { return recording_; }
  size_t refusals() const;
  int grants_of(int id) const;

 private:
  void listen(const std::string& what);
  void hear(const support::Line& line);
  void hear_node(int id, const std::string& event, const nlohmann::json& report);
  void hear_ended(int from);

  const std::filesystem::path data_;
  const support::Deadline deadline_;
  std::vector<std::string> addresses_;
  uint16_t resource_port_ = 0;
  support::Child resource_;
  std::array<NodeView, kNodes + 1> nodes_;  // by id, from 1
  support::LineReader lines_;
  support::Claims claims_;
  std::vector<support::Admission> admissions_;
  Recording recording_;
  uint64_t commands_ = 0;
  bool leaving_ = false;
};

}  // namespace coordkit::demo
