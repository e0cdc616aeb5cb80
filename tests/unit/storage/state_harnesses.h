// The state store on LMDB, over a medium that can be damaged.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "coordkit/storage/lmdb_state_store.h"
#include "coordkit/testing/state_store_fixture.h"
#include "tests/unit/storage/lmdb_calls.h"
#include "tests/unit/storage/log_harnesses.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit::testkit {

// LMDB's calls pass through LmdbCalls, which knows what was synced and can fail them.
class LmdbStateHarness : public StateStoreHarness {
 public:
  LmdbStateHarness() {  // so that the file is there, and only its changes are recorded
    StateSinkProbe probe;
    EXPECT_TRUE(make()->open(probe).ok());
  }
  ~LmdbStateHarness() override { be_kind(); }

  StateStore& restart() override {
    store_.reset();
    calls_.reset();
    be_kind();
    if (image_) set_file(*std::exchange(image_, std::nullopt));
    start_ = file();
    calls_ = std::make_unique<LmdbCalls>();
    store_ = make();
    return *store_;
  }
  bool rot(const std::string& key, const std::string& value) override {
    static_cast<void>(key);
    std::string bytes = file();
    size_t found = 0;
    for (size_t at = bytes.find(value); at != std::string::npos; at = bytes.find(value, at + 1), ++found) bytes[at] ^= 1;
    set_file(bytes);
    return found != 0;
  }
  bool exchange(const std::string& value, const std::string& other) override {
    constexpr size_t kSumBytes = 8;  // right before each value
    std::string bytes = file();
    const size_t first = bytes.find(value), second = bytes.find(other);
    if (first == std::string::npos || second == std::string::npos) return false;
    const auto at = [&bytes](size_t place) { return bytes.begin() + static_cast<ptrdiff_t>(place); };
    std::swap_ranges(at(first - kSumBytes), at(first + value.size()), at(second - kSumBytes));
    set_file(bytes);
    return true;
  }
  bool cut_power() override {
    image_ = start_;
    std::vector<LmdbCalls::Change> unsynced;
    for (LmdbCalls::Change& change : calls_->changes()) {
      if (change.bytes.empty()) {
        for (const LmdbCalls::Change& synced : std::exchange(unsynced, {})) apply(*image_, synced);
      } else if (change.durable) {
        apply(*image_, change);
      } else {
        unsynced.push_back(std::move(change));
      }
    }
    for (const LmdbCalls::Change& change : unsynced) {
      if (random_.chance(0.5)) apply(*image_, change);
    }
    return true;
  }
  bool fail_syncs() override {
    LmdbCalls::set_failing(true);
    return true;
  }
  bool set_full(bool full) override {
    LmdbCalls::set_room(full ? LmdbCalls::Room::None : LmdbCalls::Room::Enough);
    return true;
  }
  std::optional<absl::Status> open_twice() override {
    const auto second = open_data(directory_);
    if (!second.ok()) return second.status();
    StateSinkProbe probe;
    return LmdbStateStore(*second).open(probe).status();
  }

 private:
  static void be_kind() {
    LmdbCalls::set_failing(false);
    LmdbCalls::set_room(LmdbCalls::Room::Enough);
  }
  static void apply(std::string& image, const LmdbCalls::Change& change) {
    image.resize(std::max(image.size(), change.offset + change.bytes.size()));
    image.replace(change.offset, change.bytes.size(), change.bytes);
  }
  std::unique_ptr<LmdbStateStore> make() const {
    return std::make_unique<LmdbStateStore>(open_directory(directory_), LmdbStateOptions{.map_bytes_max = 1 << 30});
  }
  std::string path() const { return directory_ / "data/state/data.mdb"; }
  std::string file() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void set_file(const std::string& bytes) const { std::ofstream(path(), std::ios::binary | std::ios::trunc) << bytes; }

  TemporaryDirectory directory_;
  Random random_{13};
  std::string start_;                 // the file, when its changes began to be recorded
  std::optional<std::string> image_;  // what the next restart finds
  std::unique_ptr<LmdbCalls> calls_;
  std::unique_ptr<LmdbStateStore> store_;
};

}  // namespace coordkit::testkit
