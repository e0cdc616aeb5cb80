// Elections, which are locks with a value.
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "c/c_completions.h"
#include "c/c_errors.h"
#include "c/c_grants.h"
#include "c/c_handles.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/client/coordination.h"
#include "coordkit/error.h"
#include "coordkit/objects/election.h"
#include "coordkit/session.h"

namespace coordkit::c {
namespace {

std::unique_ptr<OwnedLeader> owned(const std::optional<LeaderInfo>& known) {
  auto made = std::make_unique<OwnedLeader>();
  if (!known) return made;
  made->present = 1;
  made->session = known->session.value();
  made->token = known->token.value();
  made->value_text = known->value;
  made->value = bytes_of(made->value_text);
  return made;
}

// Puts the leaders of an election among the completions. A program that fetches none must not make this process grow.
class LeadersToCompletions {
 public:
  LeadersToCompletions(std::shared_ptr<Completions> completions, uint64_t tag) : stream_(std::move(completions), tag) {}

  void operator()(const LeaderSeen& seen) {
    if (stream_.ended()) return;
    if (stream_.full()) return stream_.end(too_many_);
    try {
      stream_.add([&](CallEnd& end) {
        end.leader = owned(seen.leader);
        return true;
      });
    } catch (const std::bad_alloc&) {
      stream_.end(no_room_);
    }
  }

 private:
  Stream stream_;
  absl::Status too_many_ = make_error(Reason::TooManyRequests, "too many leaders wait to be fetched; observe again");
  absl::Status no_room_ = make_error(Reason::OutOfMemory, Outcome::NoEffect, "a leader found no memory; observe again");
};

}  // namespace
}  // namespace coordkit::c

using namespace coordkit;     // NOLINT: what follows is outside of every namespace
using namespace coordkit::c;  // NOLINT

coordkit_status coordkit_campaign(coordkit_session* session, const char* name, size_t name_size, const char* value,
                                  size_t value_size, int64_t timeout_ms, coordkit_grant** leadership, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    given.needs(leadership, "leadership");
    std::string election = given.text("name", name, name_size);
    std::string shown = given.text("value", value, value_size);
    if (!given.ok()) return given.status();
    return grant_by(*session, leadership, [&] {
      return Election(session->session, std::move(election)).campaign(std::move(shown), timeout_from(timeout_ms));
    });
  });
}

coordkit_status coordkit_campaign_async(coordkit_session* session, const char* name, size_t name_size, const char* value,
                                        size_t value_size, int64_t timeout_ms, uint64_t tag, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    std::string election = given.text("name", name, name_size);
    std::string shown = given.text("value", value, value_size);
    if (!given.ok()) return given.status();
    return begin_grant(*session, tag, [&](Callback<Grant> done) {
      Election candidate(session->session, std::move(election));
      return candidate.campaign_async(std::move(shown), timeout_from(timeout_ms), std::move(done));
    });
  });
}

coordkit_status coordkit_election_leader(coordkit_session* session, const char* name, size_t name_size,
                                         coordkit_leader** leader, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    given.needs(leader, "leader");
    std::string election = given.text("name", name, name_size);
    if (!given.ok()) return given.status();
    const absl::StatusOr<std::optional<LeaderInfo>> known = Election(session->session, std::move(election)).leader();
    if (known.ok()) *leader = owned(*known).release();
    return known.status();
  });
}

void coordkit_leader_free(coordkit_leader* leader) { delete static_cast<OwnedLeader*>(leader); }

coordkit_status coordkit_election_observe(coordkit_session* session, const char* name, size_t name_size, uint64_t tag,
                                          coordkit_observation** observation, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(session, "session");
    given.needs(observation, "observation");
    std::string election = given.text("name", name, name_size);
    if (!given.ok()) return given.status();
    if (absl::Status usable = session->completions->usable(); !usable.ok()) return usable;
    auto made = std::make_unique<coordkit_observation>();
    const Election observed(session->session, std::move(election));
    made->observation = observed.observe(LeadersToCompletions(session->completions, tag));
    *observation = made.release();
    return absl::OkStatus();
  });
}

void coordkit_observation_free(coordkit_observation* observation) {
  guarded(nullptr, [&] {
    delete observation;
    return absl::OkStatus();
  });
}
