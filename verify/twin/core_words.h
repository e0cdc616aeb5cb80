// Writes down the parts of one core for its fingerprint (core_twin.h). The source lists the private members that count, class
// by class.
#pragma once

#include <algorithm>

#include "raft/core_impl.h"
#include "twin/core_twin.h"

namespace coordkit::raft {

class Words {
 public:
  Words(Digest& to, const Ignored& ignored, const Options& options, LaggingTime now)
      : to_(to), ignored_(ignored), options_(options), now_(now) {}

  void add(const LogWeight& weight);
  void add(const Retention& retention);
  void add(const WriteQueue& disk);
  void add(const Log& log);
  void add(const VoteSet& set);
  void add(const Campaigning& campaign);
  void add(const Freshness& freshness);
  void add(const Confirmations& confirmations);
  void add(const DiskMonitor& monitor, LaggingTime leads_since);
  void add(const AppendWindow& window);
  void add(const Progress& peer);
  void add(const DeferredFollowers& deferred, const Peers& peers);
  void add(const Leading& leading);
  void add(const PendingTransfer& pending);
  void add(const PendingChange& pending);
  void add(const LogReader& reader);
  void add(const Roles& roles, const LeaderNews& news);
  void ahead(LaggingTime at) { count(at - now_); }

 private:
  void flag(bool value) { to_.add(value ? 1 : 0); }
  void count(Duration time) { to_.add(static_cast<uint64_t>(time.count())); }
  // The age of `at`, capped at an election timeout: nothing depends on more.
  void age(LaggingTime at) { count(std::min(now_ - at, options_.election_timeout)); }
  void due(LaggingTime at) {
    flag(at != LaggingTime::max());
    if (at != LaggingTime::max()) ahead(at);
  }

  Digest& to_;
  const Ignored ignored_;
  const Options& options_;
  const LaggingTime now_;
};

}  // namespace coordkit::raft
