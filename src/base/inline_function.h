// A function stored in place. Captures up to a given size and alignment are inside of it, so that keeping or queueing one
// costs no allocation. Others are on the heap. It can be moved, not copied.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace coordkit {

template <typename Signature, size_t kInlineBytes, size_t kAlignment = alignof(std::max_align_t)>
class InlineFunction;

template <typename... Arguments, size_t kInlineBytes, size_t kAlignment>
class InlineFunction<void(Arguments...), kInlineBytes, kAlignment> {
 public:
  InlineFunction() {}  // NOLINT(modernize-use-equals-default): a defaulted one would clear the bytes
  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, InlineFunction>) InlineFunction(F&& run) {  // NOLINT: meant to convert
    make<std::decay_t<F>>(std::forward<F>(run));
  }
  InlineFunction(InlineFunction&& other) noexcept : type_(std::exchange(other.type_, nullptr)) {
    if (type_) type_->move(&other.bytes_, &bytes_);
  }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this == &other) return *this;
    if (type_) type_->destroy(&bytes_);
    type_ = std::exchange(other.type_, nullptr);
    if (type_) type_->move(&other.bytes_, &bytes_);
    return *this;
  }
  ~InlineFunction() {
    if (type_) type_->destroy(&bytes_);
  }

  // The same as assigning F{parts...}, without a move.
  template <typename F, typename... Parts>
  void emplace(Parts&&... parts) {
    if (type_) std::exchange(type_, nullptr)->destroy(&bytes_);
    make<F>(std::forward<Parts>(parts)...);
  }

  explicit operator bool() const { return type_ != nullptr; }
  void operator()(Arguments... arguments) { type_->run(&bytes_, std::forward<Arguments>(arguments)...); }

 private:
  template <typename F, typename... Parts>
  void make(Parts&&... parts) {
    if constexpr (kFits<F>) {
      new (&bytes_) F{std::forward<Parts>(parts)...};
      type_ = &kInline<F>;
    } else {
      new (&bytes_) std::unique_ptr<F>(new F{std::forward<Parts>(parts)...});
      type_ = &kOnHeap<F>;
    }
  }
  struct Type {
    void (*run)(void* bytes, Arguments... arguments);
    void (*move)(void* from, void* to);  // and destroys `from`
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
  template <typename F>
  static constexpr bool kFits = sizeof(F) <= kInlineBytes &&  // NOLINT(misc-redundant-expression): not for every F
                                alignof(F) <= kAlignment&& std::is_nothrow_move_constructible_v<F>;
  template <typename F>
  static constexpr Type kInline{
      [](void* bytes, Arguments... arguments) { at<F>(bytes)(std::forward<Arguments>(arguments)...); }, move_kept<F>,
      destroy_kept<F>};
  template <typename F>
  static constexpr Type kOnHeap{
      [](void* bytes, Arguments... arguments) { (*at<std::unique_ptr<F>>(bytes))(std::forward<Arguments>(arguments)...); },
      move_kept<std::unique_ptr<F>>, destroy_kept<std::unique_ptr<F>>};

  const Type* type_ = nullptr;
  alignas(kAlignment) std::byte bytes_[kInlineBytes];
};

}  // namespace coordkit
