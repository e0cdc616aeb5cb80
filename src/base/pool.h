// Records that come and go by the thousand. Each reuses the slot of an ended one, so that in a steady state nothing is
// allocated. A PoolRef counts its record's users, is one pointer wide, and may outlive the pool. The slots are in pages, so
// that many records cost little more than themselves. For one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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
    if (slot_ && --slot_->users == 0) Pool<T>::free(*slot_);
  }

  explicit operator bool() const { return slot_ != nullptr; }
  T* operator->() const { return &slot_->value; }
  T& operator*() const { return slot_->value; }

 private:
  friend class Pool<T>;
  template <typename A, typename B>
  friend class PoolRefOfTwo;
  explicit PoolRef(typename Pool<T>::Slot* slot) : slot_(slot) {}
  typename Pool<T>::Slot* slot_ = nullptr;
};

// Refers to a record of one of two kinds, and is one pointer wide as well.
template <typename A, typename B>
class PoolRefOfTwo {
 public:
  PoolRefOfTwo(PoolRef<A> record) : bits_(taken(record)) {}                 // NOLINT: meant to convert
  PoolRefOfTwo(PoolRef<B> record) : bits_(taken(record) | kOfTheSecond) {}  // NOLINT: meant to convert
  PoolRefOfTwo(PoolRefOfTwo&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  PoolRefOfTwo& operator=(PoolRefOfTwo other) noexcept {
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~PoolRefOfTwo() {
    if (is_second()) {
      const PoolRef<B> last(slot<B>());
    } else {
      const PoolRef<A> last(slot<A>());
    }
  }

  // Null: it refers to the other kind.
  PoolRef<A> first() const { return is_second() ? nullptr : one_more(slot<A>()); }
  PoolRef<B> second() const { return is_second() ? one_more(slot<B>()) : nullptr; }

 private:
  static constexpr uintptr_t kOfTheSecond = 1;  // no slot has an odd address

  template <typename T>
  static uintptr_t taken(PoolRef<T>& record) {
    static_assert(alignof(typename Pool<T>::Slot) > kOfTheSecond);
    return reinterpret_cast<uintptr_t>(std::exchange(record.slot_, nullptr));
  }
  template <typename Slot>
  static auto one_more(Slot* slot) {
    if (slot) ++slot->users;
    return PoolRef<decltype(slot->value)>(slot);
  }
  bool is_second() const { return (bits_ & kOfTheSecond) != 0; }
  template <typename T>
  typename Pool<T>::Slot* slot() const {
    return reinterpret_cast<typename Pool<T>::Slot*>(bits_ & ~kOfTheSecond);  // NOLINT(performance-no-int-to-ptr): its address
  }

  uintptr_t bits_;  // the address of the slot
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

  PoolRef<T> make(T&& value) { return emplace(std::move(value)); }
  // The same as making T{parts...}, without a move.
  template <typename... Parts>
  PoolRef<T> emplace(Parts&&... parts) {
    if (home_->free == kNone) grow();
    Slot& slot = home_->pages[home_->free / kPlaces]->slots()[home_->free % kPlaces];
    new (&slot.value) T{std::forward<Parts>(parts)...};
    home_->free = slot.next_free;
    slot.users = 1;
    ++home_->used;
    return PoolRef<T>(&slot);
  }

 private:
  friend class PoolRef<T>;
  template <typename A, typename B>
  friend class PoolRefOfTwo;
  // A slot's number gives its page, and the place in that page.
  static constexpr uint32_t kPlaceBits = 10;
  static constexpr uint32_t kPlaces = uint32_t{1} << kPlaceBits;
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr size_t kPageBytes = 16 << 10;
  static constexpr size_t kSlotsMin = 8;  // of the first page

  struct Slot {
    Slot() {}   // NOLINT(modernize-use-equals-default, cppcoreguidelines-pro-type-member-init): no record is there yet
    ~Slot() {}  // NOLINT(modernize-use-equals-default): no record is there any more
    union {
      T value;  // while it has users
    };
    uint32_t next_free = kNone;  // the number of the next free slot
    uint32_t place : kPlaceBits = 0;
    uint32_t users : 32 - kPlaceBits = 0;
  };
  struct Home;
  // The slots follow it in memory.
  struct alignas(Slot) alignas(void*) Page {
    Home* home;
    uint32_t first;  // number of its first slot
    uint32_t count;
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    static Page& of(Slot& slot) { return reinterpret_cast<Page*>(&slot - slot.place)[-1]; }
  };
  struct DeletePage {
    void operator()(Page* page) const {
      std::destroy_n(page->slots(), page->count);  // their records have all ended
      ::operator delete(page);
    }
  };
  struct Home {
    std::vector<std::unique_ptr<Page, DeletePage>> pages;
    uint32_t free = kNone;  // number of a free slot
    size_t count = 0;
    size_t used = 0;
    bool open = true;  // the pool still exists
  };

  void grow() {
    static_assert(alignof(Page) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    const size_t full = std::clamp(kPageBytes / sizeof(Slot), kSlotsMin, size_t{kPlaces});
    const auto more = static_cast<uint32_t>(std::clamp(home_->count, kSlotsMin, full));
    const auto first = static_cast<uint32_t>(home_->pages.size()) << kPlaceBits;
    auto* const page = new (::operator new(sizeof(Page) + more * sizeof(Slot))) Page{home_, first, more};
    std::uninitialized_value_construct_n(page->slots(), more);
    home_->pages.emplace_back(page);
    home_->count += more;
    for (uint32_t place = more; place > 0;) {
      Slot& slot = page->slots()[--place];
      slot.place = place & (kPlaces - 1);
      slot.next_free = std::exchange(home_->free, first + place);
    }
  }
  static void free(Slot& slot) {
    Page& page = Page::of(slot);
    std::destroy_at(&slot.value);  // and the objects to which it refers; that may end other records of this pool
    slot.next_free = std::exchange(page.home->free, page.first + slot.place);
    --page.home->used;
    drop_if_over(page.home);
  }
  static void drop_if_over(Home* home) {
    if (!home->open && home->used == 0) delete home;
  }

  Home* const home_;
};

}  // namespace coordkit
