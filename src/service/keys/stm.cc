#include "coordkit/keys/stm.h"

#include <algorithm>
#include <utility>

#include "base/problems.h"
#include "coordkit/error.h"
#include "service/shell/host.h"

namespace coordkit {
namespace {

// Unchanged since it was read. A key that was missing and has come and gone since counts as missing.
Compare unchanged(const std::string& key, const std::optional<KeyValue>& seen) {
  return seen ? Compare::modified(key, Compare::Relation::Equal, seen->mod) : Compare::missing(key);
}

}  // namespace

absl::Status StmOptions::validate() const {
  Problems problems;
  if (attempts_max == 0) problems.add("attempts_max is 0: allow one attempt at least");
  if (timeout <= Duration::zero()) problems.add("timeout, the time of all attempts together, is not above zero");
  return problems.status();
}

// ---- one attempt

absl::StatusOr<std::optional<std::string>> Stm::get(const std::string& key) {
  absl::StatusOr<std::optional<KeyValue>> found = entry(key);
  if (!found.ok()) return found.status();
  if (!*found) return std::nullopt;
  return std::move((*found)->value);
}

absl::StatusOr<std::optional<KeyValue>> Stm::entry(const std::string& key) {
  if (const auto own = written_.find(key); own != written_.end()) return own->second;
  absl::StatusOr<std::optional<KeyValue>> found = read(key);
  if (found.ok()) read_.insert_or_assign(key, *found);
  return found;
}

// The first read asks the leader; later ones use this replica's own state, at the same revision.
absl::StatusOr<std::optional<KeyValue>> Stm::read(const std::string& key) {
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  RangeOperation one = RangeOperation::of(key);
  QueryOptions options{.timeout = left()};
  if (snapshot_) {
    one.revision = snapshot_;
    options.read = {Consistency::Local, as_of_};
  }
  absl::StatusOr<RangeResult> found = kv_->range(std::move(one), options);
  if (!found.ok()) {
    broken_.Update(found.status());
    return found.status();
  }
  if (!snapshot_) {
    snapshot_ = found->revision;
    as_of_ = found->as_of;
  }
  std::optional<KeyValue>& known = known_[key];
  if (!found->entries.empty()) known = std::move(found->entries.front());
  return known;
}

Duration Stm::left() const { return std::max(deadline_ - kv_->host_->clock().lagging(), Duration::zero()); }

void Stm::put(std::string key, std::string value, LeaseId lease) {
  KeyValue own{.key = key, .value = std::move(value), .lease = lease};
  written_.insert_or_assign(std::move(key), std::move(own));
}

void Stm::erase(std::string key) { written_.insert_or_assign(std::move(key), std::nullopt); }

// ---- all attempts

class StmRun {
 public:
  StmRun(const Kv& kv, const StmOptions& options)
      : kv_(kv), options_(options), deadline_(kv.host_->deadline(options.timeout)), next_(kv_, deadline_) {}

  absl::StatusOr<StmResult> run(absl::FunctionRef<absl::Status(Stm&)> function) {
    for (uint32_t attempt = 1; attempt <= options_.attempts_max; ++attempt) {
      Stm stm = std::exchange(next_, Stm(kv_, deadline_));
      absl::Status done = function(stm);
      if (reason_of(stm.broken_) == Reason::Compacted) continue;
      if (!stm.broken_.ok()) return stm.broken_;
      if (!done.ok()) return done;
      if (stm.written_.empty()) return StmResult{stm.snapshot_, attempt};
      const absl::StatusOr<Revision> committed = commit(stm);
      if (!committed.ok()) return committed.status();
      if (*committed) return StmResult{*committed, attempt};
    }
    return make_error(Reason::Conflict, "the keys were changed by others in each of " + std::to_string(options_.attempts_max) +
                                            " attempts; nothing was written. A lock around the change would queue them up");
  }

 private:
  // The revision of the write; zero: another attempt is needed.
  absl::StatusOr<Revision> commit(Stm& stm) {
    const absl::StatusOr<std::vector<Compare>> compares = conditions(stm);
    if (reason_of(compares.status()) == Reason::Compacted) return Revision();
    if (!compares.ok()) return compares.status();
    Transaction transaction{.compares = *compares};
    for (auto& [key, entry] : stm.written_) {
      if (entry) {
        transaction.then.emplace_back(PutOperation{.key = key, .value = std::move(entry->value), .lease = entry->lease});
      } else {
        transaction.then.emplace_back(DeleteOperation{.key = key});
      }
    }
    for (const auto& [key, seen] : stm.read_) transaction.otherwise.emplace_back(RangeOperation::of(key));
    absl::StatusOr<TransactionResult> result =
        Kv(kv_).commit(std::move(transaction), {.timeout = stm.left(), .fence = options_.fence});
    // Only reads answer with that much: the other branch was taken, and has written nothing.
    if (reason_of(result.status()) == Reason::ResultTooLarge) return Revision();
    if (!result.ok()) return result.status();
    if (result->succeeded) return result->revision;
    begin_with(*result, stm);
    return Revision();
  }

  absl::StatusOr<std::vector<Compare>> conditions(Stm& stm) const {
    std::vector<Compare> compares;
    for (const auto& [key, seen] : stm.read_) compares.push_back(unchanged(key, seen));
    if (options_.isolation == StmOptions::Isolation::Serializable || !stm.snapshot_) return compares;
    for (const auto& [key, entry] : stm.written_) {
      if (stm.read_.contains(key)) continue;
      const absl::StatusOr<std::optional<KeyValue>> was = stm.read(key);
      if (!was.ok()) return was.status();
      compares.push_back(unchanged(key, *was));
    }
    return compares;
  }

  // A refused commit has read the same keys again: that is the next snapshot.
  void begin_with(TransactionResult& result, const Stm& stm) {
    if (stm.read_.empty()) return;
    next_.snapshot_ = result.revision;
    next_.as_of_ = result.index;
    size_t place = 0;
    for (const auto& [key, seen] : stm.read_) {
      std::optional<KeyValue>& known = next_.known_[key];
      auto& entries = std::get<RangeReply>(result.replies.at(place++).body).entries;
      if (!entries.empty()) known = std::move(entries.front());
    }
  }

  const Kv& kv_;
  const StmOptions& options_;
  const LaggingTime deadline_;
  Stm next_;
};

absl::StatusOr<StmResult> run_stm(const Kv& kv, absl::FunctionRef<absl::Status(Stm&)> function, const StmOptions& options) {
  if (absl::Status legal = options.validate(); !legal.ok()) return legal;
  return StmRun(kv, options).run(function);
}

}  // namespace coordkit
