#include "tools/mutants/switch.h"

#include <regex>

namespace coordkit::mutants {
namespace {

// In both texts $& stands for the table-specific part.
const char* const kHeader = R"(// Written by coordkit-mutants: the switches of tests/proof/mutants.
#pragma once

#include <cstdint>

namespace coordkit {

enum class PlantedMutant : uint16_t {
  none,
$&};

extern const PlantedMutant planted_mutant;
inline bool mutant(PlantedMutant which) { return which == planted_mutant; }

}  // namespace coordkit
)";

const char* const kSource = R"(// Written by coordkit-mutants.
#include "coordkit/mutant_switch.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace coordkit {
namespace {

struct NamedMutant {
  std::string_view name;
  PlantedMutant mutant;
};

constexpr NamedMutant kMutants[] = {
$&};

PlantedMutant mutant_of_environment() {
  const char* name = std::getenv("COORDKIT_MUTANT");
  if (name == nullptr || *name == '\0') return PlantedMutant::none;
  for (const NamedMutant& one : kMutants) {
    if (one.name == name) return one.mutant;
  }
  return PlantedMutant::none;
}

}  // namespace

const PlantedMutant planted_mutant = mutant_of_environment();

}  // namespace coordkit
)";

std::string filled(std::string text, const std::string& rows) { return text.replace(text.find("$&"), 2, rows); }

}  // namespace

std::string switch_header(const Table& table) {
  std::string rows;
  for (const Mutant& mutant : table.mutants) rows += "  " + mutant.name + ",\n";
  return filled(kHeader, rows);
}

std::string switch_source(const Table& table) {
  std::string rows;
  for (const Mutant& mutant : table.mutants) rows += "    {\"" + mutant.name + "\", PlantedMutant::" + mutant.name + "},\n";
  return filled(kSource, rows);
}

std::string with_switches(const std::string& mutated) {
  static const std::regex form("\\bmutant\\((\\w+)\\)");
  return std::regex_replace(mutated, form, "::coordkit::mutant(::coordkit::PlantedMutant::$1)");
}

}  // namespace coordkit::mutants
