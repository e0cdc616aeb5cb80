// One page of an LMDB 0.9 file (docs/format-state.md), parsed with every length and offset checked: bytes from a disk.
//
// A page that is refused here could make LMDB read or write outside of it, or stop the process by an assertion. LMDB keeps the
// nodes of a page packed, so they must fill the space behind `upper` exactly: otherwise LMDB did not write the page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace coordkit::storage {

// A tree's record.
struct LmdbTree {
  uint16_t flags = 0;
  uint16_t depth = 0;
  uint64_t branch_pages = 0;
  uint64_t leaf_pages = 0;
  uint64_t overflow_pages = 0;
  uint64_t entries = 0;
  uint64_t root = 0;

  bool empty() const { return root == ~uint64_t{0}; }
};
inline constexpr size_t kLmdbTreeBytes = 48;
LmdbTree decode_tree(std::string_view bytes);  // of kLmdbTreeBytes

// The content of a meta page: one of the two newest states of the file.
struct LmdbMeta {
  uint64_t transaction = 0;
  uint64_t last_page = 0;
  size_t page_bytes = 0;
  LmdbTree free;  // pages that may be used again, by the transaction that freed them
  LmdbTree main;  // the named tables
};
inline constexpr size_t kLmdbMetaBytes = 16 + 136;
absl::StatusOr<LmdbMeta> decode_meta(std::string_view bytes, uint64_t number);  // the page's first bytes

inline constexpr size_t kLmdbPageHeader = 16;
inline constexpr size_t kLmdbKeyBytesMax = 511;

// A page of a tree. Views point into its bytes.
class LmdbPage {
 public:
  enum class Kind : uint8_t { Branch, Leaf };
  struct Node {
    std::string_view key;
    uint64_t page = 0;         // the child, or where a large value lies; zero: the value is here
    uint32_t value_bytes = 0;  // of a leaf's
    std::string_view value;
    bool table = false;  // the value is a named table's record
  };

  static absl::StatusOr<LmdbPage> parse(std::string bytes, uint64_t number);
  Kind kind() const { return kind_; }
  const std::vector<Node>& nodes() const { return nodes_; }  // at least one

 private:
  LmdbPage() = default;
  std::vector<char> bytes_;  // not a string: the views must outlive a move
  Kind kind_ = Kind::Leaf;
  std::vector<Node> nodes_;
};

// How many pages a large value takes, and whether `header` (kLmdbPageHeader bytes) begins them.
uint64_t overflow_pages(uint64_t value_bytes, size_t page_bytes);
absl::Status check_overflow(std::string_view header, uint64_t number, uint64_t value_bytes, size_t page_bytes);

}  // namespace coordkit::storage
