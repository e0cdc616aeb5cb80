#include "coordkit/keys/kv.h"

#include <utility>

#include "service/calls/call_forms.h"
#include "service/objects/object_access.h"
#include "service/shell/host.h"

namespace coordkit {

Kv::Kv(const Service& service) : host_(HandleAccess::host(service)) {}

absl::StatusOr<GetResult> Kv::get(std::string key, QueryOptions options) const {
  return wait_for_async<absl::StatusOr<GetResult>>(*host_, options.timeout, [&](Callback<GetResult> done) {
    return begin_by(host_, std::move(done), &Client::get, std::move(key), kAnswer,
                    CallDeadline(host_->deadline(options.timeout)), options.read);
  });
}

absl::StatusOr<RangeResult> Kv::range(RangeOperation range, QueryOptions options) const {
  return wait_by(*host_, *this, &Kv::range_async, std::move(range), options);
}

AsyncCall Kv::range_async(RangeOperation range, QueryOptions options, Callback<RangeResult> done) const {
  return begin_by(host_, std::move(done), &KeyCalls::range, std::move(range), kAnswer, host_->deadline(options.timeout),
                  options.read);
}

absl::StatusOr<PutResult> Kv::put(std::string key, std::string value, ProposeOptions options) {
  return put({.key = std::move(key), .value = std::move(value)}, std::move(options));
}

absl::StatusOr<PutResult> Kv::put(PutOperation put, ProposeOptions options) {
  return wait_by(*host_, *this, &Kv::put_async, std::move(put), std::move(options));
}

AsyncCall Kv::put_async(PutOperation put, ProposeOptions options, Callback<PutResult> done) {
  return begin_by(host_, std::move(done), &KeyCalls::put, std::move(put), kAnswer, host_->write_options(std::move(options)));
}

absl::StatusOr<EraseResult> Kv::erase(std::string key, ProposeOptions options) {
  return erase(DeleteOperation{.key = std::move(key)}, std::move(options));
}

absl::StatusOr<EraseResult> Kv::erase(DeleteOperation erase, ProposeOptions options) {
  return wait_by(*host_, *this, &Kv::erase_async, std::move(erase), std::move(options));
}

AsyncCall Kv::erase_async(DeleteOperation erase, ProposeOptions options, Callback<EraseResult> done) {
  return begin_by(host_, std::move(done), &KeyCalls::erase, std::move(erase), kAnswer,
                  host_->write_options(std::move(options)));
}

absl::StatusOr<TransactionResult> Kv::commit(Transaction transaction, ProposeOptions options, ReadOptions read) {
  return wait_by(*host_, *this, &Kv::commit_async, std::move(transaction), std::move(options), read);
}

AsyncCall Kv::commit_async(Transaction transaction, ProposeOptions options, ReadOptions read,
                           Callback<TransactionResult> done) {
  return begin_by(host_, std::move(done), &KeyCalls::commit, std::move(transaction), kAnswer,
                  host_->write_options(std::move(options)), read);
}

absl::StatusOr<CompactResult> Kv::compact(Revision at, ProposeOptions options) {
  return wait_by(*host_, *this, &Kv::compact_async, at, std::move(options));
}

AsyncCall Kv::compact_async(Revision at, ProposeOptions options, Callback<CompactResult> done) {
  return begin_by(host_, std::move(done), &KeyCalls::compact, at, kAnswer, host_->write_options(std::move(options)));
}

}  // namespace coordkit
