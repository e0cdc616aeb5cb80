#include "scope.h"

namespace coordkit::explore {
namespace {

constexpr Scope kScopes[] = {
    {.name = "main",
     .what = "two campaigns, two commands, a crash",
     .proposals = 2,
     .crashes = 1,
     .heartbeats = Heartbeats::None},
    {.name = "commits",
     .what = "two campaigns, one command, a crash; heartbeats tell of commits",
     .proposals = 1,
     .crashes = 1},
    {.name = "pipeline",
     .what = "two campaigns, two commands that are under way together",
     .proposals = 2,
     .heartbeats = Heartbeats::None,
     .window = 2},
    {.name = "rivals",
     .what = "three terms, three campaigns, entries that travel one by one",
     .term_limit = 4,
     .timeouts = 3,
     .proposals = 1,
     .heartbeats = Heartbeats::None,
     .single_entries = true},
    {.name = "prevotes",
     .what = "two campaigns with real pre-votes and stickiness",
     .elections = Elections::Real,
     .heartbeats = Heartbeats::None},
    {.name = "beats",
     .what = "one reign with all its heartbeats and their answers",
     .term_limit = 2,
     .timeouts = 1,
     .heartbeats = Heartbeats::All},
    {.name = "change",
     .what = "one member is replaced, two campaigns",
     .replicas = 4,
     .changes = 1,
     .heartbeats = Heartbeats::None},
    {.name = "tiny", .what = "two campaigns, one command", .proposals = 1},
    {.name = "tiny-crash", .what = "two campaigns, a crash", .crashes = 1},
};

}  // namespace

std::span<const Scope> scopes() { return kScopes; }

const Scope* scope_named(std::string_view name) {
  for (const Scope& scope : kScopes) {
    if (scope.name == name) return &scope;
  }
  return nullptr;
}

}  // namespace coordkit::explore
