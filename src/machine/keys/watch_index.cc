#include "machine/keys/watch_index.h"

namespace coordkit::machine {
namespace {

bool is_prefix(std::string_view key, std::string_view end) { return !end.empty() && end == prefix_end(key); }

template <typename Map, typename Key>
bool erase(Map& map, const Key& key, WatchId id) {  // true: no watch is left there
  const auto found = map.find(key);
  if (found == map.end()) return false;
  found->second.erase(id);
  if (!found->second.empty()) return false;
  map.erase(found);
  return true;
}

}  // namespace

void WatchIndex::add(WatchId id, std::string_view key, std::string_view end) {
  if (end.empty()) {
    keys_[std::string(key)].insert(id);
  } else if (is_prefix(key, end)) {
    const auto [at, fresh] = prefixes_.try_emplace(std::string(key));
    at->second.insert(id);
    if (fresh) ++lengths_[key.size()];
  } else {
    others_[{std::string(key), std::string(end)}].insert(id);
  }
}

void WatchIndex::remove(WatchId id, std::string_view key, std::string_view end) {
  if (end.empty()) {
    erase(keys_, key, id);
  } else if (is_prefix(key, end)) {
    if (erase(prefixes_, key, id) && --lengths_[key.size()] == 0) lengths_.erase(key.size());
  } else {
    erase(others_, std::pair(std::string(key), std::string(end)), id);
  }
}

void WatchIndex::visit(std::string_view key, absl::FunctionRef<void(WatchId)> watch) const {
  const auto visit_all = [&](const Ids& ids) {
    for (const WatchId id : ids) watch(id);
  };
  if (const auto found = keys_.find(key); found != keys_.end()) visit_all(found->second);
  for (const auto& [length, count] : lengths_) {
    if (length > key.size()) break;
    if (const auto found = prefixes_.find(key.substr(0, length)); found != prefixes_.end()) visit_all(found->second);
  }
  for (const auto& [interval, ids] : others_) {
    if (interval.first > key) break;
    if (interval.second == kNoEnd || key < interval.second) visit_all(ids);
  }
}

}  // namespace coordkit::machine
