// The members of one JSON object, requested by name. A member that is missing, of another kind, or never requested is
// remembered as one complaint (the first). So models read their fields without a check after each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "check/json.h"

namespace coordkit::check {

class Complaint {
 public:
  void say(std::string what) {
    if (what_.empty()) what_ = std::move(what);
  }
  bool none() const { return what_.empty(); }
  absl::Status status() const { return none() ? absl::OkStatus() : absl::InvalidArgumentError(what_); }

 private:
  std::string what_;
};

class Fields {
 public:
  // `object` may be null: no members. `path` is the prefix of names in a complaint, "in." for instance.
  Fields(const json::Value* object, std::string_view path, Complaint& complaint);

  bool has(std::string_view name) const;  // it is there, and not null
  std::string text(std::string_view name);
  std::optional<std::string> optional_text(std::string_view name);
  // A string, number or truth value as JSON text, so that 5 and "5" differ.
  std::string scalar(std::string_view name);
  std::optional<std::string> scalar_or_null(std::string_view name);  // the member must be there
  int64_t number(std::string_view name);
  std::optional<int64_t> optional_number(std::string_view name);
  uint64_t count(std::string_view name);  // not negative
  std::optional<uint64_t> optional_count(std::string_view name);
  std::optional<bool> optional_flag(std::string_view name);
  const json::Value* optional_array(std::string_view name);
  const json::Value* optional_object(std::string_view name);

  void complain(std::string_view name, std::string_view what);
  // Complains about a member that was never requested: a misspelt name must not be taken for an absent one.
  void finish();

 private:
  const json::Value* find(std::string_view name);
  const json::Value* optional(std::string_view name, json::Value::Kind kind);
  const json::Value* required(std::string_view name, json::Value::Kind kind);

  const json::Value* object_;
  std::string path_;
  Complaint& complaint_;
  uint64_t asked_ = 0;  // a bit for each member
  static_assert(json::kMembersMax <= 64);
};

// The canonical JSON text of a scalar.
std::string scalar_text(const json::Value& value);

}  // namespace coordkit::check
