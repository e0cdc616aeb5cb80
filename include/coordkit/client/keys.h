// The keys with all their options as asynchronous calls: a face of a Client, made by Client::keys() for as long as that one
// lives. What the operations do: coordkit/key_operations.h and docs/semantics.md S-01 to S-20. Rules for callbacks, deadlines
// and outcomes are the Client's: outcome_of() says whether a write that failed may have taken effect all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordkit/client/options.h"
#include "coordkit/export.h"
#include "coordkit/key_operations.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class Client;

struct RangeResult {
  std::vector<KeyValue> entries;
  bool more = false;                 // the limit cut something off
  uint64_t count = 0;                // keys of the interval, whatever the filters and the limit
  Revision revision;                 // of the store that was read, not the one that was asked for
  Index as_of;                       // the applied state that was read
  std::optional<Duration> age = {};  // as of GetResult
};
struct TransactionResult {
  bool succeeded = false;               // all compares held
  std::vector<OperationReply> replies;  // one for each operation of the branch that was executed
  Revision revision;                    // of the store after it
  Index index;                          // of the entry; of one that only reads: the applied state that was read
};
struct CompactResult {
  Revision revision;  // of the store, which a compaction does not change
  Index index;
};

// How much room the keys take (docs/semantics.md S-35).
struct KeySpaceInfo {
  uint64_t weight = 0;  // 64 bytes, key and value of every put that can still be read, those of the past too
  uint64_t quota = 0;   // that may weigh so much at most; zero: no limit
  uint64_t keys = 0;
  uint64_t changes = 0;
  Revision revision;
  Revision compacted;
  bool sweeping = false;  // part of what was compacted away still counts
  Index as_of;            // the applied state that was read
};
struct QuotaResult {
  Revision revision;  // of the store, which a quota does not change
  Index index;
};

// The revision that a refusal carries: of Compacted the lowest that can be read, of FutureRevision the newest.
std::optional<Revision> revision_of(const absl::Status& refusal);

class KeyCalls {
 public:
  explicit KeyCalls(Client& client) : client_(&client) {}

  // NoSpace: the keys would weigh more than their quota; nothing that only deletes is ever refused for that.
  // EmptyKey, LimitExceeded, ValueProvided, LeaseProvided, KeyNotFound, LeaseNotFound, InvalidArgument; Fenced. ResultTooLarge
  // (DONE): the previous value was too large to be answered with what is around it.
  CallId put(PutOperation put, Callback<PutResult> done, WriteOptions options = {});
  // EmptyKey, LimitExceeded; Fenced. ResultTooLarge (DONE): the previous entries have more than 1 MiB.
  CallId erase(DeleteOperation erase, Callback<EraseResult> done, WriteOptions options = {});
  // Reads everything at one revision, in as many steps as it takes, which hold nothing up. EmptyKey, InvalidSort,
  // InvalidArgument, FutureRevision; Compacted: also if that happened between two steps, ask again; LimitExceeded: in another
  // order than that of the keys more than 10,000 entries or 4 MiB, give a limit.
  CallId range(RangeOperation range, Callback<RangeResult> done, CallDeadline deadline = {}, ReadOptions options = {});
  // One that neither puts nor deletes in either branch writes nothing to the log, and `read` says how it is answered; a fence
  // sends it through the log. TooManyOps, DuplicateKey, LimitExceeded (its intervals cover more than a million keys together,
  // and more than there are; it is read, and its answer has more than 10,000 entries or 4 MiB), and whatever its operations are
  // refused for: then nothing was done. ResultTooLarge (DONE): it went through the log, and its answer has more than 1 MiB.
  CallId commit(Transaction transaction, Callback<TransactionResult> done, WriteOptions options = {}, ReadOptions read = {});
  // From here on reads below `at` get Compacted, and the memory of what only they could see is given back little by little.
  // InvalidArgument, Compacted (it was before), FutureRevision.
  CallId compact(Revision at, Callback<CompactResult> done, WriteOptions options = {});

  // Limits what the keys may weigh, for all replicas and in every state from here on; zero: no limit.
  CallId set_quota(uint64_t bytes, Callback<QuotaResult> done, WriteOptions options = {});
  CallId space(Callback<KeySpaceInfo> done, CallDeadline deadline = {}, ReadOptions options = {});

 private:
  Client* client_;
};

}  // namespace coordkit
