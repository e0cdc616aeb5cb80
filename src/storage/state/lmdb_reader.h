// Reads an LMDB file without LMDB and without a map, trusting nothing (decision 0020): whatever the file holds, the worst
// result is kDataLoss. LMDB writes the file, and it maps only what was checked here before.
//
// Threads: any number. All that is read belongs to one transaction as long as LMDB is kept from reusing its pages: by a read
// transaction of LMDB, or because there is no writer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/ports/file_system.h"
#include "storage/state/lmdb_page.h"

namespace coordkit::storage {

class LmdbReader {
 public:
  using Visitor = absl::FunctionRef<absl::Status(std::string_view key, std::string_view stored)>;
  using TableVisitor = absl::FunctionRef<absl::Status(std::string_view name, const LmdbTree& tree)>;
  using Pace = absl::FunctionRef<bool(size_t bytes)>;  // called between reads; may sleep; false: stop (kAborted)

  explicit LmdbReader(std::unique_ptr<File> file) : file_(std::move(file)) {}

  // The newest state of the file, or that of one transaction. kNotFound: the file is empty, or two later transactions
  // have taken its place.
  absl::StatusOr<LmdbMeta> newest() const;
  absl::StatusOr<LmdbMeta> of(uint64_t transaction) const;

  // Every table that the main tree names.
  absl::Status tables(const LmdbMeta& meta, TableVisitor visit) const;
  // Rows of one table in ascending order from the first at or after `from`, as long as `more` holds of their keys.
  absl::Status scan(const LmdbMeta& meta, const LmdbTree& tree, std::string_view from,
                    absl::FunctionRef<bool(std::string_view key)> more, Visitor visit) const;

  // Verifies everything that LMDB will ever rely on: each tree as a whole, in order, with the counts its record claims; no page
  // has two uses, and none in use is also free. `row` is called for each row of each table.
  using RowVisitor = absl::FunctionRef<absl::Status(size_t table, std::string_view key, std::string_view stored)>;
  absl::Status check_all(const LmdbMeta& meta, const std::vector<LmdbTree>& tables, RowVisitor row, Pace pace) const;

  // Checks what every write transaction reads: the main tree and the list of free pages.
  absl::Status check_base(const LmdbMeta& meta) const;

  const File& file() const { return *file_; }

  // Checks what one write transaction reads of one table besides that.
  class Way;

 private:
  class Walk;
  using Use = absl::FunctionRef<absl::Status(uint64_t page, uint64_t count)>;  // asked before a page is read
  absl::StatusOr<LmdbMeta> meta(uint64_t number, size_t page_bytes) const;
  absl::StatusOr<LmdbPage> page(const LmdbMeta& meta, uint64_t number) const;
  absl::StatusOr<std::string> large_value(const LmdbMeta& meta, const LmdbPage::Node& node) const;
  absl::Status check_free(const LmdbMeta& meta, Use use, std::vector<bool>* used) const;

  const std::unique_ptr<File> file_;
};

// The path to each row that is changed and, if it is erased, the pages next to that path, with which LMDB may merge the rest.
class LmdbReader::Way {
 public:
  enum class Change : uint8_t { Put, Erase };
  Way(const LmdbReader& reader, const LmdbMeta& meta, const LmdbTree& tree) : reader_(reader), meta_(meta), tree_(tree) {}

  absl::Status check(std::string_view key, Change change);
  // For rows erased one after the other from `from` on, about `bytes_max` worth of them.
  absl::Status check_erased(std::string_view from, size_t bytes_max);

 private:
  absl::StatusOr<const LmdbPage*> page(uint64_t number, uint16_t depth);
  absl::Status check_row(const LmdbPage& leaf, std::string_view key) const;
  absl::Status check_beside(const std::vector<LmdbPage::Node>& nodes, size_t child, uint16_t depth);
  // The keys below one leaf, as the branches above it have them.
  struct Reach {
    std::string_view from;
    std::optional<std::string_view> end;
    void narrow(const std::vector<LmdbPage::Node>& nodes, size_t child);
    bool has(std::string_view key) const { return from <= key && (!end || key < *end); }
  };

  const LmdbReader& reader_;
  const LmdbMeta meta_;
  const LmdbTree tree_;
  std::map<std::pair<uint64_t, uint16_t>, LmdbPage> branches_;  // by number and depth; its addresses are stable
  absl::btree_set<uint64_t> leaves_;                            // visited
  std::optional<std::pair<uint64_t, LmdbPage>> last_leaf_;
  Reach last_reach_;  // of the last way that was checked to its end
};

}  // namespace coordkit::storage
