// A task that runs once, stored in place: small captures lie inside of it, so that queueing one costs
// no allocation.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace coordkit {

class InlineTask {
 public:
  static constexpr size_t kInlineBytes = 112;

  InlineTask() = default;
  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, InlineTask>) InlineTask(F&& run) {  // NOLINT: meant to convert
    make(std::forward<F>(run));
  }
  InlineTask(InlineTask&& other) noexcept : type_(std::exchange(other.type_, nullptr)) {
    if (type_) type_->move(&other.bytes_, &bytes_);
  }
  InlineTask& operator=(InlineTask&& other) noexcept {
    if (this == &other) return *this;
    if (type_) type_->destroy(&bytes_);
    type_ = std::exchange(other.type_, nullptr);
    if (type_) type_->move(&other.bytes_, &bytes_);
    return *this;
  }
  ~InlineTask() {
    if (type_) type_->destroy(&bytes_);
  }

  // The same as assigning, without a move.
  template <typename F>
  void emplace(F&& run) {
    if (type_) std::exchange(type_, nullptr)->destroy(&bytes_);
    make(std::forward<F>(run));
  }

  void operator()() { type_->run(&bytes_); }

 private:
  template <typename F>
  void make(F&& run) {
    using Task = std::decay_t<F>;
    if constexpr (kFits<Task>) {
      new (&bytes_) Task(std::forward<F>(run));
      type_ = &kInline<Task>;
    } else {
      new (&bytes_) std::unique_ptr<Task>(std::make_unique<Task>(std::forward<F>(run)));
      type_ = &kOnHeap<Task>;
    }
  }
  struct Type {
    void (*run)(void* bytes);
    void (*move)(void* from, void* to);  // and ends `from`
    void (*destroy)(void* bytes);
  };
  template <typename T>
  static T& at(void* bytes) {
    return *std::launder(static_cast<T*>(bytes));
  }
  template <typename Kept>
  static void move_kept(void* from, void* to) {
    new (to) Kept(std::move(at<Kept>(from)));
    std::destroy_at(&at<Kept>(from));
  }
  template <typename Kept>
  static void destroy_kept(void* bytes) {
    std::destroy_at(&at<Kept>(bytes));
  }
  template <typename Task>
  static constexpr bool kFits = sizeof(Task) <= kInlineBytes &&  // NOLINT(misc-redundant-expression): not for each of them
                                alignof(Task) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Task>;
  template <typename Task>
  static constexpr Type kInline{[](void* bytes) { at<Task>(bytes)(); }, move_kept<Task>, destroy_kept<Task>};
  template <typename Task>
  static constexpr Type kOnHeap{[](void* bytes) { (*at<std::unique_ptr<Task>>(bytes))(); }, move_kept<std::unique_ptr<Task>>,
                                destroy_kept<std::unique_ptr<Task>>};

  const Type* type_ = nullptr;
  alignas(std::max_align_t) std::byte bytes_[kInlineBytes];
};

}  // namespace coordkit
