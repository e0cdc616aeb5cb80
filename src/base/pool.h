// Records that come and go by the thousand: each reuses the slot of an ended one, so that in a steady state nothing is
// allocated. A PoolRef counts its record's users, is one pointer wide, and may outlive the pool. For one thread. The slots lie
// in pages, so that many records cost little more than themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace coordkit {

template <typename T>
class Pool;

template <typename T>
class PoolRef {
 public:
  PoolRef() = default;
  PoolRef(std::nullptr_t) {}  // NOLINT: like any pointer
  PoolRef(const PoolRef& other) : slot_(other.slot_) {
    if (slot_) ++slot_->users;
  }
  PoolRef(PoolRef&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  PoolRef& operator=(PoolRef other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~PoolRef() {
    if (slot_ && --slot_->users == 0) Pool<T>::free(slot_);
  }

  explicit operator bool() const { return slot_ != nullptr; }
  T* operator->() const { return &slot_->value; }
  T& operator*() const { return slot_->value; }

 private:
  friend class Pool<T>;
  explicit PoolRef(typename Pool<T>::Slot* slot) : slot_(slot) {}
  typename Pool<T>::Slot* slot_ = nullptr;
};

template <typename T>
class Pool {
 public:
  Pool() : home_(new Home) {}
  ~Pool() {
    home_->open = false;
    drop_if_over(home_);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  PoolRef<T> make(T&& value) {
    if (home_->free == nullptr) grow();
    Slot* const slot = std::exchange(home_->free, home_->free->next);
    std::destroy_at(&slot->value);
    std::construct_at(&slot->value, std::move(value));
    slot->home = home_;
    slot->users = 1;
    ++home_->used;
    return PoolRef<T>(slot);
  }

 private:
  friend class PoolRef<T>;
  struct Home;
  struct Slot {  // NOLINT(cppcoreguidelines-pro-type-member-init): the union is
    T value;
    size_t users = 0;
    union {
      Slot* next = nullptr;  // free
      Home* home;            // in use
    };
  };
  struct Home {
    std::vector<std::unique_ptr<Slot[]>> pages;
    Slot* free = nullptr;
    size_t count = 0;
    size_t used = 0;
    bool open = true;  // the pool still exists
  };
  static constexpr size_t kPageBytes = 16 << 10;
  static constexpr size_t kSlotsMin = 8;  // of the first page

  void grow() {
    const size_t page = std::max(kPageBytes / sizeof(Slot), kSlotsMin);
    const size_t more = std::clamp(home_->count, kSlotsMin, page);
    auto& made = home_->pages.emplace_back(std::make_unique<Slot[]>(more));
    home_->count += more;
    for (size_t i = more; i > 0; --i) made[i - 1].next = std::exchange(home_->free, &made[i - 1]);
  }
  static void free(Slot* slot) {
    Home* const home = slot->home;
    std::destroy_at(&slot->value);  // and what it refers to, which may end others of this pool
    std::construct_at(&slot->value);
    slot->next = std::exchange(home->free, slot);
    --home->used;
    drop_if_over(home);
  }
  static void drop_if_over(Home* home) {
    if (!home->open && home->used == 0) delete home;
  }

  Home* const home_;
};

}  // namespace coordkit
