// coordkit-certificates: an authority and certificates for the replicas of one cluster, to try out TLS (docs/security.md).
//
//   coordkit-certificates DIR [CLUSTER] [REPLICAS] [--days N] [--new-authority]
//
// Run again with DIR alone, it renews the certificates of all members under the authority found there.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/certificates/folder.h"

int main(int argc, char** argv) {
  using namespace coordkit::support;
  FolderOrder order;
  int64_t days = 365;
  CLI::App app("Makes a test authority and certificates for the replicas of one cluster; run again it renews these.");
  app.add_option("DIR", order.folder, "folder for the authority and the certificates")->required();
  app.add_option("CLUSTER", order.cluster, "name of the cluster, as in ReplicaOptions::cluster; without it as in DIR, or demo");
  app.add_option("REPLICAS", order.replicas, "number of replicas, with ids from 1; without it as in DIR, or 3")
      ->check(CLI::Range(1, 1000));
  app.add_option("--days", days, "days for which the certificates are valid")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  app.add_flag("--new-authority", order.new_authority,
               "make only a new authority; the former one stays trusted, and the next run signs with the new one");
  CLI11_PARSE(app, argc, argv);
  order.valid.until = std::chrono::hours(24 * days);
  try {
    order = make_certificates(std::move(order));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coordkit-certificates: %s\n", error.what());
    return 1;
  }
  if (order.new_authority) {
    std::printf(
        "%s: a new authority.pem, which trusts the former one too; load it everywhere, then run this again with "
        "the folder alone\n",
        order.folder.c_str());
    return 0;
  }
  std::printf("%s: authority.pem, and for replica N of cluster '%s' N.pem and N.key, N from 1 to %llu, for %lld days\n",
              order.folder.c_str(), order.cluster.c_str(), static_cast<unsigned long long>(order.replicas),
              static_cast<long long>(days));
  return 0;
}
