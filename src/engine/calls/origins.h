// Exactly once: the origins that may submit requests, and the answers that they still await (docs/semantics.md S-41..S-44).
//
// Replicated state, changed only in apply. An origin is one incarnation of one replica; a newer boot replaces the older one
// and its answers. Answers are kept from `retired` on: the origin itself reports which sequences it no longer awaits, and it
// sends no more while too many bytes of answers are kept for it (Proposals).
// In a checkpoint an origin is a row with its small answers. Each larger answer has a row of its own, so that no row grows
// beyond what can be sent to a member that needs the state, whatever is kept.
// The origin of a remote, a caller without a replica, has a timer that the remote renews. Its end forgets the origin.
// Invariants: INV_L09 a sequence executes at most once; |answers| <= kAnswersMax. Verdicts and digest depend on the order of
// admit() and store() each, never on how the two are interleaved: replicas apply the same log in different batches.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "base/ring.h"
#include "coordkit/bytes.h"
#include "coordkit/error.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/ports/state_store.h"
#include "engine/apply/log_command.h"
#include "raft/members/configuration_rules.h"

namespace coordkit::engine {

struct AnswerRow;

// The stored answer to one executed request.
struct StoredAnswer {
  uint64_t command_hash = 0;  // the same id with a different command is SequenceReused
  bool answered = false;      // false: executing within the current batch
  ApplyOutput::Stage stage = ApplyOutput::Stage::Final;
  bool own_row = false;           // it has one in the last checkpoint()
  std::optional<Reason> refused;  // by its guard, or its result was dropped; then no bytes
  SharedBytes bytes;
  Index index;
};

// A previous store of a replica that is registered with another one now.
struct Displaced {
  StoreId store;
  BootCounter boot;
  Sequence next{1};  // the first one that was never seen
};

class Origins {
 public:
  static constexpr size_t kAnswersMax = 4096;       // stored per origin; the engine's own window is smaller
  static constexpr size_t kSmallAnswerMax = 256;    // bytes; a larger one has a row of its own
  static constexpr uint64_t kAnswerRowsLevel = 4;   // from this feature level on; before, all answers are in the origin's row
  static constexpr uint64_t kMembersOnlyLevel = 5;  // from this feature level on keep_members_only() is called
  static constexpr uint64_t kRemotesLevel = 6;      // from this feature level on remotes are registered
  static constexpr uint64_t kNamesLevel = 7;        // from this feature level on they have names
  static constexpr Duration kRemoteTtl = std::chrono::seconds(60);  // of a remote's origin; part of the replicated behaviour

  enum class Verdict : uint8_t {
    Execute,
    Repeat,
    Executing,
    Overtakes,  // its predecessor has not arrived: treated as if this one had not, either
    Refuse
  };
  struct Admission {
    Verdict verdict = Verdict::Refuse;
    Reason refusal = Reason::UnknownOrigin;  // Refuse only
    const StoredAnswer* answer = nullptr;    // Repeat only; valid until the next change
  };

  // S-42 (1)-(3): decides about a request and, for Execute, reserves its place.
  Admission admit(const Request& request, uint64_t command_hash, Index index);
  // Completes a reserved place. Unknown ids are ignored: the origin may have been replaced meanwhile.
  void store(const RequestId& id, ApplyOutput::Stage stage, const SharedBytes& bytes, Index index);
  // The same for a request that ends without a result of its machine.
  void store(const RequestId& id, Reason refused, Index index);
  // Registers an incarnation, whose sequences below `lowest` are refused; an older or equal one changes nothing. One that
  // another store had displaced (its disk was exchanged and put back while its process lived) may return, but everything it had
  // sent before is refused for good: the answers are gone. `name`: of a remote. Requests under another one are refused, and so
  // is its id, until it is forgotten.
  void enroll(const Origin& origin, Sequence lowest = Sequence(1), std::string_view name = {});
  // The timer of a remote's origin.
  static TimerOp timer_of(const Origin& remote);
  // The timer of this remote has ended, by the entry `at`. False: it was registered again since, in another generation, and
  // stays.
  bool forget(ReplicaId remote, Generation generation, Index at);
  Index forgotten() const { return forgotten_; }  // the newest entry that forgot a remote
  void timers(absl::FunctionRef<void(const TimerOp&)> each) const;  // of all remotes
  // Drops the answers to all others but remotes. Requests that one of them had sent before are refused for good. Those that
  // come yet execute, because a command may be in the log behind the entry that removed its replica.
  void keep_members_only(const raft::Configuration& configuration);
  bool registered(const Origin& origin) const { return name_of(origin).has_value(); }
  std::optional<std::string_view> name_of(const Origin& origin) const;  // absent: it is not registered
  const StoredAnswer* find_answer(const RequestId& request) const;      // null: none is stored; valid until the next change

  void checkpoint(std::string_view prefix, uint64_t feature_level, CheckpointBatch& batch);
  void forget_stored();  // the next checkpoint() has every row
  absl::Status restore(std::string_view prefix, const CheckpointView& view);
  uint64_t digest() const;

 private:
  static constexpr size_t kDisplacedMax = 256;  // a disk of so long ago does not come back while its process lives
  struct State {
    StoreId store;
    BootCounter boot;
    Sequence retired{1};  // answers below it are gone. I: answers[i] belongs to sequence retired + i
    Ring<std::optional<StoredAnswer>> answers;
    std::deque<Displaced> displaced;  // of this replica, oldest first
    bool dirty = false;               // changed since the last checkpoint()
    bool stored = false;              // it has a row in the last checkpoint()
    std::vector<Sequence> rows;       // of the last checkpoint(), of single answers: of an earlier boot, too. Ascending
    std::string name;                 // of a remote
    Sequence next() const { return retired + answers.size(); }
    StoredAnswer* at(Sequence sequence) {  // null: it has not arrived, or is retired
      const bool within = sequence >= retired && sequence < next();
      return within && answers[sequence - retired] ? &*answers[sequence - retired] : nullptr;
    }
  };
  State* find(const Origin& origin);
  static StoredAnswer* unanswered(State& state, Sequence sequence);
  static void put_rows(const std::string& key, State& state, size_t small, CheckpointBatch& batch);
  static absl::Status restore_origin(State& state, std::string_view value);
  absl::Status restore_large(ReplicaId replica, std::string_view key, std::string_view value);
  static absl::Status restore_answer(State& state, AnswerRow row);
  void retire(State& state, Sequence lowest);
  std::map<ReplicaId, State> states_;
  std::vector<std::string> erased_;  // suffixes of the keys of rows of forgotten origins, since the last checkpoint()
  // Chained over all admissions and over all answers: equal histories give equal digests.
  uint64_t admitted_digest_ = 0;
  uint64_t answered_digest_ = 0;
  Index forgotten_;
};

}  // namespace coordkit::engine
