#include "client/sessions/belongings.h"

#include <iterator>
#include <memory>
#include <utility>

namespace coordkit::client {
namespace {

struct Listing {
  Requests& requests;
  SessionId session;
  Requests::Look terms;
  OnListed done;
  Belongings found = {};
};
using ListingRef = std::unique_ptr<Listing>;

bool may_end(const absl::Status& refusal) {
  return absl::IsUnavailable(refusal) || absl::IsDeadlineExceeded(refusal) || absl::IsResourceExhausted(refusal);
}

// `next(listing, answer, now)` gets the answer.
template <typename Question, typename Next>
void ask(ListingRef listing, Question question, Now now, Next next) {
  Requests& requests = listing->requests;
  const Requests::Look terms = listing->terms;
  requests.look(terms, question, now, [listing = std::move(listing), question, next](auto answer, Index, Now then) mutable {
    if (answer.ok()) return next(std::move(listing), *std::move(answer), then);
    if (!may_end(answer.status()) || then.lagging >= listing->terms.deadline) {
      return listing->done(answer.status(), then);
    }
    listing->requests.retry(then, [listing = std::move(listing), question, next](Now later) mutable {
      ask(std::move(listing), std::move(question), later, next);
    });
  });
}

void ask_binding(ListingRef listing, Now now) {
  const machine::SessionOf question{listing->session};
  ask(std::move(listing), question, now, [](ListingRef of, std::optional<machine::SessionInfo> info, Now then) {
    of->found.info = std::move(info);
    of->done(std::move(of->found), then);
  });
}

void ask_objects(ListingRef listing, const machine::OwnedObjects::Place& after, Now now) {
  const machine::ObjectsOf question{listing->session, after};
  ask(std::move(listing), question, now, [](ListingRef of, machine::OwnedObjects page, Now then) {
    const bool more = page.more && !page.rows.empty();
    const machine::OwnedObjects::Place last = more ? page.last() : machine::OwnedObjects::Place();
    std::ranges::move(page.rows, std::back_inserter(of->found.objects));
    more ? ask_objects(std::move(of), last, then) : ask_binding(std::move(of), then);
  });
}

void ask_locks(ListingRef listing, Token after, Now now) {
  const machine::LocksOf question{listing->session, after};
  ask(std::move(listing), question, now, [](ListingRef of, machine::HeldLocks page, Now then) {
    const bool more = page.more && !page.locks.empty();
    const Token last = more ? page.locks.back().token : Token();
    std::ranges::move(page.locks, std::back_inserter(of->found.locks));
    more ? ask_locks(std::move(of), last, then) : ask_objects(std::move(of), {}, then);
  });
}

}  // namespace

void list_belongings(Requests& requests, SessionId session, Index at_least, LaggingTime deadline, Now now, OnListed done) {
  if (!requests.reads() && !requests.state_is_elsewhere()) return done(Belongings(), now);
  ask_locks(ListingRef(new Listing{requests, session, {at_least, deadline}, std::move(done)}), Token(), now);
}

}  // namespace coordkit::client
