#include "check/json.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace coordkit::check::json {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) return add(0xc0 | code >> 6), add(0x80 | (code & 0x3f));
  if (code < 0x10000) return add(0xe0 | code >> 12), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
  add(0xf0 | code >> 18), add(0x80 | (code >> 12 & 0x3f)), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
}

}  // namespace

// Recursive descent; the first complaint ends it.
class Parser {
 public:
  Parser(std::string_view text, std::deque<std::string>& unescaped) : text_(text), unescaped_(unescaped) {}

  absl::Status parse(Value& root) {
    if (text_.size() > kTextBytesMax) return absl::InvalidArgumentError(fmt::format("longer than {} bytes", kTextBytesMax));
    value(root, 0);
    skip_space();
    if (complaint_.empty() && at_ != text_.size()) complain("something follows the value");
    if (complaint_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("column {}: {}", at_ + 1, complaint_));
  }

 private:
  bool complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
    return false;
  }
  bool more() const { return at_ < text_.size(); }
  void skip_space() {
    while (more() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool value(Value& out, int depth) {
    skip_space();
    if (!more()) return complain("the line ends where a value is expected");
    const size_t from = at_;
    if (!content(out, depth)) return false;
    out.raw = text_.substr(from, at_ - from);
    return true;
  }

  bool content(Value& out, int depth) {
    if (depth > kDepthMax) return complain(fmt::format("nested deeper than {}", kDepthMax));
    const char c = text_[at_];
    if (c == '{') return out.kind = Value::Kind::Object, object(out, depth);
    if (c == '[') return out.kind = Value::Kind::Array, array(out, depth);
    if (c == '"') return out.kind = Value::Kind::String, string(out.text);
    if (c == '-' || is_digit(c)) return out.kind = Value::Kind::Integer, integer(out.integer);
    if (word("null")) return out.kind = Value::Kind::Null, true;
    out.kind = Value::Kind::Boolean;
    out.boolean = word("true");
    return out.boolean || word("false") || complain("a value is expected");
  }

  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  bool integer(int64_t& out) {
    const size_t from = at_;
    if (text_[at_] == '-') ++at_;
    if (!more() || !is_digit(text_[at_])) return complain("a digit is expected");
    if (text_[at_] == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
      return complain("a number with a leading zero");
    while (more() && is_digit(text_[at_])) ++at_;
    if (more() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E'))
      return complain("only whole numbers are allowed");
    const auto [end, error] = std::from_chars(text_.data() + from, text_.data() + at_, out);
    if (error != std::errc() || end != text_.data() + at_) return complain("a number beyond 64 bits");
    if (out == 0 && text_[from] == '-') return complain("minus zero");
    return true;
  }

  bool string(std::string_view& out) {
    const size_t from = ++at_;
    while (more() && text_[at_] != '"' && text_[at_] != '\\') {
      if (!plain()) return false;
    }
    if (!more()) return complain("a string without an end");
    if (text_[at_] == '"') return out = text_.substr(from, at_++ - from), true;
    std::string& whole = unescaped_.emplace_back(text_.substr(from, at_ - from));
    while (more() && text_[at_] != '"') {
      const size_t start = at_;
      if (text_[at_] == '\\') {
        if (!escape(whole)) return false;
      } else {
        if (!plain()) return false;
        whole += text_.substr(start, at_ - start);
      }
    }
    if (!more()) return complain("a string without an end");
    ++at_;
    out = whole;
    return true;
  }

  bool plain() {
    if (static_cast<uint8_t>(text_[at_]) < 0x20) return complain("a control character in a string; escape it");
    const size_t length = utf8_length(text_.substr(at_));
    if (length == 0) return complain("bytes that are not UTF-8");
    at_ += length;
    return true;
  }

  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (++at_ == text_.size()) return complain("a string without an end");
    const char letter = text_[at_++];
    if (const size_t known = kLetters.find(letter); known != std::string_view::npos) return out += kMeanings[known], true;
    uint32_t code = 0, low = 0;
    if (letter != 'u' || !hex4(code)) return complain("an escape that JSON does not have");
    if (code >= 0xd800 && code < 0xe000) {
      if (code >= 0xdc00 || !word("\\u") || !hex4(low) || low < 0xdc00 || low >= 0xe000)
        return complain("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(out, code);
    return true;
  }

  bool hex4(uint32_t& out) {
    if (text_.size() - at_ < 4) return false;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, out, 16);
    if (error != std::errc() || end != text_.data() + at_ + 4) return false;
    at_ += 4;
    return true;
  }

  bool array(Value& out, int depth) {
    ++at_;
    if (next_is(']')) return true;
    do {
      if (!value(out.items.emplace_back(), depth + 1)) return false;
    } while (next_is(','));
    return next_is(']') || complain("a comma or the end of the array is expected");
  }

  bool object(Value& out, int depth) {
    ++at_;
    if (next_is('}')) return true;
    do {
      if (out.members.size() == kMembersMax) return complain(fmt::format("more than {} members in one object", kMembersMax));
      skip_space();
      if (!more() || text_[at_] != '"') return complain("a name in quotes is expected");
      std::string_view name;
      if (!string(name)) return false;
      for (const Member& earlier : out.members) {
        if (earlier.name == name) return complain(fmt::format("the name \"{}\" occurs twice", name));
      }
      if (!next_is(':')) return complain("a colon is expected");
      Member& member = out.members.emplace_back();
      member.name = name;
      if (!value(member.value, depth + 1)) return false;
    } while (next_is(','));
    return next_is('}') || complain("a comma or the end of the object is expected");
  }

  std::string_view text_;
  std::deque<std::string>& unescaped_;
  size_t at_ = 0;
  std::string complaint_;
};

std::string_view name_of(Value::Kind kind) {
  constexpr std::string_view kNames[] = {"null", "true or false", "a whole number", "a string", "an array", "an object"};
  return kNames[static_cast<size_t>(kind)];
}

absl::StatusOr<const Value*> Document::parse(std::string_view text) {
  root_ = Value();
  unescaped_.clear();
  if (absl::Status status = Parser(text, unescaped_).parse(root_); !status.ok()) return status;
  return &root_;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

void ObjectWriter::raw(std::string_view name, std::string_view value) {
  if (!first_) out_ += ',';
  first_ = false;
  append_quoted(out_, name);
  out_ += ':';
  out_ += value;
}

}  // namespace coordkit::check::json
