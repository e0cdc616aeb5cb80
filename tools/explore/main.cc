// coordkit-explore: visits every state of a small scope with the real consensus core, or of a cluster's initialization with
// real engines, and reports whether an invariant can break in it. The exit status is 0 only if the search was complete and
// nothing was violated.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "explore/initialization.h"
#include "explore/narrate.h"
#include "explore/search.h"

namespace {

using namespace coordkit::explore;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string scope = "main";
  std::string defect = "none";
  std::string replay;
  uint64_t states_max = ~uint64_t{0};
  int limit = -1;
  bool json = false;
  bool list = false;
  bool twins = false;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double gigabytes_most() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / (1 << 20);
}

const std::pair<const char*, Defect> kDefects[] = {{"none", Defect::None},
                                                   {"forgets-vote", Defect::ForgetsVote},
                                                   {"counts-older-terms", Defect::CountsOlderTerms},
                                                   {"sends-at-once", Defect::SendsAtOnce},
                                                   {"compares-too-little", Defect::ComparesTooLittle}};

const std::pair<const char*, InitializationDefect> kInitializationDefects[] = {
    {"none", InitializationDefect::None},
    {"reports-early", InitializationDefect::ReportsEarly},
    {"greets-as-blank", InitializationDefect::GreetsAsBlank},
    {"never-gives-way", InitializationDefect::NeverGivesWay},
    {"forgets-votes", InitializationDefect::ForgetsVotes}};

void list_scopes() {
  const auto line = [](std::string_view name, std::string_view what) {
    std::printf("%-12s %s\n", std::string(name).c_str(), std::string(what).c_str());
  };
  for (const Scope& scope : scopes()) line(scope.name, scope.what);
  for (const InitializationScope& scope : initialization_scopes()) line(scope.name, scope.what);
}

// Prints every move of a trace; ends where a move is impossible or an invariant breaks.
std::string tell(Space& space, const std::string& trace) {
  World world = space.first();
  std::vector<Move> possible;
  std::istringstream words(trace);
  int count = 0;
  for (std::string word; words >> word;) {
    space.moves(world, possible);
    const auto move =
        std::find_if(possible.begin(), possible.end(), [&](const Move& one) { return word_of(space, one) == word; });
    if (move == possible.end()) return word + " is not possible there";
    std::fprintf(stderr, "%3d  %s\n", ++count, describe(space, *move).c_str());
    const std::string violation = space.make(world, *move);
    if (!violation.empty()) return violation;
    std::fprintf(stderr, "       %s\n", describe(space, world).c_str());
  }
  return {};
}

void progress(const Findings& found, size_t level, Clock::time_point start, Clock::time_point& last) {
  if (seconds_since(last) < 5) return;
  last = Clock::now();
  std::fprintf(stderr, "depth %lu, %.1f M states, %zu to expand, %.0f k transitions/s, %.2f GiB\n",
               static_cast<unsigned long>(found.depth), static_cast<double>(found.states) / 1e6, level,
               static_cast<double>(found.transitions) / seconds_since(start) / 1e3, gigabytes_most());
}

int run_initializations(const Arguments& arguments, const InitializationScope& scope) {
  if (!arguments.replay.empty()) {
    const std::string violation = tell_initialization(scope, arguments.replay);
    std::printf("%s\n", violation.empty() ? "nothing is violated" : violation.c_str());
    return violation.empty() ? 0 : 1;
  }
  const Clock::time_point start = Clock::now();
  const InitializationFindings found = search_initializations(scope, arguments.states_max);
  if (!found.violation.empty()) {
    std::fprintf(stderr, "\n%s\n", found.violation.c_str());
    tell_initialization(scope, found.trace);
    std::fprintf(stderr, "  replay: ./dev explore --scope %s --defect %s --replay '%s'\n", arguments.scope.c_str(),
                 arguments.defect.c_str(), found.trace.c_str());
  }
  const nlohmann::ordered_json summary = {
      {"scope", arguments.scope},         {"defect", arguments.defect},   {"states", found.states},
      {"transitions", found.transitions}, {"depth", found.depth},         {"complete", found.complete},
      {"violation", found.violation},     {"trace", found.trace},         {"born", found.born},
      {"two_geneses", found.torn},        {"replica_lives", found.lives}, {"wall_seconds", seconds_since(start)},
      {"gigabytes", gigabytes_most()}};
  std::printf("%s\n", summary.dump().c_str());
  return found.complete ? 0 : 1;
}

int run(const Arguments& arguments, const Scope& scope) {
  Space space(scope);
  if (!arguments.replay.empty()) {
    const std::string violation = tell(space, arguments.replay);
    std::printf("%s\n", violation.empty() ? "nothing is violated" : violation.c_str());
    return violation.empty() ? 0 : 1;
  }
  if (arguments.twins) space.compare_twins();
  const Clock::time_point start = Clock::now();
  Clock::time_point last = start;
  const Findings found =
      search(space, {.states_max = arguments.states_max,
                     .on_level = [&](const Findings& so_far, size_t level) { progress(so_far, level, start, last); }});
  const double wall = seconds_since(start);
  std::string trace;
  for (const Move& move : found.trace) trace += (trace.empty() ? "" : " ") + word_of(space, move);
  if (!found.violation.empty()) {
    std::fprintf(stderr, "\n%s\n", found.violation.c_str());
    Space again(scope);
    tell(again, trace);
    std::fprintf(stderr, "  replay: ./dev explore --scope %s --defect %s --replay '%s'\n", arguments.scope.c_str(),
                 arguments.defect.c_str(), trace.c_str());
  }
  if (!arguments.json) {
    std::printf(
        "%s: %lu states, %lu transitions, depth %lu, %s; up to %lu terms led and %lu entries committed; "
        "%zu states and %zu steps of a replica, %zu letters, %zu inboxes; %.1f s, %.2f GiB\n",
        arguments.scope.c_str(), static_cast<unsigned long>(found.states), static_cast<unsigned long>(found.transitions),
        static_cast<unsigned long>(found.depth),
        found.complete            ? "complete"
        : found.violation.empty() ? "NOT complete"
                                  : found.violation.c_str(),
        static_cast<unsigned long>(found.leaders_most), static_cast<unsigned long>(found.committed_most), space.replicas(),
        space.steps(), space.letters(), space.inboxes(), wall, gigabytes_most());
  }
  const double n = static_cast<double>(found.states);
  const nlohmann::ordered_json summary = {{"scope", arguments.scope},
                                          {"defect", arguments.defect},
                                          {"states", found.states},
                                          {"transitions", found.transitions},
                                          {"depth", found.depth},
                                          {"complete", found.complete},
                                          {"violation", found.violation},
                                          {"trace", trace},
                                          {"terms_led_most", found.leaders_most},
                                          {"entries_committed_most", found.committed_most},
                                          {"replica_states", space.replicas()},
                                          {"replica_steps", space.steps()},
                                          {"twins", space.twins()},
                                          {"collision_chance", n * n * std::pow(2.0, -65)},
                                          {"wall_seconds", wall},
                                          {"gigabytes", gigabytes_most()}};
  std::printf("%s\n", summary.dump().c_str());
  return found.complete ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "Visits every interleaving of a small scope with the real consensus core and checks the invariants in each state."};
  app.add_option("--scope", arguments.scope, "the scope to visit (see --list)")->capture_default_str();
  app.add_option("--defect", arguments.defect,
                 "plant this defect: forgets-vote, counts-older-terms, sends-at-once, compares-too-little; at initializations "
                 "reports-early, "
                 "greets-as-blank, and where lists differ never-gives-way, forgets-votes")
      ->capture_default_str();
  app.add_option("--replay", arguments.replay, "describe one trace, given in the words that a violation prints");
  app.add_option("--states-max", arguments.states_max, "stop, incomplete, after this number of states");
  app.add_flag("--twins", arguments.twins, "also run replicas with equal fingerprints side by side (slow)");
  app.add_flag("--json", arguments.json, "nothing on stdout but the JSON line");
  app.add_flag("--list", arguments.list, "print the scopes");
  CLI11_PARSE(app, argc, argv);
  if (arguments.list) return list_scopes(), 0;
  if (const InitializationScope* initialization = initialization_scope_named(arguments.scope)) {
    const auto* planted = std::find_if(std::begin(kInitializationDefects), std::end(kInitializationDefects),
                                       [&](const auto& one) { return arguments.defect == one.first; });
    if (planted == std::end(kInitializationDefects))
      return std::fprintf(stderr, "no such defect at an initialization; see --help\n"), 2;
    InitializationScope scope = *initialization;
    scope.defect = planted->second;
    return run_initializations(arguments, scope);
  }
  const Scope* named = scope_named(arguments.scope);
  const auto* defect =
      std::find_if(std::begin(kDefects), std::end(kDefects), [&](const auto& one) { return arguments.defect == one.first; });
  if (!named || defect == std::end(kDefects)) return std::fprintf(stderr, "no such scope or defect; see --help\n"), 2;
  Scope scope = *named;
  scope.defect = defect->second;
  return run(arguments, scope);
}
