// A replica with certificates: argv[1] is the folder that coordkit-certificates made.
#include <coordkit/operate/tls.h>
#include <coordkit/replica.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

int main(int, char** argv) {
  using namespace std::chrono_literals;
  const std::string folder = argv[1];
  std::string data = std::filesystem::temp_directory_path() / "one_encrypted.XXXXXX";
  if (mkdtemp(data.data()) == nullptr) return 2;
  coordkit::ReplicaOptions options{
      .id = 1,
      .cluster = "demo",
      .data_dir = data + "/data",
      .members = {{1, "127.0.0.1:0"}},
      .security =
          coordkit::Tls{.certificate = folder + "/1.pem", .key = folder + "/1.key", .authority = folder + "/authority.pem"}};
  auto replica = coordkit::Replica::open(options);
  absl::Status status = replica.status();
  if (status.ok()) status = (*replica)->wait_ready(20s);
  if (status.ok()) status = (*replica)->reload_tls();
  if (status.ok()) status = (*replica)->close();
  std::filesystem::remove_all(data);
  std::cout << status << "\n";
  return status.ok() ? 0 : 1;
}
