// The protocol of Redis (RESP 2) as far as locks need it: commands out, replies in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coordkit::bench::redis {

// As an array of bulk strings.
void append_command(std::string& out, std::initializer_list<std::string_view> words);

struct Reply {
  enum class Kind : uint8_t { Status, Error, Integer, Bulk, Nothing };
  Kind kind = Kind::Nothing;
  std::string text;  // of Status, Error, Bulk
  int64_t number = 0;
};

// Cuts what comes from a connection into replies.
class ReplyReader {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  // The next that is complete. Throws std::runtime_error: not a reply, or an array, which no command of ours is answered with.
  std::optional<Reply> next();

 private:
  std::optional<std::string_view> line_at(size_t offset) const;  // without its end
  std::optional<Reply> taken(Reply reply, size_t bytes);

  std::string bytes_;
  size_t begin_ = 0;  // of what was not taken yet
};

}  // namespace coordkit::bench::redis
