#include "tools/differential/draw.h"

#include <algorithm>
#include <string_view>

#include "mvcc/transaction.h"

namespace coordkit::differential {
namespace {

constexpr uint64_t kLeases = 6;
constexpr int kDepthMax = 3;

struct Shape {
  bool nested = false;
  bool deletes = false;
};

Shape shape_of(const Transaction& transaction) {
  Shape shape;
  for (const auto* branch : {&transaction.then, &transaction.otherwise}) {
    for (const Operation& each : *branch) {
      if (std::holds_alternative<DeleteOperation>(each.body)) shape.deletes = true;
      const auto* nested = std::get_if<std::vector<Transaction>>(&each.body);
      if (nested == nullptr) continue;
      shape.nested = true;
      shape.deletes |= shape_of(nested->at(0)).deletes;
    }
  }
  return shape;
}

// etcd 3.4 overlooks it when one nested transaction puts a key that a later one deletes, and would execute both.
bool overlooked_by_etcd(const Transaction& transaction) {
  const Shape shape = shape_of(transaction);
  return shape.nested && shape.deletes && mvcc::check(transaction) == mvcc::Refusal::DuplicateKey;
}

}  // namespace

// Up to three letters out of four: many prefixes, ends and neighbours of each other. The last letter is the highest byte.
std::string Draw::key() {
  constexpr std::string_view kLetters("ab\0\xff", 4);
  std::string key;
  for (uint64_t left = random_.between(1, 3); left != 0; --left) key += kLetters[random_.below(random_.chance(0.8) ? 2 : 4)];
  return random_.chance(0.01) ? std::string() : key;
}

// An empty key with all that follows is every key to coordkit and an error to etcd: not drawn.
std::string Draw::end_of(const std::string& key) {
  const uint64_t kind = random_.below(100);
  if (kind < 45 || key.empty()) return {};
  if (kind < 70) return prefix_end(key);
  if (kind < 80) return std::string(kNoEnd);
  return this->key();
}

Revision Draw::revision(Revision now, Revision compacted) {
  const uint64_t low = compacted.value() > 2 ? compacted.value() - 2 : 1;
  return Revision(random_.between(low, now.value() + (random_.chance(0.1) ? 2 : 0)));
}

LeaseId Draw::lease() { return LeaseId(random_.between(1, kLeases)); }

RangeOperation Draw::range(Revision now, Revision compacted) {
  RangeOperation range{.key = key()};
  range.end = end_of(range.key);
  if (random_.chance(0.3)) range.revision = revision(now, compacted);
  if (random_.chance(0.3)) range.limit = static_cast<int64_t>(random_.between(1, 4));
  if (random_.chance(0.3)) range.sort_by = SortTarget(random_.below(5));
  if (random_.chance(0.3)) range.order = SortOrder(random_.below(3));
  range.keys_only = random_.chance(0.1);
  range.count_only = random_.chance(0.1);
  const auto bound = [&] { return random_.chance(0.1) ? Revision(random_.between(1, now.value())) : Revision(); };
  range.mod_min = bound();
  range.mod_max = bound();
  range.create_min = bound();
  range.create_max = bound();
  return range;
}

PutOperation Draw::put() {
  PutOperation put{.key = key(), .value = std::string(random_.below(3), static_cast<char>('x' + random_.below(3)))};
  if (random_.chance(0.2)) put.lease = lease();
  put.ignore_value = random_.chance(0.05);
  if (put.ignore_value && random_.chance(0.9)) put.value.clear();
  put.ignore_lease = random_.chance(0.05);
  if (put.ignore_lease && random_.chance(0.9)) put.lease = {};
  put.previous = random_.chance(0.3);
  return put;
}

DeleteOperation Draw::erase() {
  DeleteOperation erase{.key = key()};
  if (random_.chance(0.5)) erase.end = end_of(erase.key);
  erase.previous = random_.chance(0.5);
  return erase;
}

Compare Draw::compare(Revision now) {
  Compare compare{.key = key()};
  if (random_.chance(0.2)) compare.end = end_of(compare.key);
  compare.target = Compare::Target(random_.between(1, 5));
  compare.relation = Compare::Relation(random_.between(1, 4));
  switch (compare.target) {
    case Compare::Target::Version: compare.number = random_.below(4); break;
    case Compare::Target::Lease: compare.number = random_.below(kLeases + 1); break;
    case Compare::Target::Value:
      compare.value = std::string(random_.below(3), static_cast<char>('x' + random_.below(3)));
      break;
    default: compare.number = random_.below(now.value() + 2); break;
  }
  return compare;
}

Operation Draw::operation(Revision now, Revision compacted, int depth) {
  const uint64_t kind = random_.below(10);
  if (kind < 4) return put();
  if (kind < 6) {
    // To etcd such a delete and a put in one list are no DuplicateKey, and both would be executed there.
    DeleteOperation erase = this->erase();
    if (erase.end == kNoEnd) erase.end.clear();
    return erase;
  }
  if (kind < 9 || depth >= kDepthMax) return range(now, compacted);
  return transaction(now, compacted, depth + 1);
}

Transaction Draw::transaction(Revision now, Revision compacted, int depth) {
  // Rarely as many as are allowed in total, and one more than that.
  const uint64_t many = depth == 1 && random_.chance(0.02) ? random_.between(126, 129) : 0;
  Transaction out;
  for (uint64_t left = random_.below(3); left != 0; --left) out.compares.push_back(compare(now));
  for (uint64_t left = random_.below(4); left != 0; --left) out.then.push_back(operation(now, compacted, depth));
  for (uint64_t left = many != 0 ? 0 : random_.below(3); left != 0; --left) {
    out.otherwise.push_back(operation(now, compacted, depth));
  }
  while (out.otherwise.size() < many) out.otherwise.emplace_back(RangeOperation::of("a"));
  return out;
}

Step Draw::rare(Revision now, Revision compacted) {
  const uint64_t kind = random_.below(100);
  if (kind < 12) return Compact{revision(now, compacted)};
  if (kind < 36) return GrantLease{lease()};
  if (kind < 38) return GrantLease{lease(), std::chrono::seconds(random_.between(8'999'999'999, 9'000'000'001))};
  if (kind < 44) return RenewLease{lease()};
  if (kind < 62) return RevokeLease{lease()};
  if (kind < 70) return ListKeysOfLease{lease()};
  if (kind < 75) return ListLeases{};
  WatchFrom watch{.key = key()};
  watch.end = end_of(watch.key);
  watch.from = std::min(revision(now, compacted), now);
  watch.previous = random_.chance(0.5);
  watch.puts = random_.chance(0.85);
  watch.deletes = !watch.puts || random_.chance(0.85);
  return watch;
}

Step Draw::step(Revision now, Revision compacted) {
  const uint64_t kind = random_.below(100);
  if (kind < 35) return put();
  if (kind < 47) return erase();
  if (kind < 67) return range(now, compacted);
  if (kind < 90) {
    Transaction drawn = transaction(now, compacted, 1);
    while (overlooked_by_etcd(drawn)) drawn = transaction(now, compacted, 1);
    return drawn;
  }
  return rare(now, compacted);
}

}  // namespace coordkit::differential
