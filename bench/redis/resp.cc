#include "bench/redis/resp.h"

#include <charconv>
#include <stdexcept>
#include <utility>

namespace coordkit::bench::redis {
namespace {

constexpr std::string_view kEnd = "\r\n";
constexpr int64_t kBulkBytesMax = 512 << 20;  // of Redis itself

int64_t number_of(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) throw std::runtime_error("redis: a number is none");
  return number;
}

}  // namespace

void append_command(std::string& out, std::initializer_list<std::string_view> words) {
  out.append("*").append(std::to_string(words.size())).append(kEnd);
  for (const std::string_view word : words) {
    out.append("$").append(std::to_string(word.size())).append(kEnd).append(word).append(kEnd);
  }
}

std::optional<Reply> ReplyReader::next() {
  const std::optional<std::string_view> line = line_at(begin_);
  if (!line) return std::nullopt;
  if (line->empty()) throw std::runtime_error("redis: an empty reply");
  const std::string_view rest = line->substr(1);
  const size_t whole = line->size() + kEnd.size();
  switch (line->front()) {
    case '+': return taken({.kind = Reply::Kind::Status, .text = std::string(rest)}, whole);
    case '-': return taken({.kind = Reply::Kind::Error, .text = std::string(rest)}, whole);
    case ':': return taken({.kind = Reply::Kind::Integer, .number = number_of(rest)}, whole);
    case '$': break;
    default: throw std::runtime_error("redis: a reply of an unknown kind");
  }
  const int64_t length = number_of(rest);
  if (length == -1) return taken({}, whole);
  if (length < 0 || length > kBulkBytesMax) throw std::runtime_error("redis: a length that no string has");
  const auto count = static_cast<size_t>(length);
  if (bytes_.size() - begin_ < whole + count + kEnd.size()) return std::nullopt;
  return taken({.kind = Reply::Kind::Bulk, .text = bytes_.substr(begin_ + whole, count)}, whole + count + kEnd.size());
}

std::optional<std::string_view> ReplyReader::line_at(size_t offset) const {
  const size_t end = bytes_.find(kEnd, offset);
  if (end == std::string::npos) return std::nullopt;
  return std::string_view(bytes_).substr(offset, end - offset);
}

std::optional<Reply> ReplyReader::taken(Reply reply, size_t bytes) {
  begin_ += bytes;
  if (begin_ == bytes_.size()) {
    bytes_.clear();
    begin_ = 0;
  }
  return reply;
}

}  // namespace coordkit::bench::redis
