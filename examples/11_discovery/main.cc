// Services that register while they live, and a client that always knows the live ones, without asking.
//
//   11_discovery    one replica in this process, in a temporary directory; two services
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace fs = std::filesystem;

void show(const MirrorSeen& seen, const MirrorEntries& all) {
  if (seen.what == MirrorSeen::What::Ended) return;
  std::cout << "revision " << seen.revision.value() << ":";
  for (const auto& [key, entry] : all) std::cout << " " << entry.value;
  std::cout << std::endl;
}

void await(const Mirror& mirror, size_t services) {
  while (mirror.entries().size() != services) std::this_thread::sleep_for(1ms);
}

absl::Status run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  absl::StatusOr<std::unique_ptr<Replica>> replica =
      Replica::open({.id = 1, .cluster = "shop", .data_dir = directory, .members = {{1, address}}, .security = PlainText{}});
  if (!replica.ok()) return replica.status();

  // The client: all there is, then every change.
  Registry web(**replica, "services/web/");
  const Mirror known = web.observe(show);
  if (absl::Status ready = known.wait_ready(30s); !ready.ok()) return ready;

  // The services, each in its own process in real life. One registers again whenever its session was lost.
  KeptSession one(**replica, {.prepare = [&web](Session& fresh) { return web.join(fresh, "10.0.0.1:80").status(); },
                              .on_failure = [](const absl::Status& why) { std::cout << why.message() << std::endl; }});
  absl::StatusOr<Session> two = (*replica)->open_session();
  if (!two.ok()) return two.status();
  const absl::StatusOr<std::string> second = web.join(*two, "10.0.0.2:80");
  if (!second.ok()) return second.status();
  await(known, 2);
  if (absl::Status moved = web.update(*second, "10.0.0.3:80"); !moved.ok()) return moved;

  const absl::StatusOr<Session> before = one.wait(30s);
  if (!before.ok()) return before.status();
  if (absl::Status killed = (*replica)->kill_session(before->id()); !killed.ok()) return killed;  // or cut off for too long
  for (absl::StatusOr<Session> now = before; now->id() == before->id(); std::this_thread::sleep_for(1ms)) {
    now = one.wait(30s);
    if (!now.ok()) return now.status();
  }
  await(known, 2);
  one.end();  // as if its process had died, but immediately
  await(known, 1);

  // Only while that service is registered: the entry is a key, so a transaction may depend on it.
  const absl::StatusOr<TransactionResult> routed =
      Txn(Kv(**replica)).when(Compare::exists(*second)).then(PutOperation{.key = "routes/default", .value = *second}).commit();
  if (!routed.ok()) return routed.status();
  return routed->succeeded ? absl::OkStatus() : absl::InternalError("the service that lives was not found");
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "11_discovery-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory);
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "11_discovery: " << status << "\n";
  return status.ok() ? 0 : 1;
}
