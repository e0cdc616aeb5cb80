// The naive twin of mvcc::Store: the whole state after every revision, and every change ever made, copied and kept.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordkit/keys/key_operations.h"
#include "mvcc/refusal.h"

namespace coordkit::mvcc {

struct NaiveStore {
  struct Event {
    Revision revision;
    uint32_t sub = 0;
    KeyValue entry;  // version 0: deleted
    friend bool operator==(const Event&, const Event&) = default;
  };
  std::map<std::string, KeyValue> now;
  std::map<uint64_t, std::map<std::string, KeyValue>> after{{1, {}}};  // by revision
  std::vector<Event> events;
  uint64_t revision = 1;
  uint64_t compacted = 0;
  uint32_t sub = 0;  // of the command under way

  void begin() { sub = 0; }
  void end() {
    if (sub != 0) after[revision] = now;
  }
  void put(const std::string& key, const std::string& value, LeaseId lease = {}) {
    if (sub == 0) ++revision;
    KeyValue& entry = now[key];
    if (entry.version == 0) entry.create = Revision(revision);
    entry = {key, value, entry.create, Revision(revision), entry.version + 1, lease};
    events.push_back({Revision(revision), sub++, entry});
  }
  bool erase(const std::string& key) {
    if (now.erase(key) == 0) return false;
    if (sub == 0) ++revision;
    events.push_back({Revision(revision), sub++, {key, "", {}, Revision(revision), 0}});
    return true;
  }
  static bool within(const std::string& key, const std::string& from, const std::string& end) {
    if (end.empty()) return key == from;
    return key >= from && (end == kNoEnd || key < end);
  }
  Refusal readable(uint64_t at) const {
    if (at > revision) return Refusal::FutureRevision;
    return at != 0 && at < compacted ? Refusal::Compacted : Refusal::None;
  }
  std::vector<KeyValue> range(const std::string& from, const std::string& end, uint64_t at = 0) const {
    std::vector<KeyValue> found;
    for (const auto& [key, entry] : at == 0 ? now : after.at(at)) {
      if (within(key, from, end)) found.push_back(entry);
    }
    return found;
  }
};

}  // namespace coordkit::mvcc
