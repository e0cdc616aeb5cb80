// An allocator for containers of nodes that grow and shrink all the time. It keeps a few freed nodes of each size for the
// next ones, so that in a steady state nothing is allocated. Containers made with one allocator share its spare nodes, and so
// do containers that were moved from each other. They are for one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace coordkit {

class NodeShelf {
 public:
  explicit NodeShelf(size_t kept_of_each_size = 8) noexcept : kept_max_(kept_of_each_size) {}
  ~NodeShelf() {
    for (Row& row : rows_) {
      while (row.first != nullptr) ::operator delete(pop(row));
    }
  }
  NodeShelf(const NodeShelf&) = delete;
  NodeShelf& operator=(const NodeShelf&) = delete;

  void* take(size_t bytes) {
    if (bytes > kBytesMax) return make(bytes);
    Row& row = row_of(bytes);
    return row.first != nullptr ? pop(row) : make(bytes);
  }
  // A node that any shelf can take back.
  static void* make(size_t bytes) { return ::operator new(rounded(bytes)); }
  void give_back(void* node, size_t bytes) noexcept {
    if (bytes > kBytesMax || row_of(bytes).kept >= kept_max_) return ::operator delete(node);
    Row& row = row_of(bytes);
    row.first = new (node) Spare{row.first};
    ++row.kept;
  }
  size_t kept(size_t bytes) const { return rows_[row(bytes)].kept; }  // of this size

 private:
  // Sizes are rounded up to those that the allocator gives anyway: steps of sixteen bytes, of which it keeps eight for
  // itself.
  static constexpr size_t kGrain = 16;
  static constexpr size_t kTaken = 8;
  static constexpr size_t kBytesMax = 512;  // larger ones are not kept
  struct Spare {
    Spare* next;
  };
  struct Row {
    Spare* first = nullptr;
    size_t kept = 0;
  };
  static size_t row(size_t bytes) { return (bytes + kTaken + kGrain - 1) / kGrain; }
  static size_t rounded(size_t bytes) { return row(bytes) * kGrain - kTaken; }
  Row& row_of(size_t bytes) { return rows_[row(bytes)]; }
  static void* pop(Row& row) {
    Spare* const node = row.first;
    row.first = node->next;
    --row.kept;
    return node;
  }

  const size_t kept_max_;
  std::array<Row, (kBytesMax + kTaken) / kGrain + 2> rows_;
};

template <typename T>
class SpareNodes {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  SpareNodes() : shelf_(std::make_shared<NodeShelf>()) {}
  // There is no move: a container that was moved from allocates again.
  SpareNodes(const SpareNodes& other) = default;
  SpareNodes& operator=(const SpareNodes& other) = default;
  template <typename U>
  SpareNodes(const SpareNodes<U>& other) : shelf_(other.shelf_) {}  // NOLINT: as allocators do

  T* allocate(size_t count) {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return static_cast<T*>(shelf_->take(count * sizeof(T)));
  }
  void deallocate(T* nodes, size_t count) noexcept { shelf_->give_back(nodes, count * sizeof(T)); }

  template <typename U>
  bool operator==(const SpareNodes<U>& other) const {
    return shelf_ == other.shelf_;
  }

 private:
  template <typename U>
  friend class SpareNodes;
  std::shared_ptr<NodeShelf> shelf_;  // of all containers that were made with it
};

}  // namespace coordkit
