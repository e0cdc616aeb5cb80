// A connection by a peer that was never invited. It speaks the protocol as well as anyone who has read its description; it
// does not know the secret, if there is one, nor the cluster's id, except that of the network of remotes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordkit/engine/engine_message.h"
// clang-format off
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // g++ takes an enumerator for a shadow of the type Message
#include "transport/frame.h"
#pragma GCC diagnostic pop
// clang-format on
#include "transport/hello.h"

namespace coordkit::experiment {

class HostilePeer {
 public:
  // To this port on loopback; connected() says whether it worked.
  explicit HostilePeer(uint16_t port);
  ~HostilePeer();
  HostilePeer(HostilePeer&& other) noexcept;
  HostilePeer& operator=(HostilePeer&&) = delete;

  bool connected() const { return fd_ >= 0; }
  // All three return whether the other end still accepts it.
  bool write(std::string_view bytes);
  bool send(FrameKind kind, std::string_view body = {});
  bool say(const Message& message);
  // The header of such a frame, without the body that it promises.
  std::string header_of(FrameKind kind, std::string_view body);

  // Sends a hello, and confirms what it claimed as well as it can. Prove: with the cluster's id, which the
  // claim has. nullopt: the answer was not a hello.
  enum class Confirm : uint8_t { Ping, Reflect, Guess, Prove };
  std::optional<Introduction> shake(Introduction claim, Confirm how);
  // All bytes that it has written.
  const std::string& written() const { return written_; }
  // Reads everything until the other end closes or a moment passes in silence.
  uint64_t listen();

 private:
  std::optional<FrameReader::Frame> read();

  int fd_ = -1;
  FrameReader reader_{1 << 20};
  FrameSums sums_;
  std::string written_;
};

}  // namespace coordkit::experiment
