#include "storage/state/lmdb_page.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/fixed.h"
#include "coordkit/error.h"
#include "storage/state/checkpoint_record.h"

namespace coordkit::storage {
namespace {

constexpr uint16_t kBranch = 0x01, kLeaf = 0x02, kOverflow = 0x04, kMeta = 0x08;
constexpr uint16_t kBigData = 0x01, kSubData = 0x02;
constexpr uint16_t kIntegerKey = 0x08;
constexpr uint16_t kNoSubdirectory = 0x4000;  // a flag of how the environment was opened, stored there too
constexpr size_t kNodeHeader = 8;
constexpr uint32_t kLmdbMagic = 0xBEEFC0DE;
constexpr uint32_t kLmdbVersion = 1;

uint16_t load_u16(const char* at) {
  uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

absl::Status bad_page(uint64_t number, std::string_view what) {
  return rotten("page " + std::to_string(number) + " of its file " + std::string(what));
}

size_t even(size_t bytes) { return (bytes + 1) & ~size_t{1}; }

// Where a node lies, for the check that nodes fill their space.
struct Extent {
  size_t begin = 0;
  size_t end = 0;
};

bool packed(std::vector<Extent>& extents, size_t upper, size_t page_bytes) {
  std::ranges::sort(extents, {}, &Extent::begin);
  for (const Extent& one : extents) {
    if (one.begin != upper) return false;
    upper = one.end;
  }
  return upper == page_bytes;
}

}  // namespace

LmdbTree decode_tree(std::string_view bytes) {
  const char* at = bytes.data();
  return {.flags = load_u16(at + 4),
          .depth = load_u16(at + 6),
          .branch_pages = load_u64(at + 8),
          .leaf_pages = load_u64(at + 16),
          .overflow_pages = load_u64(at + 24),
          .entries = load_u64(at + 32),
          .root = load_u64(at + 40)};
}

absl::StatusOr<LmdbMeta> decode_meta(std::string_view bytes, uint64_t number) {
  if (bytes.size() < kLmdbMetaBytes) return rotten("its file is too short");
  const char* page = bytes.data();
  const char* at = page + kLmdbPageHeader;
  if (load_u64(page) != number || load_u16(page + 10) != kMeta || load_u32(at) != kLmdbMagic) {
    return bad_page(number, "is no page about the others");
  }
  if (load_u32(at + 4) != kLmdbVersion) {
    return make_error(Reason::ForeignData, "the state directory holds a file of another version of LMDB");
  }
  LmdbMeta meta;
  meta.page_bytes = load_u32(at + 24);
  meta.free = decode_tree({at + 24, kLmdbTreeBytes});
  meta.main = decode_tree({at + 72, kLmdbTreeBytes});
  meta.last_page = load_u64(at + 120);
  meta.transaction = load_u64(at + 128);
  const bool valid = std::has_single_bit(meta.page_bytes) && meta.page_bytes >= 512 && meta.page_bytes <= 32768 &&
                     (meta.free.flags & ~kNoSubdirectory) == kIntegerKey && meta.last_page >= 1 &&
                     (meta.transaction == 0 || meta.transaction % 2 == number);
  return valid ? absl::StatusOr<LmdbMeta>(meta) : bad_page(number, "makes no sense");
}

absl::StatusOr<LmdbPage> LmdbPage::parse(std::string bytes, uint64_t number) {
  LmdbPage page;
  page.bytes_.assign(bytes.begin(), bytes.end());
  const char* at = page.bytes_.data();
  const size_t size = bytes.size();
  if (size < kLmdbPageHeader) return bad_page(number, "is missing");
  const uint16_t flags = load_u16(at + 10);
  const size_t lower = load_u16(at + 12);
  const size_t upper = load_u16(at + 14);
  if (load_u64(at) != number || (flags != kBranch && flags != kLeaf)) return bad_page(number, "is not the one it should be");
  if (lower <= kLmdbPageHeader || lower % 2 != 0 || lower > upper || upper > size) return bad_page(number, "has no nodes");
  page.kind_ = flags == kBranch ? Kind::Branch : Kind::Leaf;

  const size_t count = (lower - kLmdbPageHeader) / 2;
  page.nodes_.reserve(count);
  std::vector<Extent> extents;
  extents.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t offset = load_u16(at + kLmdbPageHeader + 2 * i);
    if (offset < upper || offset % 2 != 0 || offset + kNodeHeader > size) return bad_page(number, "has a node outside of it");
    const char* node = at + offset;
    const uint32_t low = load_u32(node);
    const uint16_t node_flags = load_u16(node + 4);
    const size_t key_bytes = load_u16(node + 6);
    Node out;
    size_t inside = 0;
    if (page.kind_ == Kind::Branch) {
      out.page = low | uint64_t{node_flags} << 32;
    } else {
      if (key_bytes == 0 || (node_flags & ~(kBigData | kSubData)) != 0) return bad_page(number, "has a node of no kind");
      const bool large = (node_flags & kBigData) != 0;
      out.value_bytes = low;
      out.table = (node_flags & kSubData) != 0;
      inside = large ? sizeof(uint64_t) : low;
      if (out.table && (large || low != kLmdbTreeBytes)) return bad_page(number, "has a table of no kind");
    }
    if (key_bytes > kLmdbKeyBytesMax || offset + kNodeHeader + key_bytes + inside > size) {
      return bad_page(number, "has a node that is too long");
    }
    out.key = {node + kNodeHeader, key_bytes};
    if (page.kind_ == Kind::Leaf) {
      const char* value = node + kNodeHeader + key_bytes;
      if ((node_flags & kBigData) != 0) {
        out.page = load_u64(value);
        if (out.page == 0) return bad_page(number, "has a value that lies nowhere");
      } else {
        out.value = {value, inside};
      }
    }
    extents.push_back({offset, offset + even(kNodeHeader + key_bytes + inside)});
    page.nodes_.push_back(out);
  }
  if (!packed(extents, upper, size)) return bad_page(number, "has nodes that overlap or leave gaps");
  return page;
}

uint64_t overflow_pages(uint64_t value_bytes, size_t page_bytes) {
  return (kLmdbPageHeader - 1 + value_bytes) / page_bytes + 1;
}

absl::Status check_overflow(std::string_view header, uint64_t number, uint64_t value_bytes, size_t page_bytes) {
  if (header.size() < kLmdbPageHeader) return bad_page(number, "is missing");
  const char* at = header.data();
  const bool valid =
      load_u64(at) == number && load_u16(at + 10) == kOverflow && load_u32(at + 12) == overflow_pages(value_bytes, page_bytes);
  return valid ? absl::OkStatus() : bad_page(number, "is not the large value it should be");
}

}  // namespace coordkit::storage
