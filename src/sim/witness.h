// The witness check: every answer carries the index (or revision) that decided it, so a run is linearizable if replaying
// the log through the model gives the same answers and if indexes respect real time. Both are checked as answers come in,
// in O(log n) each. Also: every call ends exactly once, an outcome NONE never had an effect, a success had exactly one.
// (docs/invariants.md: INV_K01, R11, R15, L04, L08, L09.)
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordkit/client.h"
#include "sim/history_recorder.h"
#include "sim/model.h"
#include "sim/world.h"

namespace coordkit::sim {

class Witness {
 public:
  using CallNumber = uint64_t;
  enum class Kind : uint8_t {
    Open,
    Close,
    Acquire,
    Release,
    Put,
    Erase,
    Get,
    LeaseGet,
    LocalGet,
    Holders,
    Queue,
    Sessions,
    Check,
    Convert,  // a hold to another mode
    Value,
    Resume,  // of a session
    Kill,    // of a session or a hold
    Leave,   // a place or a group
    Compact,
    Command,
    Object,  // a read of one
    Entry,   // a put with options
    Range,
    LocalRange
  };
  using Object = CoordinationModel::Object;
  using Told = std::function<bool(const machine::Result&)>;

  // Checks, or only counts what is pending so that the black-box check stands alone.
  enum class Duty : uint8_t { Judge, Count };
  Witness(World& world, const Model& model, Duty duty = Duty::Judge) : world_(world), model_(model), duty_(duty) {}
  // Receives every call and answer too, without what the log says about it. Null: none.
  void set_history_recorder(HistoryRecorder* recorder) { history_recorder_ = recorder; }
  // The black box has a model of exclusive locks: with others in the work it gets the keys alone.
  void set_plain_locks(bool plain) { plain_locks_ = plain; }

  // `subject` is the lock or key; `label` is unique and travels in the command if there is room for it.
  CallNumber begin(uint32_t node, Kind kind, std::string subject, std::string label = {});
  CallNumber begin_check(uint32_t node, const HoldRef& hold);
  CallNumber begin_release(uint32_t node, const HoldRef& hold);
  // The holder has just asked its clock and learned that the hold is valid.
  void trusted(const HoldRef& hold) {
    if (history_recorder_) history_recorder_->trusted(hold);
  }

  // A command without room for a label (witness_commands.cc): `told` says whether a result is what its caller got.
  CallNumber begin_command(uint32_t node, Kind kind, std::string subject, const machine::Request::Body& body);
  void executed(CallNumber call, const absl::Status& answer, const Told& told);
  void awaited(CallNumber call, const absl::Status& answer, const Object& object);  // a latch or a barrier
  void object_seen(CallNumber call, const absl::Status& answer, const Object& object, Index as_of,
                   const machine::ObjectView& told);
  void counter_seen(CallNumber call, const absl::StatusOr<int64_t>& answer, const std::string& name);
  void leader_seen(CallNumber call, const absl::StatusOr<std::optional<LeaderInfo>>& answer);
  void resumed(CallNumber call, SessionId session, const absl::StatusOr<ResumedSession>& answer);

  void opened(CallNumber call, const absl::StatusOr<SessionRef>& answer);
  void closed(CallNumber call, SessionId session, const absl::Status& answer);
  void acquired(CallNumber call, const absl::StatusOr<HoldRef>& answer);
  void acquired_locally(CallNumber call, const HoldState& hold);
  void converted(CallNumber call, const absl::StatusOr<HoldRef>& answer);
  void updated(CallNumber call, const absl::Status& answer);
  void released(CallNumber call, const HoldRef& hold, const absl::Status& answer);
  void put(CallNumber call, const absl::StatusOr<PutResult>& answer);
  void erased(CallNumber call, const absl::StatusOr<EraseResult>& answer);
  void got(CallNumber call, const absl::StatusOr<GetResult>& answer);
  // Keys with all their options, and transactions (witness_keys.cc).
  void entry_put(CallNumber call, const absl::StatusOr<PutResult>& answer);
  void entries_erased(CallNumber call, const absl::StatusOr<EraseResult>& answer);
  void transacted(CallNumber call, const absl::StatusOr<TransactionResult>& answer);
  void ranged(CallNumber call, const RangeOperation& range, const absl::StatusOr<RangeResult>& answer);
  // Leases of keys (witness_leases.cc).
  void lease_executed(CallNumber call, LeaseId id, const absl::Status& answer, const Told& told);
  void lease_given_back(CallNumber call, LeaseId id, const absl::Status& answer);
  void lease_seen(CallNumber call, LeaseId id, const absl::StatusOr<LeaseDetails>& answer);
  void leases_listed(CallNumber call, const absl::StatusOr<LeaseList>& answer);
  void looked(CallNumber call, const absl::StatusOr<LockInfo>& answer);
  void queued(CallNumber call, const absl::StatusOr<QueueInfo>& answer);
  void listed(CallNumber call, const absl::StatusOr<SessionList>& answer);
  void checked(CallNumber call, const HoldRef& hold, const absl::StatusOr<bool>& answer);

  void process_died(uint32_t node);
  // The oldest unanswered call of a live process; for the report of a run that does not end.
  std::string pending() const;
  uint64_t pending_count() const { return pending_; }
  uint64_t operations() const { return calls_.size(); }
  // After the run: outcomes against the whole log.
  void finish() const;

 private:
  bool current(const HoldState& hold) const {
    return model_.locks().current(hold.name(), hold.token()) || model_.coordination().held(hold.name(), hold.token());
  }
  // A session that went to another process is over for its original handle, though it lives; it may even have come
  // back, to another handle.
  bool stayed(SessionId id) const {
    const SessionModel::Session* session = model_.sessions().find(id);
    return session != nullptr && session->generation == Generation();
  }

  struct Call {
    uint32_t node = 0;
    Kind kind = Kind::Put;
    bool ended = false;
    bool current_at_start = false;  // Check: the hold was current
    bool without_effect = false;    // ended with outcome NONE, or Cancelled
    TrueTime began{};
    Index floor;  // highest index in any answer before this call began
    std::string subject;
    std::string label;
    std::string command;  // of one without a label: its contents
  };
  std::optional<Index> match(const Call& call, const Told& told);
  void finish_commands() const;
  Call& end(CallNumber number);
  CallNumber number_of(const Call& call) const { return static_cast<CallNumber>(&call - calls_.data()); }
  void refused(Call& call, const absl::Status& status);
  void demand_missing(const Call& call, LeaseId id, const absl::Status& answer) const;
  void range_refused(Call& call, const RangeOperation& range, const absl::Status& status);
  void decided(const Call& call, Index index);
  void observed(const Call& call, Index index);
  const CommandOutcomes::Outcome& only_execution(const Call& call) const;
  [[noreturn]] void fail(const char* id, const Call& call, std::string what) const;

  void record_begin(CallNumber number, const Call& call);

  World& world_;
  const Model& model_;
  const Duty duty_;
  HistoryRecorder* history_recorder_ = nullptr;
  bool plain_locks_ = true;
  std::vector<Call> calls_;
  uint64_t pending_ = 0;
  std::set<RequestId> matched_;  // commands matched to a caller's answer
  Index told_;                   // highest index in any answer so far
};

}  // namespace coordkit::sim
