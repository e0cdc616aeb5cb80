// The command "table": measures what the rows of bench/report/targets.h need, and prints them with their verdicts. Loads of
// ours and of peers are interleaved as in a suite (suite.h); memory is weighed once, and leaders are killed when the rounds are
// over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/cluster/suite.h"
#include "bench/report/targets.h"
#include "bench/report/verdict.h"

namespace coordkit::bench {

struct TableOptions {
  std::vector<std::string> groups;  // of the rows; empty: all
  std::vector<std::string> from;    // files of figures: nothing is measured
  std::string csv;                  // the figures are written there; empty: nowhere
  uint32_t kills = 20;              // of leaders
  TargetOptions many;
  Suite suite{.rounds = 3, .load = {.seconds = 3}};
};

std::vector<std::string> target_groups();

// `print` gets a line for each measurement. Throws std::runtime_error with a sentence.
std::vector<Row> run_table(const std::filesystem::path& data, const TableOptions& options, const PrintLine& print);

// The figures of a line that a suite printed; nothing of other lines.
void add_line(Figures& figures, const nlohmann::ordered_json& line);
nlohmann::ordered_json json_of(const Row& row);

Figures read_figures(const std::vector<std::string>& files);                  // as the next
void write_file(const std::filesystem::path& file, const std::string& text);  // throws std::runtime_error with a sentence

}  // namespace coordkit::bench
