#include "tools/differential/deliberate.h"

#include <string_view>

namespace coordkit::differential {
namespace {

using nlohmann::json;

constexpr size_t kSortedStably = 12;  // entries up to which Go's sort keeps the order of equal ones
constexpr const char* kTargets[] = {"key", "version", "create", "mod", "value"};

// S-07: coordkit puts entries with an equal target in the order of their keys. etcd leaves that open.
bool remove_ties(const RangeOperation& range, json& theirs, json& ours) {
  if (range.sort_by == SortTarget::Key || theirs == ours || !theirs.contains("entries") || !ours.contains("entries"))
    return false;
  if (theirs.at("count").get<size_t>() <= kSortedStably) return false;
  const char* target = kTargets[static_cast<size_t>(range.sort_by)];
  if (theirs.at("entries").is_number()) return false;
  for (json* side : {&theirs, &ours}) {
    for (json& entry : side->at("entries")) entry = entry.at(target);
  }
  return true;
}

// S-08: coordkit orders the whole interval and truncates then. etcd 3.4 truncates first if a target was named but no order.
bool remove_limit(const RangeOperation& range, json& theirs, json& ours) {
  const bool filtered = range.mod_min || range.mod_max || range.create_min || range.create_max;
  if (range.sort_by == SortTarget::Key || range.order != SortOrder::Default || range.limit == 0 || filtered) return false;
  if (theirs == ours || !theirs.contains("entries") || !ours.contains("entries")) return false;
  for (json* side : {&theirs, &ours}) side->at("entries") = side->at("entries").size();
  return true;
}

// A request that is wrong in several ways is refused for one of them.
bool remove_errors(json& theirs, json& ours) {
  if (theirs == ours || !theirs.contains("error") || !ours.contains("error")) return false;
  theirs = ours;
  return true;
}

void remove_in_replies(const Transaction& transaction, json& theirs, json& ours, std::vector<std::string>& found);

struct RemoveInReply {
  json& theirs;
  json& ours;
  std::vector<std::string>& found;
  void operator()(const RangeOperation& range) const {
    if (remove_limit(range, theirs, ours)) found.emplace_back("limit before order");
    if (remove_ties(range, theirs, ours)) found.emplace_back("order of equals");
  }
  void operator()(const PutOperation& put) const {
    if (put.lease && put.ignore_value && remove_errors(theirs, ours)) found.emplace_back("one of several errors");
  }
  void operator()(const Transaction& transaction) const {
    if (remove_errors(theirs, ours)) found.emplace_back("one of several errors");
    remove_in_replies(transaction, theirs, ours, found);
  }
  void operator()(const std::vector<Transaction>& nested) const { remove_in_replies(nested.at(0), theirs, ours, found); }
  void operator()(const auto&) const {}
};

void remove_in_replies(const Transaction& transaction, json& theirs, json& ours, std::vector<std::string>& found) {
  if (!theirs.contains("replies") || !ours.contains("replies")) return;
  json& their = theirs.at("replies");
  json& our = ours.at("replies");
  const auto& branch = ours.at("succeeded").get<bool>() ? transaction.then : transaction.otherwise;
  if (their.size() != our.size() || our.size() != branch.size()) return;
  for (size_t i = 0; i < branch.size(); ++i) std::visit(RemoveInReply{their[i], our[i], found}, branch[i].body);
}

// S-19: a key deleted by the very revision that was compacted to is still seen by a watch from it. etcd 3.4 forgets it.
bool remove_tombstones(const WatchFrom& watch, Revision compacted, json& theirs, json& ours) {
  if (watch.from != compacted || theirs == ours || !theirs.contains("events") || !ours.contains("events")) return false;
  json kept = json::array();
  for (json& event : ours.at("events")) {
    if (!event.contains("deleted") || event.at("mod").get<uint64_t>() != compacted.value()) kept.push_back(std::move(event));
  }
  ours.at("events") = std::move(kept);
  return true;
}

}  // namespace

std::vector<std::string> remove_deliberate(const Step& step, Revision compacted, Answer& theirs, Answer& ours) {
  std::vector<std::string> found;
  const auto* watch = std::get_if<WatchFrom>(&step);
  if (watch != nullptr && remove_tombstones(*watch, compacted, theirs, ours)) found.emplace_back("deleted where compacted");
  std::visit(RemoveInReply{theirs, ours, found}, step);
  return found;
}

}  // namespace coordkit::differential
