#include "sim/faults/log_damage.h"

#include <optional>
#include <string>
#include <vector>

namespace coordkit::sim {

void LogDamage::set_faults(const FileFaults& faults) {
  bytes_.files().set_faults(faults);
  lost_ = lost_ || faults.lying_syncs;
}

bool LogDamage::rot() {
  const std::optional<LogOnDisk::Place> place = bytes_.place_below_mark();
  if (!place || !bytes_.files().rot(place->name, place->page)) return false;
  return rotten_ = true;
}

void LogDamage::rot(StoreId store, Index index) {
  rotten_ = true;
  bytes_.rot(store, index);
}

bool LogDamage::misdirect() {
  const std::optional<LogOnDisk::Place> place = bytes_.place_below_mark();
  if (!place) return false;
  bytes_.files().misdirect_next_write(place->name, place->page);
  return rotten_ = lost_ = true;
}

bool LogDamage::lose_files(Files which) {
  SimFileSystem::Image files = bytes_.files().image();
  std::vector<std::string> segments;
  for (const auto& [name, bytes] : files) {
    if (name.ends_with(".seg")) segments.push_back(name);
  }
  if (segments.empty()) return false;
  const uint64_t chosen = which == Files::Newest ? segments.size() - 1 : random_.below(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    if (which == Files::All || i == chosen) files.erase(segments[i]);
  }
  bytes_.files().restore(files);
  return rotten_ = lost_ = true;
}

void LogDamage::found_whole() {
  rotten_ = false;
  lost_ = lost_ && bytes_.files().holds_ghosts();
}

void LogDamage::nothing_missing() { lost_ = lies() || bytes_.files().holds_ghosts(); }

void LogDamage::replaced() {
  rotten_ = false;
  lost_ = lies();
}

}  // namespace coordkit::sim
