#include "engine/loop/condition.h"

#include <utility>

#include "coordkit/error.h"
#include "engine/disks/disk_errors.h"

namespace coordkit::engine {

void Condition::halt(std::string reason) {
  halted_ = true;
  reason_ = std::move(reason);
}

void Condition::quarantine(std::string reason) {
  quarantined_ = true;
  reason_ = std::move(reason);
}

void Condition::stand_aside(std::string reason) {
  quarantined_ = !reason.empty();
  reason_ = std::move(reason);
}

absl::Status Condition::refusal_of_state(const std::string* uninvited) const {
  if (halted_) return make_error(Reason::ReplicaFailed, Outcome::NoEffect, "this replica has stopped: " + reason_);
  if (removed_) return make_error(Reason::Removed, "this replica was removed from the cluster; use another one");
  if (uninvited) return make_error(Reason::NotMember, *uninvited);
  if (quarantined_) return make_error(Reason::NotReady, "this replica is in quarantine: " + reason_);
  return absl::OkStatus();
}

void Condition::set_log_waits(const absl::Status& why) {
  log_waits_ = why.ok() ? "" : "writes to the log wait: " + std::string(sentence_of(why));
}

void Condition::set_spare_fails(const absl::Status& why) { spare_fails_ = why.ok() ? "" : sentence_of_failed_spare(why); }

absl::Status Condition::refusal(Urgency urgency, size_t bytes, const Load& load, const std::string* uninvited) const {
  if (absl::Status state = refusal_of_state(uninvited); !state.ok()) return state;
  const bool reserved = urgency == Urgency::Reserved;
  if (!reserved && load.requests >= options_.requests_max) {
    return make_error(Reason::TooManyRequests, "this replica has " + std::to_string(load.requests) +
                                                   " calls under way; wait for some to end before starting more");
  }
  const size_t budget = options_.request_bytes_in_flight_max;
  if (load.bytes + bytes <= (reserved ? budget + budget / 4 : budget)) return absl::OkStatus();
  return make_error(Reason::TooManyRequests, "calls with " + std::to_string(load.bytes) +
                                                 " bytes are under way at this replica, of " + std::to_string(budget) +
                                                 "; wait for some to end, or raise request_bytes_in_flight_max");
}

// Letting callers wait rather than a voter fall behind is the operator's choice (raft::Options::follower_lag_bytes_max).
absl::Status Condition::refusal_of_command(Urgency urgency, bool holds_back) const {
  if (urgency == Urgency::Reserved) return absl::OkStatus();
  if (log_space_ != LogSpace::Ample) {
    return make_error(Reason::NoSpace,
                      "the disk of this replica's log is nearly full: free some space, or raise its quota; releases, renewals "
                      "and reads continue");
  }
  if (!holds_back) return absl::OkStatus();
  return make_error(Reason::TooManyRequests,
                    "a voter is further behind the leader than follower_lag_bytes_max allows, and new commands wait for it: "
                    "try again; releases, renewals and reads continue");
}

void Condition::warnings(bool holds_back, std::vector<std::string>& out) const {
  if (log_space_ != LogSpace::Ample) {
    out.emplace_back("the disk of the log is nearly full, new commands are refused here: free some space, or raise its quota");
  }
  if (!log_waits_.empty()) out.push_back(log_waits_);
  if (!spare_fails_.empty()) out.push_back(spare_fails_);
  if (holds_back) {
    out.emplace_back("a voter is further behind the leader than follower_lag_bytes_max: new commands are held back");
  }
}

absl::Status not_hosted() {
  return make_error(Reason::Unsupported,
                    "no machine with this id is hosted here; list it in ReplicaOptions::machines of every replica");
}

}  // namespace coordkit::engine
