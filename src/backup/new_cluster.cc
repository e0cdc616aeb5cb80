#include "backup/new_cluster.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "coordkit/engine/engine.h"
#include "coordkit/error.h"
#include "engine/apply/router_meta.h"
#include "lock/token_counter.h"
#include "machine/checkpoint_rows.h"

namespace coordkit::backup {
namespace {

using machine::rows::Counters;
using machine::rows::TableByte;

constexpr uint64_t kRevisionMax = uint64_t{1} << 63;
constexpr uint64_t kSkippedMax = uint64_t{1} << 62;
constexpr uint64_t kTokensLeft = uint64_t{1} << 56;      // for two thousand years with a million a second
constexpr std::string_view kBorn = "coordkit.restored";  // or a longer name: a key that the skipped revisions put and erase

std::string prefix() { return row_prefix(kCoordination); }
std::string counters_key() { return machine::rows::key(prefix(), TableByte::Counters, 0); }

absl::Status no_state(std::string_view what) {
  return make_error(Reason::Corrupt, "this is not the state of a cluster: " + std::string(what));
}

absl::Status change_meta(RowsByKey& rows, Position applied, const raft::Genesis& genesis) {
  const auto row = rows.find(engine::meta_key());
  if (row == rows.end()) return no_state("its row about the cluster is missing");
  absl::StatusOr<engine::RouterMeta> meta = engine::decode_router_meta(row->second);
  if (!meta.ok()) return meta.status();
  if (!meta->genesis) return no_state("the genesis of its cluster is missing");
  if (meta->feature_level > kFeatureLevel) {
    return make_error(Reason::NewerFormat, "this state is of feature level " + std::to_string(meta->feature_level) +
                                               ", and this build speaks " + std::to_string(kFeatureLevel) +
                                               ": restore it with a newer build");
  }
  meta->genesis = genesis;
  meta->configuration = genesis.configuration;
  meta->configuration_at = applied.index;
  row->second = encode(*meta);
  return absl::OkStatus();
}

// Drops everything except the current value of each key: their history is compacted. Returns a name that no key has.
absl::StatusOr<std::string> drop_past(RowsByKey& rows) {
  const std::string keys = prefix() + static_cast<char>(TableByte::Keys);
  absl::flat_hash_map<std::string, RowsByKey::iterator> newest;
  for (auto row = rows.lower_bound(keys); row != rows.end() && row->first.starts_with(keys);) {
    const auto parsed = machine::rows::parse_key(std::string_view(row->first).substr(prefix().size()));
    if (!parsed.ok()) return parsed.status();
    absl::StatusOr<mvcc::Store::Row> change = machine::rows::decode_change(row->second);
    if (!change.ok()) return change.status();
    if (const auto before = newest.find(change->key); before != newest.end()) {
      rows.erase(before->second);
      newest.erase(before);
    }
    if (change->stamp.version == 0) {
      row = rows.erase(row);
    } else {
      newest.emplace(std::move(change->key), row++);
    }
  }
  std::string unused(kBorn);
  while (newest.contains(unused)) unused += '+';
  return unused;
}

void put_change(RowsByKey& rows, const mvcc::Store::Row& change) {
  rows[machine::rows::key(prefix(), change.id)] = machine::rows::encode(change);
}

// A change must have made the store's newest revision (src/mvcc/store.h). So the last two skipped revisions put an unused key
// and erase it, and everything before them is at rest.
absl::Status skip_revisions(RowsByKey& rows, Counters& counters, uint64_t skipped) {
  const absl::StatusOr<std::string> name = drop_past(rows);
  if (!name.ok()) return name.status();
  const Revision last = counters.keys.revision + skipped;
  const Revision born = last.previous();
  put_change(rows, {.key = *name, .value = "", .id = {born, 0}, .stamp = {.create = born, .version = 1}});
  put_change(rows, {.key = *name, .value = "", .id = {last, 0}, .stamp = {}});
  counters.keys = {.revision = last, .compacted = last, .swept = born};
  return absl::OkStatus();
}

}  // namespace

absl::Status check_new_cluster(const NewCluster& cluster, Token last_token, Revision revision) {
  const uint64_t base = cluster.genesis.token_base;
  if (base < last_token.value()) {
    return make_error(Reason::InvalidArgument,
                      "tokens of the new cluster would start above " + std::to_string(base) + ", but " +
                          std::to_string(last_token.value()) +
                          " was granted already: this machine's clock is behind the previous cluster's; correct it, or give a "
                          "token base that is above every token ever granted");
  }
  if (base > lock::TokenCounter::kMax - kTokensLeft) {
    return make_error(Reason::InvalidArgument,
                      "the token base must be below 2^63 - 2^56: the new cluster needs tokens above it to grant");
  }
  if (cluster.revisions_skipped < 2 || cluster.revisions_skipped > kSkippedMax ||
      revision.value() > kRevisionMax - cluster.revisions_skipped) {
    return make_error(Reason::InvalidArgument,
                      "revisions_skipped must be from 2 to 2^62, and the new revision must stay below 2^63");
  }
  return absl::OkStatus();
}

absl::StatusOr<Revision> make_new_cluster(RowsByKey& rows, Position applied, const NewCluster& cluster) {
  if (absl::Status status = change_meta(rows, applied, cluster.genesis); !status.ok()) return status;
  const auto row = rows.find(counters_key());
  if (row == rows.end()) return no_state("it has no counters");
  absl::StatusOr<Counters> counters = machine::rows::decode_counters(row->second);
  if (!counters.ok()) return counters.status();
  const Token last(counters->counter);
  if (absl::Status status = check_new_cluster(cluster, last, counters->keys.revision); !status.ok()) return status;
  counters->cluster = cluster.genesis.cluster;
  counters->counter = cluster.genesis.token_base;
  if (absl::Status status = skip_revisions(rows, *counters, cluster.revisions_skipped); !status.ok()) return status;
  row->second = encode(*counters);
  return counters->keys.revision;
}

}  // namespace coordkit::backup
