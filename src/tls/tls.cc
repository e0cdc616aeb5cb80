// The channels of one replica: its current credentials, and their renewal.
#include "coordkit/operate/tls.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "tls/channel.h"
#include "tls/credentials.h"

namespace coordkit {
namespace tls {
namespace {

absl::StatusOr<std::shared_ptr<Credentials>> read_valid(const Tls& options, const CertifiedIdentity& self) {
  auto credentials = read_files(options);
  if (!credentials.ok()) return credentials;
  if (absl::Status status = check_own(**credentials, self); !status.ok()) return status;
  return credentials;
}

class Channels final : public SecureChannels {
 public:
  Channels(Tls options, CertifiedIdentity self, std::shared_ptr<const Credentials> credentials)
      : options_(std::move(options)), self_(std::move(self)), newest_(std::make_shared<Newest>(std::move(credentials))) {}

  std::unique_ptr<SecureChannel> make(TcpEvent::Side side) override { return std::make_unique<Channel>(newest_, side); }

  absl::Status reload() override {
    const std::lock_guard one_at_a_time(reloading_);
    auto fresh = read_valid(options_, self_);
    if (!fresh.ok()) return fresh.status();
    newest_->set(*std::move(fresh));
    generation_.fetch_add(1, std::memory_order_release);
    return absl::OkStatus();
  }

  uint64_t generation() const override { return generation_.load(std::memory_order_acquire); }

 private:
  const Tls options_;
  const CertifiedIdentity self_;
  std::mutex reloading_;
  const std::shared_ptr<Newest> newest_;
  std::atomic<uint64_t> generation_{1};
};

}  // namespace
}  // namespace tls

absl::StatusOr<std::shared_ptr<SecureChannels>> open_tls(const Tls& options, const CertifiedIdentity& self) {
  auto credentials = tls::read_valid(options, self);
  if (!credentials.ok()) return credentials.status();
  return std::make_shared<tls::Channels>(options, self, *std::move(credentials));
}

}  // namespace coordkit
