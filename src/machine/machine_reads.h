// The machine's reads (docs/semantics.md S-56): the applied state as it is now.
#pragma once

#include "machine/reads.h"
#include "machine/state.h"

namespace coordkit::machine {

class MachineReads final : public Reads {
 public:
  explicit MachineReads(const State& state) : state_(state) {}

  Holders holders_of(std::string_view name) const override;
  LockQueue queue_of(std::string_view name, uint64_t limit) const override;
  std::optional<SessionInfo> session(SessionId id) const override;
  Sessions sessions_after(SessionId id, uint64_t limit) const override;
  HeldLocks locks_of(SessionId session, Token after) const override;
  OwnedObjects objects_of(SessionId session, const OwnedObjects::Place& after) const override;
  std::optional<Token> held_by(std::string_view name, SessionId session, std::string_view owner) const override;
  bool still_held(std::string_view name, Token token) const override;
  std::optional<Result> refusal_of(const Acquire& acquire) const override;
  std::optional<Result> refusal_of(const AcquireAll& acquire) const override;
  std::vector<ObjectRow> members_of(std::string_view group) const override;
  ObjectView object(coordination::Kind kind, std::string_view name, uint64_t limit) const override;
  Entry entry(std::string_view key) const override;
  KeysRead<RangeReply> range(const RangeOperation& range) const override;
  KeysRead<RangeReply> rest_of_range(const RangeOperation& range) const override;
  KeysRead<TransactionReply> read(const Transaction& transaction) const override;
  bool reaches_too_far(const Transaction& transaction) const override;
  Changes changes(const ChangesAfter& place) const override;
  KeySpace key_space() const override;
  Contents contents() const override;
  Leases lease(LeaseId id, bool keys, std::string_view after) const override;
  Leases leases_after(LeaseId id, uint64_t limit) const override;
  PermissionLists permissions(std::string_view first) const override;
  std::optional<std::string> denial(const RemoteCaller& caller, const Needs& needs) const override;

 private:
  const State& state_;
};

}  // namespace coordkit::machine
