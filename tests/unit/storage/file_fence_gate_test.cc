#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "coordkit/error.h"
#include "coordkit/locks/fence.h"
#include "coordkit/storage/data_directory.h"
#include "storage/posix_file_system.h"
#include "tests/proof/golden/hex.h"
#include "tests/unit/storage/temporary_directory.h"

namespace coordkit {
namespace {

using testkit::TemporaryDirectory;
using enum FenceMode;

void put(std::string& bytes, uint64_t offset, std::string_view what) {
  if (bytes.size() < offset + what.size()) bytes.resize(offset + what.size());
  bytes.replace(offset, what.size(), what);
}

// A file of the test: what is written, what is synced, and the call that must fail. As on Linux, what a failed sync should have
// stored is not stored by the next one either.
struct Image {
  std::string bytes;
  std::string synced;
  int calls = 0;
  int failing = -1;
  std::vector<std::pair<uint64_t, std::string>> dirty = {};

  absl::Status step() { return calls++ == failing ? absl::DataLossError("input/output error") : absl::OkStatus(); }
};

class ImageFile final : public File {
 public:
  explicit ImageFile(Image& image) : image_(image) {}
  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    if (absl::Status status = image_.step(); !status.ok()) return status;
    put(image_.bytes, offset, bytes);
    image_.dirty.emplace_back(offset, bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    if (absl::Status status = image_.step(); !status.ok()) return status;
    return offset >= image_.bytes.size() ? std::string() : image_.bytes.substr(offset, length);
  }
  absl::Status sync() override {
    const auto stored = std::exchange(image_.dirty, {});
    if (absl::Status status = image_.step(); !status.ok()) return status;
    for (const auto& [offset, bytes] : stored) put(image_.synced, offset, bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<uint64_t> size() const override { return image_.bytes.size(); }

 private:
  Image& image_;
};

absl::StatusOr<std::unique_ptr<FileFenceGate>> gate_over(Image& image) {
  return FileFenceGate::over(std::make_unique<ImageFile>(image));
}

// Covers: S-55
TEST(FileFenceGateTest, TheStateOutlivesTheProcess) {
  TemporaryDirectory directory;
  {
    auto gate = FileFenceGate::open(directory / "gate").value();
    EXPECT_TRUE(gate->admit(Token(5)).ok());
    EXPECT_TRUE(gate->admit(Token(8), Shared).ok());
  }
  auto gate = FileFenceGate::open(directory / "gate").value();
  EXPECT_EQ(gate->state(), (FenceState{Token(8), Token(5)}));
  EXPECT_EQ(fenced_by(gate->admit(Token(7))), Token(8));
  EXPECT_EQ(reason_of(gate->admit(Token(5), Shared)), Reason::Fenced);
  EXPECT_TRUE(gate->admit(Token(6), Shared).ok());
}

TEST(FileFenceGateTest, ASecondGateOnTheSameFileIsRefusedUntilTheFirstIsGone) {
  TemporaryDirectory directory;
  auto first = FileFenceGate::open(directory / "gate").value();
  EXPECT_EQ(FileFenceGate::open(directory / "gate").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(FileFenceGate::open(directory / "another").ok());
  first.reset();
  EXPECT_TRUE(FileFenceGate::open(directory / "gate").ok());
}

TEST(FileFenceGateTest, BadPathsAndForeignFilesAreRefusedUntouched) {
  TemporaryDirectory directory;
  EXPECT_EQ(FileFenceGate::open(directory / "none/gate").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FileFenceGate::open(directory / "").status().code(), absl::StatusCode::kInvalidArgument);
  for (const size_t length : {1, 39, 41, 4096, 10'000}) {
    const std::string foreign(length, 'x');
    std::ofstream(directory / "foreign") << foreign;
    EXPECT_EQ(FileFenceGate::open(directory / "foreign").status().code(), absl::StatusCode::kDataLoss);
    std::ifstream in(directory / "foreign");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), foreign);
  }
}

// It was made there, and the next start refused the directory as foreign.
// Covers: FLT_D13
TEST(FileFenceGateTest, AGateIsNotMadeInADataDirectory) {
  TemporaryDirectory directory;
  ASSERT_TRUE(DataDirectory::open({.path = directory / "data", .cluster = "orders"}).ok());
  for (const char* name : {"data/gate", "data/log/gate"}) {
    const absl::Status refused = FileFenceGate::open(directory / name).status();
    EXPECT_EQ(reason_of(refused), Reason::InvalidArgument) << refused;
  }
  EXPECT_TRUE(DataDirectory::open({.path = directory / "data", .cluster = "orders"}).ok());
  EXPECT_TRUE(FileFenceGate::open(directory / "gate").ok());
}

// Covers: S-55
TEST(FileFenceGateTest, NothingIsAnsweredBeforeItIsSyncedAndTheSameHolderCostsNoWrite) {
  Image image;
  auto gate = gate_over(image).value();
  for (uint64_t token = 1; token < 50; ++token) {
    ASSERT_TRUE(gate->admit(Token(token)).ok());
    ASSERT_EQ(image.synced, image.bytes);
    const int calls = image.calls;
    ASSERT_TRUE(gate->admit(Token(token)).ok());
    ASSERT_EQ(image.calls, calls);
    Image after{.bytes = image.synced};
    ASSERT_EQ(gate_over(after).value()->state().highest, Token(token));
  }
}

// Covers: S-55
TEST(FileFenceGateTest, ATornWriteLeavesTheStateBeforeOrAfterIt) {
  Image image;
  auto gate = gate_over(image).value();
  Token previous;
  for (uint64_t token = 10; token < 16; previous = Token(token++)) {
    const std::string before = image.bytes;
    ASSERT_TRUE(gate->admit(Token(token)).ok());
    const std::string& after = image.bytes;
    const size_t start = static_cast<size_t>(std::ranges::mismatch(before, after).in1 - before.begin()) / 4096 * 4096;
    for (size_t torn = 0; torn <= 40; ++torn) {
      for (const bool garbage : {false, true}) {
        Image crashed{.bytes = before};
        crashed.bytes.replace(start, torn, after.substr(start, torn));
        if (garbage && torn < 40) crashed.bytes[start + torn] = static_cast<char>(crashed.bytes[start + torn] ^ 0x5a);
        const auto reopened = gate_over(crashed);
        ASSERT_TRUE(reopened.ok()) << torn;
        const Token highest = (*reopened)->state().highest;
        ASSERT_TRUE(highest == Token(token) || (torn < 40 && highest == previous)) << torn;
        // Whatever it was, the repaired file survives the next crash.
        ASSERT_TRUE((*reopened)->admit(Token(100)).ok());
        Image again{.bytes = crashed.bytes};
        ASSERT_EQ(gate_over(again).value()->state().highest, Token(100));
      }
    }
  }
}

// Covers: S-55
TEST(FileFenceGateTest, AFileWithOneWholeSlotOpensAndOneWithoutIsDataLoss) {
  Image whole;
  auto gate = gate_over(whole).value();
  ASSERT_TRUE(gate->admit(Token(3)).ok());  // into the first slot
  for (size_t length = 1; length < whole.bytes.size(); ++length) {
    if (length > 41 && length < 4095) continue;  // the hole between the slots
    Image cut{.bytes = whole.bytes.substr(0, length)};
    Image blank{.bytes = std::string(length, '\0')};
    const auto opened = gate_over(cut);
    ASSERT_EQ(opened.status().code(), length < 40 ? absl::StatusCode::kDataLoss : absl::StatusCode::kOk) << length;
    EXPECT_TRUE(!opened.ok() || (*opened)->state().highest == Token(3)) << length;
    ASSERT_EQ(gate_over(blank).status().code(), absl::StatusCode::kDataLoss) << length;
  }
}

// Covers: S-55
TEST(FileFenceGateTest, AFileThatWasEmptiedIsDataLossAndNoNewGate) {
  TemporaryDirectory directory;
  const std::string path = directory / "gate";
  ASSERT_TRUE(FileFenceGate::open(path).value()->admit(Token(100)).ok());
  const uintmax_t size = std::filesystem::file_size(path);
  for (const uintmax_t left : {uintmax_t{8}, uintmax_t{0}}) {
    for (const uintmax_t length : {left, size}) {  // cut, and made as long as before with zeros
      std::filesystem::resize_file(path, left);
      std::filesystem::resize_file(path, length);
      EXPECT_EQ(reason_of(FileFenceGate::open(path).status()), Reason::Corrupt) << left << " " << length;
      EXPECT_EQ(std::filesystem::file_size(path), length) << "untouched";
    }
  }
}

// Covers: S-55
TEST(FileFenceGateTest, WhatAnInterruptedMakerLeftIsNoGateAndInNobodysWay) {
  TemporaryDirectory directory;
  const std::string path = directory / "gate";
  for (const size_t length : {0, 8, 40, 4136, 10'000}) {
    std::ofstream(path + ".coordkit-part") << std::string(length, '\0');
    EXPECT_EQ(FileFenceGate::open(path).value()->state(), FenceState());
    EXPECT_FALSE(std::filesystem::exists(path + ".coordkit-part"));
    EXPECT_EQ(std::filesystem::file_size(path), 4136u);
    std::filesystem::remove(path);
  }
}

// Covers: S-55
TEST(FileFenceGateTest, OfTwoThatMakeOneFileTheSecondIsRefused) {
  TemporaryDirectory directory;
  const std::string path = directory / "gate";
  const auto files = storage::PosixFileSystem::open(directory.path()).value();
  const absl::Status made = files->make_file("gate", [&](File&) {
    EXPECT_EQ(reason_of(FileFenceGate::open(path).status()), Reason::InUse);
    return absl::InternalError("given up");
  });
  EXPECT_EQ(made, absl::InternalError("given up"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_TRUE(FileFenceGate::open(path).ok());
}

TEST(FileFenceGateTest, EveryCallThatFailsOnceStopsTheGateAndLosesNoAnsweredToken) {
  for (int failing = 0;; ++failing) {
    Image image{.failing = failing};
    Token answered;
    auto gate = gate_over(image);
    if (gate.ok()) {
      bool failed = false;
      for (uint64_t token = 1; token < 6; ++token) {
        const absl::Status status = (*gate)->admit(Token(token));
        EXPECT_TRUE(!failed || !status.ok()) << "the first failure is final";
        failed |= !status.ok();
        if (status.ok()) answered = Token(token);
      }
      if (!failed) break;  // the failing call lies beyond the end
    }
    Image crashed{.bytes = image.synced};
    const auto reopened = gate_over(crashed);
    ASSERT_TRUE(reopened.ok()) << failing;
    EXPECT_GE((*reopened)->state().highest, answered) << failing;
  }
}

// Covers: S-55 FLT_D03
TEST(FileFenceGateTest, WhatAFailedSyncLeftInMemoryIsStoredBeforeItIsAnswered) {
  for (const uint64_t before : {1, 2}) {  // either slot
    Image image;
    {
      auto gate = gate_over(image).value();
      for (uint64_t token = 1; token <= before; ++token) ASSERT_TRUE(gate->admit(Token(token)).ok());
      image.failing = image.calls + 1;  // after the write
      ASSERT_FALSE(gate->admit(Token(9)).ok());
    }
    auto gate = gate_over(image).value();
    const Token read = gate->state().highest;
    ASSERT_TRUE(gate->admit(Token(9)).ok());
    Image after_power_cut{.bytes = image.synced};
    EXPECT_EQ(gate_over(after_power_cut).value()->state().highest, Token(9)) << "it had read " << read.value();
  }
}

TEST(FileFenceGateTest, BothSlotsRottenIsDataLossAndNeverAnEmptyGate) {
  Image image;
  auto gate = gate_over(image).value();
  ASSERT_TRUE(gate->admit(Token(7)).ok());
  Image rotten{.bytes = image.bytes};
  rotten.bytes[20] = static_cast<char>(rotten.bytes[20] ^ 1);
  rotten.bytes[4096 + 20] = static_cast<char>(rotten.bytes[4096 + 20] ^ 1);
  EXPECT_EQ(gate_over(rotten).status().code(), absl::StatusCode::kDataLoss);
}

// Whatever the bytes are: an error, or a state that was once written whole; never an unwritten token.
// Covers: S-55
TEST(FileFenceGateTest, HostileImagesGiveAnErrorOrAStateThatWasWritten) {
  Random random(7);
  int opened = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Image image;
    std::vector<FenceState> written = {FenceState()};
    {
      auto gate = gate_over(image).value();
      const uint64_t writes = random.below(6);
      for (uint64_t i = 0; i < writes; ++i) {
        const FenceMode mode = random.chance(0.5) ? Exclusive : Shared;
        ASSERT_EQ(gate->admit(Token(10 * (i + 1) + random.below(5)), mode), absl::OkStatus());
        written.push_back(gate->state());
      }
    }
    for (uint64_t damage = random.below(4); damage > 0; --damage) {
      const size_t slot = random.below(2) * 4096;
      if (random.chance(0.2)) {
        image.bytes.resize(random.below(image.bytes.size() + 1));
      } else if (slot + 40 <= image.bytes.size()) {
        image.bytes[slot + random.below(40)] ^= static_cast<char>(1 + random.below(255));
      }
    }
    const auto gate = gate_over(image);
    if (!gate.ok()) {
      ++refused;
      EXPECT_EQ(gate.status().code(), absl::StatusCode::kDataLoss);
      continue;
    }
    ++opened;
    EXPECT_NE(std::ranges::find(written, (*gate)->state()), written.end());
    ASSERT_TRUE((*gate)->admit(Token(1000)).ok());
    EXPECT_EQ(gate_over(image).value()->state().highest, Token(1000));
  }
  EXPECT_GT(opened, 100);
  EXPECT_GT(refused, 100);
}

// Covers: S-55
TEST(FileFenceGateTest, ThreadsShareOneGate) {
  TemporaryDirectory directory;
  auto gate = FileFenceGate::open(directory / "gate").value();
  std::vector<std::thread> threads;
  for (uint64_t which = 0; which < 3; ++which) {
    threads.emplace_back([&gate, which] {
      for (uint64_t i = 1; i < 20; ++i) (void)gate->admit(Token(3 * i + which));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gate->state().highest, Token(3 * 19 + 2));
}

// The bytes are a format: two slots, as described at the top of file_fence_gate.cc.
TEST(FileFenceGateTest, TheFileAfterTwoTokensHasTheGoldenBytes) {
  Image image;
  auto gate = gate_over(image).value();
  ASSERT_TRUE(gate->admit(Token(0x1122)).ok());
  ASSERT_TRUE(gate->admit(Token(0x3344), Shared).ok());
  EXPECT_EQ(image.bytes.size(), 4096u + 40);
  EXPECT_EQ(hex(image.bytes.substr(0, 32)),
            "636b66656e636531"
            "0200000000000000"
            "2211000000000000"
            "2211000000000000");
  EXPECT_EQ(hex(image.bytes.substr(4096, 32)),
            "636b66656e636531"
            "0300000000000000"
            "4433000000000000"
            "2211000000000000");
}

}  // namespace
}  // namespace coordkit
