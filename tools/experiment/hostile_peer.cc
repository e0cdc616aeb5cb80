#include "tools/experiment/hostile_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "coordkit/engine/wire.h"

namespace coordkit::experiment {
namespace {

constexpr int kPatienceMs = 200;
constexpr size_t kWrittenMax = 64 << 10;  // that are remembered

}  // namespace

HostilePeer::HostilePeer(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{0, kPatienceMs * 1000};
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) ::close(std::exchange(fd_, -1));
}

HostilePeer::~HostilePeer() {
  if (fd_ >= 0) ::close(fd_);
}

HostilePeer::HostilePeer(HostilePeer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      reader_(std::move(other.reader_)),
      sums_(std::move(other.sums_)),
      written_(std::move(other.written_)) {}

bool HostilePeer::write(std::string_view bytes) {
  while (fd_ >= 0 && !bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    if (written_.size() < kWrittenMax) written_.append(bytes.substr(0, static_cast<size_t>(sent)));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return fd_ >= 0;
}

std::string HostilePeer::header_of(FrameKind kind, std::string_view body) {
  const FrameHeader header = make_frame_header(kind, kOnlyGroup, body, sums_);
  sums_.next();
  return {header.data(), header.size()};
}

bool HostilePeer::send(FrameKind kind, std::string_view body) { return write(header_of(kind, body) + std::string(body)); }

bool HostilePeer::say(const Message& message) { return send(FrameKind::Message, encode(message)); }

std::optional<FrameReader::Frame> HostilePeer::read() {
  for (;;) {
    if (const auto frame = reader_.next()) return frame;
    pollfd waiting{fd_, POLLIN, 0};
    if (reader_.fault() != FrameFault::None || poll(&waiting, 1, kPatienceMs) <= 0) return std::nullopt;
    const auto space = reader_.space();
    const ssize_t size = recv(fd_, space.data(), space.size(), 0);
    if (size <= 0) return std::nullopt;
    reader_.filled(static_cast<size_t>(size));
  }
}

std::optional<Introduction> HostilePeer::shake(Introduction claim, Confirm how) {
  claim.proof_of_cluster.clear();
  if (!connected() || !send(FrameKind::Hello, encode(claim))) return std::nullopt;
  const auto answer = read();
  if (!answer || answer->kind != FrameKind::Hello) return std::nullopt;
  absl::StatusOr<Introduction> theirs = decode_introduction(answer->body);
  if (!theirs.ok()) return std::nullopt;
  reader_.set_key(frame_key(theirs->nonce, claim.nonce));
  sums_.set_seed(frame_key(claim.nonce, theirs->nonce));
  claim.echo = theirs->nonce;
  if (how == Confirm::Reflect) {
    claim.proof_of_cluster = theirs->proof_of_cluster;
    claim.proof_of_secret = theirs->proof_of_secret;
  } else if (how == Confirm::Guess) {
    claim.proof_of_cluster = std::string(kProofBytes, 'x');
  }
  if (how == Confirm::Prove) prove(claim, Prover::Dialer, claim.hello.cluster, {});
  if (how != Confirm::Ping) send(FrameKind::Hello, encode(claim));
  send(FrameKind::Ping);
  return *std::move(theirs);
}

uint64_t HostilePeer::listen() {
  uint64_t frames = 0;
  while (read()) ++frames;
  return frames;
}

}  // namespace coordkit::experiment
