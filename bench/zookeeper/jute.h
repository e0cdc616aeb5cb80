// What ZooKeeper's clients and servers say to each other ("jute"), as far as its recipe for locks needs it: big-endian
// integers, strings and lists with their length before them, in frames with theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coordkit::bench::zookeeper {

enum class Operation : int32_t { Create = 1, Delete = 2, GetChildren = 8 };
enum class Lifetime : int32_t { Persistent = 0, EphemeralSequential = 3 };

inline constexpr int32_t kNodeExists = -110;

// Frames, with their length, to be sent. `xid` numbers the requests of a connection and comes back with the answer.
std::string connect_frame(int32_t timeout_ms);
std::string create_frame(int32_t xid, std::string_view path, Lifetime lifetime);
std::string delete_frame(int32_t xid, std::string_view path);
std::string children_frame(int32_t xid, std::string_view path);

struct Header {
  int32_t xid = 0;
  int64_t zxid = 0;
  int32_t error = 0;
};

// Reads a frame without its length, field by field. Throws std::runtime_error: it ended too early.
class FrameReader {
 public:
  explicit FrameReader(std::string_view frame) : rest_(frame) {}
  int32_t integer() { return static_cast<int32_t>(bytes(4)); }
  int64_t longer() { return static_cast<int64_t>(bytes(8)); }
  std::string string();
  std::vector<std::string> strings();
  Header header();

 private:
  uint64_t bytes(size_t count);

  std::string_view rest_;
};

// Cuts what comes from a connection into frames.
class FrameCutter {
 public:
  void add(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<std::string> next();  // without its length. Throws std::runtime_error: no frame is so long

 private:
  std::string bytes_;
};

}  // namespace coordkit::bench::zookeeper
