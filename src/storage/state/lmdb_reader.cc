#include "storage/state/lmdb_reader.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "base/fixed.h"
#include "coordkit/error.h"
#include "storage/state/checkpoint_record.h"

namespace coordkit::storage {
namespace {

constexpr uint16_t kDepthMax = 32;  // of LMDB's cursors
constexpr uint64_t kFirstTreePage = 2;
constexpr uint64_t kFileBytesMax = uint64_t{64} << 40;

absl::Status enough() { return absl::CancelledError("enough"); }  // never leaves this file

// The child of a branch page below which the key is; from the second on their keys ascend.
size_t child_of(const std::vector<LmdbPage::Node>& nodes, std::string_view key) {
  const auto after = std::ranges::upper_bound(nodes.begin() + 1, nodes.end(), key, {}, &LmdbPage::Node::key);
  return static_cast<size_t>(after - nodes.begin()) - 1;
}

}  // namespace

// One pass through one tree. Keys ascend over all its pages, every leaf is at the depth that the tree's record gives, and the
// pages and rows seen are counted.
class LmdbReader::Walk {
 public:
  enum class Order : uint8_t { Bytes, Numbers };  // Numbers: of the tree of free pages

  Walk(const LmdbReader& reader, const LmdbMeta& meta, const LmdbTree& tree, Order order)
      : reader_(reader), meta_(meta), tree_(tree), order_(order) {}

  using Leaf = absl::FunctionRef<absl::Status(const LmdbPage::Node& node)>;
  absl::Status run(std::string_view from, Use use, Leaf leaf) {
    if (tree_.empty()) return tree_.depth == 0 ? absl::OkStatus() : rotten("an empty table claims to have pages");
    if (tree_.depth == 0 || tree_.depth > kDepthMax) return rotten("a table is too deep");
    absl::Status status = visit(tree_.root, 1, from, use, leaf);
    return absl::IsCancelled(status) ? absl::OkStatus() : status;
  }

  bool counts_match() const {
    return branches_ == tree_.branch_pages && leaves_ == tree_.leaf_pages && large_ == tree_.overflow_pages &&
           entries_ == tree_.entries;
  }

 private:
  absl::Status visit(uint64_t number, uint16_t depth, std::string_view from, Use use, Leaf leaf) {
    if (absl::Status status = use(number, 1); !status.ok()) return status;
    const absl::StatusOr<LmdbPage> page = reader_.page(meta_, number);
    if (!page.ok()) return page.status();
    if ((page->kind() == LmdbPage::Kind::Leaf) != (depth == tree_.depth))
      return rotten("a table's pages do not reach its rows");
    if (page->kind() == LmdbPage::Kind::Leaf) return visit_leaf(*page, from, use, leaf);
    ++branches_;
    const auto& nodes = page->nodes();
    // LMDB itself leaves a single child only in the tree of free pages, while it works on that tree.
    if (nodes.size() < 2 && order_ == Order::Bytes) return rotten("a page of a table has a single child");
    for (size_t i = 1; i < nodes.size(); ++i) {
      if (i > 1 && !ascends(nodes[i - 1].key, nodes[i].key)) return rotten("the pages of a table are out of order");
    }
    for (size_t i = order_ == Order::Bytes ? child_of(nodes, from) : 0; i < nodes.size(); ++i) {
      if (absl::Status status = visit(nodes[i].page, depth + 1, from, use, leaf); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status visit_leaf(const LmdbPage& page, std::string_view from, Use use, Leaf leaf) {
    ++leaves_;
    for (const LmdbPage::Node& node : page.nodes()) {
      if (last_ && !ascends(*last_, node.key)) return rotten("the rows of a table are out of order");
      last_ = std::string(node.key);
      ++entries_;
      if (node.page != 0) {
        const uint64_t pages = overflow_pages(node.value_bytes, meta_.page_bytes);
        large_ += pages;
        if (absl::Status status = use(node.page, pages); !status.ok()) return status;
      }
      if (order_ == Order::Bytes && node.key < from) continue;
      if (absl::Status status = leaf(node); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  bool ascends(std::string_view one, std::string_view other) const {
    if (order_ == Order::Bytes) return one < other;
    return one.size() == 8 && other.size() == 8 && load_u64(one.data()) < load_u64(other.data());
  }

  const LmdbReader& reader_;
  const LmdbMeta& meta_;
  const LmdbTree& tree_;
  const Order order_;
  std::optional<std::string> last_;
  uint64_t branches_ = 0;
  uint64_t leaves_ = 0;
  uint64_t large_ = 0;
  uint64_t entries_ = 0;
};

absl::StatusOr<LmdbMeta> LmdbReader::meta(uint64_t number, size_t page_bytes) const {
  const absl::StatusOr<std::string> bytes = file_->pread(number * page_bytes, kLmdbMetaBytes);
  if (!bytes.ok()) return bytes.status();
  return decode_meta(*bytes, number);
}

absl::StatusOr<LmdbMeta> LmdbReader::of(uint64_t transaction) const {
  const absl::StatusOr<LmdbMeta> first = meta(0, 0);
  if (!first.ok() || first->transaction == transaction) return first;
  const absl::StatusOr<LmdbMeta> second = meta(1, first->page_bytes);
  if (!second.ok() || second->transaction == transaction) return second;
  return absl::NotFoundError("that state of the file is gone");
}

absl::StatusOr<LmdbMeta> LmdbReader::newest() const {
  const absl::StatusOr<uint64_t> size = file_->size();
  if (!size.ok()) return size.status();
  if (*size == 0) return absl::NotFoundError("the file is empty");
  const absl::StatusOr<LmdbMeta> first = meta(0, 0);
  if (!first.ok()) return first;
  const absl::StatusOr<LmdbMeta> second = meta(1, first->page_bytes);
  if (!second.ok()) return second;
  if (second->page_bytes != first->page_bytes) return rotten("its two first pages disagree");
  const LmdbMeta& newest = second->transaction > first->transaction ? *second : *first;
  if (newest.last_page > kFileBytesMax / newest.page_bytes) return rotten("it claims to be larger than any file");
  return newest;
}

absl::StatusOr<LmdbPage> LmdbReader::page(const LmdbMeta& meta, uint64_t number) const {
  if (number < kFirstTreePage || number > meta.last_page) return rotten("a page of its file lies outside of it");
  absl::StatusOr<std::string> bytes = file_->pread(number * meta.page_bytes, meta.page_bytes);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() < meta.page_bytes) return rotten("its file is too short");
  return LmdbPage::parse(*std::move(bytes), number);
}

absl::StatusOr<std::string> LmdbReader::large_value(const LmdbMeta& meta, const LmdbPage::Node& node) const {
  const uint64_t pages = overflow_pages(node.value_bytes, meta.page_bytes);
  if (node.page < kFirstTreePage || node.page > meta.last_page || pages > meta.last_page - node.page + 1) {
    return rotten("a large value lies outside of its file");
  }
  const uint64_t at = node.page * meta.page_bytes;
  const absl::StatusOr<uint64_t> size = file_->size();
  if (!size.ok()) return size.status();
  if (*size < at + kLmdbPageHeader + node.value_bytes) return rotten("its file is too short");
  absl::StatusOr<std::string> bytes = file_->pread(at, kLmdbPageHeader + node.value_bytes);
  if (!bytes.ok()) return bytes;
  if (bytes->size() < kLmdbPageHeader + node.value_bytes) return rotten("its file is too short");
  if (absl::Status status = check_overflow(*bytes, node.page, node.value_bytes, meta.page_bytes); !status.ok()) return status;
  return bytes->substr(kLmdbPageHeader);
}

absl::Status LmdbReader::tables(const LmdbMeta& meta, TableVisitor visit) const {
  Walk walk(*this, meta, meta.main, Walk::Order::Bytes);
  return walk.run(
      "", [](uint64_t, uint64_t) { return absl::OkStatus(); },
      [&](const LmdbPage::Node& node) -> absl::Status {
        if (!node.table) return make_error(Reason::ForeignData, "the state directory holds a foreign LMDB database");
        return visit(node.key, decode_tree(node.value));
      });
}

absl::Status LmdbReader::scan(const LmdbMeta& meta, const LmdbTree& tree, std::string_view from,
                              absl::FunctionRef<bool(std::string_view key)> more, Visitor visit) const {
  absl::Status outcome;
  Walk walk(*this, meta, tree, Walk::Order::Bytes);
  absl::Status status = walk.run(
      from, [](uint64_t, uint64_t) { return absl::OkStatus(); },
      [&](const LmdbPage::Node& node) -> absl::Status {
        if (!more(node.key)) return enough();
        if (node.page == 0) {
          outcome = visit(node.key, node.value);
        } else {
          const absl::StatusOr<std::string> value = large_value(meta, node);
          outcome = value.ok() ? visit(node.key, *value) : value.status();
        }
        return outcome.ok() ? absl::OkStatus() : enough();  // an error from the visitor is passed on to the caller
      });
  return status.ok() ? outcome : status;
}

absl::Status LmdbReader::check_all(const LmdbMeta& meta, const std::vector<LmdbTree>& tables, RowVisitor row, Pace pace) const {
  const absl::StatusOr<uint64_t> size = file_->size();
  if (!size.ok()) return size.status();
  std::vector<bool> used(std::min(*size / meta.page_bytes, meta.last_page + 1));  // the pages that are there
  const auto use = [&](uint64_t page, uint64_t count) -> absl::Status {
    if (!pace(count * meta.page_bytes)) return absl::AbortedError("not read to its end");
    if (page < kFirstTreePage || page > meta.last_page || count > meta.last_page - page + 1) {
      return rotten("a page of its file lies outside of it");
    }
    if (page + count > used.size()) return rotten("its file is too short");
    for (uint64_t i = page; i < page + count; ++i) {
      if (used[i]) return rotten("page " + std::to_string(i) + " of its file has two uses");
      used[i] = true;
    }
    return absl::OkStatus();
  };
  Walk names(*this, meta, meta.main, Walk::Order::Bytes);
  absl::Status status = names.run("", use, [](const LmdbPage::Node&) { return absl::OkStatus(); });
  if (status.ok() && !names.counts_match()) status = rotten("its list of tables is not as long as it claims");
  for (size_t i = 0; status.ok() && i < tables.size(); ++i) {
    if (tables[i].flags != 0) return rotten("a table is of another kind");
    Walk walk(*this, meta, tables[i], Walk::Order::Bytes);
    status = walk.run("", use, [&](const LmdbPage::Node& node) -> absl::Status {
      if (node.table) return rotten("a row claims to be a table");
      if (node.page == 0) return row(i, node.key, node.value);
      const absl::StatusOr<std::string> value = large_value(meta, node);
      return value.ok() ? row(i, node.key, *value) : value.status();
    });
    if (status.ok() && !walk.counts_match()) status = rotten("a table is not as large as it claims");
  }
  return status.ok() ? check_free(meta, use, &used) : status;
}

// Each record: how many pages, then their numbers, descending.
absl::Status LmdbReader::check_free(const LmdbMeta& meta, Use use, std::vector<bool>* used) const {
  absl::btree_set<uint64_t> beyond;  // free, and never written: the file ends before them
  Walk walk(*this, meta, meta.free, Walk::Order::Numbers);
  absl::Status status = walk.run("", use, [&](const LmdbPage::Node& node) -> absl::Status {
    const absl::Status nonsense = rotten("its list of free pages makes no sense");
    if (node.key.size() != 8 || node.table) return nonsense;
    std::string large;
    std::string_view list = node.value;
    if (node.page != 0) {
      absl::StatusOr<std::string> value = large_value(meta, node);
      if (!value.ok()) return value.status();
      large = *std::move(value);
      list = large;
    }
    if (list.size() < 8 || load_u64(list.data()) > list.size() / 8 - 1) return nonsense;
    uint64_t last = std::numeric_limits<uint64_t>::max();
    for (uint64_t i = 1; i <= load_u64(list.data()); ++i) {
      const uint64_t page = load_u64(list.data() + 8 * i);
      if (page >= last || page < kFirstTreePage || page > meta.last_page) return nonsense;
      last = page;
      if (used == nullptr) continue;
      const bool again = page < used->size() ? (*used)[page] : !beyond.insert(page).second;
      if (again) return rotten("page " + std::to_string(page) + " of its file has two uses");
      if (page < used->size()) (*used)[page] = true;
    }
    return absl::OkStatus();
  });
  if (status.ok() && !walk.counts_match()) status = rotten("its list of free pages is not as long as it claims");
  if (status.ok() && used != nullptr && used->size() + beyond.size() != meta.last_page + 1) {
    return rotten("it claims pages that it does not have");
  }
  return status;
}

absl::Status LmdbReader::check_base(const LmdbMeta& meta) const {
  const auto use = [](uint64_t, uint64_t) { return absl::OkStatus(); };
  Walk names(*this, meta, meta.main, Walk::Order::Bytes);
  absl::Status status = names.run("", use, [](const LmdbPage::Node&) { return absl::OkStatus(); });
  if (!status.ok()) return status;
  return check_free(meta, use, nullptr);  // uses elsewhere were checked at open, and are again by a scrub
}

// Pages are requested repeatedly, mostly the same few above the rows.
absl::StatusOr<const LmdbPage*> LmdbReader::Way::page(uint64_t number, uint16_t depth) {
  const bool leaf = depth == tree_.depth;
  if (leaf && last_leaf_ && last_leaf_->first == number) return &last_leaf_->second;
  if (const auto known = branches_.find({number, depth}); known != branches_.end()) return &known->second;
  absl::StatusOr<LmdbPage> page = reader_.page(meta_, number);
  if (!page.ok()) return page.status();
  if (leaf != (page->kind() == LmdbPage::Kind::Leaf)) return rotten("a table's pages do not reach its rows");
  if (!leaf && page->nodes().size() < 2) return rotten("a page of a table has a single child");
  const auto keys = std::span(page->nodes()).subspan(leaf ? 0 : 1);  // the first of a branch says nothing
  const auto twisted = std::ranges::adjacent_find(keys, std::ranges::greater_equal(), &LmdbPage::Node::key);
  if (twisted != keys.end()) return rotten("a page of a table is out of order");
  if (!leaf) return &branches_.emplace(std::pair(number, depth), *std::move(page)).first->second;
  leaves_.insert(number);
  return &last_leaf_.emplace(number, *std::move(page)).second;
}

absl::Status LmdbReader::Way::check(std::string_view key, Change change) {
  if (tree_.flags != 0 || tree_.depth > kDepthMax) return rotten("a table is of another kind");
  if (tree_.empty()) return absl::OkStatus();
  if (change == Change::Put && last_leaf_ && last_reach_.has(key)) return check_row(last_leaf_->second, key);
  Reach reach;
  uint64_t number = tree_.root;
  for (uint16_t depth = 1;; ++depth) {
    const absl::StatusOr<const LmdbPage*> page = this->page(number, depth);
    if (!page.ok()) return page.status();
    if (depth == tree_.depth) {
      last_reach_ = reach;
      return check_row(**page, key);
    }
    const auto& nodes = (*page)->nodes();
    const size_t child = child_of(nodes, key);
    number = nodes[child].page;
    reach.narrow(nodes, child);
    if (change == Change::Put) continue;
    if (absl::Status status = check_beside(nodes, child, depth + 1); !status.ok()) return status;
  }
}

// A branch may be rotten and claim more than the one above it gives.
void LmdbReader::Way::Reach::narrow(const std::vector<LmdbPage::Node>& nodes, size_t child) {
  if (child > 0) from = std::max(from, nodes[child].key);
  if (child + 1 < nodes.size()) end = std::min(end.value_or(nodes[child + 1].key), nodes[child + 1].key);
}

absl::Status LmdbReader::Way::check_row(const LmdbPage& leaf, std::string_view key) const {
  const auto row = std::ranges::lower_bound(leaf.nodes(), key, {}, &LmdbPage::Node::key);
  if (row == leaf.nodes().end() || row->key != key || row->page == 0) return absl::OkStatus();
  return reader_.large_value(meta_, *row).status();
}

// A page that LMDB merges with its neighbour may make the next one its neighbour; two on either side are as far as one change
// reaches.
absl::Status LmdbReader::Way::check_beside(const std::vector<LmdbPage::Node>& nodes, size_t child, uint16_t depth) {
  constexpr size_t kReach = 2;
  const size_t end = std::min(child + kReach + 1, nodes.size());
  for (size_t i = child - std::min(child, kReach); i < end; ++i) {
    if (i == child || (depth == tree_.depth && leaves_.contains(nodes[i].page))) continue;
    if (const absl::StatusOr<const LmdbPage*> page = this->page(nodes[i].page, depth); !page.ok()) return page.status();
  }
  return absl::OkStatus();
}

absl::Status LmdbReader::Way::check_erased(std::string_view from, size_t bytes_max) {
  constexpr size_t kRowCost = 128;
  size_t bytes = 0;
  std::vector<std::string> keys;
  absl::Status status = reader_.scan(
      meta_, tree_, from, [&](std::string_view) { return bytes < bytes_max; },
      [&](std::string_view key, std::string_view stored) {
        bytes += stored.size() + kRowCost;
        keys.emplace_back(key);
        return absl::OkStatus();
      });
  for (size_t i = 0; status.ok() && i < keys.size(); ++i) status = check(keys[i], Change::Erase);
  return status;
}

}  // namespace coordkit::storage
