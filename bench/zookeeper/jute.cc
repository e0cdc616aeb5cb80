#include "bench/zookeeper/jute.h"

#include <stdexcept>

namespace coordkit::bench::zookeeper {
namespace {

constexpr int32_t kAllPermissions = 31;
constexpr int32_t kAnyVersion = -1;
constexpr size_t kPasswordBytes = 16;
constexpr size_t kLengthBytes = 4;
constexpr size_t kFrameBytesMax = 16 << 20;

class FrameWriter {
 public:
  FrameWriter& integer(int32_t value) { return bytes(static_cast<uint32_t>(value), 4); }
  FrameWriter& longer(int64_t value) { return bytes(static_cast<uint64_t>(value), 8); }
  FrameWriter& truth(bool value) { return bytes(value ? 1 : 0, 1); }
  FrameWriter& string(std::string_view value) {
    integer(static_cast<int32_t>(value.size()));
    body_.append(value);
    return *this;
  }
  std::string frame() const {
    FrameWriter length;
    length.integer(static_cast<int32_t>(body_.size()));
    return length.body_ + body_;
  }

 private:
  FrameWriter& bytes(uint64_t value, int count) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) body_ += static_cast<char>(value >> shift & 0xff);
    return *this;
  }

  std::string body_;
};

FrameWriter request(int32_t xid, Operation operation) {
  FrameWriter writer;
  writer.integer(xid).integer(static_cast<int32_t>(operation));
  return writer;
}

}  // namespace

std::string connect_frame(int32_t timeout_ms) {
  FrameWriter writer;
  writer.integer(0).longer(0).integer(timeout_ms).longer(0).string(std::string(kPasswordBytes, '\0')).truth(false);
  return writer.frame();
}

std::string create_frame(int32_t xid, std::string_view path, Lifetime lifetime) {
  FrameWriter writer = request(xid, Operation::Create);
  writer.string(path).string("");
  writer.integer(1).integer(kAllPermissions).string("world").string("anyone");  // a list of one permission
  return writer.integer(static_cast<int32_t>(lifetime)).frame();
}

std::string delete_frame(int32_t xid, std::string_view path) {
  return request(xid, Operation::Delete).string(path).integer(kAnyVersion).frame();
}

std::string children_frame(int32_t xid, std::string_view path) {
  return request(xid, Operation::GetChildren).string(path).truth(false).frame();
}

std::string FrameReader::string() {
  const int32_t length = integer();
  if (length <= 0) return {};  // -1: none
  if (static_cast<size_t>(length) > rest_.size()) throw std::runtime_error("zookeeper: a string is cut off");
  std::string value(rest_.substr(0, static_cast<size_t>(length)));
  rest_.remove_prefix(static_cast<size_t>(length));
  return value;
}

std::vector<std::string> FrameReader::strings() {
  std::vector<std::string> values;
  for (int32_t left = integer(); left > 0; --left) values.push_back(string());
  return values;
}

Header FrameReader::header() {
  Header header;
  header.xid = integer();
  header.zxid = longer();
  header.error = integer();
  return header;
}

uint64_t FrameReader::bytes(size_t count) {
  if (rest_.size() < count) throw std::runtime_error("zookeeper: an answer is cut off");
  uint64_t value = 0;
  for (const char byte : rest_.substr(0, count)) value = value << 8 | static_cast<unsigned char>(byte);
  rest_.remove_prefix(count);
  return value;
}

std::optional<std::string> FrameCutter::next() {
  if (bytes_.size() < kLengthBytes) return std::nullopt;
  const auto length = static_cast<size_t>(static_cast<uint32_t>(FrameReader(bytes_).integer()));
  if (length > kFrameBytesMax) throw std::runtime_error("zookeeper: a frame of an impossible length");
  if (bytes_.size() < kLengthBytes + length) return std::nullopt;
  std::string frame = bytes_.substr(kLengthBytes, length);
  bytes_.erase(0, kLengthBytes + length);
  return frame;
}

}  // namespace coordkit::bench::zookeeper
