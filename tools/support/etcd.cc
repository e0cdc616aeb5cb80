#include "tools/support/etcd.h"

#include <optional>
#include <stdexcept>

#include "tools/support/loopback.h"

namespace coordkit::support {
namespace {

using namespace std::chrono_literals;

std::string name_of(size_t member) { return "m" + std::to_string(member); }

}  // namespace

EtcdMembers::EtcdMembers(const std::string& program, size_t count, const std::filesystem::path& data,
                         const std::vector<std::string>& options)
    : program_(program) {
  const std::vector<std::string> free = free_loopback_addresses(2 * count);
  addresses_.assign(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count));
  std::string all;
  for (size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ",") + name_of(i) + "=http://" + free[count + i];
  for (size_t i = 0; i < count; ++i) {
    const std::string clients = "http://" + free[i];
    const std::string peers = "http://" + free[count + i];
    std::vector<std::string> arguments = {"--name",
                                          name_of(i),
                                          "--data-dir",
                                          (data / name_of(i)).string(),
                                          "--logger",
                                          "zap",
                                          "--log-level",
                                          "panic",
                                          "--listen-client-urls",
                                          clients,
                                          "--advertise-client-urls",
                                          clients,
                                          "--listen-peer-urls",
                                          peers,
                                          "--initial-advertise-peer-urls",
                                          peers,
                                          "--initial-cluster",
                                          all};
    arguments.insert(arguments.end(), options.begin(), options.end());
    members_.push_back(Child::start_program(program, arguments));
  }
}

void EtcdMembers::await(const std::function<bool()>& ready) {
  const Deadline deadline = in(60s);
  while (!ready()) {
    for (Child& member : members_) {
      if (const std::optional<int> status = member.wait(in(20ms))) {
        throw std::runtime_error(program_ + " ended with status " + std::to_string(*status));
      }
    }
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(program_ + " is not ready after a minute");
  }
}

}  // namespace coordkit::support
