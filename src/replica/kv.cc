#include "coordkit/kv.h"

#include <utility>

#include "replica/call_control.h"
#include "replica/coordination.h"
#include "replica/host.h"

namespace coordkit {

Kv::Kv(const Replica& replica) : host_(HandleAccess::host(replica)) {}

absl::StatusOr<GetResult> Kv::get(std::string key, QueryOptions options) const {
  const LaggingTime deadline = host_->deadline(options.timeout);
  return wait_for<GetResult>(
      *host_, [key = std::move(key), deadline, read = options.read](Client& client, Callback<GetResult> done) mutable {
        client.get(std::move(key), std::move(done), deadline, read);
      });
}

absl::StatusOr<RangeResult> Kv::range(RangeOperation range, QueryOptions options) const {
  return wait_for_async<absl::StatusOr<RangeResult>>(
      *host_, [&](Callback<RangeResult> done) { range_async(std::move(range), options, std::move(done)); });
}

AsyncCall Kv::range_async(RangeOperation range, QueryOptions options, Callback<RangeResult> done) const {
  return begin<absl::StatusOr<RangeResult>>(
      host_,
      [range = std::move(range), read = options.read, deadline = host_->deadline(options.timeout)](
          Client& client, Callback<RangeResult> answer) mutable {
        return client.keys().range(std::move(range), std::move(answer), deadline, read);
      },
      std::move(done));
}

absl::StatusOr<PutResult> Kv::put(std::string key, std::string value, ProposeOptions options) {
  return put({.key = std::move(key), .value = std::move(value)}, std::move(options));
}

absl::StatusOr<PutResult> Kv::put(PutOperation put, ProposeOptions options) {
  return wait_for_async<absl::StatusOr<PutResult>>(
      *host_, [&](Callback<PutResult> done) { put_async(std::move(put), std::move(options), std::move(done)); });
}

AsyncCall Kv::put_async(PutOperation put, ProposeOptions options, Callback<PutResult> done) {
  return begin<absl::StatusOr<PutResult>>(
      host_,
      [put = std::move(put), write = host_->write_options(std::move(options))](Client& client,
                                                                               Callback<PutResult> answer) mutable {
        return client.keys().put(std::move(put), std::move(answer), std::move(write));
      },
      std::move(done));
}

absl::StatusOr<EraseResult> Kv::erase(std::string key, ProposeOptions options) {
  return erase(DeleteOperation{.key = std::move(key)}, std::move(options));
}

absl::StatusOr<EraseResult> Kv::erase(DeleteOperation erase, ProposeOptions options) {
  return wait_for_async<absl::StatusOr<EraseResult>>(
      *host_, [&](Callback<EraseResult> done) { erase_async(std::move(erase), std::move(options), std::move(done)); });
}

AsyncCall Kv::erase_async(DeleteOperation erase, ProposeOptions options, Callback<EraseResult> done) {
  return begin<absl::StatusOr<EraseResult>>(
      host_,
      [erase = std::move(erase), write = host_->write_options(std::move(options))](Client& client,
                                                                                   Callback<EraseResult> answer) mutable {
        return client.keys().erase(std::move(erase), std::move(answer), std::move(write));
      },
      std::move(done));
}

absl::StatusOr<TransactionResult> Kv::commit(Transaction transaction, ProposeOptions options, ReadOptions read) {
  return wait_for_async<absl::StatusOr<TransactionResult>>(*host_, [&](Callback<TransactionResult> done) {
    commit_async(std::move(transaction), std::move(options), read, std::move(done));
  });
}

AsyncCall Kv::commit_async(Transaction transaction, ProposeOptions options, ReadOptions read,
                           Callback<TransactionResult> done) {
  return begin<absl::StatusOr<TransactionResult>>(
      host_,
      [transaction = std::move(transaction), write = host_->write_options(std::move(options)), read](
          Client& client, Callback<TransactionResult> answer) mutable {
        return client.keys().commit(std::move(transaction), std::move(answer), std::move(write), read);
      },
      std::move(done));
}

absl::StatusOr<CompactResult> Kv::compact(Revision at, ProposeOptions options) {
  return wait_for_async<absl::StatusOr<CompactResult>>(
      *host_, [&](Callback<CompactResult> done) { compact_async(at, std::move(options), std::move(done)); });
}

AsyncCall Kv::compact_async(Revision at, ProposeOptions options, Callback<CompactResult> done) {
  return begin<absl::StatusOr<CompactResult>>(
      host_,
      [at, write = host_->write_options(std::move(options))](Client& client, Callback<CompactResult> answer) mutable {
        return client.keys().compact(at, std::move(answer), std::move(write));
      },
      std::move(done));
}

}  // namespace coordkit
