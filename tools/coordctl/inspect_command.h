// `coordctl inspect DIR` and `coordctl cat DIR`: a data directory at rest, as a summary and line by line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace coordkit::coordctl {

struct InspectArguments {
  std::string directory;
  bool verify = false;
  bool copy = false;
  bool json = false;
};
void add_inspect(CLI::App& app, InspectArguments& arguments);
int run_inspect(const InspectArguments& arguments);

struct CatArguments {
  std::string directory;
  bool log_only = false;
  bool rows_only = false;
  uint64_t from = 0;
  size_t bytes = 0;
};
void add_cat(CLI::App& app, CatArguments& arguments);
int run_cat(const CatArguments& arguments);

}  // namespace coordkit::coordctl
