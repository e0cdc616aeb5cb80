// The callback of a call, whatever its answer's type. It is stored inline, and retrieved under that type, which is checked.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/check.h"

namespace coordkit::client {

class AnyCallback {
 public:
  // `Answer`: absl::Status, or absl::StatusOr of the answer.
  template <typename Answer>
  AnyCallback(absl::AnyInvocable<void(Answer)>&& callback) : type_(&kType<Answer>) {  // NOLINT: meant to convert
    static_assert(sizeof(callback) <= sizeof(bytes_) && alignof(decltype(callback)) <= alignof(std::max_align_t));
    new (&bytes_) absl::AnyInvocable<void(Answer)>(std::move(callback));
  }
  AnyCallback(AnyCallback&& other) noexcept : type_(other.type_) { type_->move(&other.bytes_, &bytes_); }
  AnyCallback& operator=(AnyCallback&& other) noexcept {
    if (this == &other) return *this;
    type_->destroy(&bytes_);
    type_ = other.type_;
    type_->move(&other.bytes_, &bytes_);
    return *this;
  }
  ~AnyCallback() { type_->destroy(&bytes_); }

  void fail(const absl::Status& why) { type_->fail(&bytes_, why); }
  template <typename Answer>
  absl::AnyInvocable<void(Answer)>& as() {
    COORDKIT_CHECK_MSG(type_ == &kType<Answer>, "a call gets an answer of another type than it asked for");
    return callback<Answer>(&bytes_);
  }

 private:
  struct Type {
    void (*move)(void* from, void* to);
    void (*destroy)(void* callback);
    void (*fail)(void* callback, const absl::Status& why);
  };

  template <typename Answer>
  static absl::AnyInvocable<void(Answer)>& callback(void* bytes) {
    return *std::launder(static_cast<absl::AnyInvocable<void(Answer)>*>(bytes));
  }
  template <typename Answer>
  static constexpr Type kType{
      [](void* from, void* to) { new (to) absl::AnyInvocable<void(Answer)>(std::move(callback<Answer>(from))); },
      [](void* bytes) { std::destroy_at(&callback<Answer>(bytes)); },
      [](void* bytes, const absl::Status& why) { callback<Answer>(bytes)(why); }};

  alignas(std::max_align_t) std::byte bytes_[sizeof(absl::AnyInvocable<void()>)];
  const Type* type_;  // last, so that the next field of a record needs no gap
};

}  // namespace coordkit::client
