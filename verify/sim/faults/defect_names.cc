// Planted defects by name, for command lines and reports.
#include <algorithm>
#include <iterator>

#include "coordkit/sim/sim_options.h"

namespace coordkit::sim {
namespace {

struct Named {
  std::string_view name;
  bool Defects::*defect;
};
constexpr Named kDefects[] = {
    {"written_before_durable", &Defects::written_before_durable},
    {"forgets_vote", &Defects::forgets_vote},
    {"forgets_tail", &Defects::forgets_tail},
    {"corrupts_entry", &Defects::corrupts_entry},
    {"heartbeats_echoed", &Defects::heartbeats_echoed},
    {"clocks_beyond_bound", &Defects::clocks_beyond_bound},
    {"late_send_reading", &Defects::late_send_reading},
    {"restores_another", &Defects::restores_another},
    {"one_machine_diverges", &Defects::one_machine_diverges},
    {"one_state_rots", &Defects::one_state_rots},
    {"forgets_release", &Defects::forgets_release},
    {"token_lowered", &Defects::token_lowered},
    {"answer_changed", &Defects::answer_changed},
    {"sleep_uncounted", &Defects::sleep_uncounted},
    {"stale_read", &Defects::stale_read},
    {"submits_twice", &Defects::submits_twice},
    {"gate_open", &Defects::gate_open},
};
static_assert(std::size(kDefects) == sizeof(Defects), "a defect without a name: add it to the table");

}  // namespace

bool plant(Defects& defects, std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kDefects), std::end(kDefects), [&](const Named& one) { return one.name == name; });
  if (found == std::end(kDefects)) return false;
  defects.*(found->defect) = true;
  return true;
}

std::vector<std::string_view> defect_names() {
  std::vector<std::string_view> names;
  for (const Named& one : kDefects) names.push_back(one.name);
  return names;
}

std::vector<std::string_view> planted(const Defects& defects) {
  std::vector<std::string_view> names;
  for (const Named& one : kDefects) {
    if (defects.*(one.defect)) names.push_back(one.name);
  }
  return names;
}

}  // namespace coordkit::sim
