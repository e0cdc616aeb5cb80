#include "scope.h"

namespace coordkit::explore {
namespace {

constexpr Scope kScopes[] = {
    {.name = "tiny", .what = "one election and one command", .term_limit = 2, .timeouts = 1, .proposals = 1},
    {.name = "rivals", .what = "elections only: two terms, a crash", .timeouts = 3, .crashes = 1},
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
