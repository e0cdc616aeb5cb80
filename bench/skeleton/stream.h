// A TCP connection between two of the skeleton's processes, which carries values of one size.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/peers/socket.h"

namespace coordkit::bench::skeleton {

class Stream {
 public:
  explicit Stream(support::Descriptor socket) : socket_(std::move(socket)), buffer_(kBufferBytes) {}

  int socket() const { return socket_.get(); }

  template <typename Value>
  void send(std::span<const Value> values) {
    send_all(socket_.get(), {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  // Appends what has come, at least a byte of it, as whole values; the rest of the last stays for the next time. False: the
  // other side is gone.
  template <typename Value>
  bool receive(std::vector<Value>& values) {
    const size_t got = receive_some(socket_.get(), std::span(buffer_).subspan(received_));
    received_ += got;
    const size_t whole = received_ / sizeof(Value);
    const size_t before = values.size();
    values.resize(before + whole);
    std::memcpy(values.data() + before, buffer_.data(), whole * sizeof(Value));
    received_ -= whole * sizeof(Value);
    std::memmove(buffer_.data(), buffer_.data() + whole * sizeof(Value), received_);
    return got > 0;
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 20;

  support::Descriptor socket_;
  std::vector<char> buffer_;
  size_t received_ = 0;
};

}  // namespace coordkit::bench::skeleton
