// Group membership (docs/semantics.md S-37): the present members, in the order of joining. A member leaves by itself or with
// its session. An empty group has no record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordination/indexed_rows.h"
#include "coordination/step.h"

namespace coordkit::coordination {

struct Group {
  using Key = Index;
  static constexpr uint64_t kSeed = 0x47726f75;

  std::string name;

  static constexpr auto fields() { return std::tuple(&Group::name); }
};

struct Member {
  using Key = Index;  // its number: the entry of its join
  static constexpr uint64_t kSeed = 0x4d656d62;

  Index object;
  SessionId session;
  std::string owner;
  std::string value;

  static constexpr auto fields() { return std::tuple(&Member::object, &Member::session, &Member::owner, &Member::value); }
};

class Groups {
 public:
  struct Who {
    std::string_view group;
    SessionId session;
    std::string_view owner;
  };
  Verdict join(Step& step, const Who& who, std::string_view value);    // AlreadyExists: this owner is a member
  Verdict update(Step& step, const Who& who, std::string_view value);  // NotFound: it is not a member
  Verdict leave(Step& step, const Who& who);                           // NotFound: it is not a member

  void end(SessionId session, Step& step);

  const Rows<Group>& groups() const { return groups_; }
  const Rows<Member>& members() const { return members_; }
  template <typename Visit>
  void each_rows(Visit visit) {
    visit(groups_);
    visit(members_);
  }
  absl::Status restored();

 private:
  using Owner = std::tuple<Index, SessionId, std::string>;  // group, session, tag

  std::optional<Index> find(const Who& who) const;
  void remove(Index member, Step& step);
  Change change_of(Index member, Change::What what) const;

  Rows<Group> groups_;
  Rows<Member> members_;
  absl::btree_map<Owner, Index> owners_;
};

}  // namespace coordkit::coordination
