// The keys with all their options as asynchronous calls. This is one side of a Client, made by
// Client::keys() and valid as long as that Client. The operations: coordkit/keys/key_operations.h
// and docs/semantics.md S-01 to S-20. The Client's rules for callbacks, deadlines and outcomes
// apply. outcome_of() says whether a failed write may have taken effect.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordkit/client/client_options.h"
#include "coordkit/export.h"
#include "coordkit/keys/key_operations.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

// The answer of KeyCalls::range().
struct RangeResult {
  std::vector<KeyValue> entries;     // in the requested order
  bool more = false;                 // the limit cut something off
  uint64_t count = 0;                // keys of the interval, before filters and limit
  Revision revision;                 // of the store that was read, not the requested one
  Index as_of;                       // the applied state that was read
  std::optional<Duration> age = {};  // as in GetResult
};
// The answer of KeyCalls::commit().
struct TransactionResult {
  bool succeeded = false;               // all compares held
  std::vector<OperationReply> replies;  // one for each operation of the branch that was executed
  Revision revision;                    // of the store after it
  Index index;                          // of the entry; if it only reads: the applied state that
                                        // was read
};
// The answer of KeyCalls::compact().
struct CompactResult {
  Revision revision;  // of the store; a compaction does not change it
  Index index;        // of the entry
};

// How much room the keys take (docs/semantics.md S-35).
struct KeySpaceInfo {
  uint64_t weight = 0;    // 64 bytes, key and value of every put that can still be read, past ones
                          // too
  uint64_t quota = 0;     // the most that may weigh; zero: no limit
  uint64_t keys = 0;      // that exist
  uint64_t changes = 0;   // of keys that can still be read, including past ones and deletions
  Revision revision;      // of the store
  Revision compacted;     // reads below it are refused; zero: nothing was compacted
  bool sweeping = false;  // a part that was compacted away still counts
  Index as_of;            // the applied state that was read
};
// The answer of KeyCalls::set_quota().
struct QuotaResult {
  Revision revision;  // of the store; a quota does not change it
  Index index;        // of the entry
};

// The revision that a refusal carries. Compacted: the lowest that can be read. FutureRevision: the
// newest.
std::optional<Revision> revision_of(const absl::Status& refusal);

// The calls. Made by Client::keys().
class KeyCalls {
 public:
  explicit KeyCalls(Client& client) : client_(&client) {}  // `client` outlives it

  // NoSpace: the keys would weigh more than their quota; a write that only deletes is never refused
  // for that. EmptyKey, LimitExceeded, ValueProvided, LeaseProvided, KeyNotFound, LeaseNotFound,
  // InvalidArgument; Fenced. ResultTooLarge (DONE): the previous value was too large for the
  // answer.
  CallId put(PutOperation put, Callback<PutResult> done, WriteOptions options = {});
  // EmptyKey, LimitExceeded; Fenced. ResultTooLarge (DONE): the previous entries have more than 1
  // MiB.
  CallId erase(DeleteOperation erase, Callback<EraseResult> done, WriteOptions options = {});
  // Reads everything at one revision, in as many steps as it takes; these hold nothing up.
  // EmptyKey, InvalidSort, InvalidArgument, FutureRevision. Compacted: also if that happened
  // between two steps; retry. LimitExceeded: in an order other than that of the keys more than
  // 10,000 entries or 4 MiB; give a limit.
  CallId range(RangeOperation range, Callback<RangeResult> done, CallDeadline deadline = {}, ReadOptions options = {});
  // A transaction that neither puts nor deletes in either branch writes nothing to the log, and
  // `read` says how it is answered; a fence sends it through the log. After a refusal nothing was
  // done.
  // Errors: those of its operations. TooManyOps, DuplicateKey. LimitExceeded: its intervals
  // together cover more than a million keys, and more than there are. For one that is only read:
  // its answer has more than 10,000 entries or 4 MiB. ResultTooLarge (DONE): it went through the
  // log, and its answer has more than 1 MiB.
  CallId commit(Transaction transaction, Callback<TransactionResult> done, WriteOptions options = {}, ReadOptions read = {});
  // From here on reads below `at` get Compacted. The memory of entries that only they could see is
  // freed little by little. InvalidArgument, Compacted (it was before), FutureRevision.
  CallId compact(Revision at, Callback<CompactResult> done, WriteOptions options = {});

  // Limits the weight of the keys, for all replicas and in every state from here on; zero: no
  // limit.
  CallId set_quota(uint64_t bytes, Callback<QuotaResult> done, WriteOptions options = {});
  // How much room the keys take, in the state that `options` ask for.
  CallId space(Callback<KeySpaceInfo> done, CallDeadline deadline = {}, ReadOptions options = {});

 private:
  Client* client_;
};

}  // namespace coordkit
