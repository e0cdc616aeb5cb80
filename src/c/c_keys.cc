// Keys and counters.
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "c/c_completions.h"
#include "c/c_errors.h"
#include "c/c_handles.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/error.h"
#include "coordkit/keys/kv.h"
#include "coordkit/objects/counter.h"
#include "coordkit/remote.h"

namespace coordkit::c {
namespace {

// A write, as a transaction: it may depend on the key's revision.
struct Write {
  Transaction transaction;
  ProposeOptions options;
};

absl::Status other_revision() { return make_error(Reason::Conflict, "the key has another revision than expected"); }

Write conditions_of(Arguments& given, const std::string& key, const coordkit_write_options* options, int64_t timeout_ms) {
  const coordkit_write_options wanted = given.options(options);
  Write write;
  write.options.timeout = timeout_from(timeout_ms);
  if (wanted.fence != nullptr) write.options.fence = fenced_by(wanted.fence->grant);
  if (wanted.compare != 0) {
    write.transaction.compares.push_back(Compare::modified(key, Compare::Relation::Equal, Revision(wanted.expected_revision)));
  }
  return write;
}

Write put_of(Arguments& given, std::string key, std::string value, const coordkit_write_options* options, int64_t timeout_ms) {
  Write write = conditions_of(given, key, options, timeout_ms);
  PutOperation put{.key = std::move(key), .value = std::move(value)};
  if (given.ok() && options != nullptr && options->session != nullptr) {
    put.lease = LeaseId(options->session->session.id().value());
  }
  write.transaction.then.emplace_back(std::move(put));
  return write;
}

Write erase_of(Arguments& given, std::string key, const coordkit_write_options* options, int64_t timeout_ms) {
  Write write = conditions_of(given, key, options, timeout_ms);
  write.transaction.then.emplace_back(DeleteOperation{.key = std::move(key)});
  return write;
}

// How many keys the only operation of a transaction deleted.
uint64_t deleted_by(const TransactionResult& result) {
  const auto* reply = result.replies.empty() ? nullptr : std::get_if<DeleteReply>(&result.replies.front().body);
  return reply != nullptr ? reply->deleted : 0;
}

absl::StatusOr<TransactionResult> commit(const coordkit_remote& remote, Write write) {
  absl::StatusOr<TransactionResult> result = Kv(*remote.remote).commit(std::move(write.transaction), std::move(write.options));
  if (result.ok() && !result->succeeded) return other_revision();
  return result;
}

absl::Status begin_commit(const coordkit_remote& remote, Write write, uint64_t tag) {
  return begin_call<absl::StatusOr<TransactionResult>>(
      remote.completions, slot_for(tag),
      [&](Callback<TransactionResult> done) {
        return Kv(*remote.remote).commit_async(std::move(write.transaction), std::move(write.options), {}, std::move(done));
      },
      [refusal = other_revision()](CallEnd& end, const TransactionResult& result) {
        if (!result.succeeded) return refusal;
        end.revision = result.revision.value();
        end.deleted = deleted_by(result);
        return absl::OkStatus();
      });
}

absl::Status read(const coordkit_remote& remote, RangeOperation range, int64_t timeout_ms, coordkit_entries** place) {
  auto made = std::make_unique<coordkit_entries>();
  absl::StatusOr<RangeResult> result = Kv(*remote.remote).range(std::move(range), {.timeout = timeout_from(timeout_ms)});
  if (!result.ok()) return result.status();
  made->read = std::move(result->entries);
  made->revision = result->revision;
  *place = made.release();
  return absl::OkStatus();
}

}  // namespace
}  // namespace coordkit::c

using namespace coordkit;     // NOLINT: what follows is outside of every namespace
using namespace coordkit::c;  // NOLINT

coordkit_status coordkit_put(coordkit_remote* remote, const char* key, size_t key_size, const char* value, size_t value_size,
                             const coordkit_write_options* options, int64_t timeout_ms, uint64_t* revision,
                             coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    std::string name = given.key(key, key_size);
    std::string text = given.text("value", value, value_size);
    Write put = put_of(given, std::move(name), std::move(text), options, timeout_ms);
    if (!given.ok()) return given.status();
    const absl::StatusOr<TransactionResult> result = commit(*remote, std::move(put));
    if (result.ok() && revision != nullptr) *revision = result->revision.value();
    return result.status();
  });
}

coordkit_status coordkit_put_async(coordkit_remote* remote, const char* key, size_t key_size, const char* value,
                                   size_t value_size, const coordkit_write_options* options, int64_t timeout_ms, uint64_t tag,
                                   coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    std::string name = given.key(key, key_size);
    std::string text = given.text("value", value, value_size);
    Write put = put_of(given, std::move(name), std::move(text), options, timeout_ms);
    return given.ok() ? begin_commit(*remote, std::move(put), tag) : given.status();
  });
}

coordkit_status coordkit_erase(coordkit_remote* remote, const char* key, size_t key_size, const coordkit_write_options* options,
                               int64_t timeout_ms, uint64_t* deleted, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    Write erase = erase_of(given, given.key(key, key_size), options, timeout_ms);
    if (!given.ok()) return given.status();
    const absl::StatusOr<TransactionResult> result = commit(*remote, std::move(erase));
    if (result.ok() && deleted != nullptr) *deleted = deleted_by(*result);
    return result.status();
  });
}

coordkit_status coordkit_erase_async(coordkit_remote* remote, const char* key, size_t key_size,
                                     const coordkit_write_options* options, int64_t timeout_ms, uint64_t tag,
                                     coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    Write erase = erase_of(given, given.key(key, key_size), options, timeout_ms);
    return given.ok() ? begin_commit(*remote, std::move(erase), tag) : given.status();
  });
}

coordkit_status coordkit_get(coordkit_remote* remote, const char* key, size_t key_size, int64_t timeout_ms,
                             coordkit_entries** entries, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(entries, "entries");
    std::string name = given.key(key, key_size);
    return given.ok() ? read(*remote, RangeOperation::of(std::move(name)), timeout_ms, entries) : given.status();
  });
}

coordkit_status coordkit_get_async(coordkit_remote* remote, const char* key, size_t key_size, int64_t timeout_ms, uint64_t tag,
                                   coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    std::string name = given.key(key, key_size);
    if (!given.ok()) return given.status();
    Slot slot = slot_for(tag);
    slot.front().entries = std::make_unique<coordkit_entries>();
    const QueryOptions options{.timeout = timeout_from(timeout_ms)};
    return begin_call<absl::StatusOr<RangeResult>>(
        remote->completions, std::move(slot),
        [&](Callback<RangeResult> done) {
          return Kv(*remote->remote).range_async(RangeOperation::of(std::move(name)), options, std::move(done));
        },
        [](CallEnd& end, RangeResult result) {
          end.entries->read = std::move(result.entries);
          end.entries->revision = result.revision;
          end.revision = result.revision.value();
          return absl::OkStatus();
        });
  });
}

coordkit_status coordkit_list(coordkit_remote* remote, const char* prefix, size_t prefix_size, int64_t timeout_ms,
                              coordkit_entries** entries, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(entries, "entries");
    std::string begin = given.text("prefix", prefix, prefix_size);
    return given.ok() ? read(*remote, RangeOperation::prefix(std::move(begin)), timeout_ms, entries) : given.status();
  });
}

// ---- entries

size_t coordkit_entries_count(const coordkit_entries* entries) {
  return unless_thrown<size_t>(0, [&] { return entries == nullptr ? 0 : entries->size(); });
}

uint64_t coordkit_entries_revision(const coordkit_entries* entries) {
  return entries == nullptr ? 0 : entries->revision.value();
}

coordkit_status coordkit_entries_at(const coordkit_entries* entries, size_t at, coordkit_entry* entry, coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(entries, "entries");
    given.needs(entry, "entry");
    if (!given.ok()) return given.status();
    if (at >= entries->size()) return absl::OutOfRangeError("there are not so many entries");
    const KeyValue& found = (*entries)[at];
    entry->key = {found.key.data(), found.key.size()};
    entry->value = {found.value.data(), found.value.size()};
    entry->revision = found.mod.value();
    entry->created = found.create.value();
    entry->version = found.version;
    entry->deleted = found.version == 0 ? 1 : 0;
    return absl::OkStatus();
  });
}

void coordkit_entries_free(coordkit_entries* entries) { delete entries; }

// ---- counters

coordkit_status coordkit_counter_add(coordkit_remote* remote, const char* name, size_t name_size, int64_t by, int64_t* value,
                                     coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    std::string counter = given.text("name", name, name_size);
    if (!given.ok()) return given.status();
    const absl::StatusOr<int64_t> now = Counter(*remote->remote, std::move(counter)).add(by);
    if (now.ok() && value != nullptr) *value = *now;
    return now.status();
  });
}

coordkit_status coordkit_counter_get(coordkit_remote* remote, const char* name, size_t name_size, int64_t* value,
                                     coordkit_error* error) {
  return guarded(error, [&] {
    Arguments given;
    given.needs(remote, "remote");
    given.needs(value, "value");
    std::string counter = given.text("name", name, name_size);
    if (!given.ok()) return given.status();
    const absl::StatusOr<int64_t> now = Counter(*remote->remote, std::move(counter)).get();
    if (now.ok()) *value = *now;
    return now.status();
  });
}
