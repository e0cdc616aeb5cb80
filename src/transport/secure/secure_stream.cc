#include "transport/secure/secure_stream.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace coordkit::tcp {
namespace {

constexpr size_t kHandshakeBytes = 4 << 10;  // of one read: unknown peers get no more
constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kWriteBytes = 64 << 10;   // plaintext, of one write: urgent data waits for no more than this
constexpr size_t kRecordBytes = 16 << 10;  // the most that TLS puts into one record

const boost::system::error_code kFailed = asio::error::connection_aborted;  // the channel knows why

std::span<const char> span_of(const asio::const_buffer& buffer) {
  return {static_cast<const char*>(buffer.data()), buffer.size()};
}

}  // namespace

SecureStream::SecureStream(Socket& socket, std::unique_ptr<SecureChannel> channel)
    : socket_(socket),
      channel_(std::move(channel)),
      incoming_(std::make_unique_for_overwrite<char[]>(kHandshakeBytes)),
      incoming_bytes_(kHandshakeBytes) {}

// ---- handshake

// Output that is left when the channel opens leaves with the first write.
void SecureStream::handshake(Done done) {
  const SecureChannel::State state = channel_->advance();
  if (state == SecureChannel::State::Open) return done({}, 0);
  channel_->take_outgoing(outgoing_);
  if (state == SecureChannel::State::Failed) {
    send_now();  // sends the reason, in TLS's words
    return done(kFailed, 0);
  }
  if (outgoing_.empty()) return receive_handshake(std::move(done));
  asio::async_write(socket_, asio::buffer(outgoing_), [this, done = std::move(done)](const auto& error, size_t bytes) mutable {
    sent_ += bytes;
    if (error) return done(error, 0);
    receive_handshake(std::move(done));
  });
}

void SecureStream::receive_handshake(Done done) {
  socket_.async_read_some(asio::buffer(incoming_.get(), incoming_bytes_),
                          [this, done = std::move(done)](const auto& error, size_t bytes) mutable {
                            if (error) return done(error, 0);
                            channel_->received({incoming_.get(), bytes});
                            handshake(std::move(done));
                          });
}

// ---- reading

void SecureStream::read(asio::mutable_buffer space, Done done) {
  const size_t bytes = channel_->read({static_cast<char*>(space.data()), space.size()});
  if (bytes == 0 && channel_->state() == SecureChannel::State::Open) return receive(space, std::move(done));
  asio::post(socket_.get_executor(),
             [done = std::move(done), bytes]() mutable { done(bytes > 0 ? boost::system::error_code() : kFailed, bytes); });
}

void SecureStream::receive(asio::mutable_buffer space, Done done) {
  if (incoming_bytes_ < kReadBytes) {  // the handshake is over, and the channel has read the bytes that came with it
    incoming_ = std::make_unique_for_overwrite<char[]>(kReadBytes);
    incoming_bytes_ = kReadBytes;
  }
  socket_.async_read_some(asio::buffer(incoming_.get(), incoming_bytes_),
                          [this, space, done = std::move(done)](const auto& error, size_t came) mutable {
                            if (error) return done(error, 0);
                            channel_->received({incoming_.get(), came});
                            const size_t bytes = channel_->read({static_cast<char*>(space.data()), space.size()});
                            if (bytes > 0) return done({}, bytes);
                            if (channel_->state() != SecureChannel::State::Open) return done(kFailed, 0);
                            receive(space, std::move(done));  // a part of a record
                          });
}

// ---- writing

// Small buffers share a record; large ones are not copied.
size_t SecureStream::encrypt(Buffers buffers, size_t bytes_max) {
  size_t taken = 0;
  gathered_.clear();
  const auto close_record = [&] {
    if (!gathered_.empty()) channel_->write(gathered_);
    gathered_.clear();
  };
  for (const asio::const_buffer& buffer : buffers) {
    const std::span<const char> bytes = span_of(buffer).first(std::min(buffer.size(), bytes_max - taken));
    taken += bytes.size();
    if (gathered_.size() + bytes.size() > kRecordBytes) close_record();
    if (bytes.size() > kRecordBytes) {
      channel_->write(bytes);
    } else {
      gathered_.append(bytes.data(), bytes.size());
    }
    if (taken == bytes_max) break;
  }
  close_record();
  return taken;
}

void SecureStream::write(Buffers buffers, Done done) {
  const size_t taken = encrypt(buffers, kWriteBytes);
  channel_->take_outgoing(outgoing_);
  if (channel_->state() != SecureChannel::State::Open) {
    return asio::post(socket_.get_executor(), [done = std::move(done)]() mutable { done(kFailed, 0); });
  }
  // On a narrow link this takes long: every part is counted when the kernel has taken it.
  const auto count = [this, before = size_t{0}](const auto& error, size_t bytes) mutable -> size_t {
    sent_ += bytes - std::exchange(before, bytes);
    return error ? 0 : kWriteBytes;
  };
  asio::async_write(socket_, asio::buffer(outgoing_), count,
                    [taken, done = std::move(done)](const auto& error, size_t) mutable { done(error, taken); });
}

void SecureStream::write_now(Buffers buffers) {
  if (channel_->state() != SecureChannel::State::Open) return;
  encrypt(buffers, kWriteBytes);
  channel_->take_outgoing(outgoing_);
  send_now();
}

void SecureStream::send_now() {
  boost::system::error_code ignored;
  sent_ += socket_.write_some(asio::buffer(outgoing_), ignored);
}

uint64_t SecureStream::take_sent() { return std::exchange(sent_, 0); }

}  // namespace coordkit::tcp
