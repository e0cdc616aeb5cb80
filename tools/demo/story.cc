// The story: what is done to the three processes, one sentence a step, and what must hold when it is over.
//
// It never waits for time to pass, only for reports; one deadline bounds it all. Everything that the machine does on its own
// meanwhile is part of the story, for instance an election because a disk stalled. So a step that needs the leader to hold the
// lock retries with the new one.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/demo/cast.h"
#include "tools/demo/picture.h"
#include "tools/demo/roles.h"

namespace coordkit::demo {
namespace {

using namespace std::chrono_literals;
using support::Claim;

constexpr auto kLimit = 28s;  // the whole story; it takes about eight
constexpr int kRows = 3;      // writes that show a holder at work

class Story {
 public:
  explicit Story(const std::filesystem::path& out)
      : out_(out),
        log_(out / "demo.log"),
        started_(support::machine_time_ns()),
        cast_(out / "demo-data", support::in(kLimit)) {}

  int run(bool keep);

 private:
  void say(const std::string& sentence);
  std::string node_name(int id) const { return "node " + std::to_string(id); }

  void elect();
  void freeze_leader();
  void rotate(int handovers, const std::string& who);
  void kill_leader();
  void restart(int id);
  void agree();
  void judge();
  void stay();
  void write_json(bool ok);
  void write_page(const std::string& wrong);

  void rest_all();
  int seat_leader();
  void line_up(int waiter);
  bool leads_and_holds(int id);
  int holder() const;
  void expect_next_holder(int waiter, uint64_t token_before, int64_t since_ns, const std::string& because);
  std::string elapsed(int64_t since_ns) const;
  std::filesystem::path page_path() const { return out_ / "demo.html"; }

  const std::filesystem::path out_;
  std::ofstream log_;
  const int64_t started_;
  Cast cast_;
};

void Story::say(const std::string& sentence) {
  char line[512];
  const double at = static_cast<double>(support::machine_time_ns() - started_) / 1e9;
  std::snprintf(line, sizeof line, "%6.2f s  %s\n", at, sentence.c_str());
  std::fputs(line, stdout);
  std::fflush(stdout);
  log_ << line << std::flush;
  cast_.recording().narrated(support::machine_time_ns(), sentence);
}

std::string Story::elapsed(int64_t since_ns) const {
  return std::to_string((support::machine_time_ns() - since_ns) / 1'000'000) + " ms";
}

// ---- steps

void Story::elect() {
  cast_.start_resource();
  for (int id = 1; id <= Cast::kNodes; ++id) cast_.start_node(id);
  say("three processes and the resource they share have been started");
  for (int id = 1; id <= Cast::kNodes; ++id) {
    cast_.until(node_name(id) + " is ready", [&] { return cast_.node(id).ready; });
  }
  cast_.until("a leader is elected", [&] { return cast_.leader() != 0; });
  say("all are ready; " + node_name(cast_.leader()) + " was elected leader of term " + std::to_string(cast_.term()));
}

int Story::holder() const {
  const Claim* newest = cast_.claims().newest();
  return newest && newest->ended_ns == 0 ? newest->holder : 0;
}

bool Story::leads_and_holds(int id) {
  return cast_.leader() == id && holder() == id && cast_.node(id).lost != cast_.node(id).token;
}

void Story::rest_all() {
  std::array<uint64_t, Cast::kNodes + 1> numbers{};
  for (int id = 1; id <= Cast::kNodes; ++id) numbers.at(static_cast<size_t>(id)) = cast_.tell_mode(id, "rest");
  for (int id = 1; id <= Cast::kNodes; ++id) {
    cast_.until(node_name(id) + " rests", [&] { return cast_.node(id).resting == numbers.at(static_cast<size_t>(id)); });
  }
}

// The leader's worker holds the lock and writes.
int Story::seat_leader() {
  while (true) {
    rest_all();
    cast_.until("there is a leader", [&] { return cast_.leader() != 0; });
    const int leader = cast_.leader();
    const int grants = cast_.grants_of(leader);
    cast_.tell_mode(leader, "hold");
    cast_.until(node_name(leader) + " writes with the lock",
                [&] { return cast_.grants_of(leader) > grants && (cast_.node(leader).rows >= kRows || holder() != leader); });
    if (leads_and_holds(leader)) return leader;
    say("leadership moved on its own meanwhile; once more");
  }
}

// `waiter` is queued, as the cluster sees it.
void Story::line_up(int waiter) {
  cast_.node(waiter).waiting = false;
  cast_.tell_mode(waiter, "hold");
  cast_.until(node_name(waiter) + " waits for the lock", [&] { return cast_.node(waiter).waiting; });
  do {
    const int answers = cast_.node(waiter).queue_answers;
    cast_.tell(waiter, "queue");
    cast_.until(node_name(waiter) + " sees the queue", [&] { return cast_.node(waiter).queue_answers > answers; });
  } while (cast_.node(waiter).waiters == 0 && cast_.node(waiter).waiting);
}

void Story::expect_next_holder(int waiter, uint64_t token_before, int64_t since_ns, const std::string& because) {
  cast_.until("there is a new leader", [&] { return cast_.leader() != 0; });
  say(node_name(cast_.leader()) + " is the new leader, of term " + std::to_string(cast_.term()) + ", " + elapsed(since_ns) +
      " after " + because);
  cast_.until(node_name(waiter) + " writes",
              [&] { return cast_.node(waiter).token > token_before && cast_.node(waiter).rows >= kRows; });
  const Claim* claim = cast_.claims().newest();
  say(node_name(waiter) + " was granted the lock " + std::to_string((claim->from_ns - since_ns) / 1'000'000) + " ms after " +
      because + ", with the larger token " + std::to_string(claim->token) + ", and writes");
}

void Story::freeze_leader() {
  int leader = 0;
  int waiter = 0;
  do {
    leader = seat_leader();
    waiter = leader % Cast::kNodes + 1;
    say(node_name(leader) + " took the lock with token " + std::to_string(cast_.node(leader).token) + " and writes; " +
        node_name(waiter) + " gets in line");
    line_up(waiter);
  } while (!leads_and_holds(leader));

  const uint64_t old_token = cast_.node(leader).token;
  const int64_t frozen_at = support::machine_time_ns();
  cast_.freeze(leader);
  say(node_name(leader) + ", leader and holder at once, is frozen in mid work (SIGSTOP)");
  // It finds these when it wakes up: it must write once more with its old token, and then rest.
  cast_.tell(leader, "late");
  cast_.tell_mode(leader, "rest");
  cast_.until("the frozen leader is replaced", [&] { return cast_.leader() != 0 && cast_.leader() != leader; });
  // Reports that it made before it was frozen may be read only now.
  expect_next_holder(waiter, old_token, frozen_at, "the freeze");

  cast_.thaw(leader);
  say(node_name(leader) + " wakes up (SIGCONT) and still has token " + std::to_string(old_token) + " in its hands");
  cast_.until("the sleeper has tried a late write", [&] { return cast_.node(leader).late_writes > 0; });
  cast_.until("the sleeper's lost() fires", [&] { return cast_.node(leader).lost == old_token; });
  if (cast_.node(leader).late_write_taken) throw StoryFailed("the resource took a late write of the sleeper");
  say("the sleeper's lost() has fired, and its late write with token " + std::to_string(old_token) +
      " was refused by the resource");
  rest_all();
}

// The lock goes round all three.
void Story::rotate(int handovers, const std::string& who) {
  const size_t before = cast_.claims().handovers();
  std::array<int, Cast::kNodes + 1> grants{};
  for (int id = 1; id <= Cast::kNodes; ++id) {
    grants.at(static_cast<size_t>(id)) = cast_.grants_of(id);
    cast_.tell_mode(id, "rotate");
  }
  cast_.until("the lock went around", [&] {
    for (int id = 1; id <= Cast::kNodes; ++id) {
      if (cast_.grants_of(id) < grants.at(static_cast<size_t>(id)) + 2) return false;
    }
    return cast_.claims().handovers() >= before + static_cast<size_t>(handovers);
  });
  rest_all();
  say(who + " handed the lock over " + std::to_string(cast_.claims().handovers() - before) + " times among themselves");
}

// The release must be in flight and certainly unanswered when the leader dies: the other two are stopped meanwhile, so
// nothing can be committed. Whether the release survives depends on what had reached their sockets; both are right.
void Story::kill_leader() {
  int leader = 0;
  int waiter = 0;
  int third = 0;
  do {
    leader = seat_leader();
    waiter = leader % Cast::kNodes + 1;
    third = waiter % Cast::kNodes + 1;
    line_up(waiter);
  } while (!leads_and_holds(leader));
  const uint64_t token = cast_.node(leader).token;
  cast_.freeze(waiter);
  cast_.freeze(third);
  cast_.tell_mode(leader, "rest");
  cast_.until(node_name(leader) + " begins its release", [&] { return cast_.node(leader).releasing == token; });
  const int64_t killed_at = support::machine_time_ns();
  cast_.kill(leader);
  cast_.thaw(waiter);
  cast_.thaw(third);
  if (cast_.node(leader).released == token) throw StoryFailed("the release was answered without a majority");
  say(node_name(leader) + ", leader again, is killed (SIGKILL) in mid hand-over: its release was under way to " +
      node_name(waiter));
  expect_next_holder(waiter, token, killed_at, "the kill");
  restart(leader);
  rest_all();
}

void Story::restart(int id) {
  const int64_t since = support::machine_time_ns();
  cast_.start_node(id);
  cast_.until(node_name(id) + " is ready again", [&] { return cast_.node(id).ready; });
  say(node_name(id) + " was restarted on its data and is ready after " + elapsed(since));
}

// Equal digests at equal applied indexes.
void Story::agree() {
  do {
    for (int id = 1; id <= Cast::kNodes; ++id) {
      const int answers = cast_.node(id).status_answers;
      cast_.tell(id, "status");
      cast_.until(node_name(id) + " tells its state", [&] { return cast_.node(id).status_answers > answers; });
    }
  } while (cast_.node(1).applied != cast_.node(2).applied || cast_.node(2).applied != cast_.node(3).applied);
  if (cast_.node(1).digest != cast_.node(2).digest || cast_.node(2).digest != cast_.node(3).digest) {
    std::string states;
    for (int id = 1; id <= Cast::kNodes; ++id) states += " " + std::to_string(cast_.node(id).digest);
    throw StoryFailed("the states at index " + std::to_string(cast_.node(1).applied) + " differ, by digest:" + states);
  }
  say("all three have applied " + std::to_string(cast_.node(1).applied) + " entries and have the same digest");
}

// ---- the end

void Story::judge() {
  std::vector<std::string> faults = cast_.claims().faults();
  const std::vector<std::string> more = support::faults_of(cast_.admissions(), cast_.claims().in_order());
  faults.insert(faults.end(), more.begin(), more.end());
  if (cast_.refusals() == 0) faults.emplace_back("no stale write was refused");
  for (const std::string& fault : faults) say("WRONG: " + fault);
  if (!faults.empty()) throw StoryFailed("the reports of the processes do not fit together");
  size_t taken = cast_.admissions().size() - cast_.refusals();
  say("summary: " + std::to_string(cast_.claims().handovers()) + " hand-overs, two holders at once 0, " +
      std::to_string(taken) + " writes taken, stale writes refused " + std::to_string(cast_.refusals()) + ", longest gap " +
      std::to_string(cast_.claims().longest_gap_ns() / 1'000'000) + " ms; all of it as a picture: " + page_path().string());
}

void Story::write_json(bool ok) {
  const nlohmann::ordered_json result = {{"handovers", cast_.claims().handovers()},
                                         {"overlaps", cast_.claims().overlaps()},
                                         {"stale_refused", cast_.refusals()},
                                         {"longest_gap_ms", cast_.claims().longest_gap_ns() / 1'000'000},
                                         {"ok", ok}};
  std::ofstream(out_ / "demo.json") << result.dump() << "\n";
}

void Story::write_page(const std::string& wrong) {
  const sim::Timeline timeline =
      cast_.recording().timeline(cast_.claims(), cast_.admissions(), support::machine_time_ns(), wrong);
  std::ofstream(page_path()) << sim::timeline_page(timeline);
  std::ofstream(out_ / "demo.svg") << picture(timeline);
}

void Story::stay() {
  alarm(0);  // the story's own watchdog
  for (int id = 1; id <= Cast::kNodes; ++id) cast_.tell_mode(id, "rotate");
  say("the three continue for an hour, or until this is interrupted; in another shell: ./dev coordctl --socket " +
      (out_ / "demo-data" / "node-1.admin").string() + " status");
  cast_.go_on(support::in(1h));
}

int Story::run(bool keep) {
  try {
    elect();
    freeze_leader();
    rotate(12, "the three");
    kill_leader();
    agree();
    rotate(6, "the three, the restarted one among them,");
    agree();
    if (!keep) cast_.dismiss();
    judge();
    write_json(true);
    write_page({});
    if (keep) stay();
    return 0;
  } catch (const StoryFailed& failure) {
    say(std::string("FAILED: ") + failure.what());
    write_json(false);
    write_page(failure.what());
    say("what happened, as a picture: " + page_path().string());
    return 1;
  }
}

}  // namespace

int run_story(const std::filesystem::path& out, bool keep) {
  std::filesystem::remove_all(out / "demo-data");
  std::filesystem::remove(out / "demo.json");
  std::filesystem::remove(out / "demo.html");
  std::filesystem::create_directories(out / "demo-data");
  return Story(out).run(keep);
}

}  // namespace coordkit::demo
