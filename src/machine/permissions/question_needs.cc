#include "machine/permissions/object_rights.h"
#include "machine/questions.h"

namespace coordkit::machine {
namespace {

constexpr AnyOf kSeesLock = right_to_see(coordination::Kind::Lock);

// Nothing that this version answers.
void add_question_needs(std::monostate, Needs& needs) { needs.everything(Right::Admin); }

// ---- locks and sessions

void add_question_needs(const HoldersOf& question, Needs& needs) { needs.name(kSeesLock, question.name); }
void add_question_needs(const QueueOf& question, Needs& needs) { needs.name(kSeesLock, question.name); }
void add_question_needs(const HeldBy& question, Needs& needs) { needs.name(kSeesLock, question.name); }
void add_question_needs(const StillHeld& question, Needs& needs) { needs.name(kSeesLock, question.name); }
// The same as the command that it would be.
void add_question_needs(const RefusalOf& question, Needs& needs) { needs.all = needs_of(question.request).all; }

void session_need(SessionId session, Needs& needs) {
  needs.all.push_back({.of = Need::Of::Session, .right = Right::Read, .session = session});
}
void add_question_needs(const SessionOf& question, Needs& needs) { session_need(question.session, needs); }
void add_question_needs(const LocksOf& question, Needs& needs) { session_need(question.session, needs); }
void add_question_needs(const ObjectsOf& question, Needs& needs) { session_need(question.session, needs); }
void add_question_needs(const SessionsAfter&, Needs& needs) { needs.everything(Right::Read); }

// ---- objects

void add_question_needs(const ObjectOf& question, Needs& needs) { needs.name(right_to_see(question.kind), question.name); }
void add_question_needs(const MembersOf& question, Needs& needs) {
  needs.name(right_to_see(coordination::Kind::Group), question.group);
}

// ---- keys and their leases

void add_question_needs(const EntryOf& question, Needs& needs) { needs.name(Right::Read, question.key); }
void add_question_needs(const PageOf& question, Needs& needs) {
  needs.interval(Right::Read, question.range.key, question.range.end);
}
// One beyond the limits is not answered, so it is not looked into.
void add_question_needs(const OutcomeOf& question, Needs& needs) {
  if (!check(question.transaction).none()) return needs.everything(Right::Admin);
  needs.all = needs_of(question.transaction).all;
}
// Revisions and sums over all keys; each watch begins with it.
void add_question_needs(const SpaceOf&, Needs&) {}
// Without the keys it says nothing about a name.
void add_question_needs(const LeaseOf& question, Needs& needs) {
  if (question.keys) needs.attached(Right::Read, question.lease);
}
void add_question_needs(const LeasesAfter&, Needs& needs) { needs.everything(Right::Read); }
// A range without a key and an end is that of every key.
void add_question_needs(const ChangesOf& question, Needs& needs) {
  const ChangesAfter& range = question.place;
  if (range.key.empty() && range.end.empty()) return needs.everything(Right::Read);
  needs.interval(Right::Read, range.key, range.end);
}

// ---- permissions

void add_question_needs(const PermissionsFrom&, Needs& needs) { needs.everything(Right::Admin); }

}  // namespace

Needs needs_of(const Question& question) {
  Needs needs{.verb = "ask"};
  std::visit([&needs](const auto& one) { add_question_needs(one, needs); }, question);
  return needs;
}

}  // namespace coordkit::machine
