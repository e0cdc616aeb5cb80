// Reading, computing and writing without a lock: once by hand for one key, once as a function over several.
//
//   12_compare_and_set    one replica in this process, in a temporary directory; four threads
#include <coordkit/coordkit.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace coordkit;
namespace fs = std::filesystem;

// Write only if no one else has since; otherwise the answer shows the current value, and it is retried with that.
absl::Status sell_one(Kv kv) {
  absl::StatusOr<GetResult> seen = kv.get("stock");
  if (!seen.ok()) return seen.status();
  KeyValue stock = *seen->entry;
  for (;;) {
    const auto sold = Txn(kv)
                          .when(Compare::modified("stock", Compare::Relation::Equal, stock.mod))
                          .then(PutOperation{.key = "stock", .value = std::to_string(std::stoi(stock.value) - 1)})
                          .otherwise(RangeOperation::of("stock"))
                          .commit();
    if (!sold.ok()) return sold.status();
    if (sold->succeeded) return absl::OkStatus();
    stock = std::get<RangeReply>(sold->replies.at(0).body).entries.at(0);
  }
}

// The same loop, provided by the library, over two keys.
absl::Status move_one(const Kv& kv) {
  return run_stm(kv,
                 [](Stm& stm) -> absl::Status {
                   const auto here = stm.get("here"), there = stm.get("there");
                   if (!here.ok() || !there.ok()) return here.ok() ? there.status() : here.status();
                   stm.put("here", std::to_string(std::stoi(**here) - 1));
                   stm.put("there", std::to_string(std::stoi(**there) + 1));
                   return absl::OkStatus();
                 })
      .status();
}

absl::Status run(const fs::path& directory) {
  const std::string address = "127.0.0.1:" + std::to_string(20'000 + getpid() % 12'000);
  absl::StatusOr<std::unique_ptr<Replica>> replica =
      Replica::open({.id = 1, .cluster = "shop", .data_dir = directory, .members = {{1, address}}, .security = PlainText{}});
  if (!replica.ok()) return replica.status();
  Kv kv(**replica);
  for (const char* key : {"stock", "here", "there"}) {
    if (const auto put = kv.put(key, "100"); !put.ok()) return put.status();
  }
  std::vector<std::thread> threads;
  std::vector<absl::Status> ends(4);
  for (absl::Status& end : ends) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) end.Update(sell_one(kv)), end.Update(move_one(kv));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) {
    if (!end.ok()) return end;
  }
  std::string left;
  for (const char* key : {"stock", "here", "there"}) left += kv.get(key)->entry->value + " ";
  std::cout << left << "\n";
  return left == "80 80 120 " ? absl::OkStatus() : absl::InternalError("something was lost: " + left);
}

}  // namespace

int main() {
  std::string name = fs::temp_directory_path() / "12_compare_and_set-XXXXXX";
  const fs::path directory = mkdtemp(name.data());
  const absl::Status status = run(directory);
  fs::remove_all(directory);
  if (!status.ok()) std::cerr << "12_compare_and_set: " << status << "\n";
  return status.ok() ? 0 : 1;
}
