// A call of a client from its entry until its answer.
//
// A call is what a caller waits for; a ticket is what the engine was asked. They end apart: a call whose deadline passes is
// gone, while its ticket lives on until its fate is known, so that nothing it brings about stays behind unknown.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/functional/any_invocable.h"
#include "client/executed.h"
#include "client/session_table.h"
#include "coordkit/client.h"

namespace coordkit::client {

using Done = std::variant<DoneCallback, Callback<SessionRef>, Callback<ResumedSession>, Callback<SessionId>, Callback<HoldRef>,
                          Callback<bool>, Callback<LockInfo>, Callback<QueueInfo>, Callback<SessionInfo>, Callback<SessionList>,
                          Callback<SessionLocks>, Callback<PutResult>, Callback<GetResult>, Callback<EraseResult>,
                          Callback<ProposeResult>, Callback<QueryResult>, Callback<RangeResult>, Callback<TransactionResult>,
                          Callback<CompactResult>, Callback<KeyLeaseRef>, Callback<GrantedLease>, Callback<RevokedLease>,
                          Callback<LeaseDetails>, Callback<LeaseList>, Callback<KeySpaceInfo>, Callback<QuotaResult>,
                          Callback<Executed>, Callback<Looked>, Callback<std::optional<LeaderInfo>>>;

// What happens to the engine's ticket when nobody listens any more.
enum class Fate : uint8_t {
  Forget,   // a read or a write: whatever comes of it is the caller's business
  Pursue,   // open, acquire: kept until known, then undone
  Persist,  // release, close: goes on until done
};

// An acquire from its submission until its final answer, which may outlive the call.
struct Flight {
  CallId call;
  SessionRef session;
  std::string name;
  std::string owner_tag;
  Duration max_hold{};
  HoldTerms terms;
  uint64_t block = 0;                    // of a sticky one: size of the block it asked for
  Duration delay{};                      // likewise
  bool in_line = false;                  // its line waits for it
  bool of_lock = false;                  // else of permits, an item or the like
  std::optional<std::string> proclaims;  // shown instead, if its owner has the lock already
  RequestId request;                     // zero sequence until the engine tells
  bool cancel_posted = false;
  bool given_up = false;  // the engine stopped pursuing it with an unknown outcome: only a cancel can tell
};

struct Call {
  Done done;
  Fate fate = Fate::Forget;
  CallDeadline asked;                           // as given
  Duration patience{};                          // default, from the take-up
  LaggingTime deadline = LaggingTime::max();    // valid once taken up
  absl::AnyInvocable<void(CallId, Now)> start;  // until taken up
  Ticket ticket;                                // under way in the engine; zero: none
  bool submitted = false;                       // ever handed to the log
  bool cancelled = false;                       // the caller wants it to end
  Duration max_hold{};                          // of an acquire
  LaggingTime began{};                          // likewise: taken up
  bool waited = false;                          // likewise: it stood in line
  bool proclaims = false;                       // likewise: content with the hold that its owner has
  SessionRef session;                           // of an acquire
  std::shared_ptr<Flight> flight;               // of a submitted acquire
  HoldRef suspends;                             // of a downgrade: valid again if this ends before it is sent
  std::string line;                             // that it waits in (S-58); empty: none
};

}  // namespace coordkit::client
