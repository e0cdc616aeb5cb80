// Which generation of a session the caller of a resume vouches for (docs/semantics.md S-45, previous_is_gone), where the state
// is elsewhere.
//
// The caller vouches for the processes that had the session when it called. A state elsewhere answers later, and another
// process may have taken the session over in between. So its answer counts only if this process knew as much of the state at
// the call, or if the session still has a lock from then: a resume grants all of them again. Otherwise the caller vouches for
// the process that opened the session: its generation is zero.
#pragma once

#include "absl/functional/any_invocable.h"
#include "client/calls/requests.h"

namespace coordkit::client {

struct Vouched {
  SessionId session;
  Index known;  // of the state, at the call
  LaggingTime deadline;
};

using OnGeneration = absl::AnyInvocable<void(absl::StatusOr<Generation>, Now)>;

inline void learn_generation(Requests& requests, const Vouched& vouched, Now now, OnGeneration done) {
  const Requests::Look terms{.deadline = vouched.deadline};
  requests.look(terms, machine::SessionOf{vouched.session}, now,
                [&requests, terms, vouched, done = std::move(done)](auto info, Index at, Now then) mutable {
                  // A remote may not see the sessions of others: it vouches for the process that opened it.
                  if (absl::IsPermissionDenied(info.status())) return done(Generation(), then);
                  if (!info.ok()) return done(info.status(), then);
                  const Generation seen = *info ? (*info)->generation : Generation();
                  if (at <= vouched.known || seen == Generation()) return done(seen, then);
                  requests.look(terms, machine::LocksOf{vouched.session, Token()}, then,
                                [seen, vouched, done = std::move(done)](auto held, Index, Now later) mutable {
                                  if (!held.ok()) return done(held.status(), later);
                                  const bool same = !held->locks.empty() && held->locks.front().since <= vouched.known;
                                  done(same ? seen : Generation(), later);
                                });
                });
}

}  // namespace coordkit::client
