// Certificates of a cluster in files of their own, valid and invalid ones.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "coordkit/operate/tls.h"
#include "tls/channel.h"
#include "tls/credentials.h"
#include "tools/certificates/authority.h"

namespace coordkit::testkit {

// Makes channels from whatever the files hold, as an attacker would: open_tls() refuses most of them.
class UncheckedChannels final : public SecureChannels {
 public:
  explicit UncheckedChannels(const Tls& tls) : newest_(std::make_shared<tls::Newest>(tls::read_files(tls).value())) {}
  std::unique_ptr<SecureChannel> make(TcpEvent::Side side) override { return std::make_unique<tls::Channel>(newest_, side); }
  absl::Status reload() override { return absl::OkStatus(); }
  uint64_t generation() const override { return 1; }

 private:
  std::shared_ptr<tls::Newest> newest_;
};

class Certificates {
 public:
  explicit Certificates(std::string cluster = "orders")
      : cluster_(std::move(cluster)), authority_("authority of " + cluster_), stranger_("authority of " + cluster_) {
    std::string pattern = ::testing::TempDir() + "/certificates.XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory in " + ::testing::TempDir());
    folder_ = pattern;
    support::write_file(authority_file(), authority_.certificate());
  }
  ~Certificates() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  support::CertificateOrder order(uint64_t id) const {
    return {.common_name = "replica", .uris = {certificate_uri({cluster_, ReplicaId(id)})}};
  }
  // In files with this name; signed by the trusted authority, or by one that has the same name.
  Tls write(const std::string& name, const support::CertificateOrder& order, bool by_stranger = false) const {
    const support::IssuedCertificate issued = (by_stranger ? stranger_ : authority_).issue(order);
    Tls tls{.certificate = folder_ / (name + ".pem"), .key = folder_ / (name + ".key"), .authority = authority_file()};
    support::write_file(tls.key, issued.key, true);
    support::write_file(tls.certificate, issued.certificate);
    return tls;
  }
  Tls valid(uint64_t id) const { return write(std::to_string(id), order(id)); }
  CertifiedIdentity identity(uint64_t id) const { return {cluster_, ReplicaId(id)}; }
  std::shared_ptr<SecureChannels> channels(uint64_t id) const { return open_tls(valid(id), identity(id)).value(); }

  // A new authority; the file keeps the previous one too.
  void change_authority() {
    const std::string previous = authority_.certificate();
    authority_ = support::TestAuthority("authority of " + cluster_);
    support::write_file(authority_file(), authority_.certificate() + previous);
  }

  std::filesystem::path authority_file() const { return folder_ / "authority.pem"; }
  const std::filesystem::path& folder() const { return folder_; }
  const support::TestAuthority& stranger() const { return stranger_; }

 private:
  const std::string cluster_;
  std::filesystem::path folder_;
  support::TestAuthority authority_;
  const support::TestAuthority stranger_;
};

}  // namespace coordkit::testkit
