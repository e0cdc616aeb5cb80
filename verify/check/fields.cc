#include "check/fields.h"

#include <fmt/format.h>

namespace coordkit::check {

using Kind = json::Value::Kind;

std::string scalar_text(const json::Value& value) {
  return value.kind == Kind::String ? json::quoted(value.text) : std::string(value.raw);
}

Fields::Fields(const json::Value* object, std::string_view path, Complaint& complaint)
    : object_(object), path_(path), complaint_(complaint) {
  if (object_ == nullptr || object_->kind == Kind::Object) return;
  complaint_.say(fmt::format("{}an object is expected, not {}", path_, name_of(object_->kind)));
  object_ = nullptr;
}

void Fields::complain(std::string_view name, std::string_view what) {
  complaint_.say(fmt::format("{}{}: {}", path_, name, what));
}

const json::Value* Fields::find(std::string_view name) {
  if (object_ == nullptr) return nullptr;
  for (size_t i = 0; i < object_->members.size(); ++i) {
    if (object_->members[i].name != name) continue;
    asked_ |= uint64_t{1} << i;
    return &object_->members[i].value;
  }
  return nullptr;
}

const json::Value* Fields::optional(std::string_view name, Kind kind) {
  const json::Value* value = find(name);
  if (value == nullptr || value->kind == Kind::Null) return nullptr;
  if (value->kind == kind) return value;
  complain(name, fmt::format("{} is expected, not {}", name_of(kind), name_of(value->kind)));
  return nullptr;
}

const json::Value* Fields::required(std::string_view name, Kind kind) {
  const json::Value* value = optional(name, kind);
  if (value == nullptr) complain(name, fmt::format("{} is missing", name_of(kind)));
  return value;
}

bool Fields::has(std::string_view name) const {
  if (object_ == nullptr) return false;
  for (const json::Member& member : object_->members) {
    if (member.name == name) return member.value.kind != Kind::Null;
  }
  return false;
}

std::string Fields::text(std::string_view name) {
  const json::Value* value = required(name, Kind::String);
  return value ? std::string(value->text) : std::string();
}

std::optional<std::string> Fields::optional_text(std::string_view name) {
  const json::Value* value = optional(name, Kind::String);
  return value ? std::optional<std::string>(value->text) : std::nullopt;
}

std::string Fields::scalar(std::string_view name) {
  const json::Value* value = find(name);
  if (value != nullptr && value->kind != Kind::Null && value->kind != Kind::Array && value->kind != Kind::Object) {
    return scalar_text(*value);
  }
  complain(name, "a string, a whole number, true or false is expected");
  return {};
}

std::optional<std::string> Fields::scalar_or_null(std::string_view name) {
  const json::Value* value = find(name);
  if (value != nullptr && value->kind == Kind::Null) return std::nullopt;
  return scalar(name);
}

int64_t Fields::number(std::string_view name) {
  const json::Value* value = required(name, Kind::Integer);
  return value ? value->integer : 0;
}

std::optional<int64_t> Fields::optional_number(std::string_view name) {
  const json::Value* value = optional(name, Kind::Integer);
  return value ? std::optional<int64_t>(value->integer) : std::nullopt;
}

std::optional<uint64_t> Fields::optional_count(std::string_view name) {
  const std::optional<int64_t> value = optional_number(name);
  if (!value) return std::nullopt;
  if (*value < 0) complain(name, "must not be negative");
  return static_cast<uint64_t>(*value);
}

uint64_t Fields::count(std::string_view name) {
  const std::optional<uint64_t> value = optional_count(name);
  if (!value) complain(name, "a whole number is missing");
  return value.value_or(0);
}

std::optional<bool> Fields::optional_flag(std::string_view name) {
  const json::Value* value = optional(name, Kind::Boolean);
  return value ? std::optional<bool>(value->boolean) : std::nullopt;
}

const json::Value* Fields::optional_array(std::string_view name) { return optional(name, Kind::Array); }
const json::Value* Fields::optional_object(std::string_view name) { return optional(name, Kind::Object); }

void Fields::finish() {
  if (object_ == nullptr) return;
  for (size_t i = 0; i < object_->members.size(); ++i) {
    if ((asked_ >> i & 1) == 0) complain(object_->members[i].name, "nothing has this name here");
  }
}

}  // namespace coordkit::check
