// Holds figures against targets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/figures.h"
#include "bench/report/targets.h"

namespace coordkit::bench {

enum class Verdict : uint8_t { NotMeasured, Below, Floor, Aim };
std::string_view name_of(Verdict verdict);

struct Row {
  Target target;
  std::optional<double> figure;
  std::optional<double> other;   // that it is held against
  std::optional<double> judged;  // the median of their ratios in each round, or the figure itself
  Verdict verdict = Verdict::NotMeasured;
  bool suspect = false;  // the disk was slow beside one of the two
  std::string reason;    // why it was not measured
};

Row judge(const Target& target, const Figures& figures);

// For people: one line for each, in columns.
std::string text_of(const std::vector<Row>& rows);

}  // namespace coordkit::bench
