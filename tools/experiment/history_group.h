// The processes of the history experiment, from the foundation of their cluster to its end: three members and, for a while, a
// copy of one beside it. Knows what each has reported, where the files of all their lives are, and which directories have been
// changed behind a member's back.
//
// Until beyond() everything that a replica says of wrong data ends the experiment, as a process does that ends by itself
// (std::runtime_error). Threads: one owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/beyond.h"
#include "tools/experiment/processes.h"
#include "tools/experiment/roles.h"
#include "tools/experiment/wires.h"

namespace coordkit::experiment {

// The place of a copied directory's process. Members are at the place of their id, and remotes behind the copy.
inline constexpr int kCopy = kNodes + 1;

class HistoryGroup {
 public:
  // Below `data`, which it empties. With `options.beyond` the members are connected by wires that can be cut.
  HistoryGroup(const HistoryOptions& options, const std::filesystem::path& data, const std::filesystem::path& log);

  void start(int id);                // in another life: a member, or the process of a remote at its place
  std::vector<int> remotes() const;  // the places of processes without a replica
  void kill(int place);
  void close(int place);
  void freeze(int place);
  void thaw(int place);
  // Asks this member to hand leadership over; it answers in its own time.
  void ask_to_hand_over(int asked, int target);
  void listen(std::chrono::steady_clock::duration length) { processes_.listen(support::in(length)); }
  // All are left alone, and each one's callers are answered again.
  void await_answers(const std::string& when);

  bool leads(int id) { return places_[id].leads; }
  uint64_t handed_over() const { return handed_over_; }

  // For members at rest: a copy of the directory is made, in place of the one before, or takes the directory's place.
  void copy(int id);
  bool has_copy(int id) const { return std::filesystem::exists(copy_of(id)); }
  void put_back(int id);

  // From now on members may say that data is wrong, and end.
  void beyond();
  // A process for a copy of this member's directory, which is made now or was made before.
  void start_copy(int id, bool earlier);
  void end_copy();
  // Two networks, the copy of `id` with `with` in one, the two others in the other one; whole again: only the wires of a copy
  // that still runs lead elsewhere.
  void cut(int id, int with);
  void mend();
  // Waits until those that are ready have one leader, or nobody was answered for a while.
  void settle();

  void close_all();
  std::vector<std::filesystem::path> files() const;
  Episode episode(int64_t rest_ns) const;

 private:
  struct Place {
    bool runs = false;
    bool leads = false;
    uint64_t leader = 0, term = 0;
    uint64_t answered = 0;
    std::string state;
  };
  struct LifeFile {
    std::filesystem::path file;
    int place = 0;
    bool kept = true;
  };

  std::filesystem::path copy_of(int id) const { return data_ / ("copy-" + std::to_string(id)); }
  void start(int place, int id);
  void start_process(int place, int id, std::vector<std::string> more);
  void ended(int place);
  void hear(int from, const std::string& event, const nlohmann::json& report);
  void word(int from, const std::string& sentence);
  void lead(int from, int member, int place);
  bool settled();
  uint64_t answered() const;

  const HistoryOptions options_;
  const std::filesystem::path data_;
  std::map<int, Place> places_;
  std::map<int, int> lives_;  // of each member, of its copies too
  Processes processes_;
  std::optional<Wires> wires_;
  std::vector<LifeFile> files_;
  bool beyond_ = false;
  std::vector<Word> words_;
  std::vector<int> died_;
  uint64_t handed_over_ = 0;
};

}  // namespace coordkit::experiment
