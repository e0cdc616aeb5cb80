// Records that come and go by the thousand: each reuses the slot of an ended one, so that in a steady state nothing is
// allocated. A PoolRef counts its record's users, is one pointer wide, and may outlive the pool. For one thread.
#pragma once

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
    if (home_->free.empty()) grow();
    Slot* const slot = home_->free.back();
    home_->free.pop_back();
    slot->value = std::move(value);
    slot->users = 1;
    return PoolRef<T>(slot);
  }

 private:
  friend class PoolRef<T>;
  struct Home;
  struct Slot {
    T value;
    size_t users = 0;
    Home* home = nullptr;
  };
  struct Home {
    std::vector<std::unique_ptr<Slot[]>> slots;
    std::vector<Slot*> free;
    size_t count = 0;
    bool open = true;  // the pool still exists
  };

  void grow() {
    const size_t more = home_->count == 0 ? 8 : home_->count;
    auto& made = home_->slots.emplace_back(std::make_unique<Slot[]>(more));
    home_->count += more;
    home_->free.reserve(home_->count);
    for (size_t i = more; i > 0; --i) {
      made[i - 1].home = home_;
      home_->free.push_back(&made[i - 1]);
    }
  }
  static void free(Slot* slot) {
    Home* const home = slot->home;
    slot->value = T();  // releases what it refers to, which may end others of this pool
    home->free.push_back(slot);
    drop_if_over(home);
  }
  static void drop_if_over(Home* home) {
    if (!home->open && home->free.size() == home->count) delete home;
  }

  Home* const home_;
};

}  // namespace coordkit
