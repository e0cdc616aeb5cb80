// One line of JSON, read strictly: UTF-8, no comments, no repeated names, only whole numbers of 64 bits. A history has
// counters; a fraction in it is a mistake, and silently rounding a large number would be another.
// Every error gets a sentence with the column. Values point into the line and into the document that read it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace coordkit::check::json {

inline constexpr size_t kTextBytesMax = 1 << 20;  // of one line
inline constexpr int kDepthMax = 16;              // nesting of objects and arrays
inline constexpr size_t kMembersMax = 64;         // of one object

struct Member;
struct Value {
  enum class Kind : uint8_t { Null, Boolean, Integer, String, Array, Object };
  Kind kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  std::string_view text;  // String: without quotes and escapes
  std::string_view raw;   // as it is in the line
  std::vector<Value> items;
  std::vector<Member> members;
};
struct Member {
  std::string_view name;
  Value value;
};
std::string_view name_of(Value::Kind kind);  // "a string"

class Document {
 public:
  // kInvalidArgument with the reason and the column, from 1. The value lives until the next parse, if `text` does.
  absl::StatusOr<const Value*> parse(std::string_view text);

 private:
  friend class Parser;
  Value root_;
  std::deque<std::string> unescaped_;
};

// The text as a JSON string, quotes included; equal texts give equal bytes.
void append_quoted(std::string& out, std::string_view text);
std::string quoted(std::string_view text);

// Writes one object; ends it when destroyed.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ~ObjectWriter() { out_ += '}'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  void raw(std::string_view name, std::string_view value);  // a value that is JSON already
  void text(std::string_view name, std::string_view value) { raw(name, quoted(value)); }
  void number(std::string_view name, int64_t value) { raw(name, std::to_string(value)); }
  void flag(std::string_view name, bool value) { raw(name, value ? "true" : "false"); }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace coordkit::check::json
