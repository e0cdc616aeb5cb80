// One replica, and something to do with it: the smallest use that needs every part of coordkit.
#pragma once

#include <coordkit/coordkit.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

// 0 if `use` returned true with a ready replica; its directory is gone afterwards.
inline int with_replica(const std::function<int(coordkit::Replica&)>& use) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  std::string directory = std::filesystem::temp_directory_path() / "one_lock-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return 1;
  int code = 1;
  auto replica = coordkit::Replica::open(
      {.id = 1, .cluster = "one", .data_dir = directory, .members = {{1, address}}, .security = coordkit::PlainText{}});
  if (!replica.ok()) {
    std::cerr << replica.status() << "\n";
  } else if (const absl::Status ready = (*replica)->wait_ready(std::chrono::seconds(60)); !ready.ok()) {
    std::cerr << ready << "\n";
  } else {
    code = use(**replica);
  }
  if (replica.ok()) replica->reset();
  std::filesystem::remove_all(directory);
  return code;
}
