// `coordctl backup DIR FILE`, `coordctl restore FILE MEMBER...`, `coordctl recover DIR... --member MEMBER`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace coordkit::coordctl {

struct BackupArguments {
  std::string directory;
  std::string file;
};
void add_backup(CLI::App& app, BackupArguments& arguments);
int run_backup(const BackupArguments& arguments);

// Both ways to a new cluster need to know this about it.
struct NewClusterArguments {
  std::vector<std::string> members;  // ID=HOST:PORT=DIRECTORY
  std::string cluster;
  uint64_t token_base = 0;
  uint64_t revisions_skipped = 0;
};

struct RestoreArguments {
  std::string file;
  bool check = false;
  NewClusterArguments made;
};
void add_restore(CLI::App& app, RestoreArguments& arguments);
int run_restore(const RestoreArguments& arguments);

struct RecoverArguments {
  std::vector<std::string> directories;
  bool accept_loss = false;
  NewClusterArguments made;
};
void add_recover(CLI::App& app, RecoverArguments& arguments);
int run_recover(const RecoverArguments& arguments);

}  // namespace coordkit::coordctl
